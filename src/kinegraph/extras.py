"""Optional packages: imported at their first use. If one is missing, the error names the extra to install."""

from __future__ import annotations

from importlib import import_module
from typing import Any, TypeAlias

from kinegraph.errors import MissingPackageError

#: An object of a package that may not be installed, so that its type is unknown.
Foreign: TypeAlias = Any

#: The extra of Kinegraph that installs a package. Packages without an extra are installed under their name.
EXTRAS = {
    "control": "control",
    "gymnasium": "gym",
    "pyarrow": "parquet",
    "pandas": "tables",
    "xarray": "tables",
    "distributed": "cluster",
    "mpi4py": "mpi",
    "SALib": "studies",
    "zarr": "studies",
    "psycopg": "postgres",
    "starlette": "studio",
    "uvicorn": "studio",
    "websockets": "studio",
    "anywidget": "notebook",
    "pxr": "usd",
    "xacro": "xacro",
    "pinocchio": "bench",
    "mujoco": "bench",
    "exudyn": "bench",
    "example_robot_data": "bench",
    "cmeel": "bench",
    "eaik": "bench",
}


def extra(module: str, purpose: str) -> Foreign:
    """Import an optional module. MissingPackageError says what needs it and how to install it.

    purpose: what needs the module, as the subject of a sentence: "a Parquet file".
    """
    package = module.partition(".")[0]
    try:
        import_module(package)
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise
        wanted = f"'kinegraph[{EXTRAS[package]}]'" if package in EXTRAS else package
        raise MissingPackageError(
            f"{purpose} needs the package {package}, which is not installed\n  pip install {wanted}"
        ) from None
