"""Other people's tools: their logs read as sweeps, and the nccl-tests runner."""
