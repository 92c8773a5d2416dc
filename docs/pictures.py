"""Draw the pictures of README and explanation from real runs: ``make pictures``.

Each is an SVG in ``docs/_static`` that follows the reader's light or dark setting.
"""

import csv
from pathlib import Path

import numpy as np
from sklearn.feature_selection import RFE
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from frugalsvm import FrugalSVC, FrugalSVCCV, Problem, frugal_path, relax
from frugalsvm.report.figures import Axis, Plot, as_percentages, linear_axis, steps
from frugalsvm.run.words import escaped

ROOT = Path(__file__).parents[1]
FOLDER = Path(__file__).parent / "_static"
# Points of the curve of a tree.
N_STEPS = 120
TABLE = ROOT / "examples" / "data" / "breast_cancer.csv"
STYLE = """
svg{--first:#a8501c;--second:#1f6690;--third:#6b6b6b;--open:#8a84782b;--shade:#1f66901f;
--ink:#20242a;--soft:#5b636d;--rule:#dfe3e8;--page:#fff;
font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif}
@media(prefers-color-scheme:dark){svg{--first:#f0a46c;--second:#76b9e0;--third:#a9b1ba;
--open:#c8c2b422;--shade:#76b9e026;--ink:#eceff3;--soft:#aab3bd;--rule:#39414b;
--page:#14181e}}
.page{fill:var(--page)}
text{font-size:11.5px;fill:var(--soft)}
.head{font-size:14px;font-weight:600;fill:var(--ink)}
.mark{font-weight:600;fill:var(--ink);paint-order:stroke;stroke:var(--page);
stroke-width:3px;stroke-linejoin:round}
.mark.first{fill:var(--first)}.mark.second{fill:var(--second)}.mark.third{fill:var(--third)}
.grid{stroke:var(--rule);stroke-width:.7;fill:none}
.axis,.tick{stroke:var(--soft);stroke-width:.9;fill:none}
.line{fill:none;stroke-width:2;stroke-linejoin:round}
.line.first{stroke:var(--first)}.line.second{stroke:var(--second)}
.line.third{stroke:var(--third);stroke-dasharray:5 4}
.area.open{fill:var(--open)}.area.second{fill:var(--shade)}
.dot.second{fill:var(--second)}.dot.third{fill:var(--third)}.dot.first{fill:var(--first)}
.whisker{fill:none;stroke-width:1.2}.whisker.second{stroke:var(--second)}
.edge{stroke:var(--soft);stroke-width:1.1;fill:none}
.node{fill:var(--page);stroke:var(--second);stroke-width:1.5}
.leaf{fill:var(--shade);stroke:var(--second);stroke-width:1.2}
.best{fill:var(--second);stroke:var(--second)}
.inverse{fill:var(--page);font-weight:600}
.strong{fill:var(--ink);font-weight:600}
"""


def main() -> None:
    """Draw all pictures."""
    names, X, y = table()
    for name, drawn in {
        "features": features(X, y),
        "relaxation": relaxation(X, y),
        "tree": tree(names, X, y),
        "closing": closing(X, y),
    }.items():
        (FOLDER / f"{name}.svg").write_text(drawn + "\n", "utf-8")


def table():
    """Names, raw numbers and labels (+1: benign) of the example's table."""
    with open(TABLE, newline="") as file:
        head, *rows = list(csv.reader(file))
    X = np.array([row[:-1] for row in rows], dtype=float)
    y = np.array([1 if row[-1] == "benign" else -1 for row in rows])
    return head[:-1], X, y


def page(width, height, title, parts):
    """A picture that stands alone."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{escaped(title)}"><title>{escaped(title)}</title>'
        f'<style>{STYLE}</style><rect class="page" width="{width}" height="{height}" '
        f'rx="6"/>{"".join(parts)}</svg>'
    )


def placed(plot, x, y):
    """A plot at a position of a page."""
    size = f'x="{x}" y="{y}" width="{plot.width}" height="{plot.height}"'
    return plot.svg().replace("<svg ", f"<svg {size} ", 1)


def label(x, y, text, kind, anchor="start"):
    """A text at a position of a page."""
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">'
        f"{escaped(text)}</text>"
    )


def budget_axis(budgets):
    """An axis of numbers of features."""
    return Axis(
        budgets[0] - 0.4, budgets[-1] + 0.4, [(B, str(B)) for B in budgets],
        "number of features",
    )  # fmt: skip


def pairs(xs, ys):
    """Points of a line."""
    return list(zip(xs, ys, strict=True))


# --- README: accuracy and misfit by number of features --------------------------------


def features(X, y):
    """Accuracy on unseen rows, and the objective with its bound and that of RFE."""
    budgets = list(range(1, 9))
    model = FrugalSVCCV(
        budgets, [1.0], refit_C="same", scoring="accuracy", random_state=0
    ).fit(X, y)
    scores = model.path_.score_mean[0]
    errors = model.path_.score_se[0]
    ends = [*(scores - errors), *(scores + errors)]
    unseen = Plot(
        budget_axis(budgets), as_percentages(linear_axis(ends, "")),
        "Accuracy on unseen rows by number of features", height=250,
    )  # fmt: skip
    unseen.area(
        pairs(budgets, scores + errors), pairs(budgets, scores - errors), "second"
    )
    unseen.line(pairs(budgets, scores), "second")
    for B, score in pairs(budgets, scores):
        unseen.point(B, score, "second", f"{B} features: {100 * score:.1f} %", 3)

    Z = StandardScaler().fit_transform(X)
    path = frugal_path(
        Z, y, max_features=budgets, method="branch-and-bound", random_state=0
    )
    objectives, bounds = path.objectives[0], path.lower_bounds[0]
    peer = [by_elimination(Z, y, B) for B in budgets]
    fit = Plot(
        budget_axis(budgets), linear_axis([0.0, *objectives, *peer], "", pad=0.03),
        "Objective, lower bound and objective of RFE by number of features",
        height=250,
    )  # fmt: skip
    fit.area(pairs(budgets, peer), pairs(budgets, objectives), "open")
    fit.line(pairs(budgets, peer), "third")
    fit.line(pairs(budgets, bounds), "first")
    for B, ours, theirs in zip(budgets, objectives, peer, strict=True):
        fit.point(B, theirs, "third", f"{B} features by RFE: {theirs:.4g}", 2.4)
        fit.point(B, ours, "second", f"{B} features: {ours:.4g}", 3)
    fit.text(3, peer[2], "chosen by RFE", "mark third", dx=8, dy=-10)
    fit.text(5, objectives[4], "best of all choices: proved", "mark second",
             anchor="middle", dy=28)  # fmt: skip
    widest = float(np.max((objectives - bounds) / objectives))
    parts = [
        label(18, 28, "Accuracy on unseen rows", "head"),
        label(18, 46, "five folds, with standard errors", "soft"),
        placed(unseen, 0, 56),
        label(398, 28, "Misfit of the best model", "head"),
        label(
            398,
            46,
            "model and proved bound agree to within " + percent(widest),
            "soft",
        ),
        placed(fit, 380, 56),
    ]
    title = (
        "Breast cancer, 30 columns. Left: accuracy on unseen rows as the number of "
        "features grows. Right: the objective of the best model for each number of "
        "features, which meets its proved lower bound, and of recursive elimination, "
        "which stays above it."
    )
    return page(760, 316, title, parts)


def percent(part):
    """A small fraction in percent."""
    return f"{100 * part:.2g} %"


def by_elimination(X, y, budget):
    """The objective of the SVM on the features that RFE leaves."""
    rfe = RFE(SVC(kernel="linear", C=1.0), n_features_to_select=budget).fit(X, y)
    columns = X[:, rfe.support_]
    fit = FrugalSVC(None, C=1.0, method="branch-and-bound", random_state=0)
    return fit.fit(columns, y).objective_


# --- explanation ----------------------------------------------------------------------


def relaxation(X, y):
    """The bound before branching, and the gap that branching has to close."""
    budgets = list(range(1, 11))
    X = StandardScaler().fit_transform(X)
    path = frugal_path(
        X, y, max_features=budgets, method="branch-and-bound", random_state=0
    )
    objectives = path.objectives[0]
    relaxed = [relax(Problem(X, y, C=1.0, max_features=B)).bound for B in budgets]
    without = relax(Problem(X, y, C=1.0, max_features=X.shape[1])).bound
    values = [0.0, *objectives]
    plot = Plot(
        budget_axis(budgets), linear_axis(values, "objective", pad=0.03),
        "Optimum, relaxation and SVM without a budget", width=560, height=300,
    )  # fmt: skip
    plot.area(pairs(budgets, objectives), pairs(budgets, relaxed), "open")
    plot.line([(budgets[0], without), (budgets[-1], without)], "third")
    plot.line(pairs(budgets, relaxed), "first")
    plot.line(pairs(budgets, objectives), "second")
    for B, best, bound in zip(budgets, objectives, relaxed, strict=True):
        plot.point(B, best, "second", f"{B} features, optimum: {best:.4g}", 3)
        plot.point(B, bound, "first", f"{B} features, relaxation: {bound:.4g}", 3)
    plot.text(2, objectives[1], "optimum, found and proved by the tree", "mark second",
              dx=9)  # fmt: skip
    plot.text(1, relaxed[0], "relaxation", "mark first", dx=-4, dy=34)
    plot.text(1, without, "SVM on all features", "mark third", dx=-4, dy=17)
    title = "Breast cancer, C = 1: optimum, relaxation and SVM without a budget"
    return page(560, 312, title, [placed(plot, 0, 8)])


def tree(names, X, y):
    """A whole proof: every node of a small tree."""
    X = StandardScaler().fit_transform(X)
    B, C = 3, 0.03
    run = FrugalSVC(B, C=C, random_state=0, certificate=True, method="branch-and-bound")
    result = run.fit(X, y).result_
    nodes = _nodes(result.certificate.arrays)
    bounds = [
        relax(Problem(X, y, C=C, max_features=B, include=node["in"],
                      exclude=node["out"])).bound
        for node in nodes
    ]  # fmt: skip
    _set_columns(nodes)
    width, top, step = 760, 66, 62
    leaves = sum(not node["children"] for node in nodes)
    across = (width - 90) / (leaves - 1)
    parts = [
        label(18, 26, f"Every choice of {B} of {len(names)} columns, in {leaves} cases",
              "head"),
        label(18, 44, f"left: with the column, right: without it; the best model has "
              f"{result.objective:.4f}", "soft"),
    ]  # fmt: skip
    for node in nodes:
        node["x"] = 45 + across * node["column"]
        node["y"] = top + 24 + step * node["depth"]
    for node in nodes:
        for child in node["children"]:
            low = nodes[child]
            parts.append(
                f'<path class="edge" d="M{node["x"]:.1f} {node["y"] + 11:.1f}L'
                f'{low["x"]:.1f} {low["y"] - 11:.1f}"/>'
            )
    for k, node in enumerate(nodes):
        is_leaf = not node["children"]
        holds_best = set(result.selected) >= set(node["in"]) and not (
            set(result.selected) & set(node["out"])
        )
        kind = "leaf" if is_leaf else "node"
        half = 27
        if is_leaf and holds_best:
            kind = "best"
        parts.append(
            f'<rect class="{kind}" x="{node["x"] - half:.1f}" '
            f'y="{node["y"] - 11:.1f}" width="{2 * half}" height="22" rx="4"/>'
        )
        style = "inverse" if kind == "best" else "strong"
        parts.append(
            label(node["x"], node["y"] + 4, f"{bounds[k]:.4f}", style, "middle")
        )
        if not is_leaf:
            feature = names[node["feature"]]
            parts.append(
                label(node["x"], node["y"] - 16, feature, "mark second", "middle")
            )
    height = max(node["y"] for node in nodes) + 30
    title = (
        "The tree of a proof: each node splits on a column, and each leaf has a lower "
        "bound of at least the objective of the best model, less a ten-thousandth."
    )
    return page(width, round(height), title, parts)


def _nodes(arrays):
    """The decision of every node, with the features fixed on the way to it."""
    nodes = []
    starts = arrays["fixing_start"]
    for k, parent in enumerate(arrays["parent"].tolist()):
        node = {"in": [], "out": [], "depth": 0, "children": [], "feature": None}
        if parent >= 0:
            up = nodes[parent]
            node["in"], node["out"] = list(up["in"]), list(up["out"])
            node["depth"] = up["depth"] + 1
            feature = int(arrays["feature"][k])
            node["in" if arrays["inside"][k] else "out"].append(feature)
            up["feature"] = feature
            up["children"].append(k)
            up["children"].sort(key=lambda child: child != k or not arrays["inside"][k])
        for j in arrays["fixing"][starts[k] : starts[k + 1]].tolist():
            node["in" if j >= 0 else "out"].append(j if j >= 0 else ~j)
        nodes.append(node)
    return nodes


def _set_columns(nodes):
    """Leaves side by side, other nodes above the middle of their children."""
    count = 0

    def visit(k):
        nonlocal count
        node = nodes[k]
        if not node["children"]:
            node["column"] = count
            count += 1
            return
        for child in node["children"]:
            visit(child)
        node["column"] = float(np.mean([nodes[c]["column"] for c in node["children"]]))

    visit(0)


def closing(X, y):
    """Objective and bound as a tree grows, by nodes instead of seconds."""
    X = StandardScaler().fit_transform(X)
    seen = []
    FrugalSVC(
        5, C=1.0, random_state=0, method="branch-and-bound",
        callback=lambda p: seen.append((p.nodes, p.objective, p.lower_bound)) and False,
    ).fit(X, y)  # fmt: skip
    seen = [entry for entry in seen if entry[0] > 0]
    keep = np.unique(np.geomspace(1, len(seen), N_STEPS).astype(int)) - 1
    seen = [seen[k] for k in keep]
    counts, objectives, bounds = (list(part) for part in zip(*seen, strict=True))
    ticks = [(1, "1"), (10, "10"), (100, "100"), (counts[-1], f"{counts[-1]:,}")]
    plot = Plot(
        Axis(1, counts[-1], ticks, "nodes of the tree", True),
        linear_axis([*objectives, *bounds], "objective"),
        "Best objective and lower bound as the tree grows", width=560, height=280,
    )  # fmt: skip
    upper, lower = steps(counts, objectives), steps(counts, bounds)
    plot.area(upper, lower, "open")
    plot.line(lower, "first")
    plot.line(upper, "second")
    plot.text(3, objectives[-1], "best model, found before the tree began",
              "mark second", dy=16)  # fmt: skip
    middle = len(counts) // 2
    plot.text(counts[middle], bounds[middle], "proved bound", "mark first",
              anchor="start", dx=12, dy=14)  # fmt: skip
    title = "Breast cancer, B = 5, C = 1: the bound rises until it meets the objective"
    return page(560, 292, title, [placed(plot, 0, 8)])


if __name__ == "__main__":
    main()
