"""Who am I, how is a world started, and what refuses to start before we run. Imports neither torch nor MPI."""
