"""The decorators that compile kernels.

Functions that only kernels call are parts of their callers and are compiled with them:

* ``jit`` is for those that neither make nor return arrays. Numba counts no references
  in them, since their callers hold all arguments; counting would take as long as an
  iteration on few samples.
* ``jit_new`` is for those that make arrays.
* ``jit_strict_part`` is for parts of proofs.

Functions that Python calls are cached on disk:

* ``jit_entry`` is the usual one.
* ``jit_nogil`` is for long calls: it releases the GIL, so that other threads run. Short
  calls do not, since reacquiring the GIL would take longer.
* ``jit_strict`` is for code whose rounding errors are part of a proof, and
  ``jit_strict_nogil`` for long calls of such code.

Strict code keeps IEEE semantics; in all other code the compiler may reorder sums, which
makes the loops fast.
"""

import functools
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
from numba.core.compiler_lock import global_compiler_lock

# Reordering and fused operations, but infinities and NaNs keep their meaning.
_REORDER = {"reassoc", "contract", "arcp", "nsz"}
# Unused wrappers would take a tenth of the compilation time.
_COMMON = {"error_model": "numpy", "no_cfunc_wrapper": True}
# Both are always set: otherwise a function would inherit them from its first caller.
_FAST = {"fastmath": _REORDER, "_nrt": True, **_COMMON}
_STRICT = {"fastmath": False, "_nrt": True, **_COMMON}
_njit: Any = numba.njit


def _entry(**options: Any) -> Callable[[Any], Any]:
    """A decorator that compiles on first use and caches the result on disk."""

    def decorate(function: Any) -> Any:
        dispatcher = _njit(**options, **_compiled_by("EntryCompiler"))(function)
        # NUMBA_DISABLE_JIT leaves plain functions.
        if hasattr(dispatcher, "enable_caching"):
            _enable_cache(dispatcher)
            dispatcher.compile = functools.partial(_compile, dispatcher.compile)
        return dispatcher

    return decorate


def _compile(usual: Callable[[Any], Any], signature: Any) -> Any:
    """Compile or load a kernel, but not in the main thread, which handles signals.

    LLVM calls Python back, where an exception from a handler would be ignored; at other
    moments it would leave Numba's registries half filled. Ctrl-C waits for the end.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or global_compiler_lock.is_locked():
        return usual(signature)
    with ThreadPoolExecutor(1, thread_name_prefix="frugalsvm compiler") as pool:
        return pool.submit(usual, signature).result()


def _part(**options: Any) -> Callable[[Any], Any]:
    """A decorator for functions that only kernels call."""
    return _njit(no_cpython_wrapper=True, **options, **_compiled_by("PartCompiler"))


def _compiled_by(name: str) -> dict[str, Any]:
    """Our compiler, or Numba's if this version of Numba does not support ours."""
    try:
        from . import _compiler
    except ImportError:
        return {}
    return {"pipeline_class": getattr(_compiler, name)}


def _enable_cache(dispatcher: Any) -> None:
    """Use our cache, or Numba's if ours has no sources or is not supported."""
    try:
        from ._cache import KernelCache

        dispatcher._cache = KernelCache(dispatcher.py_func)
    except (ImportError, TypeError, OSError):
        try:
            dispatcher.enable_caching()
        except RuntimeError:  # it finds no folder that it can write
            warn_not_cached()


def is_cached(kernel: Any) -> bool:
    """Whether a compiled form of a kernel is on disk; True if that is unknown."""
    return getattr(getattr(kernel, "_cache", None), "is_cached", True)


@functools.cache
def warn_not_cached() -> None:
    """Warn once per process that compiled kernels are not cached."""
    warnings.warn(
        "frugalsvm cannot save its compiled kernels, so every process compiles them "
        "again: set NUMBA_CACHE_DIR to a folder that can be written.",
        stacklevel=2,
    )


jit = _part(**_FAST | {"_nrt": False})
jit_new = _part(**_FAST)
jit_strict_part = _part(**_STRICT)
jit_entry = _entry(**_FAST)
jit_nogil = _entry(nogil=True, **_FAST)
jit_strict = _entry(**_STRICT)
jit_strict_nogil = _entry(nogil=True, **_STRICT)
