"""How kernels are compiled, where Numba's own way takes longer than it needs.

Numba optimises every function together with all that it calls and makes machine code of
it, though a caller contains it, too: what lies ten calls deep is compiled ten times.
Functions that only kernels call are parts here: they are left as Numba's front end made
them, and each entry is optimised as a whole.
"""

import contextlib
import gc
from collections.abc import Iterator
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager
from numba.core.targetconfig import ConfigStack

# Passes for what parts do not have: closures, array expressions, branches on types,
# functions to copy into others, and reports about them.
UNNEEDED = {
    "WithLifting",
    "InlineClosureLikes",
    "RewriteSemanticConstants",
    "DeadBranchPrune",
    "RewriteDynamicRaises",
    "MakeFunctionToJitFunction",
    "InlineInlinables",
    "FindLiterallyCalls",
    "LiteralUnroll",
    "LiteralPropagationSubPipelinePass",
    "InlineOverloads",
    "NopythonRewrites",
    "NoPythonSupportedFeatureValidation",
    "AnnotateTypes",
    "DumpParforDiagnostics",
}

# Functions of Numba's own as they are compiled into strict and into fast code.
_helpers: dict[bool, dict[Any, Any]] = {False: {}, True: {}}


@contextlib.contextmanager
def _collector_paused() -> Iterator[None]:
    """Do not look for garbage: a compiler leaves little, and has a lot to look at."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _keep_apart(state: Any) -> None:
    """Let strict and fast code share no function of Numba's own, such as a power.

    Each is compiled once in a process, in the manner of whoever calls it first. So a
    kernel would differ in its last bits with what was compiled before it, and strict
    code would contain operations that may be reordered.
    """
    # Those that are parts of how an operation is compiled.
    state.targetctx.cached_internal_func = _helpers[bool(state.flags.fastmath)]
    # Those that are looked up by their types: they are strict for everybody.
    inherited = ConfigStack().top()
    inherited.fastmath = False
    inherited.nrt = True


class EntryCompiler(Compiler):
    """Numba's compiler for functions that Python calls."""

    def define_pipelines(self) -> list[Any]:
        """Numba's passes."""
        _keep_apart(self.state)
        return list(super().define_pipelines())

    def compile_extra(self, func: Any) -> Any:
        """Compile a function, and all that it calls."""
        with _collector_paused():
            return super().compile_extra(func)


class PartCompiler(Compiler):
    """Numba's compiler for functions that only kernels call."""

    def define_pipelines(self) -> list[Any]:
        """Numba's passes, but for those that would find nothing to do."""
        _keep_apart(self.state)
        usual = DefaultPassBuilder.define_nopython_pipeline(self.state)
        lean = PassManager("kernels")
        for part, description in usual.passes:
            if part.__name__ not in UNNEEDED:
                lean.add_pass(part, description)
        lean.finalize()
        return [lean]

    def compile_extra(self, func: Any) -> Any:
        """Compile a function as far as its callers need it."""
        codegen = self.state.targetctx.codegen()
        self.state.library = _PartLibrary(codegen, func.__qualname__)
        return super().compile_extra(func)


class _PartLibrary(JITCodeLibrary):
    """Intermediate code for others to contain; it never becomes machine code."""

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


# What is overridden has to be there, or it would not be asked.
for _name in ("_optimize_final_module", "_finalize_final_module"):
    if not hasattr(JITCodeLibrary, _name):
        raise ImportError(f"Numba is made differently: no {_name}")
