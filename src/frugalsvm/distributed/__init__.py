"""Data too large for one machine: column blocks of X on a dask cluster.

    from frugalsvm.distributed import DaskFrugalSVC

A fit needs only two things from the workers: products of all features with a vector,
and copies of a few features. Everything else happens in the process that called the
fit.
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
from .dask_source import Traffic

__all__ = ["DaskFrugalSVC", "Traffic"]
