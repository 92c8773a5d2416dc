"""The decorators compile as documented; each test runs in its own process."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import frugalsvm

KERNELS = Path(frugalsvm.__file__).parent / "kernels"
# If reordered, (x + y) - x is y; otherwise a small y is lost.
SOURCE = """
from ._jit import jit_entry, jit_nogil, jit_strict

@jit_strict
def strict(x, y):
    return (x + y) - x

@jit_entry
def fast(x, y):
    return (x + y) - x

@jit_entry
def entry(x, y):
    return strict(x, y)

@jit_nogil
def nogil(x, y):
    return strict(x, y)
"""


@pytest.fixture
def run(tmp_path):
    """Runs code with the package ``small`` and returns what it prints."""
    package = tmp_path / "small"
    package.mkdir()
    for file in KERNELS.glob("_*.py"):
        shutil.copy(file, package)
    (package / "kernels.py").write_text(SOURCE)
    known = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA")}
    known |= {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run(code):
        process = subprocess.run(
            [sys.executable, "-c", code], env=known, capture_output=True, text=True
        )
        assert process.returncode == 0, process.stderr
        return process.stdout.split()

    return run


def test_the_test_detects_reordered_sums(run):
    code = "from small.kernels import fast, strict; print({}(1e16, 1.0))"
    assert run(code.format("fast")) == ["1.0"]
    assert run(code.format("strict")) == ["0.0"]


@pytest.mark.parametrize("caller", ["entry", "nogil"])
def test_strict_code_stays_strict_in_callers_that_reorder(run, caller):
    code = f"from small.kernels import {caller}; print({caller}(1e16, 1.0))"
    assert run(code) == ["0.0"]


def test_strict_code_stays_strict_when_a_fast_caller_compiled_it(run):
    code = "from small.kernels import entry, strict; entry(1e16, 1.0); "
    assert run(code + "print(strict(1e16, 1.0))") == ["0.0"]


# Squares and maxima use Numba's own functions, compiled once per process.
SQUARES = """
from ._jit import jit_entry, jit_strict

@jit_strict
def strict_square(x, y):
    return max(x ** 2, y)

@jit_entry
def fast_square(x, y):
    return max(x ** 2, y)
"""


@pytest.mark.parametrize("first", ["strict", "fast"])
def test_compiled_code_does_not_depend_on_earlier_compilations(run, tmp_path, first):
    """The process after a killed one compiles only some kernels."""
    (tmp_path / "small" / "squares.py").write_text(SQUARES)
    second = {"strict": "fast", "fast": "strict"}[first]
    printed = run(
        "from small.squares import strict_square, fast_square\n"
        f"{first}_square(3.0, 1.0), {second}_square(3.0, 1.0)\n"
        "for one in (strict_square, fast_square):\n"
        "    text = next(iter(one.inspect_llvm().values()))\n"
        "    print(sum('reassoc' in l and 'fmul' in l for l in text.splitlines()))\n"
        "    print(sum('reassoc' in l and 'fcmp' in l for l in text.splitlines()))"
    )
    products, maxima, fast_products, fast_maxima = map(int, printed)
    assert (products, maxima) == (0, 0)
    assert fast_products > 0
    assert fast_maxima == 0
