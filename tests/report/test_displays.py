"""Displays: they draw the given values, into the given axes."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from frugalsvm import (
    FrugalSVC,
    FrugalSVCCV,
    PortableModel,
    StabilitySelection,
    frugal_path,
    near_optimal,
)
from frugalsvm.report import (
    BudgetPathDisplay,
    ProgressDisplay,
    ScoresDisplay,
    SelectionDisplay,
    SupportsDisplay,
    WeightsDisplay,
)
from frugalsvm.report.displays import N_LETTERS, label

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

# A formula that Matplotlib cannot read, and one that it can.
NAMES = ["$\\frac$", "b", "a $x^2$", "d", "e" * 100, "f", "g", "h"]


@pytest.fixture(autouse=True)
def figures_are_closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 8))
    y = np.where(X @ np.r_[2, -2, 1, np.zeros(5)] > 0, "yes", "no")
    return pd.DataFrame(X, columns=NAMES), y


@pytest.fixture(scope="module")
def model(data):
    return make_pipeline(StandardScaler(), FrugalSVC(3, random_state=0)).fit(*data)


def displays(model, data):
    X, y = data
    signs = np.where(y == "yes", 1.0, -1.0)
    path = frugal_path(X, signs, max_features=[1, 2], random_state=0)
    masks = np.eye(8, dtype=bool)[:4]
    supports = SimpleNamespace(supports=[[0, 1], [0, 2]], objectives=[2.0, 1.0])
    return [
        lambda ax: WeightsDisplay.from_estimator(model, ax=ax),
        lambda ax: ProgressDisplay.from_estimator(model, ax=ax),
        lambda ax: ScoresDisplay.from_estimator(model, X, y, ax=ax),
        lambda ax: BudgetPathDisplay.from_path(path, ax=ax),
        lambda ax: SelectionDisplay.from_stability(
            StabilitySelection(masks, NAMES), ax=ax
        ),
        lambda ax: SupportsDisplay.from_near_optimal(supports, names=NAMES, ax=ax),
    ]


@pytest.mark.filterwarnings("error::UserWarning")
def test_axes_in_axes_out(model, data):
    for draw in displays(model, data):
        _, ax = plt.subplots()
        assert draw(ax).ax_ is ax
        own = draw(None)
        assert own.ax_ is not ax
        assert own.figure_ is own.ax_.figure
        # Names that are not formulas are drawn unchanged.
        own.figure_.canvas.draw()


def ticks(ax):
    return [tick.get_text() for tick in ax.get_yticklabels()]


def notes(ax):
    return [text.get_text() for text in ax.texts]


def test_weights_are_those_of_the_model(model, data):
    display = WeightsDisplay.from_estimator(model)
    weights = model[-1].coef_[0]
    order = np.argsort(-np.abs(weights))[:3]
    np.testing.assert_allclose(
        [bar.get_width() for bar in display.bars_], weights[order]
    )
    assert ticks(display.ax_) == [label(NAMES[j]) for j in order]
    assert "negative: no, positive: yes" in display.ax_.get_xlabel()
    colours = {bar.get_facecolor() for bar in display.bars_}
    assert len(colours) == len(set(np.sign(weights[order])))
    portable = WeightsDisplay.from_estimator(PortableModel.from_estimator(model))
    assert ticks(portable.ax_) == ticks(display.ax_)


@pytest.fixture(scope="module")
def classes(data):
    """A model of three classes, and its table."""
    X, _ = data
    y = np.array(["lo", "mid $", "hi"])[np.digitize(X["b"], [-0.5, 0.5])]
    pipeline = make_pipeline(StandardScaler(), FrugalSVC(3, random_state=0))
    return pipeline.fit(X, y), X, y


def test_weights_of_several_classes_are_a_heat_map(classes):
    model, *_ = classes
    display = WeightsDisplay.from_estimator(model)
    coef = model[-1].coef_
    sizes = np.abs(coef).max(axis=0)
    order = np.argsort(-sizes)[: np.count_nonzero(sizes)]
    cells = display.mesh_.get_array().reshape(-1, 3)
    np.testing.assert_allclose(cells, coef[:, order].T)
    assert ticks(display.ax_) == [label(NAMES[j]) for j in order]
    columns = [tick.get_text() for tick in display.ax_.get_xticklabels()]
    assert columns == [label(one) for one in model.classes_]
    assert f"{coef[1, order[0]]:+.3g}" in notes(display.ax_)
    display.figure_.canvas.draw()
    portable = WeightsDisplay.from_estimator(PortableModel.from_estimator(model))
    assert ticks(portable.ax_) == ticks(display.ax_)
    with pytest.raises(ValueError, match="a label for each of 3 classes, got 2"):
        WeightsDisplay(coef, NAMES, ("a", "b"))


def test_histograms_of_several_classes_are_refused_with_what_to_do(classes):
    model, X, y = classes
    with pytest.raises(ValueError, match=r"3 classes.* give scores\[:, k\]"):
        ScoresDisplay.from_estimator(model, X, y)
    scores = model.decision_function(X)
    one = ScoresDisplay(scores[:, 0], y == model.classes_[0], (False, True)).plot()
    assert "on the wrong side" in one.ax_.get_title(loc="right")


def test_other_displays_take_several_classes(classes):
    model, X, y = classes
    ProgressDisplay.from_estimator(model)
    shown = SelectionDisplay.from_estimators([model, model])
    assert len(ticks(shown.ax_)) == model[-1].get_support().sum()
    chosen = make_pipeline(StandardScaler(), FrugalSVCCV([1, 2], random_state=0))
    path = BudgetPathDisplay.from_estimator(chosen.fit(X, y))
    assert path.scores.size == 2
    scaled = StandardScaler().fit_transform(X)
    found = near_optimal(scaled, y, max_features=1, tolerance=0.5)
    shown = SupportsDisplay.from_near_optimal(found, names=NAMES)
    assert shown.mesh_.get_array().size % len(found.supports) == 0


def test_weights_that_do_not_fit_are_counted():
    display = WeightsDisplay(np.arange(40), [f"f{j}" for j in range(40)]).plot(
        max_display=10
    )
    assert len(display.bars_) == 10
    assert ticks(display.ax_)[0] == "f39"
    # Zero is no weight.
    assert "and 29 more features" in notes(display.ax_)


def test_progress_is_the_history(model):
    result = model[-1].result_
    objective, bound = ProgressDisplay.from_estimator(model).lines_
    assert objective.get_ydata()[-1] == result.objective
    assert bound.get_ydata()[-1] == result.lower_bound
    finite = [entry[1] for entry in result.history if np.isfinite(entry[1])]
    np.testing.assert_array_equal(objective.get_ydata()[:-1], finite)


def test_long_runs_have_a_logarithmic_axis():
    history = [(0.0, np.inf, 0.0), (0.01, 5.0, 1.0), (9.0, 4.0, 3.0)]
    display = ProgressDisplay(history, seconds=10.0).plot()
    assert display.ax_.get_xscale() == "log"
    assert display.lines_[0].get_xdata()[-1] == 10.0
    assert "gap 25 %" in display.ax_.get_title(loc="right")
    assert ProgressDisplay([(0.0, 1.0, 1.0)]).plot().ax_.get_xscale() == "linear"


def test_scores_are_counted_by_class(model, data):
    X, y = data
    display = ScoresDisplay.from_estimator(model, X, y, bins=10)
    shown = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert shown == [f"no  ({(y == 'no').sum()})", f"yes  ({(y == 'yes').sum()})"]
    wrong = 100 * (model.predict(X) != y).mean()
    assert f"{wrong:.1f} %" in display.ax_.get_title(loc="right")


def test_selection_is_sorted_by_frequency():
    masks = np.array([[0, 1, 1], [0, 1, 0], [0, 0, 1], [0, 1, 0]], dtype=bool)
    display = SelectionDisplay(masks, ["never", "often", "half"], "runs").plot()
    assert ticks(display.ax_) == ["often", "half"]
    assert notes(display.ax_) == ["75 %", "50 %"]
    cells = np.asarray(display.mesh_.get_array()).reshape(2, 4)
    np.testing.assert_array_equal(cells, masks[:, [1, 2]].T)
    assert display.ax_.get_xlabel() == "4 runs"


def test_selection_of_folds(data):
    model = make_pipeline(StandardScaler(), FrugalSVC(2, method="swap", random_state=0))
    folds = cross_validate(model, *data, cv=3, return_estimator=True)["estimator"]
    display = SelectionDisplay.from_estimators(folds)
    np.testing.assert_array_equal(
        display.masks, [fold[-1].get_support() for fold in folds]
    )
    assert display.ax_.get_xlabel() == "3 folds"


def test_supports_are_sorted_by_objective_and_count():
    display = SupportsDisplay(
        [[0, 3], [3, 1], [3, 0, 2]], list("abcd"), [3.0, 1.0, 2.0]
    ).plot()
    np.testing.assert_array_equal(display.objectives, [1.0, 2.0, 3.0])
    assert ticks(display.ax_) == ["d", "a", "b", "c"]
    assert notes(display.ax_) == ["all", "2", "1", "1"]
    cells = np.asarray(display.mesh_.get_array()).reshape(4, 3)
    # Features of all models are marked.
    np.testing.assert_array_equal(cells, [[2, 2, 2], [0, 1, 1], [1, 0, 0], [0, 1, 0]])
    marks = [tick.get_text() for tick in display.ax_.get_xticklabels()]
    assert marks[0] == "best"
    assert marks[-1] == "+2e+02 %"


def test_only_indispensable_features_are_marked():
    roles = [SimpleNamespace(feature=1, role="indispensable"),
             SimpleNamespace(feature=0, role="in all found")]  # fmt: skip
    found = SimpleNamespace(
        supports=[[0, 1], [0, 1, 2]], objectives=[1.0, 2.0], roles=roles, complete=False
    )
    display = SupportsDisplay.from_near_optimal(found)
    cells = np.asarray(display.mesh_.get_array()).reshape(3, 2)
    np.testing.assert_array_equal(cells, [[1, 1], [2, 2], [0, 1]])
    assert "2 models found (there may be more)" in display.ax_.get_xlabel()


def test_supports_are_cut_but_counted():
    supports = [[0, j] for j in range(1, 101)]
    found = SimpleNamespace(supports=supports, objectives=np.arange(1, 101.0))
    display = SupportsDisplay.from_near_optimal(found, max_display=5, max_models=10)
    assert np.asarray(display.mesh_.get_array()).size == 50
    assert "10 of 100 models" in display.ax_.get_xlabel()
    assert "and 96 more features" in notes(display.ax_)
    assert ticks(display.ax_)[:2] == ["x0", "x1"]


def test_a_path_with_one_C_and_with_two(data):
    X, y = data
    signs = np.where(y == "yes", 1.0, -1.0)
    path = frugal_path(X, signs, max_features=[1, 2, 3], C=[0.1, 1.0], random_state=0)
    display = BudgetPathDisplay.from_path(path, C=1.0)
    np.testing.assert_array_equal(display.ax_.lines[0].get_ydata(), path.objectives[1])
    np.testing.assert_array_equal(
        display.ax_.lines[1].get_ydata(), path.lower_bounds[1]
    )
    with pytest.raises(ValueError, match=r"several C \(0\.1, 1\)"):
        BudgetPathDisplay.from_path(path)
    with pytest.raises(ValueError, match=r"got C=3\.0"):
        BudgetPathDisplay.from_path(path, C=3.0)


def test_the_one_standard_error_rule_is_marked():
    scores, errors = [0.8, 0.9, 0.94, 0.95], [0.02, 0.02, 0.02, 0.02]
    display = BudgetPathDisplay(
        [1, 2, 4, 8], scores=scores, standard_errors=errors
    ).plot()
    assert display.chosen == 4
    words = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert {"chosen: 4", "best: 8"} <= set(words)
    assert BudgetPathDisplay([1, 2], scores=[1, 2], chosen=1).chosen == 1


def test_a_cross_validated_choice_is_drawn(data):
    path = SimpleNamespace(
        max_features=np.array([1, 2, 3]),
        C=np.array([0.1, 1.0]),
        objectives=np.array([[3.0, 2.0, 1.0], [6.0, 5.0, 4.0]]),
        lower_bounds=np.array([[2.0, 1.0, 1.0], [5.0, 4.0, 4.0]]),
        score_mean=np.array([[0.5, 0.6, 0.7], [0.7, 0.8, 0.9]]),
        score_se=np.full((2, 3), 0.01),
    )
    clf = FrugalSVC(2, random_state=0).fit(*data)
    clf.path_, clf.best_C_, clf.best_max_features_ = path, 1.0, 2
    display = BudgetPathDisplay.from_estimator(clf)
    assert display.chosen == 2
    assert display.ax_.get_ylabel() == "score"
    other = BudgetPathDisplay.from_estimator(clf, C=0.1, kind="objective")
    assert other.chosen == 3
    np.testing.assert_array_equal(other.objectives, [3.0, 2.0, 1.0])
    with pytest.raises(ValueError, match="LinearSVC has no path_"):
        BudgetPathDisplay.from_estimator(LinearSVC().fit(*data))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: WeightsDisplay([1.0], ["a", "b"]), "2 names"),
        (lambda: ProgressDisplay([]), "history is empty"),
        (lambda: ScoresDisplay([1.0], [0, 1], (0, 1)), r"shapes \(1,\) and \(2,\)"),
        (lambda: ScoresDisplay([1.0], [7], (0, 1)), "y has label 7"),
        (lambda: SelectionDisplay([[True]], ["a", "b"]), "each of the 2 names"),
        (lambda: SelectionDisplay.from_estimators([]), "estimators is empty"),
        (lambda: SupportsDisplay([], ["a"], []), "there must be at least one model"),
        (lambda: SupportsDisplay([[1]], ["a"], [1.0]), "outside 0 to 0"),
        (lambda: BudgetPathDisplay([1]), "give objectives, scores or both"),
        (lambda: BudgetPathDisplay([1], scores=[1, 2]), "each of the 1 budgets"),
        (
            lambda: BudgetPathDisplay([1], scores=[1]).plot(kind="objective"),
            "kind must be 'score' here, got 'objective'",
        ),
    ],
)
def test_bad_input(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_models_without_a_history_are_rejected(data):
    with pytest.raises(ValueError, match="LinearSVC has no result_"):
        ProgressDisplay.from_estimator(LinearSVC().fit(*data))


def test_labels_are_short():
    assert len(label("x" * 500)) <= N_LETTERS
    assert label("two\nlines") == "two lines"


def test_matplotlib_is_loaded_when_something_is_drawn():
    code = (
        "import sys, frugalsvm.report as p\n"
        "assert 'matplotlib' not in sys.modules\n"
        "assert 'numba' not in sys.modules\n"
        "sys.modules['matplotlib'] = None\n"
        "d = p.WeightsDisplay([1.0], ['a'])\n"
        "try:\n"
        "    d.plot()\n"
        "except ImportError as error:\n"
        "    assert 'pip install frugalsvm[plot]' in str(error), error\n"
        "else:\n"
        "    raise AssertionError\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
