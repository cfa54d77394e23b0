"""What a study found, as one page that opens offline: tables and charts → HTML, CSV, LaTeX, SVG and PDF.

parts      what a report is made of: findings, figures, grids (tables), notes; parts hold them
numbers    how counts, shares, times and p values are written, on the page and in LaTeX
charts     one function for each kind of figure: a small table in, an Altair chart out
themes     light and dark, for the page and for files
findings   sentences computed from tables
story      what goes into a report, in which order: composes the stages
           its parts: asked, analyses, worth, measured, systems, system_figures
sources    the data of a report; gathered reads a study's database; bins makes many values few
page       parts → one HTML page
latex      a grid → a LaTeX table
files      every figure as SVG and PDF, every grid as CSV and LaTeX, in a folder
"""
