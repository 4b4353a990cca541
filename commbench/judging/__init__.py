"""Judging sweeps: two sides compared, results held against limits. Reads sweep files only."""
