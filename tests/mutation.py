"""Mutation testing: do the tests detect wrong code?

    python -m tests.mutation checker --sample 300 --seed 0
    python -m tests.mutation bounds --sample 300 --seed 0

A mutant is the code with one operator, number or condition changed, as cosmic-ray does
it; it is killed if a test fails or does not end. A fresh interpreter for each would
spend its time on imports, so one process imports everything and forks a child for each:
the child executes the changed source in place of the module and runs the tests. Numba
is off for ``bounds``, for compiling would take longer than the tests.
"""

import argparse
import ast
import difflib
import os
import random
import signal
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

# Seconds after which a mutant counts as killed.
PATIENCE = 90

# Modules in the order of their imports: all from the changed one on are executed.
MODULES = {
    "checker": [
        "frugalsvm.checker.arithmetic", "frugalsvm.checker.reading",
        "frugalsvm.checker.table", "frugalsvm.checker.columns",
        "frugalsvm.checker.scaling", "frugalsvm.checker.statement",
        "frugalsvm.checker.points", "frugalsvm.checker.listing",
        "frugalsvm.checker.proof", "frugalsvm.checker",
    ],
    "bounds": ["frugalsvm.kernels.bounds"],
}  # fmt: skip
# Files of tests, one run each until one fails.
TESTS = {
    "checker": [
        "tests/checker/test_arithmetic.py", "tests/checker/test_proof.py",
        "tests/checker/test_statement.py", "tests/checker/test_listing.py",
        "tests/checker/test_reading.py", "tests/checker/test_table.py",
        "tests/checker/test_columns.py", "tests/checker/test_machines.py",
        "tests/checker/test_scaling.py", "tests/checker/test_node_bounds.py",
        "tests/checker/test_machine_arithmetic.py",
        "tests/tree/test_proof.py",
    ],
    "bounds": ["tests/kernels/test_bounds.py"],
}  # fmt: skip
# Slow tests of other things, and tests that need kernels compiled by Numba.
SKIPPED = (
    "flipped_bytes", "bombs", "what_is_written_verifies", "raw_wine", "packs_too_well",
    "no_bound_exceeds_the_optimum", "not_even_read", "observes", "no_forgery",
    "to_check", "missing_nodes", "from_closing", "prices_are_part", "stored_points",
    "without_a_tree",
)  # fmt: skip
# Modules that the tests need, imported once.
WARM = (
    "frugalsvm.cli.entry", "frugalsvm.estimators", "frugalsvm.kernels.screening",
    "frugalsvm.paper.models", "clarabel", "hypothesis", "pytest", "scipy.optimize",
    "sklearn.datasets", "cosmic_ray.mutating",
)  # fmt: skip


class Mutant(NamedTuple):
    """A module, the operator that changes it, and at which of its occurrences."""

    module: str
    operator: str
    occurrence: int

    def source(self):
        from cosmic_ray.mutating import mutate_code
        from cosmic_ray.plugins import get_operator

        operator = get_operator(self.operator)()
        return mutate_code(source_of(self.module), operator, self.occurrence)

    def __str__(self):
        lines = (source_of(self.module).split("\n"), self.source().split("\n"))
        _, _, where, *changes = difflib.unified_diff(*lines, n=0)
        changes = "\n".join(f"    {line}" for line in changes)
        return f"{self.module} {where.strip()} {self.operator}\n{changes}"


def source_of(module):
    return Path(sys.modules[module].__file__).read_text()


class _Bare(ast.NodeTransformer):
    """Drops what has no effect: annotations, and decorators that are off."""

    def visit_FunctionDef(self, node):
        node.returns = None
        decorators = node.decorator_list
        node.decorator_list = [d for d in decorators if "jit" not in ast.unparse(d)]
        return self.generic_visit(node)

    def visit_arg(self, node):
        return ast.arg(node.arg)

    def visit_AnnAssign(self, node):
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)


def meaning(source):
    """A key that distinguishes programs; None for invalid ones."""
    try:
        return ast.dump(_Bare().visit(ast.parse(source)))
    except SyntaxError:
        return None


def all_mutants(target):
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    for module in MODULES[target]:
        nodes = list(ast_nodes(get_ast(source_of(module))))
        for name in operator_names():
            try:
                operator = get_operator(name)()
            except TypeError:
                # An operator that needs to know which variables to change.
                continue
            places = sum(len(list(operator.mutation_positions(node))) for node in nodes)
            for occurrence in range(places):
                yield Mutant(module, name, occurrence)


def sample(target, size, seed):
    """A number of random mutants: valid programs, and others."""
    mutants = list(all_mutants(target))
    print(f"{len(mutants)} mutants of {target}", flush=True)
    random.Random(seed).shuffle(mutants)
    right = {module: meaning(source_of(module)) for module in MODULES[target]}
    for mutant in mutants:
        if size and meaning(mutant.source()) not in (None, right[mutant.module]):
            yield mutant
            size -= 1


def put_in_place(target, changed, source):
    """Execute the changed module and those that import it; rebind their names."""
    names = MODULES[target]
    modules = [sys.modules[name] for name in names[names.index(changed) :]]
    old = [dict(vars(module)) for module in modules]
    for module in modules:
        code = source if module.__name__ == changed else source_of(module.__name__)
        exec(compile(code, module.__file__, "exec"), vars(module))
    for name, user in list(sys.modules.items()):
        if not name.startswith("frugalsvm") or user in modules:
            continue
        for module, before in zip(modules, old, strict=True):
            for key, value in list(vars(user).items()):
                if key[:2] != "__" and key in before and before[key] is value:
                    setattr(user, key, vars(module)[key])


def run_tests(target, changed, source):
    """Main function of a forked process: 0 if all tests pass."""
    import pytest

    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    put_in_place(target, changed, source)
    # Its own tests are the most likely to detect it.
    own = f"test_{changed.rpartition('.')[2]}.py"
    files = sorted(TESTS[target], key=lambda file: not file.endswith(own))
    options = ["-x", "-q", "-p", "no:cacheprovider"]
    options += ["-k", " and ".join(f"not {name}" for name in SKIPPED)]
    # Compiled code does not warn.
    options += ["-W", "ignore::RuntimeWarning"] * (target == "bounds")
    return next(filter(None, (pytest.main([*options, file]) for file in files)), 0)


def survives(target, changed, source):
    pid = os.fork()
    if pid == 0:
        signal.alarm(PATIENCE)
        code = 1
        try:
            code = run_tests(target, changed, source)
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    return status == 0


def warm(target):
    """Import what the tests need, and compile kernels."""
    for name in WARM:
        import_module(name)
    if target == "checker":
        import numpy as np

        from frugalsvm import FrugalSVC
        from frugalsvm.kernels.bounds import repair_dual

        X = np.random.default_rng(0).normal(size=(30, 5))
        FrugalSVC(2, certificate=True).fit(X, X[:, 0] + X[:, 1] ** 2 > 0.5)
        repair_dual(np.ones(2), np.array([1.0, -1.0]), np.ones(2), True)


def main():
    parser = argparse.ArgumentParser(description="Change the code; do tests fail?")
    parser.add_argument("target", choices=MODULES)
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    target = arguments.target
    if target == "bounds":
        os.environ["NUMBA_DISABLE_JIT"] = "1"
    # Quicker, and one thread: others do not survive a fork.
    os.environ.update(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", OPENBLAS_NUM_THREADS="1")
    try:
        warm(target)
    except ImportError as error:
        sys.exit(f"{error}. Mutation testing needs cosmic-ray: pip install cosmic-ray")
    first = MODULES[target][0]
    if not survives(target, first, source_of(first)):
        sys.exit("The tests fail, or take too long, with the code as it is.")
    killed, start = 0, time.monotonic()
    mutants = sample(target, arguments.sample, arguments.seed)
    for tried, mutant in enumerate(mutants, 1):
        if survives(target, mutant.module, mutant.source()):
            print(f"survived: {mutant}")
        else:
            killed += 1
        if tried % 10 == 0 or tried == arguments.sample:
            share = f"{killed} of {tried} killed ({100 * killed / tried:.1f} %)"
            print(f"{time.monotonic() - start:6.0f}s  {share}", flush=True)


if __name__ == "__main__":
    main()
