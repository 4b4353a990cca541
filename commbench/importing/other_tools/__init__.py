"""Readers of everybody else's logs: MPI benchmarks, training frameworks, scripts, vendors' tools."""
