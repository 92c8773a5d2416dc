"""What the wing does not do: groups of columns, signs of weights, several classes."""

from __future__ import annotations

from ..problem.problem import Problem

# Models whose mathematics holds for groups of columns and for signs of weights.
TAKE_GROUPS = ("SVM", "BigMP", "CoP", "SCoP", "DSCoP")


def require_two_classes(name: str, problem: Problem) -> None:
    """Refuse a problem of several classes."""
    if problem.n_machines > 1:
        raise ValueError(
            f"{name} does not take more than two classes: use the native methods of "
            "solve (auto, branch-and-bound, swap, relax-and-round) and DSCoP."
        )


def require_plain(name: str, problem: Problem) -> None:
    """Refuse a problem whose features are groups, or whose weights have signs.

    ``name`` is what refuses it: a model, a method, or something computed.
    """
    require_two_classes(name, problem)
    columns = problem.columns
    if columns.is_plain:
        return
    given = {"feature groups": columns.has_groups, "signs": columns.has_signs}
    words = " and ".join(word for word, is_given in given.items() if is_given)
    raise ValueError(
        f"{name} does not take {words}: use the native methods of solve (auto, "
        f"branch-and-bound, swap, relax-and-round) or a model that takes them "
        f"({', '.join(TAKE_GROUPS)})."
    )
