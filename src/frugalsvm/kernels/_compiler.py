"""Faster compilation of kernels than by Numba's default pipeline.

Numba optimises every function together with all functions that it calls and generates
machine code for it, though its callers contain it, too: a function ten calls deep is
compiled ten times. Here functions that only kernels call are *parts*: they stay as
Numba's front end produces them, and each entry is optimised as a whole.
"""

import contextlib
import gc
from collections.abc import Iterator
from typing import Any

from numba.core import types
from numba.core.boxing import box_array
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager
from numba.core.pythonapi import _boxers
from numba.core.targetconfig import ConfigStack

# Passes that parts do not need: they have no closures, array expressions, branches on
# types or functions to inline, and need no diagnostics.
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

# Numba's internal functions as compiled for strict and for fast code.
_helpers: dict[bool, dict[Any, Any]] = {False: {}, True: {}}


@contextlib.contextmanager
def _collector_paused() -> Iterator[None]:
    """Pause garbage collection: a compiler makes many objects and little garbage."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _keep_apart(state: Any) -> None:
    """Keep strict and fast code from sharing Numba's own functions, such as powers.

    Each of them is compiled once per process, with the flags of its first caller. So
    the last bits of a kernel would depend on what was compiled before it, and strict
    code would contain operations that may be reordered.
    """
    # Functions that implement an operation.
    state.targetctx.cached_internal_func = _helpers[bool(state.flags.fastmath)]
    # Functions looked up by their types: they are strict for all callers.
    inherited = ConfigStack().top()
    inherited.fastmath = False
    inherited.nrt = True


def _box_array(kind: Any, value: Any, c: Any) -> Any:
    """Numba's ``box_array``, with the class of the array as a constant."""
    of_class = c.env_manager.read_const(c.env_manager.add_const(kind.box_type))
    c.pyapi.unserialize = lambda _: of_class
    try:
        return box_array(kind, value, c)
    finally:
        del c.pyapi.unserialize


def _refuse(kind: Any, value: Any, c: Any) -> Any:
    raise TypeError(f"an entry returns arrays, numbers and plain tuples, not {kind}")


@contextlib.contextmanager
def _results_without_python() -> Iterator[None]:
    """Return results from compiled code without a call of Python.

    For every array or named tuple that an entry returns, Numba calls a Python function
    that looks up its class, and uses the answer unchecked. A signal that arrived
    meanwhile is handled in that function: if its handler raises, as that of Ctrl-C
    does, there is no answer, and the process crashes. Numba's lock is held here.
    """
    usual = dict(_boxers.functions)
    named = dict.fromkeys((types.NamedTuple, types.NamedUniTuple), _refuse)
    _boxers.functions.update({types.Array: _box_array} | named)
    try:
        yield
    finally:
        _boxers.functions.update(usual)


class EntryCompiler(Compiler):
    """Numba's compiler for functions that Python calls."""

    def define_pipelines(self) -> list[Any]:
        """Numba's passes."""
        _keep_apart(self.state)
        return list(super().define_pipelines())

    def compile_extra(self, func: Any) -> Any:
        """Compile a function and all functions that it calls."""
        with _collector_paused(), _results_without_python():
            return super().compile_extra(func)


class PartCompiler(Compiler):
    """Numba's compiler for functions that only kernels call."""

    def define_pipelines(self) -> list[Any]:
        """Numba's passes without those that would have no effect."""
        _keep_apart(self.state)
        usual = DefaultPassBuilder.define_nopython_pipeline(self.state)
        lean = PassManager("kernels")
        for part, description in usual.passes:
            if part.__name__ not in UNNEEDED:
                lean.add_pass(part, description)
        lean.finalize()
        return [lean]

    def compile_extra(self, func: Any) -> Any:
        """Compile a function as far as its callers need."""
        codegen = self.state.targetctx.codegen()
        self.state.library = _PartLibrary(codegen, func.__qualname__)
        return super().compile_extra(func)


class _PartLibrary(JITCodeLibrary):
    """Intermediate code to include in callers; it never becomes machine code."""

    def _optimize_final_module(self) -> None:
        """Nothing to do: callers are optimised as a whole."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """There is none."""
        return 0

    @property
    def codegen(self) -> Any:
        """The object that receives the environment, which has no address here."""
        return self

    def set_env(self, env_name: str, env: Any) -> None:
        """Nothing to do: entries set those of all functions that they contain."""


# Overridden methods must exist in Numba, or they would never be called.
for _name in ("_optimize_final_module", "_finalize_final_module"):
    if not hasattr(JITCodeLibrary, _name):
        raise ImportError(f"Numba is made differently: no {_name}")
