"""How every kernel is compiled: cached on disk.

``jit`` lets the compiler reorder sums, which is what makes the loops fast; such kernels
are called by kernels only. ``jit_entry`` is the same for calls from Python, and
``jit_nogil`` for the one in which time is spent: it lets other threads run. Short calls
do not, for handing over the interpreter takes longer. ``jit_inline`` is for a large
function with one caller, which compiles faster as a part of it. ``jit_strict`` keeps
IEEE semantics and is for code whose rounding errors are part of a proof.
"""

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numba

# Reordering and fused operations, but infinities and NaNs keep their meaning.
_REORDER = {"reassoc", "contract", "arcp", "nsz"}
# Wrappers that nobody calls take a tenth of the time to compile.
_COMMON = {"error_model": "numpy", "no_cfunc_wrapper": True}
_njit: Any = numba.njit


def _kept(**options: Any) -> Callable[[Any], Any]:
    """A decorator that compiles on first use and keeps what it compiled."""

    def decorate(function: Any) -> Any:
        dispatcher = _njit(**options)(function)
        # NUMBA_DISABLE_JIT leaves plain functions.
        if hasattr(dispatcher, "enable_caching"):
            _keep(dispatcher)
        return dispatcher

    return decorate


def _keep(dispatcher: Any) -> None:
    """Our cache; Numba's own where sources are missing or Numba is made differently."""
    try:
        from ._cache import KernelCache

        dispatcher._cache = KernelCache(dispatcher.py_func)
    except (ImportError, TypeError, OSError):
        _keep_by_numba(dispatcher)


def _keep_by_numba(dispatcher: Any) -> None:
    try:
        dispatcher.enable_caching()
    except RuntimeError:  # it finds no folder that it can write
        warn_not_kept()


@functools.cache
def warn_not_kept() -> None:
    """Say once in a process that what is compiled will be lost."""
    warnings.warn(
        "The compiled kernels of frugalsvm cannot be kept, so that every process "
        "compiles them again: set NUMBA_CACHE_DIR to a folder that can be written.",
        stacklevel=2,
    )


jit = _kept(fastmath=_REORDER, no_cpython_wrapper=True, **_COMMON)
jit_entry = _kept(fastmath=_REORDER, **_COMMON)
jit_nogil = _kept(nogil=True, fastmath=_REORDER, **_COMMON)
jit_inline = _njit(inline="always", fastmath=_REORDER, **_COMMON)
# Said aloud: without it, the first caller's choice would hold for what it calls.
jit_strict = _kept(fastmath=False, **_COMMON)
