"""How functions that only kernels call are compiled: as parts of their callers.

Numba optimises every function together with all that it calls and makes machine code of
it, though a caller contains it, too: what lies ten calls deep is compiled ten times.
Parts are left as Numba's front end made them, and each entry is optimised as a whole.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class _PartLibrary(JITCodeLibrary):
    """Intermediate code for others to contain; it never becomes machine code."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """Make each function smaller; Numba would not leave out declarations."""
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            if not function.is_declaration:
                passes, builder = self._codegen._function_pass_manager()
                passes.run(function, builder)

    def _optimize_final_module(self) -> None:
        """Leave it to those who contain it."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """There is none."""
        return 0

    @property
    def codegen(self) -> Any:
        """Who is told of the function's environment, which has no address here."""
        return self

    def set_env(self, env_name: str, env: Any) -> None:
        """Nothing to do: entries set those of all functions that they contain."""


class PartCompiler(Compiler):
    """Numba's compiler, but for where the code goes."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function."""
        codegen = self.state.targetctx.codegen()
        self.state.library = _PartLibrary(codegen, func.__qualname__)
        return super().compile_extra(func)


# What is overridden has to be there, or it would not be asked.
_EXPECTED = ("_optimize_functions", "_optimize_final_module", "_finalize_final_module")
if not all(hasattr(JITCodeLibrary, name) for name in _EXPECTED):
    raise ImportError("Numba is made differently")
