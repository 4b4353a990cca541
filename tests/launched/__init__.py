"""Sweeps under a real torchrun, on gloo: what a user sees, from the launch line to the exit code."""
