"""MPI's backend and sweeps, under a real mpirun."""
