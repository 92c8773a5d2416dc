"""How every kernel is compiled: cached on disk, without the GIL.

``jit`` lets the compiler reorder sums, which is what makes the loops fast;
``jit_strict`` keeps IEEE semantics and is for code whose rounding errors are part of a
proof.
"""

from typing import Any

from numba import njit

# Reordering and fused operations, but infinities and NaNs keep their meaning.
_REORDER = {"reassoc", "contract", "arcp", "nsz"}

jit: Any = njit(cache=True, nogil=True, fastmath=_REORDER, error_model="numpy")
jit_strict: Any = njit(cache=True, nogil=True, error_model="numpy")
