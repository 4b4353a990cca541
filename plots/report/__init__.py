"""The HTML report: one self-contained page of a machine's sweeps (`python -m plots.report FILES --output page.html`).

facts.py, tables.py    what stands in the tables
drawings.py            figures as inline SVG whose colours follow the reader's setting
page.py                the sections, gravest first
template.html.j2, page.css, page.js
"""
