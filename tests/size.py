"""``python -m tests.size``: how large the package is, layer by layer.

Lines of code (without blank lines, comments and docstrings), functions, their median
and largest length, and numeric constants of modules. ``--against FOLDER`` shows another
checkout, too.
"""

from __future__ import annotations

import argparse
import ast
import io
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

PACKAGE = Path("src") / "frugalsvm"
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)
_NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
}  # fmt: skip


@dataclass
class Size:
    """Counts of some files."""

    files: int = 0
    lines: int = 0
    lengths: list[int] = field(default_factory=list)
    constants: int = 0

    def add(self, other: Size) -> None:
        self.files += other.files
        self.lines += other.lines
        self.lengths += other.lengths
        self.constants += other.constants

    def row(self, name: str) -> str:
        return (
            f"{name:12} {self.files:6,} {self.lines:7,} {len(self.lengths):10,} "
            f"{median(self.lengths or [0]):7.0f} {max(self.lengths, default=0):8,} "
            f"{self.constants:10,}"
        )


HEAD = (
    f"{'layer':12} {'files':>6} {'lines':>7} {'functions':>10} {'median':>7} "
    f"{'longest':>8} {'constants':>10}"
)


def size_of(text: str) -> Size:
    """The size of one file."""
    tree = ast.parse(text)
    code = _code_lines(text, tree)
    functions = [
        node
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    lengths = [
        sum(node.lineno <= line <= (node.end_lineno or 0) for line in code)
        for node in functions
    ]
    return Size(1, len(code), lengths, sum(map(_n_numbers, tree.body)))


def _code_lines(text: str, tree: ast.Module) -> set[int]:
    """Numbers of the lines that hold code."""
    prose = {
        line
        for node in ast.walk(tree)
        if isinstance(node, _DEFINITIONS) and (doc := _docstring(node)) is not None
        for line in range(doc.lineno, (doc.end_lineno or 0) + 1)
    }
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    code = {
        line
        for token in tokens
        if token.type not in _NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    return code - prose


def _docstring(node: ast.AST) -> ast.Expr | None:
    body = getattr(node, "body", [])
    if body and isinstance(body[0], ast.Expr):
        value = body[0].value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return body[0]
    return None


def _n_numbers(node: ast.stmt) -> int:
    """Numeric constants of a module that a statement assigns."""
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        targets, value = [node.target], node.value
    elif isinstance(node, ast.Assign):
        targets, value = node.targets, node.value
    else:
        return 0
    if not all(isinstance(one, (ast.Name, ast.Tuple)) for one in targets):
        return 0
    names = [
        one
        for target in targets
        for one in (target.elts if isinstance(target, ast.Tuple) else [target])
    ]
    if not all(isinstance(one, ast.Name) and one.id.isupper() for one in names):
        return 0
    return len(names) if _is_numeric(value) else 0


def _is_numeric(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float)) and not isinstance(node.value, bool)
    if isinstance(node, ast.UnaryOp):
        return _is_numeric(node.operand)
    if isinstance(node, ast.BinOp):
        return _is_numeric(node.left) and _is_numeric(node.right)
    if isinstance(node, ast.Tuple):
        return bool(node.elts) and all(map(_is_numeric, node.elts))
    return False


def layers_of(package: Path) -> Iterator[tuple[str, Size]]:
    """The layers by name, each with its size."""
    found: dict[str, Size] = {}
    for file in sorted(package.rglob("*.py")):
        layer = file.relative_to(package).parts[0].removesuffix(".py")
        found.setdefault(layer, Size()).add(size_of(file.read_text(encoding="utf-8")))
    yield from found.items()


def table(package: Path) -> str:
    total = Size()
    lines = [HEAD]
    for name, size in layers_of(package):
        lines.append(size.row(name))
        total.add(size)
    return "\n".join([*lines, total.row("all")])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.size", description=__doc__)
    parser.add_argument("--against", type=Path, help="the root of another checkout")
    given = parser.parse_args(arguments)
    here = Path(__file__).parents[1]
    print(table(here / PACKAGE))
    if given.against is not None:
        print(f"\n{given.against}:\n{table(given.against / PACKAGE)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
