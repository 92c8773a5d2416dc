"""``demo`` and ``warmup`` among the other commands."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, redirect_stdout

import typer

from . import options as opt
from .session import Session

DEMO_EXAMPLES = ("frugalsvm demo", "frugalsvm demo --effort fast")
WARMUP_EXAMPLES = ("frugalsvm warmup",)


def demo(session: Session, effort: opt.Effort = "normal") -> None:
    """Fit a model to a built-in data set, and explain the result."""
    from .demo import run_demo
    from .parsing import check_search

    check_search(effort, None)
    with ExitStack() as stack:
        if session.json:
            nowhere = stack.enter_context(open(os.devnull, "w"))
            stack.enter_context(
                redirect_stdout(nowhere if session.quiet else sys.stderr)
            )
        content = run_demo(effort, session.seed, verbose=not session.quiet)
    session.give(content)


def warmup(session: Session) -> None:
    """Compile all kernels in advance and cache them, for images and clusters."""
    from .all_kernels import warmup as compile_all

    session.say("Compiling kernels that are not in the cache ...")
    done = compile_all()
    session.show(
        f"{done.compiled} kernels compiled, {done.loaded} loaded, "
        f"{done.seconds:.1f} s.",
        *(f"Cache: {folder}" for folder in done.folders),
    )
    session.give(
        {
            "compiled": done.compiled,
            "loaded": done.loaded,
            "seconds": done.seconds,
            "folders": done.folders,
        }
    )
    if not done.folders:
        session.warn("nothing was cached: no cache folder is writable")
        raise typer.Exit(1)
