"""Programs that make figures about commbench itself; run from the repository root with `python -m benchmarks.NAME`."""
