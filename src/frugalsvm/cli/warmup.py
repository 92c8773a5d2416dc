"""``python -m frugalsvm warmup``: compile in advance, and name the cache folder."""

from __future__ import annotations

from .all_kernels import warmup


def run_warmup() -> int:
    """Compile and report; the exit code is 1 if nothing could be cached."""
    print("Compiling kernels that are not in the cache ...", flush=True)
    done = warmup()
    print(
        f"{done.compiled} kernels compiled, {done.loaded} loaded, {done.seconds:.1f} s."
    )
    for folder in done.folders:
        print(f"Cache: {folder}")
    return 0 if done.folders else 1
