"""``frugalsvm verify``: check a proof against its table."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from . import options as opt
from .session import Session

EXAMPLES = (
    "frugalsvm verify proof.npz data.csv",
    "frugalsvm verify proof.npz data.csv --json",
)
# Maximum number of features listed.
N_SHOWN = 30


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
        bool, typer.Option("--all", help="List all features with mean and scale.")
    ] = False,
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
    from ..tables import Preparation, read_table
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
    columns = arrays.get("groups", arrays["costs"])
    _check_size(proof, "columns", columns, preparation.n_features)
    table = read_table(
        data, as_text=preparation.text_columns, encoding=encoding,
        formats=combined(
            preparation.format_rules, formats,
            sorted({*preparation.number_columns, *preparation.format_rules}),
        ),
        only={one.name for one in preparation.columns} | {preparation.target},
    )  # fmt: skip
    check_names(formats, table)
    _check_size(proof, "rows", certificate.arrays["weights"], table.n_rows)
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
            there = getattr(table.columns[one.name], "levels", ())
            if len(one.shown) > most_levels(table.n_rows):
                raise InvalidCertificate(
                    f"{proof} has {len(one.levels):,} categories in column "
                    f"{one.name!r}, more than a fit allows for {table.n_rows:,} rows."
                )
            strange = set(one.levels).difference(there)
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
        f"target {preparation.target}: +1 is {second}, -1 is {first}",
        "The proof is for the features below, standardised: (value - mean) / scale. "
        f"Their mean is 0 and their variance 1, to within {off:.1g}.",
        "",
    )
    selected = set(_columns_of(checked))
    rows = session.table("feature", ">mean", ">scale", "")
    listed = range(preparation.n_features)
    shown = listed if all_features else listed[:N_SHOWN]
    for j in shown:
        rows.add_row(
            preparation.features[j],
            repr(float(preparation.means[j])),
            repr(float(preparation.scales[j])),
            "selected" if j in selected else "",
        )
    session.show(rows)
    if len(shown) < len(listed):
        names = [preparation.features[j] for j in sorted(selected)]
        session.show(
            f"and {len(listed) - len(shown):,} more (--all); selected: "
            f"{', '.join(names)}"
        )
    filled = [one for one in preparation.columns if one.fill is not None]
    if filled:
        words = ", ".join(f"{one.name}: {one.fill}" for one in filled[:N_SHOWN])
        session.show(f"missing values were imputed by: {words}")


def _columns_of(checked: Any) -> list[int]:
    """The columns of the selected features."""
    return sorted(checked.problem.columns.of(checked.selected).tolist())


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
        "selected": [preparation.features[j] for j in _columns_of(checked)],
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
