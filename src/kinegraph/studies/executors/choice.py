"""Which executor a user means."""

from __future__ import annotations

from kinegraph.errors import StudyError
from kinegraph.studies.executors.dask import Client, DaskCluster
from kinegraph.studies.executors.executor import Executor
from kinegraph.studies.executors.mpi import Mpi
from kinegraph.studies.executors.threads import Threads


def chosen_executor(threads: int | None = None, cluster: str | Client | None = None, mpi: bool = False) -> Executor:
    """Threads of this process, unless a Dask cluster or MPI is named."""
    if sum((threads is not None, cluster is not None, mpi)) > 1:
        raise StudyError("give one of threads, cluster and mpi")
    if cluster is not None:
        return DaskCluster(cluster)
    return Mpi() if mpi else Threads(threads)
