"""What a study found, as one page that opens offline: tables and charts → HTML, CSV, LaTeX, SVG and PDF."""
