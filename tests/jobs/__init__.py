"""The job scripts of mpi/jobs: the lines that they build, and the manifests against the models of Kubernetes."""
