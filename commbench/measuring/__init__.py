"""Measuring: the seam to a library (`seam`), the core that knows no library (`core`), and the torch backend."""
