"""Answers as pictures: what was found and why, as HTML and SVG for notebooks and files."""
