"""``frugalsvm verify``: check a proof against its table."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from ..run import quote
from ..tables import PLAIN, WHOLE, CategoryColumn
from . import options as opt
from .session import Session

EXAMPLES = (
    "frugalsvm verify proof.npz data.csv",
    "frugalsvm verify proof.npz data.csv --json",
)
# Maximum number of columns listed without --all.
N_SHOWN = 6
SIGN_TEXT = {0: "", 1: "not negative", -1: "not positive"}


def verify(
    session: Session,
    proof: Annotated[
        str, typer.Argument(metavar="PROOF", help="File written by fit --certificate.")
    ],
    data: opt.DataFile,
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", help="Expected target column."),
    ] = None,
    all_features: Annotated[
        bool,
        typer.Option("--all", help="List all columns, with all digits of their means."),
    ] = False,
    sheet: opt.Sheet = None,
    transpose: opt.Transpose = False,
    labels: opt.Labels = None,
    encoding: opt.Encoding = None,
    decimal: opt.Decimal = None,
    thousands: opt.Thousands = None,
) -> None:
    """Check a proof against its table, without trusting the proof file.

    The file says how columns became features. The same steps are applied to the table,
    exact to the last bit. Its means and scales must standardise the table to within
    1e-9. Then every bound is recomputed; all printed values are the recomputed ones.
    """
    from ..checker import InvalidCertificate
    from ..checker import verify as check
    from ..problem import Certificate
    from ..tables import (
        Layout,
        Preparation,
        join_labels,
        known_target,
        labelled,
        read_table,
    )
    from .options import check_names, combined, parse_formats

    formats = parse_formats(decimal, thousands)
    certificate = Certificate.load(proof)
    text = certificate.preparation
    if text is None:
        raise InvalidCertificate(
            f"{proof} does not say how it was made from a table: it was written "
            "from Python. Check it there with frugalsvm.verify(proof, X, y)."
        )
    preparation = Preparation.from_json(text)
    if target is not None and target != preparation.target:
        raise InvalidCertificate(
            f"{proof} is for the target {preparation.target!r}, not {target!r}."
        )
    arrays = certificate.arrays
    # Sizes first, since a forged preparation could use too much memory.
    items = "columns" if "groups" in arrays else "features"
    sizes = arrays.get("groups", arrays["costs"])
    _check_size(proof, items, sizes.size, preparation.n_features)
    table = read_table(
        data,
        as_text=preparation.text_columns,
        encoding=encoding,
        formats=combined(
            preparation.format_rules,
            formats,
            sorted({*preparation.number_columns, *preparation.format_rules}),
        ),
        only=None if labels else preparation.needed,
        layout=Layout(sheet, transpose, labels),
        not_missing=preparation.not_missing,
    )
    check_names(formats, table)
    preparation.check_columns(table)
    table = join_labels(table, labels, preparation.target)
    table = labelled(table, preparation.target)
    for remark in table.remarks:
        session.say(f"{table.source}: {remark}")
    _check_size(proof, "rows", arrays["weights"].size, table.n_rows)
    labels_of_rows = known_target(table, preparation.target, preparation.classes)
    _check_categories(proof, preparation, table)
    preparation.check_learned(table)
    deviation = preparation.check_standard(table)
    signs = labels_of_rows.signs
    verification = check(certificate, preparation.transform(table), signs)
    losses = _losses(proof, verification, preparation.classes, signs)
    summary = ProofSummary(table, preparation, verification, losses, deviation)
    _show(session, proof, summary, all_features)
    session.print_json(_content(certificate, summary))


def _check_size(proof: str, items: str, n_proof: int, n_table: int) -> None:
    from ..checker import InvalidCertificate

    if n_proof != n_table:
        raise InvalidCertificate(
            f"{proof} is for {n_proof:,} {items}, but the table has {n_table:,}."
        )


def _check_categories(proof: str, preparation: Any, table: Any) -> None:
    """Raise an error for categories that occur in no row, or more than a fit accepts.

    Each category needs memory for all rows.
    """
    from ..checker import InvalidCertificate
    from ..tables import most_levels

    preparation.check_columns(table)
    for column in preparation.columns:
        if isinstance(column, CategoryColumn):
            if len(column.shown) > most_levels(table.n_rows):
                raise InvalidCertificate(
                    f"{proof} has {len(column.levels):,} categories in column "
                    f"{column.name!r}, more than a fit allows for {table.n_rows:,} "
                    "rows."
                )
            absent = set(column.levels) - column.present(table.columns[column.name])
            if absent:
                raise InvalidCertificate(
                    f"{proof} is for other data: column {column.name!r} of "
                    f"{table.source} has no value {min(absent)!r}."
                )


def _losses(
    proof: str, verification: Any, classes: tuple[Any, Any], signs: np.ndarray
) -> dict[str, dict[str, float]]:
    """C of either class: that of the selection, and that of the weights.

    Rows of a class count the same in all fits of the command line.
    """
    from ..checker import InvalidCertificate

    weights = {"C": verification.problem.weights}
    if verification.refit is not None:
        weights["C of the weights"] = verification.refit.weights
    losses: dict[str, dict[str, float]] = {name: {} for name in weights}
    for name, values in weights.items():
        for label, sign in zip(classes, (-1, 1), strict=True):
            distinct = np.unique(values[signs == sign])
            low, high = distinct[0], distinct[-1]
            if distinct.size > 1 or low == 0:
                raise InvalidCertificate(
                    f"{proof} is for another problem: rows of {label} count "
                    f"differently, from {low:g} to {high:g}. It was not written by a "
                    "fit of the command line; check it from Python with "
                    "frugalsvm.verify, which takes sample_weight."
                )
            losses[name][str(label)] = float(low)
    return losses


class ProofSummary(NamedTuple):
    """A table, and what is proved about it.

    Attributes
    ----------
    table : Table
    preparation : Preparation
    verification : Verification
    losses : dict
        C by class.
    deviation : float
        Largest deviation of the features from mean 0 and variance 1.
    """

    table: Any
    preparation: Any
    verification: Any
    losses: dict[str, dict[str, float]]
    deviation: float

    @property
    def problem(self) -> Any:
        """The problem to which the bounds refer."""
        return self.verification.problem

    @property
    def numbers(self) -> np.ndarray:
        """The number of the feature that each column belongs to."""
        groups = self.problem.columns.groups
        return np.arange(self.preparation.n_features) if groups is None else groups

    @property
    def names(self) -> list[str]:
        """Names of the features."""
        groups = _group_names(self.verification, self.preparation)
        groups = groups or [""] * self.preparation.n_features
        first = np.unique(self.numbers, return_index=True)[1].tolist()
        return [groups[j] or self.preparation.features[j] for j in first]

    @property
    def unused(self) -> list[str]:
        """Columns of the table that the problem does not have."""
        needed = self.preparation.needed
        return [name for name in self.table.names if name not in needed]

    def remarks(self) -> dict[str, list[str]]:
        """How columns became features, where the names of the features do not tell."""
        columns = self.table.columns
        prepared = self.preparation.columns
        merged = {
            column.name: column.merged(columns[column.name])
            for column in prepared
            if isinstance(column, CategoryColumn)
        }
        coded: dict[str, list[str]] = {}
        for column in prepared:
            if column.variable != column.name:
                coded.setdefault(column.variable, []).append(column.name)
        formats: dict[str, list[str]] = {}
        for name in sorted(self.preparation.number_columns):
            number_format = str(getattr(columns[name], "format", PLAIN))
            formats.setdefault(number_format, []).append(name)
        for usual in (PLAIN, WHOLE):
            formats.pop(str(usual), None)
        return {
            "rows": [remark for remark in self.table.remarks if "row" in remark],
            "columns of the table that are not used": self.unused,
            "missing values were imputed by": [
                f"{column.name}: {column.fill}" for column in prepared if column.n_gaps
            ],
            "categories merged as (other)": [
                f"{name}: {', '.join(texts)}" for name, texts in merged.items() if texts
            ],
            "columns that are categories of one variable": [
                f"{name}: {', '.join(names)}" for name, names in coded.items()
            ],
            **{
                f"numbers with {number_format}": sorted(names)
                for number_format, names in formats.items()
            },
        }

    def status(self) -> list[str]:
        """For each column, whether it is selected, and whether that was forced."""
        sets = {
            "selected": self.verification.selected,
            "must be in": self.problem.include,
            "may not be in": self.problem.exclude,
        }
        status = [
            ", ".join(label for label, features in sets.items() if g in features)
            for g in range(self.problem.n_features)
        ]
        return [status[g] for g in self.numbers]

    def listed(self) -> list[dict[str, Any]]:
        """The sets of features of the list, with their objectives."""
        listing, names = self.verification.alternatives, self.names
        if listing is None:
            return []
        pairs = zip(listing.supports, listing.objectives.tolist(), strict=True)
        return [
            {"features": [names[g] for g in support], "objective": objective}
            for support, objective in pairs
        ]


def _show(
    session: Session, proof: str, summary: ProofSummary, all_features: bool
) -> None:
    table, preparation, verification, losses, deviation = summary
    first, second = preparation.classes
    session.show(
        f"{proof} is a valid proof for {table.source}.",
        *str(verification).split("\n"),
        f"target {preparation.target}: +1 is {quote(second)}, -1 is {quote(first)}",
        *(
            f"{name}: "
            + ", ".join(
                f"{value!r} for {quote(label)}" for label, value in by_class.items()
            )
            for name, by_class in losses.items()
            if len(set(by_class.values())) > 1
        ),
        f"The proof is for {preparation.n_features:,} columns, standardised: (value - "
        "mean) / scale. Their mean is 0, and their variance 1 (that of all categories "
        f"of a column together), to within {deviation:.1g}.",
        "",
    )
    problem = summary.problem
    groups, signs = _group_names(verification, preparation), problem.columns.signs
    costs = None
    if np.isfinite(problem.max_cost):
        costs = problem.costs[summary.numbers]
    status = summary.status()
    rows = session.table(
        "column",
        ">mean",
        ">scale",
        *["group"] * bool(groups),
        *[">cost"] * (costs is not None),
        *["weight"] * (signs is not None),
        "",
    )
    columns = range(preparation.n_features)
    by_use = sorted(
        columns, key=lambda j: (not status[j].startswith("sel"), not status[j])
    )
    shown = columns if all_features else by_use[:N_SHOWN]
    # With --all, readers may want to compare all digits.
    number = repr if all_features else "{:.6g}".format
    for j in shown:
        rows.add_row(
            preparation.features[j],
            number(float(preparation.means[j])),
            number(float(preparation.scales[j])),
            *([groups[j]] if groups else []),
            *([] if costs is None else [number(float(costs[j]))]),
            *([] if signs is None else [SIGN_TEXT[int(signs[j])]]),
            status[j],
        )
    session.show(rows)
    if len(shown) < len(columns):
        names = [preparation.features[j] for j in verification.selected_columns]
        session.show(
            f"and {len(columns) - len(shown):,} more (--all); selected: "
            f"{', '.join(names)}"
        )
    sets = [
        f"{', '.join(entry['features']) or 'none'} ({entry['objective']:.9g})"
        for entry in summary.listed()
    ]
    most = len(sets) if all_features else N_SHOWN
    if sets:
        session.show("", "The listed choices of features, with their objectives:")
        session.show(*(f"  {text}" for text in sets[:most]))
    if len(sets) > most:
        session.show(f"  and {len(sets) - most:,} more (--all)")
    for title, remarks in summary.remarks().items():
        if not all_features and len(remarks) > N_SHOWN:
            remarks[N_SHOWN:] = [f"and {len(remarks) - N_SHOWN:,} more (--all)"]
        if remarks:
            session.show(f"{title}: {', '.join(remarks)}")


def _group_names(verification: Any, preparation: Any) -> list[str]:
    """A name for the group of each feature of a table; none if each counts alone.

    A group of several features has the name of its variable if all of them, and no
    others, come from that variable, and a number otherwise.
    """
    groups = verification.problem.columns.groups
    if groups is None:
        return []
    sources = [column.variable for column, _ in preparation.origins()]
    origins: dict[int, set[str]] = {}
    members: dict[str, set[int]] = {}
    for g, source in zip(groups.tolist(), sources, strict=True):
        origins.setdefault(g, set()).add(source)
        members.setdefault(source, set()).add(g)
    sizes = Counter(groups.tolist())
    names = {}
    for g, variables in origins.items():
        first, *others = variables
        is_column = not others and len(members[first]) == 1
        names[g] = first if is_column else f"group {g}"
    return [names[g] if sizes[g] > 1 else "" for g in groups.tolist()]


def _groups_and_signs(verification: Any, preparation: Any) -> dict[str, Any]:
    """Groups of columns that count as one feature, and signs of weights, for JSON."""
    columns = verification.problem.columns
    content: dict[str, Any] = {}
    if columns.groups is not None:
        members: dict[int, list[str]] = {}
        for g, name in zip(columns.groups.tolist(), preparation.features, strict=True):
            members.setdefault(g, []).append(name)
        content["feature_groups"] = [members[g] for g in sorted(members)]
    if columns.signs is not None:
        pairs = zip(preparation.features, columns.signs.tolist(), strict=True)
        content["signs"] = {name: "+" if s > 0 else "-" for name, s in pairs if s}
    return content


def _content(certificate: Any, summary: ProofSummary) -> dict[str, Any]:
    _, preparation, verification, losses, deviation = summary
    problem, names = summary.problem, summary.names
    costs = {}
    if np.isfinite(problem.max_cost):
        costs = dict(zip(names, problem.costs.tolist(), strict=True))
    return {
        "valid": True,
        "objective": verification.objective,
        "lower_bound": verification.lower_bound,
        "gap": verification.gap,
        "problem": str(verification.problem),
        "leaves": verification.n_leaves,
        "fixings": verification.n_fixings,
        "fingerprint": str(certificate.arrays["fingerprint"]),
        "checksum": str(certificate.arrays["checksum"]),
        "target": preparation.target,
        "classes": {
            "negative": preparation.classes[0],
            "positive": preparation.classes[1],
        },
        "selected": [preparation.features[j] for j in verification.selected_columns],
        **_groups_and_signs(verification, preparation),
        **losses,
        "include": [names[g] for g in problem.include],
        "exclude": [names[g] for g in problem.exclude],
        "costs": costs,
        "listed": summary.listed(),
        "remarks": {
            title: remarks for title, remarks in summary.remarks().items() if remarks
        },
        "standardised_to": deviation,
        "features": [
            {"name": name, "mean": mean, "scale": scale}
            for name, mean, scale in zip(
                preparation.features,
                preparation.means.tolist(),
                preparation.scales.tolist(),
                strict=True,
            )
        ],
    }
