"""``frugalsvm verify``: check a proof against its table."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from ..run.words import quote
from ..tables.formats import PLAIN, WHOLE
from ..tables.prepared_columns import CategoryColumn
from . import options as opt
from .session import Session

EXAMPLES = (
    "frugalsvm verify proof.npz data.csv",
    "frugalsvm verify proof.npz data.csv --json",
)
# Maximum number of columns listed without --all.
N_SHOWN = 6
SIGN_WORDS = {0: "", 1: "not negative", -1: "not positive"}


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
    from ..problem.certificate import Certificate
    from ..tables import Preparation, labelled, read_table
    from ..tables.excel import Layout
    from ..tables.target import joined, known_target
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
    what = "columns" if "groups" in arrays else "features"
    told = arrays.get("groups", arrays["costs"])
    _check_size(proof, what, told, preparation.n_features)
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
        words=preparation.words,
    )
    check_names(formats, table)
    preparation.check_columns(table)
    table = joined(table, labels, preparation.target)
    table = labelled(table, preparation.target)
    for remark in table.remarks:
        session.say(f"{table.source}: {remark}")
    _check_size(proof, "rows", arrays["weights"], table.n_rows)
    found = known_target(table, preparation.target, preparation.classes)
    _check_categories(proof, preparation, table)
    preparation.check_learned(table)
    off = preparation.check_standard(table)
    checked = check(certificate, preparation.transform(table), found.signs)
    losses = _losses(proof, checked, preparation.classes, found.signs)
    proved = ProofSummary(table, preparation, checked, losses, off)
    _show(session, proof, proved, all_features)
    session.print_json(_content(certificate, proved))


def _check_size(proof: str, what: str, told: Any, made: int) -> None:
    """Check sizes first, because a forged preparation could use too much memory."""
    from ..checker import InvalidCertificate

    if told.size != made:
        raise InvalidCertificate(
            f"{proof} is for {told.size:,} {what}, but the table has {made:,}."
        )


def _check_categories(proof: str, preparation: Any, table: Any) -> None:
    """Refuse categories that occur in no row, and more of them than a fit accepts.

    Each category needs memory for all rows.
    """
    from ..checker import InvalidCertificate
    from ..tables.kinds import most_levels

    preparation.check_columns(table)
    for one in preparation.columns:
        if isinstance(one, CategoryColumn):
            if len(one.shown) > most_levels(table.n_rows):
                raise InvalidCertificate(
                    f"{proof} has {len(one.levels):,} categories in column "
                    f"{one.name!r}, more than a fit allows for {table.n_rows:,} rows."
                )
            strange = set(one.levels) - one.present(table.columns[one.name])
            if strange:
                raise InvalidCertificate(
                    f"{proof} is for other data: column {one.name!r} of "
                    f"{table.source} has no value {min(strange)!r}."
                )


def _losses(
    proof: str, checked: Any, classes: tuple[Any, Any], signs: np.ndarray
) -> dict[str, dict[str, float]]:
    """C of either class: that of the selection, and that of the weights.

    Rows of a class count the same in all fits of the command line.
    """
    from ..checker import InvalidCertificate

    weights = {"C": checked.problem.weights}
    if checked.refit is not None:
        weights["C of the weights"] = checked.refit.weights
    found: dict[str, dict[str, float]] = {}
    for name, values in weights.items():
        for label, sign in zip(classes, (-1, 1), strict=True):
            own = np.unique(values[signs == sign])
            if own.size > 1 or own[0] == 0:
                raise InvalidCertificate(
                    f"{proof} is for another problem: rows of {label} count "
                    f"differently, from {own[0]:g} to {own[-1]:g}. It was not written "
                    "by a fit of the command line; check it from Python with "
                    "frugalsvm.verify, which takes sample_weight."
                )
            found.setdefault(name, {})[str(label)] = float(own[0])
    return found


class ProofSummary(NamedTuple):
    """A table, what its proof says of it, and what is proved.

    Attributes
    ----------
    table : Table
    preparation : Preparation
    checked : Verification
    losses : dict
        C by class.
    off : float
        How far the features are from mean 0 and variance 1.
    """

    table: Any
    preparation: Any
    checked: Any
    losses: dict[str, dict[str, float]]
    off: float

    @property
    def problem(self) -> Any:
        """What the bounds refer to."""
        return self.checked.problem

    @property
    def numbers(self) -> np.ndarray:
        """The number of the feature that each column belongs to."""
        groups = self.problem.columns.groups
        return np.arange(self.preparation.n_features) if groups is None else groups

    @property
    def names(self) -> list[str]:
        """Names of the features."""
        groups = _group_names(self.checked, self.preparation)
        groups = groups or [""] * self.preparation.n_features
        first = np.unique(self.numbers, return_index=True)[1].tolist()
        return [groups[j] or self.preparation.features[j] for j in first]

    @property
    def unused(self) -> list[str]:
        """Columns of the table that the problem does not have."""
        needed = self.preparation.needed
        return [name for name in self.table.names if name not in needed]

    def remarks(self) -> dict[str, list[str]]:
        """How the features were made, as far as their names do not say it."""
        columns = self.table.columns
        made = self.preparation.columns
        merged = {
            one.name: one.merged(columns[one.name])
            for one in made
            if isinstance(one, CategoryColumn)
        }
        coded: dict[str, list[str]] = {}
        for one in made:
            if one.variable != one.name:
                coded.setdefault(one.variable, []).append(one.name)
        formats: dict[str, list[str]] = {}
        for name in self.preparation.number_columns:
            written = str(getattr(columns[name], "format", PLAIN))
            formats.setdefault(written, []).append(name)
        for usual in (PLAIN, WHOLE):
            formats.pop(str(usual), None)
        return {
            "rows": [remark for remark in self.table.remarks if "row" in remark],
            "columns of the table that are not used": self.unused,
            "missing values were imputed by": [
                f"{one.name}: {one.fill}" for one in made if one.n_gaps
            ],
            "categories merged as (other)": [
                f"{name}: {', '.join(texts)}" for name, texts in merged.items() if texts
            ],
            "columns that are categories of one variable": [
                f"{name}: {', '.join(some)}" for name, some in coded.items()
            ],
            **{
                f"numbers with {written}": sorted(names)
                for written, names in formats.items()
            },
        }

    def status(self) -> list[str]:
        """Of each column, whether it is selected, and whether it had to be or not."""
        problem, chosen = self.problem, self.checked.selected
        words = [
            [
                word
                for word, features in (
                    ("selected", chosen),
                    ("must be in", problem.include),
                    ("may not be in", problem.exclude),
                )
                if g in features
            ]
            for g in range(problem.n_features)
        ]
        return [", ".join(words[g]) for g in self.numbers]

    def listed(self) -> list[dict[str, Any]]:
        """The sets of features of the list, with their objectives."""
        found, names = self.checked.alternatives, self.names
        pairs = (
            ()
            if found is None
            else zip(found.supports, found.objectives.tolist(), strict=True)
        )
        return [
            {"features": [names[g] for g in support], "objective": objective}
            for support, objective in pairs
        ]


def _show(
    session: Session, proof: str, proved: ProofSummary, all_features: bool
) -> None:
    table, preparation, checked, losses, off = proved
    first, second = preparation.classes
    session.show(
        f"{proof} is a valid proof for {table.source}.",
        *str(checked).split("\n"),
        f"target {preparation.target}: +1 is {quote(second)}, -1 is {quote(first)}",
        *(
            f"{name}: "
            + ", ".join(
                f"{value!r} for {quote(label)}" for label, value in each.items()
            )
            for name, each in losses.items()
            if len(set(each.values())) > 1
        ),
        f"The proof is for {preparation.n_features:,} columns, standardised: (value - "
        "mean) / scale. Their mean is 0, and their variance 1 (that of all categories "
        f"of a column together), to within {off:.1g}.",
        "",
    )
    groups, signs = _group_names(checked, preparation), proved.problem.columns.signs
    costs = None
    if np.isfinite(proved.problem.max_cost):
        costs = proved.problem.costs[proved.numbers]
    status = proved.status()
    rows = session.table(
        "column",
        ">mean",
        ">scale",
        *["group"] * bool(groups),
        *[">cost"] * (costs is not None),
        *["weight"] * (signs is not None),
        "",
    )
    listed = range(preparation.n_features)
    by_use = sorted(
        listed, key=lambda j: (not status[j].startswith("sel"), not status[j])
    )
    shown = listed if all_features else by_use[:N_SHOWN]
    # All of them, in full, are what a reader may want to compare.
    number = repr if all_features else "{:.6g}".format
    for j in shown:
        rows.add_row(
            preparation.features[j],
            number(float(preparation.means[j])),
            number(float(preparation.scales[j])),
            *([groups[j]] if groups else []),
            *([] if costs is None else [number(float(costs[j]))]),
            *([] if signs is None else [SIGN_WORDS[int(signs[j])]]),
            status[j],
        )
    session.show(rows)
    if len(shown) < len(listed):
        names = [preparation.features[j] for j in checked.selected_columns]
        session.show(
            f"and {len(listed) - len(shown):,} more (--all); selected: "
            f"{', '.join(names)}"
        )
    sets = [
        f"{', '.join(one['features']) or 'none'} ({one['objective']:.9g})"
        for one in proved.listed()
    ]
    most = len(sets) if all_features else N_SHOWN
    if sets:
        session.show("", "The listed choices of features, with their objectives:")
        session.show(*(f"  {words}" for words in sets[:most]))
    if len(sets) > most:
        session.show(f"  and {len(sets) - most:,} more (--all)")
    for what, words in proved.remarks().items():
        if not all_features and len(words) > N_SHOWN:
            words[N_SHOWN:] = [f"and {len(words) - N_SHOWN:,} more (--all)"]
        if words:
            session.show(f"{what}: {', '.join(words)}")


def _group_names(checked: Any, preparation: Any) -> list[str]:
    """A name for the group of each feature of a table; none if each counts alone.

    Groups of several features have the name of the variable that they are all made
    from, if no other group is, and a number otherwise.
    """
    groups = checked.problem.columns.groups
    if groups is None:
        return []
    sources = [one.variable for one, _ in preparation.origins()]
    origins: dict[int, set[str]] = {}
    members: dict[str, set[int]] = {}
    for g, source in zip(groups.tolist(), sources, strict=True):
        origins.setdefault(g, set()).add(source)
        members.setdefault(source, set()).add(g)
    sizes = Counter(groups.tolist())
    names = {}
    for g, found in origins.items():
        (first, *others) = found
        is_column = not others and len(members[first]) == 1
        names[g] = first if is_column else f"group {g}"
    return [names[g] if sizes[g] > 1 else "" for g in groups.tolist()]


def _grouped(checked: Any, preparation: Any) -> dict[str, Any]:
    """What counts as one feature, and which weights are limited in sign."""
    columns = checked.problem.columns
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


def _content(certificate: Any, proved: ProofSummary) -> dict[str, Any]:
    _, preparation, checked, losses, off = proved
    problem, names = proved.problem, proved.names
    costs = {}
    if np.isfinite(problem.max_cost):
        costs = dict(zip(names, problem.costs.tolist(), strict=True))
    return {
        "valid": True,
        "objective": checked.objective,
        "lower_bound": checked.lower_bound,
        "gap": checked.gap,
        "problem": str(checked.problem),
        "leaves": checked.n_leaves,
        "fixings": checked.n_fixings,
        "fingerprint": str(certificate.arrays["fingerprint"]),
        "checksum": str(certificate.arrays["checksum"]),
        "target": preparation.target,
        "classes": {
            "negative": preparation.classes[0],
            "positive": preparation.classes[1],
        },
        "selected": [preparation.features[j] for j in checked.selected_columns],
        **_grouped(checked, preparation),
        **losses,
        "include": [names[g] for g in problem.include],
        "exclude": [names[g] for g in problem.exclude],
        "costs": costs,
        "listed": proved.listed(),
        "remarks": {what: words for what, words in proved.remarks().items() if words},
        "standardised_to": off,
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
