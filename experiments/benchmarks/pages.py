"""``python -m benchmarks.pages``: rewrite the figures of the pages from ``results/``.

A figure stands between two comments: ``<!-- figures: NAME -->`` and ``<!-- end figures
-->`` in Markdown, where both may be in one line, ``.. figures: NAME`` and ``.. end
figures`` in reStructuredText. ``figures.py`` says what is put there. Results that are
older than the last change of kernels, searches or trees are named.
"""

import re
import sys
from pathlib import Path

from .figures import FIGURES, Table
from .results import FOLDER, ROOT, Results, git, read

# A change of these may change figures.
PARTS = tuple(f"src/frugalsvm/{part}" for part in ("kernels", "search", "tree"))
MARKDOWN = re.compile(
    r"(<!-- figures: (\S+) -->)(\n?).*?(<!-- end figures -->)", re.DOTALL
)
RST = re.compile(
    r"(^\.\. figures: (\S+)$)(\n).*?(^\.\. end figures$)", re.DOTALL | re.MULTILINE
)


def pages(root: Path = ROOT) -> list[Path]:
    """All pages that may have figures."""
    return [root / "README.md", *sorted((root / "docs").rglob("*.rst"))]


def rewritten(text: str, suffix: str, folder: Path = FOLDER) -> str:
    """A page with its figures as the results have them."""

    def block(found: re.Match[str]) -> str:
        begin, name, line, end = found.groups()
        figure = FIGURES[name]
        results = [read(one, folder) for one in figure.results]
        made = figure.make(*results)
        if suffix == ".rst":
            return f"{begin}\n\n{rst(made)}\n\n{sources(results)}\n\n{end}"
        between = "\n\n" if line else ""
        return f"{begin}{between}{markdown(made)}{between}{end}"

    return (MARKDOWN if suffix == ".md" else RST).sub(block, text)


def markdown(made: Table | str) -> str:
    """A table or a sentence, in Markdown."""
    if isinstance(made, str):
        return made.replace("``", "`")
    head, *rows = made
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines).replace("``", "`")


def rst(made: Table | str) -> str:
    """A table or a sentence, in reStructuredText."""
    if isinstance(made, str):
        return made
    # The first cell of a row must not be empty.
    lines = [[first or "\\", *rest] for first, *rest in made]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rule = ["=" * width for width in widths]
    return "\n".join(
        " ".join(cell.ljust(w) for cell, w in zip(cells, widths, strict=True)).rstrip()
        for cells in [rule, lines[0], rule, *lines[1:], rule]
    )


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
    words = f"at commit {commit}, before {n_changes} changes of kernels, search or tree"
    return words if n_changes else ""


def main() -> None:
    for page in pages():
        before = page.read_text("utf-8")
        after = rewritten(before, page.suffix)
        if after != before:
            page.write_text(after, "utf-8")
            print(f"{page.relative_to(ROOT)}: rewritten")
    names = sorted({name for figure in FIGURES.values() for name in figure.results})
    for name in names:
        if not (FOLDER / f"{name}.json").exists():
            print(f"{name}: no results", file=sys.stderr)
        elif old := age(read(name)):
            print(f"{name}: measured {old}")


if __name__ == "__main__":
    main()
