"""Results with their receipts as HTML and SVG, for notebooks and files."""
