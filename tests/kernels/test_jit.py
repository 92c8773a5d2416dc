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


# Waits for another thread, then returns arrays. The count keeps the compiler from
# reading the flag only once.
WAITING = """
from typing import NamedTuple
import numpy as np
from ._jit import jit_entry, jit_nogil

class Named(NamedTuple):
    x: np.ndarray

@jit_nogil
def wait_for(flag, count):
    while flag[0] == 0.0:
        count[0] += 1.0
    return np.empty(3), 1.0, np.empty((2, 2), dtype=np.int64)

@jit_entry
def named(x):
    return Named(x)
"""
INTERRUPTED = """
import os, signal, threading, time
import numpy as np
from small.waiting import wait_for

wait_for(np.ones(1), np.zeros(1))
flag, count = np.zeros(1), np.zeros(1)

def interrupt():
    while count[0] == 0.0:
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGINT)
    flag[0] = 1.0

threading.Thread(target=interrupt).start()
try:
    wait_for(flag, count)
except KeyboardInterrupt:
    print("interrupted")
print([part.dtype.name for part in wait_for(flag, count)[::2]])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill would end the process")
@pytest.mark.parametrize("process", ["compiling", "loading"])
def test_a_signal_during_a_kernel_that_returns_arrays_is_only_an_exception(
    run, tmp_path, process
):
    (tmp_path / "small" / "waiting.py").write_text(WAITING)
    if process == "loading":
        run(INTERRUPTED)
    assert run(INTERRUPTED) == ["interrupted", "['float64',", "'int64']"]


COMPILING = """
import os, signal
from numba.core import event
from small.kernels import fast

class Interrupting(event.Listener):
    def on_start(self, event):
        os.kill(os.getpid(), signal.SIGINT)

    def on_end(self, event):
        pass

try:
    with event.install_listener("numba:compile", Interrupting()):
        fast(1.0, 1.0)
except KeyboardInterrupt:
    print("interrupted", len(fast.signatures))
print(fast(1.0, 1.0))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill would end the process")
def test_a_signal_during_compilation_waits_for_its_end(run):
    assert run(COMPILING) == ["interrupted", "1", "1.0"]


def test_an_entry_that_returns_a_named_tuple_is_refused(run, tmp_path):
    """Its class would be a call of Python from compiled code."""
    (tmp_path / "small" / "waiting.py").write_text(WAITING)
    code = (
        "import numpy as np\n"
        "from small.waiting import named\n"
        "try: named(np.ones(1))\n"
        "except Exception as error: print('plain tuples' in str(error))"
    )
    assert run(code) == ["True"]
