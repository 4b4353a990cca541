"""Figures and the report: lines, labels, units and captions are read back from matplotlib, the page in a browser."""
