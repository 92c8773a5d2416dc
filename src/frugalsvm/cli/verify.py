"""``frugalsvm verify``: check a proof against its table."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

import typer

from ..runtime.words import quote
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
    from ..tables.labels import joined
    from ..tables.layout import Layout
    from ..tables.target import known_target
    from .formats import check_names, combined, parse_formats

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
        data, as_text=preparation.text_columns, encoding=encoding,
        formats=combined(
            preparation.format_rules, formats,
            sorted({*preparation.number_columns, *preparation.format_rules}),
        ),
        only=None if labels else preparation.needed,
        layout=Layout(sheet, transpose, labels), words=preparation.words,
    )  # fmt: skip
    check_names(formats, table)
    preparation.check_columns(table)
    table = joined(table, labels, preparation.target)
    table = labelled(table, preparation.target)
    for remark in table.remarks:
        session.say(f"{table.source}: {remark}")
    _check_size(proof, "rows", arrays["weights"], table.n_rows)
    found = known_target(table, preparation.target, preparation.classes)
    _check_categories(proof, preparation, table)
    off = preparation.check_standard(table)
    checked = check(certificate, preparation.transform(table), found.signs)
    _show(session, proof, table, preparation, checked, off, all_features)
    session.give(_content(certificate, preparation, checked, off))


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
    from ..tables.prepared_columns import CategoryColumn

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


def _show(
    session: Session, proof: str, table: Any, preparation: Any, checked: Any,
    off: float, all_features: bool,
) -> None:  # fmt: skip
    first, second = preparation.classes
    session.show(
        f"{proof} is a valid proof for {table.source}.",
        *str(checked).split("\n"),
        f"target {preparation.target}: +1 is {quote(second)}, -1 is {quote(first)}",
        f"The proof is for {preparation.n_features:,} columns, standardised: (value - "
        "mean) / scale. Their mean is 0, and their variance 1 (that of all categories "
        f"of a column together), to within {off:.1g}.",
        "",
    )
    selected = set(checked.selected_columns.tolist())
    groups, signs = _group_names(checked, preparation), checked.problem.columns.signs
    rows = session.table(
        "column", ">mean", ">scale", *["group"] * bool(groups),
        *["weight"] * (signs is not None), "",
    )  # fmt: skip
    listed = range(preparation.n_features)
    by_use = sorted(listed, key=lambda j: j not in selected)
    shown = listed if all_features else by_use[:N_SHOWN]
    # All of them, in full, are what a reader may want to compare.
    number = repr if all_features else "{:.6g}".format
    for j in shown:
        rows.add_row(
            preparation.features[j],
            number(float(preparation.means[j])),
            number(float(preparation.scales[j])),
            *([groups[j]] if groups else []),
            *([] if signs is None else [SIGN_WORDS[int(signs[j])]]),
            "selected" if j in selected else "",
        )
    session.show(rows)
    if len(shown) < len(listed):
        names = [preparation.features[j] for j in sorted(selected)]
        session.show(
            f"and {len(listed) - len(shown):,} more (--all); selected: "
            f"{', '.join(names)}"
        )
    filled = [one for one in preparation.columns if one.n_gaps]
    if filled:
        words = [f"{one.name}: {one.fill}" for one in filled]
        if not all_features and len(words) > N_SHOWN:
            words[N_SHOWN:] = [f"and {len(words) - N_SHOWN:,} more (--all)"]
        session.show(f"missing values were imputed by: {', '.join(words)}")


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


def _content(
    certificate: Any, preparation: Any, checked: Any, off: float
) -> dict[str, Any]:
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
