"""Charts in one look, for reports and for results on their own."""
