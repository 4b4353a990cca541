"""Everything that knows MPI: collectives through mpi4py, torch workers under mpirun, `mpi.sweep`."""
