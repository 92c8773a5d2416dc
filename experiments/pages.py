"""Pages: figures of README and documentation, made of ``experiments/results``.

A figure stands between two comments: ``<!-- figures: NAME -->`` and ``<!-- end figures
-->`` in Markdown, where both may be in one line, ``.. figures: NAME`` and ``.. end
figures`` in reStructuredText. Benchmarks say what is put there. Results that are older
than the last change of kernels, searches or trees are named.
"""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from .benchmarks.proofs import peers_of, run_seconds
from .registry import EXPERIMENTS
from .store import FOLDER, ROOT, Results, git, read
from .tables import Lines, markdown, rst, times

FASTER = " x faster"
PEERS = {"COPT": "COPT (perspective MISOCP)", "SCIP": "SCIP (same)"}
# A change of these may change figures.
PARTS = tuple(f"src/frugalsvm/{part}" for part in ("kernels", "search", "tree"))
MARKDOWN = re.compile(
    r"(<!-- figures: (\S+) -->)(\n?).*?(<!-- end figures -->)", re.DOTALL
)
RST = re.compile(
    r"(^\.\. figures: (\S+)$)(\n).*?(^\.\. end figures$)", re.DOTALL | re.MULTILINE
)


class PageFigure(NamedTuple):
    """A table or a sentence, and the benchmarks whose results it is made of."""

    benchmarks: tuple[str, ...]
    make: Callable[..., Lines | str]


def speed_table(
    exact: Results, threads: Results, support: Results, perspective: Results
) -> Lines:
    """One row for each task and peer."""
    n, limit = len(exact.rows), exact.settings["seconds"]
    ours = run_seconds(exact.rows, "ours")
    task = (
        "proved optimum to 1e-4, 9 data sets x (B, C) = (3, 1), (5, 10), (10, 10), "
        f"{n} instances, {limit:g} s, one thread"
    )
    table = [["task", "peer", "result"]]
    for name in peers_of(exact.rows):
        seconds = run_seconds(exact.rows, name)
        ratios = [theirs / mine for theirs, mine in zip(seconds, ours, strict=True)]
        proved = [
            sum(row[key]["proved"] for row in exact.rows) for key in (name, "ours")
        ]
        result = (
            f"{times(ratios, FASTER)}, our certificate included; "
            f"proves {proved[0]} of {n}, we {proved[1]}"
        )
        table.append([task, PEERS[name], result])
        task = ""
    gains = [row["seconds"] / row["seconds, 2"] for row in threads.rows]
    fits = [row["libsvm"] / row["ours"] for row in support.rows]
    relaxed = [
        min(row["primal"], row["dual"]) / row["ours"] for row in perspective.rows
    ]
    trees = f"trees of more than 2,000 nodes, {len(gains)} instances, two threads"
    svm = "SVM on 5 to 30 given features, 15 data sets, relative gap 1e-8"
    dscop = "relaxation DSCoP, relative gap 1e-6, 6 large data sets x B = 10, 20, 30"
    clarabel = "Clarabel, direct API, better of primal and dual"
    return [
        *table,
        [trees, "one thread", times(gains, FASTER)],
        [svm, "libsvm (``SVC``, tol 1e-5)", times(fits, FASTER)],
        [dscop, clarabel, times(relaxed, FASTER)],
    ]


FIGURES = {
    name: PageFigure((experiment.name,), make)
    for experiment in EXPERIMENTS.values()
    for name, make in experiment.figures.items()
} | {"speed": PageFigure(("exact", "threads", "support", "perspective"), speed_table)}
#: Benchmarks whose results are under version control.
QUOTED = {name for figure in FIGURES.values() for name in figure.benchmarks}


def pages(root: Path = ROOT) -> list[Path]:
    """All pages that may have figures."""
    return [root / "README.md", *sorted((root / "docs").rglob("*.rst"))]


def rewritten(text: str, suffix: str, folder: Path = FOLDER) -> str:
    """A page with its figures as the results have them."""

    def block(match: re.Match[str]) -> str:
        begin, name, line, end = match.groups()
        figure = FIGURES[name]
        results = [read(benchmark, folder) for benchmark in figure.benchmarks]
        content = figure.make(*results)
        if suffix == ".rst":
            return f"{begin}\n\n{rst(content)}\n\n{sources(results)}\n\n{end}"
        between = "\n\n" if line else ""
        return f"{begin}{between}{markdown(content)}{between}{end}"

    return (MARKDOWN if suffix == ".md" else RST).sub(block, text)


def sources(results: list[Results]) -> str:
    """Where and when results were measured, each of them once."""
    return "\n".join(f"({where})" for where in dict.fromkeys(r.where for r in results))


def age(results: Results) -> str:
    """Why results are not those of the present code; empty if they are."""
    commit, *changed = results.commit.split(maxsplit=1)
    if changed:
        return "with changes that were not committed"
    since = git("log", "--format=%h", f"{commit}..HEAD", "--", *PARTS)
    if since is None:
        return f"at commit {commit}, which is not known here"
    n_changes = len(since.split())
    remark = (
        f"at commit {commit}, before {n_changes} changes of kernels, search or tree"
    )
    return remark if n_changes else ""


def rewrite_pages() -> None:
    """Rewrite the figures of all pages, and name old results."""
    for page in pages():
        before = page.read_text("utf-8")
        after = rewritten(before, page.suffix)
        if after != before:
            page.write_text(after, "utf-8")
            print(f"{page.relative_to(ROOT)}: rewritten")
    for name in sorted(QUOTED):
        if not (FOLDER / f"{name}.json").exists():
            print(f"{name}: no results", file=sys.stderr)
        elif old := age(read(name)):
            print(f"{name}: measured {old}")
