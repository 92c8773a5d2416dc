"""Common parts of all plots: colours, labels and the import of Matplotlib."""

from __future__ import annotations

from typing import Any

# From the colour-blind-safe palette of Okabe and Ito.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#7f7f7f"
LIGHT_BLUE, LIGHT_GREY = "#56B4E9", "#e6e6e6"
# Maximum number of characters of a name.
N_LETTERS = 36
ROW_HEIGHT = 0.27


def pyplot() -> Any:
    """Matplotlib's pyplot, or an error that says how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "plotting needs matplotlib, which is not installed: "
            "pip install frugalsvm[plot]."
        ) from error
    return plt


def new_axes(ax: Any, width: float = 6.0, height: float = 3.8) -> Any:
    """The given axes, or those of a new figure."""
    plt = pyplot()
    if ax is None:
        _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def rows_height(n_rows: int) -> float:
    """Height of a figure with one line of text per row."""
    return max(1.8, 1.0 + ROW_HEIGHT * n_rows)


def rows_width(names: list[str]) -> float:
    """Width of a figure that leaves room for the names of its rows."""
    longest = max((len(label(name)) for name in names), default=0)
    return 4.4 + 0.075 * longest


def label(name: object) -> str:
    """A name for Matplotlib: shortened, and escaped so that it is not a formula."""
    text = " ".join(str(name).split())
    if len(text) > N_LETTERS:
        half = (N_LETTERS - 1) // 2
        text = f"{text[:half]}…{text[-half:]}"
    return text.replace("$", r"\$")


def name_rows(ax: Any, names: list[str]) -> None:
    """Names beside rows 0, 1, ... from top to bottom."""
    ax.set_yticks(range(len(names)), [label(name) for name in names])
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)


def note_rows(ax: Any, notes: list[str]) -> None:
    """A short text to the right of each row."""
    for row, text in enumerate(notes):
        ax.annotate(
            text, (1.0, row), (5, 0), va="center", fontsize="small",
            xycoords=("axes fraction", "data"), textcoords="offset points",
            annotation_clip=False,
        )  # fmt: skip


def note_more(ax: Any, n_more: int, what: str) -> None:
    """Say below a plot how much is not shown."""
    if n_more > 0:
        ax.annotate(
            f"and {n_more:,} more {what}", (1.0, 0.0), (0, -32), ha="right", va="top",
            xycoords="axes fraction", textcoords="offset points", fontsize="small",
            color=GREY,
        )  # fmt: skip
