"""Replaying a training step: its collectives issued for real, in order, beside what was predicted."""
