"""Figures of sweeps, and the HTML report: programs of the checkout, run as `python -m plots.NAME FILES --output FILE`.

Each program is a module with a function `figure` that returns the figure, and a thin `main`. They read files only.
"""
