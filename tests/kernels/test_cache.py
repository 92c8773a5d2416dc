"""Compiled kernels are cached, found again, and never mistaken for others.

Everything happens in processes of their own, with a small package that is compiled like
the kernels: ``caller`` contains a kernel of another file, ``callee``.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import frugalsvm

KERNELS = Path(frugalsvm.__file__).parent / "kernels"
CALLEE = """
from ._jit import jit

@jit
def shift(x):
    return x + {}
"""
CALLER = """
from ._jit import jit_entry
from .callee import shift

@jit_entry
def shifted(x):
    return shift(x)
"""
# Prints the value, and how often the kernel was compiled and loaded.
RUN = """
from small.caller import shifted
value = shifted(1.0)
stats = shifted.stats
print(value, sum(stats.cache_misses.values()), sum(stats.cache_hits.values()))
"""

needs_home = pytest.mark.skipif(
    sys.platform == "win32", reason="the user's cache is not found through a variable"
)


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "small"
    folder.mkdir()
    for file in KERNELS.glob("_*.py"):
        shutil.copy(file, folder)
    (folder / "callee.py").write_text(CALLEE.format(1))
    (folder / "caller.py").write_text(CALLER)
    return folder


@pytest.fixture
def start(package, tmp_path):
    """Starts a process with the package and its own home folder."""
    home = tmp_path / "home"
    home.mkdir()
    known = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA", "XDG"))}
    known |= {"HOME": str(home), "PYTHONPATH": str(package.parent)}
    known["PYTHONDONTWRITEBYTECODE"] = "1"

    def start(code=RUN, **environment):
        return subprocess.Popen(
            [sys.executable, "-c", code],
            env=known | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


@pytest.fixture
def run(start):
    """Runs a process; returns what it printed and its warnings."""

    def run(*args, **environment):
        process = start(*args, **environment)
        output, errors = process.communicate()
        assert process.returncode == 0, errors
        return output.split(), errors

    return run


def block(folder):
    """Put a file in place of a folder: root could write to a read-only folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.write_text("")


def kept(folder):
    return sorted(folder.rglob("*.nbc"))


def test_the_second_process_loads_what_the_first_compiled(run, package):
    assert run() == (["2.0", "1", "0"], "")
    assert kept(package / "__pycache__")
    assert run() == (["2.0", "0", "1"], "")


def test_a_change_in_another_file_recompiles_the_kernel(run, package):
    run()
    (package / "callee.py").write_text(CALLEE.format(2))
    assert run()[0] == ["3.0", "1", "0"]
    (package / "callee.py").write_text(CALLEE.format(1))
    assert run()[0] == ["2.0", "0", "1"]


def test_folders_of_old_sources_are_deleted(run, package):
    folder = package / "__pycache__"
    for number in range(6):
        (folder / f"frugalsvm-{number}").mkdir(parents=True)
        os.utime(folder / f"frugalsvm-{number}", (number, number))
    run()
    names = {old.name for old in folder.glob("frugalsvm-?")}
    assert names == {"frugalsvm-3", "frugalsvm-4", "frugalsvm-5"}
    assert run()[0] == ["2.0", "0", "1"]


def test_a_damaged_file_is_compiled_again(run, package):
    run()
    for file in kept(package):
        file.write_bytes(file.read_bytes()[:-1])
    assert run()[0] == ["2.0", "1", "0"]
    assert run()[0] == ["2.0", "0", "1"]


@needs_home
def test_a_read_only_installation_uses_the_home_folder(run, package, tmp_path):
    block(package / "__pycache__")
    assert run() == (["2.0", "1", "0"], "")
    assert kept(tmp_path / "home")
    assert run()[0] == ["2.0", "0", "1"]


def test_cached_kernels_load_from_read_only_folders(run, package, tmp_path):
    run()
    block(tmp_path / "home")
    folders = [package / "__pycache__", *(package / "__pycache__").iterdir()]
    for folder in folders:
        folder.chmod(0o555)
    assert run() == (["2.0", "0", "1"], "")
    for folder in folders:
        folder.chmod(0o755)


@needs_home
def test_without_a_writable_folder_it_compiles_and_warns(run, package, tmp_path):
    block(package / "__pycache__")
    block(tmp_path / "home")
    values, warnings = run()
    assert values == ["2.0", "1", "0"]
    assert warnings.count("set NUMBA_CACHE_DIR") == 1
    folder = tmp_path / "elsewhere"
    assert run(NUMBA_CACHE_DIR=str(folder)) == (["2.0", "1", "0"], "")
    assert run(NUMBA_CACHE_DIR=str(folder))[0] == ["2.0", "0", "1"]


def test_the_package_imports_without_a_writable_folder(run, tmp_path):
    shutil.copytree(KERNELS.parent, tmp_path / "frugalsvm")
    block(tmp_path / "frugalsvm" / "kernels" / "__pycache__")
    block(tmp_path / "home")
    code = "import frugalsvm.solving.solver; print(frugalsvm.__file__)"
    assert run(code) == ([str(tmp_path / "frugalsvm" / "__init__.py")], "")


def test_concurrent_processes_do_not_interfere(start, run, package):
    # Two signatures, so that there are two files of the same kernel to mix up.
    of_integers = RUN.replace("1.0", "1")
    started = [start(code) for code in (RUN, of_integers, RUN, of_integers)]
    printed = []
    for process, value in zip(started, ("2.0", "2", "2.0", "2"), strict=True):
        output, errors = process.communicate()
        assert process.returncode == 0, errors
        assert output.split()[0] == value
        printed.append(output.split())
    if sys.platform != "win32":
        # If files can be locked, one of each two processes compiles.
        expected = [["2", "0", "1"], ["2", "1", "0"], ["2.0", "0", "1"]]
        assert sorted(printed) == [*expected, ["2.0", "1", "0"]]
        assert not list(package.rglob("*.lock"))
    assert run(RUN)[0] == ["2.0", "0", "1"]
    assert run(of_integers)[0] == ["2", "0", "1"]
    assert not list(package.rglob("*.tmp"))


# Compilation never ends.
STUCK = """
import time
import numba.core.compiler

def compile_extra(*args, **kwargs):
    print("here", flush=True)
    time.sleep(60)

numba.core.compiler.compile_extra = compile_extra
"""
needs_locks = pytest.mark.skipif(sys.platform == "win32", reason="no locks of files")


@needs_locks
def test_a_killed_process_does_not_block_others(start, run, package):
    process = start(STUCK + RUN)
    assert process.stdout.readline() == "here\n"
    assert list(package.rglob("*.lock"))
    process.kill()
    process.communicate()
    assert run(RUN) == (["2.0", "1", "0"], "")


@needs_locks
def test_a_failed_compilation_can_be_repeated(run):
    failing = """
from small.caller import shifted
for _ in range(2):
    try:
        shifted("text")
    except Exception as error:
        print(type(error).__name__)
print(shifted(1.0))
"""
    assert run(failing)[0] == ["TypingError", "TypingError", "2.0"]


@needs_home
def test_an_unsupported_numba_uses_its_own_cache(run, package, tmp_path):
    different = "import numba.core.caching as c; del c._Cache\n"
    assert run(different + RUN) == (["2.0", "1", "0"], "")
    assert list(package.rglob("*.nbi"))
    assert run(different + RUN)[0] == ["2.0", "0", "1"]
    block(package / "__pycache__")
    block(tmp_path / "home")
    values, warnings = run(different + RUN)
    assert values == ["2.0", "1", "0"]
    assert warnings.count("set NUMBA_CACHE_DIR") == 1


def test_an_unsupported_numba_uses_its_own_compiler(run):
    different = "import numba.core.codegen as c; del c.JITCodeLibrary\n"
    assert run(different + RUN)[0] == ["2.0", "1", "0"]
    assert run(different + RUN)[0] == ["2.0", "0", "1"]


def test_kernels_are_plain_python_if_compilation_is_off(run, package):
    code = "from small.caller import shifted; print(shifted(1.0))"
    assert run(code, NUMBA_DISABLE_JIT="1") == (["2.0"], "")
    assert not kept(package)
