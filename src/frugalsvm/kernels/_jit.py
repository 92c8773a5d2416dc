"""How every kernel is compiled: cached on disk.

``jit`` lets the compiler reorder sums, which is what makes the loops fast;
``jit_strict`` keeps IEEE semantics and is for code whose rounding errors are part of a
proof. ``jit_nogil`` is ``jit`` for the calls in which time is spent: they let other
threads run. Short calls do not, for handing over the interpreter takes longer.
"""

from typing import Any

from numba import njit

# Reordering and fused operations, but infinities and NaNs keep their meaning.
_REORDER = {"reassoc", "contract", "arcp", "nsz"}

jit: Any = njit(cache=True, fastmath=_REORDER, error_model="numpy")
jit_nogil: Any = njit(cache=True, nogil=True, fastmath=_REORDER, error_model="numpy")
jit_strict: Any = njit(cache=True, error_model="numpy")
