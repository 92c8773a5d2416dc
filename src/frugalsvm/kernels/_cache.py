"""A cache of compiled kernels on disk, so that only the first process compiles them.

Numba's own cache checks only the file of a function, though a kernel includes code of
other files that it calls; it does not use a folder that is read-only, even if that has
all kernels; and two processes can overwrite each other's files. Here a folder holds the
kernels of one state of all sources, and a file holds one kernel for one signature and
processor. If several processes start at once, such as the workers of a cluster, only
one of them compiles a kernel.

Folders are those that Numba would choose: only NUMBA_CACHE_DIR if it is set, otherwise
``__pycache__`` next to the kernels and then the user's cache. A kernel is loaded from
any of them and saved in the first one that is writable.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import shutil
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

from ._jit import warn_not_cached

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_config: Any = numba.config
SOURCES = Path(__file__).parent
# Most folders next to the kernels, for the last edits and for environments with other
# versions of Numba. The oldest ones are deleted.
MAX_FOLDERS = 4
# Seconds that a process waits for another one to compile a kernel, and between checks.
PATIENCE, PAUSE = 120.0, 0.02
_DIGEST_SIZE = hashlib.sha256().digest_size


class KernelCache(_Cache):
    """The compiled versions of one kernel, with the interface that Numba expects."""

    def __init__(self, py_func: Any) -> None:
        # The name of a closure does not identify it.
        assert py_func.__closure__ is None, py_func
        self._name = f"{py_func.__module__.split('.')[-1]}.{py_func.__qualname__}"
        self._folder: Path | None = None
        self._locks: dict[str, _CompilationLock] = {}
        state()  # raise an OSError now rather than when something is compiled

    @property
    def cache_path(self) -> str | None:
        """The folder that was last loaded from or saved into."""
        return None if self._folder is None else str(self._folder)

    @property
    def is_cached(self) -> bool:
        """Whether there is a file for any signature."""
        return any(
            any(folder.glob(f"{self._name}-*.nbc")) for folder in cache_folders()
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The kernel for this signature, or None."""
        target_context.refresh()
        name = self._file_name(sig, target_context.codegen())
        kernel = self._load(name, target_context)
        if kernel is None and name not in self._locks:
            # One process compiles it, others wait and load it. Numba holds its compiler
            # lock here, so there is only one thread.
            self._locks[name] = _CompilationLock(name)
            kernel = self._load(name, target_context)
            if kernel is not None:
                self._locks.pop(name).release()
        return kernel

    def _load(self, name: str, target_context: Any) -> Any:
        for folder in cache_folders():
            payload = _read(folder / name)
            if payload is not None:
                self._folder = folder
                return _rebuild(target_context, payload)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write the kernel into the first writable folder."""
        name = self._file_name(sig, data.codegen)
        try:
            self._save(name, data)
        finally:
            lock = self._locks.pop(name, None)
            if lock is not None:
                lock.release()

    def _save(self, name: str, data: Any) -> None:
        if data.lifted or data.library.has_dynamic_globals:
            return  # it contains addresses of this process
        payload = dumps(data._reduce())
        for folder in cache_folders():
            try:
                _write(folder / name, payload)
            except OSError:
                continue
            self._folder = folder
            return
        warn_not_cached()

    def flush(self) -> None:
        """Delete the kernel, so that it is compiled again."""
        for folder in cache_folders():
            for file in folder.glob(f"{self._name}-*.nbc"):
                file.unlink(missing_ok=True)

    def enable(self) -> None:
        """Nothing to do: the cache is always enabled."""

    def disable(self) -> None:
        """Nothing to do: the cache is never disabled."""

    def _file_name(self, sig: Any, codegen: Any) -> str:
        key = (
            sys.implementation.cache_tag,
            sig,
            codegen.magic_tuple(),
            _config.OPT,
            _config.BOUNDSCHECK,
        )
        return f"{self._name}-{hashlib.sha256(repr(key).encode()).hexdigest()[:32]}.nbc"


class _CompilationLock:
    """A lock that lets one process of a machine compile a kernel at a time.

    The end of the process releases it, so that a compilation that fails or is killed
    does not block others for long. It has no effect if files cannot be locked.
    """

    def __init__(self, name: str):
        self._file: Any = None
        if fcntl is None:
            return
        for folder in cache_folders():
            try:
                _make_folder(folder)
                self._path = folder / f"{name}.lock"
                self._file = open(self._path, "wb")  # noqa: SIM115 (closed at the end)
                break
            except OSError:
                continue
        else:
            return
        until = time.monotonic() + PATIENCE
        while not self._is_acquired() and time.monotonic() < until:
            time.sleep(PAUSE)

    def _is_acquired(self) -> bool:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            pass  # a file system without locks
        return True

    def release(self) -> None:
        """Release the lock."""
        if self._file is None:
            return
        with contextlib.suppress(OSError):
            # Waiting processes have the file open, and later ones find the kernel.
            self._path.unlink(missing_ok=True)
            # Processes forked in the meantime have the file open, too.
            fcntl.flock(self._file, fcntl.LOCK_UN)
        self._file.close()


def cache_folders() -> list[Path]:
    """The folders to search for kernels, in this order."""
    name = f"frugalsvm-{state()}"
    if _config.CACHE_DIR:
        return [Path(_config.CACHE_DIR) / name]
    of_user = AppDirs(appname="numba", appauthor=False).user_cache_dir
    return [SOURCES / "__pycache__" / name, Path(of_user) / name]


@functools.cache
def state() -> str:
    """Digest of all kernel sources and the version of Numba."""
    digest = hashlib.sha256(numba.__version__.encode())
    files = sorted(SOURCES.glob("*.py"))
    if not files:
        raise OSError(f"no sources in {SOURCES}")
    for file in files:
        digest.update(f"\n{file.name}\n".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def _rebuild(target_context: Any, payload: bytes) -> Any:
    try:
        return CompileResult._rebuild(target_context, *pickle.loads(payload))
    except Exception:  # whatever the reason, the kernel can be compiled
        return None


def _read(file: Path) -> bytes | None:
    """The content of the file; None if it is missing or damaged."""
    try:
        content = file.read_bytes()
    except OSError:
        return None
    digest, payload = content[:_DIGEST_SIZE], content[_DIGEST_SIZE:]
    return payload if hashlib.sha256(payload).digest() == digest else None


def _write(file: Path, payload: bytes) -> None:
    """Write atomically: other processes see the whole file or none."""
    _make_folder(file.parent)
    draft = file.with_name(f"{uuid.uuid4().hex}.tmp")
    try:
        draft.write_bytes(hashlib.sha256(payload).digest() + payload)
        os.replace(draft, file)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def _make_folder(folder: Path) -> None:
    """Create a folder if it does not exist."""
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        _drop_old_folders(folder)


def _drop_old_folders(newest: Path) -> None:
    """Delete all but the latest folders next to the kernels: every edit makes one."""
    if newest.parent.parent != SOURCES:
        return
    others = [f for f in newest.parent.glob("frugalsvm-*") if f != newest]
    others.sort(key=lambda folder: folder.stat().st_mtime, reverse=True)
    for folder in others[MAX_FOLDERS - 1 :]:
        shutil.rmtree(folder, ignore_errors=True)
