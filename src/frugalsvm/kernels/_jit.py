"""How every kernel is compiled: cached on disk.

``jit`` lets the compiler reorder sums, which is what makes the loops fast; such kernels
are called by kernels only. ``jit_entry`` is the same for calls from Python, and
``jit_nogil`` for the one in which time is spent: it lets other threads run. Short calls
do not, for handing over the interpreter takes longer. ``jit_inline`` is for a large
function with one caller, which compiles faster as a part of it. ``jit_strict`` keeps
IEEE semantics and is for code whose rounding errors are part of a proof.
"""

from typing import Any

import numba

# Reordering and fused operations, but infinities and NaNs keep their meaning.
_REORDER = {"reassoc", "contract", "arcp", "nsz"}
# Wrappers that nobody calls take a tenth of the time to compile.
_COMMON = {"error_model": "numpy", "no_cfunc_wrapper": True}
_njit: Any = numba.njit

jit = _njit(cache=True, fastmath=_REORDER, no_cpython_wrapper=True, **_COMMON)
jit_entry = _njit(cache=True, fastmath=_REORDER, **_COMMON)
jit_nogil = _njit(cache=True, nogil=True, fastmath=_REORDER, **_COMMON)
jit_inline = _njit(inline="always", fastmath=_REORDER, **_COMMON)
jit_strict = _njit(cache=True, **_COMMON)
