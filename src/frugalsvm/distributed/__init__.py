"""Data that fit no machine: X in column blocks on the workers of a dask cluster.

    from frugalsvm.distributed import DaskFrugalSVC

A fit asks the workers for two things only: products of all features with a vector that
they are sent, and copies of a few features. Everything else happens at home, where the
fit was called.
"""

try:
    import dask.array  # noqa: F401

    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError(
        "frugalsvm.distributed needs dask and distributed, in the process that fits "
        "and on all workers: pip install 'frugalsvm[dask]'."
    ) from error

from .dask_frugal_svc import DaskFrugalSVC
from .traffic import Traffic

__all__ = ["DaskFrugalSVC", "Traffic"]
