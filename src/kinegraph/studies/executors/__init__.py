"""Where the cases of a study run: threads of this process, a Dask cluster, ranks of MPI."""
