"""``python -m benchmarks``: all comparisons, or some of them."""

import argparse
import platform

from threadpoolctl import threadpool_limits

from . import (
    bench_alternatives,
    bench_best_known,
    bench_blocks,
    bench_cli_million,
    bench_cv,
    bench_distributed,
    bench_effort,
    bench_exact,
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
)
from .data import data_folder


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--data", help="folder with the data sets (FRUGALSVM_DATA)")
    parser.add_argument("--quick", action="store_true", help="fewer data sets")
    parser.add_argument(
        "--only",
        choices=[
            "robustness",
            "support",
            "perspective",
            "swap",
            "exact",
            "large",
            "threads",
            "effort",
            "seeds",
            "blocks",
            "best-known",
            "alternatives",
            "proof",
            "tree",
            "cv",
            "predict",
            "cli-million",
            "distributed",
            "scale",
        ],
        help="one of them; those from exact on run only when named",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=None,
        help="time limit per instance (60, for large and scale 300)",
    )
    parser.add_argument(
        "--sets",
        nargs="*",
        default=[],
        help="data sets (predict, proof and best-known only)",
    )
    parser.add_argument(
        "--jobs", type=int, default=2, help="threads (large, proof), folds (cv)"
    )
    parser.add_argument(
        "--methods", nargs="+", choices=list(bench_scale.NAMES), default=[],
        help="some of them (scale only)",
    )  # fmt: skip
    parser.add_argument("--save", help="file for the bounds (tree only)")
    parser.add_argument("--against", help="file of an earlier run (tree only)")
    options = parser.parse_args()
    print(f"Python {platform.python_version()} on {platform.machine()}")
    if options.only in (None, "robustness"):
        bench_robustness.run(options.quick)
    if options.only == "robustness":
        return
    if options.only == "cli-million":
        bench_cli_million.run(options.quick)
        return
    if options.only == "blocks":
        bench_blocks.run(options.quick)
        return
    if options.only == "distributed":
        bench_distributed.run(options.quick)
        return
    if options.only == "scale":
        bench_scale.run(options.quick, options.seconds or 300.0, options.methods)
        return
    folder = data_folder(options.data)
    if options.only in (None, "support"):
        with threadpool_limits(1):
            bench_support_svm.run(folder, options.quick)
    if options.only in (None, "perspective"):
        with threadpool_limits(1):
            bench_perspective.run(folder, options.quick)
    if options.only in (None, "swap"):
        bench_swap.run(folder, options.quick, options.seconds or 60.0)
    if options.only == "exact":
        with threadpool_limits(1):
            bench_exact.run(folder, options.quick, options.seconds or 60.0)
    if options.only == "large":
        bench_large.run(folder, options.quick, options.seconds or 300.0, options.jobs)
    if options.only == "threads":
        with threadpool_limits(1):
            bench_threads.run(folder, options.quick)
    if options.only == "effort":
        with threadpool_limits(1):
            bench_effort.run(folder, options.quick)
    if options.only == "seeds":
        bench_seeds.run(folder, options.quick)
    if options.only == "best-known":
        bench_best_known.run(folder, options.quick, options.sets)
    if options.only == "cv":
        bench_cv.run(folder, options.quick, options.jobs)
    if options.only == "predict":
        with threadpool_limits(1):
            bench_predict.run(folder, options.quick, options.sets)
    if options.only == "alternatives":
        with threadpool_limits(1):
            bench_alternatives.run(folder, options.quick, options.seconds or 60.0)
    if options.only == "proof":
        bench_proof.run(
            folder, options.quick, options.seconds or 60.0, options.sets, options.jobs
        )
    if options.only == "tree":
        with threadpool_limits(1):
            bench_tree.run(
                folder, options.quick, options.seconds or 60.0, options.save,
                options.against,
            )  # fmt: skip


if __name__ == "__main__":
    main()
