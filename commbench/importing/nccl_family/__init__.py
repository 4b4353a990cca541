"""Readers of nccl-tests, rccl-tests, mscclpp-test and their forks: text of every generation, JSON and CSV."""
