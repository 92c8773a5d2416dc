"""``frugalsvm alternatives``: other choices of features that are about as good."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ..run import counted, listed
from ..tables import MIN_LEVEL, REFUSE, Layout
from . import options as opt
from .options import DataOptions
from .outputs import check_output, printing_result, write_certificate
from .panel import Panel
from .session import Deadline, InterruptedFit, Session, UsageProblem, plain

EXAMPLES = (
    "frugalsvm alternatives data.csv --target y --max-features 5 --tolerance 1%",
    "frugalsvm alternatives data.csv -t y -k 3 --tolerance 5% --certificate all.npz",
)
# Maximum numbers of models, features, and substitutes of each that are printed.
N_MODELS, N_FEATURES, N_SUBSTITUTES = 10, 20, 3
# The work of the tree by default, about a minute on a usual computer.
WORK = 6e10


def alternatives(
    session: Session,
    data: opt.DataFile,
    target: opt.TargetName,
    max_features: Annotated[
        str, typer.Option("--max-features", "-k", help="Maximum number of features.")
    ] = "5",
    tolerance: Annotated[
        str,
        typer.Option(
            help="How much worse than the best one a model may be: 1% or 0.01."
        ),
    ] = "1%",
    C: Annotated[float, typer.Option("--C", help="Weight of the hinge loss.")] = 1.0,
    class_weight: opt.ClassWeight = "auto",
    time_limit: opt.TimeLimit = None,
    max_nodes: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Maximum number of nodes of the tree; by default, as many as take "
            "about a minute on a usual computer.",
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, help="Maximum number of models in the list.")
    ] = 10_000,
    include: opt.Include = None,
    exclude: opt.Exclude = None,
    keep: opt.Keep = None,
    categorical: opt.Categorical = None,
    split_categories: opt.SplitCategories = False,
    signs: opt.Signs = None,
    costs: opt.Costs = None,
    max_cost: opt.MaxCost = None,
    positive: opt.Positive = None,
    missing: opt.Missing = None,
    min_level: opt.MinLevel = MIN_LEVEL,
    unlabelled: opt.Unlabelled = REFUSE,
    certificate: Annotated[
        str | None, typer.Option(help="Write the proof that the list is complete.")
    ] = None,
    sheet: opt.Sheet = None,
    transpose: opt.Transpose = False,
    labels: opt.Labels = None,
    encoding: opt.Encoding = None,
    decimal: opt.Decimal = None,
    thousands: opt.Thousands = None,
    jobs: opt.Jobs = 1,
) -> None:
    """List all choices of features that are nearly as good as the best one.

    Shows which features are proved to be in every good model, and what can replace the
    others.
    """
    from ..estimators import near_optimal
    from .class_weights import parse_class_weight
    from .options import parse_formats
    from .parsing import (
        check_cost_options,
        check_search,
        parse_budget,
        parse_C,
        parse_missing,
        parse_share,
        parse_signs,
        parse_unlabelled,
    )
    from .reporting import Cautions, nodes_of
    from .results import class_weight_of
    from .study import Conditions

    deadline = Deadline.after(time_limit)
    check_output("--certificate", certificate, data, costs, labels)
    check_search("fast", time_limit, jobs)
    check_cost_options(costs, max_cost)
    budget, share = parse_budget(max_features), parse_share(tolerance)
    if isinstance(budget, str):
        raise UsageProblem(
            "--max-features must be a number here; use fit -k auto to choose one."
        )
    parse_C(str(C))
    source = DataOptions(
        data, target, positive, tuple(exclude or ()), tuple(keep or ()),
        tuple(categorical or ()), parse_missing(missing), encoding,
        costs, parse_formats(decimal, thousands), parse_class_weight(class_weight),
        split_categories, parse_unlabelled(unlabelled),
        Layout(sheet, transpose, labels), min_level=min_level,
    )  # fmt: skip
    signs_by_name = parse_signs(signs)
    with Panel(session) as panel:
        table, preparation, prices = source.load(session, panel)
        weights = source.weights(session, table.target)
        conditions = Conditions(
            budget,
            C,
            tuple(include or ()),
            prices,
            max_cost,
            weights,
            signs=signs_by_name,
            is_split=split_categories,
        )
        conditions.check(table, preparation)
        panel.phase("listing alternatives")
        X = preparation.transform(table.table)
        problem = conditions.problem(
            preparation, X, table.target.signs, overwrite_X=False
        )
        listing = near_optimal(
            problem,
            tolerance=share,
            limit=limit,
            feature_names=conditions.names(preparation),
            time_limit=deadline.seconds_left,
            max_nodes=max_nodes or nodes_of(problem, WORK),
            n_jobs=jobs,
            random_state=session.seed,
            certificate=certificate is not None,
        )
        session.hold.begin(listing.status == "interrupted")
    cautions = Cautions.of(table, preparation)
    cautions.show(session)
    _show(session, listing)
    content = _content(listing) | {"warnings": cautions.texts}
    content["class_weight"] = class_weight_of(conditions, table.target.signs)
    with printing_result(session, content):
        if certificate is not None and listing.certificate is not None:
            proof = listing.certificate.with_preparation(preparation.to_json())
            write_certificate(certificate, proof)
            session.say(f"certificate written to {certificate}")
    if session.hold.count > 0:
        raise InterruptedFit


def _show(session: Session, listing: Any) -> None:
    from ..estimators import explanation

    n, percent = len(listing), 100 * listing.tolerance
    session.show("", f"{n:,} model{'s' * (n > 1)} within {percent:.3g} %")
    session.show(plain(explanation(listing, options=True)), "")
    table = session.table("feature", ">models", "role")
    roles = [role for role in listing.roles if role.n_models]
    for role in roles[:N_FEATURES]:
        share = f"{100 * role.n_models / n:.0f} %"
        table.add_row(plain(role.name), share, _role_text(role))
    session.show(table)
    if len(roles) > N_FEATURES:
        session.show(f"and {counted(len(roles) - N_FEATURES, 'more feature')}")
    models = session.table(">worse by", "features")
    rows = zip(listing.excess[:N_MODELS], listing.supports, strict=False)
    for excess, support in rows:
        names = ", ".join(plain(listing.feature_names[j]) for j in support)
        models.add_row(f"{100 * excess:.2f} %", names or "(none)")
    session.show("", models)
    if n > N_MODELS:
        session.show(
            f"and {counted(n - N_MODELS, 'more model')} (--json lists all of them)"
        )


def _role_text(role: Any) -> str:
    if role.role != "replaceable":
        return role.role
    if not role.replaced_by:
        return "replaceable together with others"
    names = [plain(name) for name in role.replaced_by]
    return f"replaceable by {listed(names, N_SUBSTITUTES)}"


def _content(listing: Any) -> dict[str, Any]:
    from ..estimators import explanation

    names = listing.feature_names
    return {
        "tolerance": listing.tolerance,
        "complete": listing.complete,
        "complete_up_to": listing.complete_up_to,
        "status": listing.status,
        "lower_bound": listing.lower_bound,
        "explanation": explanation(listing, options=True),
        "exchanges_tried": listing.n_exchanges,
        "indispensable": listing.indispensable,
        "models": [
            {
                "objective": objective,
                "excess": excess,
                "features": [names[j] for j in support],
            }
            for objective, excess, support in zip(
                listing.objectives, listing.excess, listing.supports, strict=True
            )
        ],
        "roles": [
            {
                "feature": role.name,
                "role": role.role,
                "models": role.n_models,
                "replaced_by": role.replaced_by,
            }
            for role in listing.roles
            if role.n_models
        ],
    }
