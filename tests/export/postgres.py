"""A PostgreSQL server of its own, for one test session."""

import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

# What Debian has for the user of the server, and any system.
USERS = ("postgres", "nobody")


def found(name):
    """The path of a program of PostgreSQL; None if there is none."""
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return shutil.which(name) or (str(places[-1]) if places else None)


def is_there():
    return None not in map(found, ("initdb", "postgres", "psql", "pg_ctl"))


def _as_user(command, folder):
    """Run a command, as another user if we are root, which the server refuses."""
    if os.geteuid() == 0:
        command = ["runuser", "-u", _user(), "--", *command]
    subprocess.run(
        command, check=True, cwd=folder, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, timeout=120,
    )  # fmt: skip


def _user():
    import pwd

    known = {one.pw_name for one in pwd.getpwall()}
    return next(one for one in USERS if one in known)


@contextmanager
def server():
    """A function that runs SQL and returns rows of text, None for NULL."""
    # Names of sockets may have about 100 characters.
    folder = Path(mkdtemp(prefix="pg", dir="/tmp"))
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, _user())
        data = str(folder / "data")
        options = f"-c listen_addresses='' -c fsync=off -k {folder}"
        initdb, control = found("initdb"), found("pg_ctl")
        as_owner = ["-U", "test", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8"]
        _as_user([initdb, "-D", data, *as_owner], folder)
        start = [control, "-D", data, "-w", "-l", str(folder / "log"), "-o", options]
        _as_user([*start, "start"], folder)
        try:
            yield lambda sql: _rows(folder, sql)
        finally:
            _as_user([control, "-D", data, "-m", "immediate", "stop"], folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _rows(folder, sql):
    """The rows of a query, each of one value."""
    command = [
        found("psql"), "-h", str(folder), "-U", "test", "-d", "postgres", "-X", "-q",
        "-A", "-t", "-v", "ON_ERROR_STOP=1", "-P", "null=NULL", "-f", "-",
    ]  # fmt: skip
    done = subprocess.run(
        command, input=sql, capture_output=True, text=True, timeout=120, check=False,
        encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [None if one == "NULL" else one for one in done.stdout.splitlines()]
