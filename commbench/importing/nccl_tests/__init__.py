"""Starts nccl-tests' binaries and keeps what they measure as sweeps: `commbench nccl-tests`."""
