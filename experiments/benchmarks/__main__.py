"""``python -m benchmarks``: all comparisons, or some of them.

The rows of a complete run are written to ``results/NAME.json``, from which ``make
readme-figures`` takes the tables of the pages.
"""

import argparse
import contextlib
import platform
from collections.abc import Callable
from typing import Any, NamedTuple

from threadpoolctl import threadpool_limits

from . import (
    bench_alternatives,
    bench_batched,
    bench_best_known,
    bench_blocks,
    bench_categories,
    bench_certificates,
    bench_classes,
    bench_cli_million,
    bench_cli_time,
    bench_cv,
    bench_distributed,
    bench_effort,
    bench_exact,
    bench_groups,
    bench_large,
    bench_perspective,
    bench_predict,
    bench_proof,
    bench_robustness,
    bench_scale,
    bench_seeds,
    bench_support_svm,
    bench_swap,
    bench_threads,
    bench_tree,
    results,
)
from .data import data_folder


class Benchmark(NamedTuple):
    """How to run one, and the settings that its results mention."""

    # Returns rows for ``results/NAME.json``, or None if no page has its figures.
    run: Callable[[argparse.Namespace], list[results.Row] | None]
    # Options that it has besides --quick, with their defaults.
    settings: dict[str, Any] = {}  # noqa: RUF012
    one_thread: bool = False
    needs_data: bool = True
    only_when_named: bool = True


BENCHMARKS = {
    "robustness": Benchmark(
        lambda o: bench_robustness.run(o.quick),
        needs_data=False, only_when_named=False,
    ),
    "support": Benchmark(
        lambda o: bench_support_svm.run(o.folder, o.quick),
        one_thread=True, only_when_named=False,
    ),
    "perspective": Benchmark(
        lambda o: bench_perspective.run(o.folder, o.quick),
        one_thread=True, only_when_named=False,
    ),
    "swap": Benchmark(
        lambda o: bench_swap.run(o.folder, o.quick, o.seconds),
        {"seconds": 60.0}, only_when_named=False,
    ),
    "exact": Benchmark(
        lambda o: bench_exact.run(o.folder, o.quick, o.seconds),
        {"seconds": 60.0}, one_thread=True,
    ),
    "groups": Benchmark(
        lambda o: bench_groups.run(o.folder, o.quick, o.seconds),
        {"seconds": 60.0}, one_thread=True,
    ),
    "large": Benchmark(
        lambda o: bench_large.run(o.folder, o.quick, o.seconds, o.jobs),
        {"seconds": 300.0, "jobs": 2},
    ),
    "threads": Benchmark(
        lambda o: bench_threads.run(o.folder, o.quick), one_thread=True
    ),
    "effort": Benchmark(
        lambda o: bench_effort.run(o.folder, o.quick), one_thread=True
    ),
    "seeds": Benchmark(
        lambda o: bench_seeds.run(o.folder, o.quick, o.seeds),
        {"seeds": bench_seeds.SEEDS},
    ),
    "blocks": Benchmark(lambda o: bench_blocks.run(o.quick), needs_data=False),
    "best-known": Benchmark(
        lambda o: bench_best_known.run(o.folder, o.quick, o.sets)
    ),
    "alternatives": Benchmark(
        lambda o: bench_alternatives.run(o.folder, o.quick, o.seconds),
        {"seconds": 60.0}, one_thread=True,
    ),
    "proof": Benchmark(
        lambda o: bench_proof.run(o.folder, o.quick, o.seconds, o.sets, o.jobs),
        {"seconds": 60.0, "jobs": 2},
    ),
    "certificates": Benchmark(
        lambda o: bench_certificates.run(o.folder, o.seconds, o.sets),
        {"seconds": 60.0}, one_thread=True,
    ),
    "tree": Benchmark(
        lambda o: bench_tree.run(o.folder, o.quick, o.seconds, o.save, o.against),
        {"seconds": 60.0}, one_thread=True,
    ),
    "batched": Benchmark(
        lambda o: bench_batched.run(o.folder, o.quick, o.seconds, o.sets, o.device),
        {"seconds": 60.0, "device": "cpu"}, one_thread=True,
    ),
    "cv": Benchmark(
        lambda o: bench_cv.run(o.folder, o.quick, o.jobs, o.efforts),
        {"jobs": 1, "efforts": ["fast"]},
    ),
    "predict": Benchmark(
        lambda o: bench_predict.run(o.folder, o.quick, o.sets),
        one_thread=True,
    ),
    "classes": Benchmark(
        lambda o: bench_classes.run(o.folder, o.quick, o.sets, o.seconds),
        {"seconds": 120.0}, one_thread=True,
    ),
    "cli-million": Benchmark(
        lambda o: bench_cli_million.run(o.quick), needs_data=False
    ),
    "categories": Benchmark(
        lambda o: bench_categories.run(o.folder, o.quick, o.jobs),
        {"jobs": 1}, one_thread=True,
    ),
    "cli-time": Benchmark(lambda o: bench_cli_time.run(o.quick), needs_data=False),
    "distributed": Benchmark(
        lambda o: bench_distributed.run(o.quick), needs_data=False
    ),
    "scale": Benchmark(
        lambda o: bench_scale.run(o.quick, o.seconds, o.methods),
        {"seconds": 300.0}, needs_data=False,
    ),
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--data", help="folder with the data sets (FRUGALSVM_DATA)")
    parser.add_argument("--quick", action="store_true", help="fewer data sets")
    parser.add_argument(
        "--only",
        choices=list(BENCHMARKS),
        help="one of them; those from exact on run only when named",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        help="time limit per instance (60, for large and scale 300)",
    )
    parser.add_argument("--seeds", type=int, help="number of seeds (seeds: 10)")
    parser.add_argument(
        "--sets",
        nargs="*",
        default=[],
        help="data sets (batched, predict, classes, proof and best-known only)",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        help="threads (large, proof: 2), folds (cv, categories: 1)",
    )
    parser.add_argument(
        "--methods", nargs="+", choices=list(bench_scale.NAMES), default=[],
        help="some of them (scale only)",
    )  # fmt: skip
    parser.add_argument(
        "--device", choices=["cpu", "cuda"], help="of batches (batched: cpu)"
    )
    parser.add_argument("--efforts", nargs="+", help="some of them (cv: fast)")
    parser.add_argument("--save", help="file for the bounds (tree only)")
    parser.add_argument("--against", help="file of an earlier run (tree only)")
    parser.add_argument(
        "--no-write", action="store_true",
        help="leave results/ as it is, as --quick, --sets and --methods do",
    )  # fmt: skip
    parser.add_argument("--note", default="", help="what else the machine was doing")
    options = parser.parse_args()
    print(f"Python {platform.python_version()} on {platform.machine()}")
    for name, benchmark in BENCHMARKS.items():
        if options.only == name or not (options.only or benchmark.only_when_named):
            _run(name, benchmark, options)


def _run(name: str, benchmark: Benchmark, options: argparse.Namespace) -> None:
    """Run one, and write its results if they are complete."""
    given = {
        key: default if getattr(options, key) is None else getattr(options, key)
        for key, default in benchmark.settings.items()
    }
    own = argparse.Namespace(**vars(options) | given)
    # The files may change while it runs.
    code = results.commit()
    own.folder = data_folder(options.data) if benchmark.needs_data else None
    with threadpool_limits(1) if benchmark.one_thread else contextlib.nullcontext():
        rows = benchmark.run(own)
    partial = options.quick or options.sets or options.methods
    if rows is None or partial or options.no_write:
        return
    found = results.of_this_run(rows, given, options.note, code)
    path = results.write(name, found)
    print(f"\nWritten to {path}." if path else "\nNot written: a peer is missing here.")


if __name__ == "__main__":
    main()
