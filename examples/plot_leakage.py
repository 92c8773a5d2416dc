"""
Leakage in pipelines
====================

Features that are selected on all data have seen the test folds. On pure noise, where
every unbiased accuracy is one half, the mistake looks like a discovery. Selection
belongs inside the folds: in a pipeline, or in ``FrugalSVCCV``.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from frugalsvm import ConstantModelWarning, FrugalSVC, FrugalSVCCV

N_DRAWS = 8
# On noise, a model that predicts one class is sometimes the best.
warnings.simplefilter("ignore", ConstantModelWarning)


def draw(seed):
    """Noise: 60 samples, 200 features, and labels unrelated to them."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(60, 200)), rng.permutation(np.repeat([0, 1], 30))


# %%
# Wrong: select on all data, then cross-validate a classifier on the selected features.
# Right: the pipeline repeats the selection in each fold.
selector = FrugalSVC(5, C=0.1, effort="fast", random_state=0)
wrong, right = [], []
for seed in range(N_DRAWS):
    X, y = draw(seed)
    seen = selector.fit(X, y).transform(X)
    svm = LinearSVC(C=0.1)
    wrong.append(cross_val_score(make_pipeline(StandardScaler(), svm), seen, y).mean())
    honest = make_pipeline(StandardScaler(), selector)
    right.append(cross_val_score(honest, X, y).mean())
print(f"selected on all data {np.mean(wrong):.2f}, within folds {np.mean(right):.2f}")

# %%
# ``FrugalSVCCV`` scales and selects within its folds. The score of its choice is still
# the best of many, and so slightly optimistic; an outer cross-validation is not.
inner, outer = [], []
for seed in range(N_DRAWS):
    X, y = draw(seed)
    search = FrugalSVCCV([1, 3], scoring="accuracy", effort="fast", random_state=0)
    inner.append(search.fit(X, y).best_score_)
    outer.append(cross_val_score(search, X, y).mean())
print(f"best_score_ {np.mean(inner):.2f}, outer folds {np.mean(outer):.2f}")

# %%
figure, axis = plt.subplots(figsize=(8, 4), layout="constrained")
labels = [
    "selected on all data\n(wrong)", "selected in folds\n(pipeline)",
    "FrugalSVCCV,\nbest_score_", "FrugalSVCCV,\nouter folds",
]  # fmt: skip
rng = np.random.default_rng(0)
for k, values in enumerate((wrong, right, inner, outer)):
    spread = k + rng.uniform(-0.1, 0.1, N_DRAWS)
    color = "C3" if k == 0 else "C0"
    axis.plot(spread, 100 * np.array(values), "o", color=color, alpha=0.6)
    axis.plot([k - 0.25, k + 0.25], 2 * [100 * np.mean(values)], "k", linewidth=2)
axis.axhline(50, color="C7", linestyle="--")
axis.text(0.0, 51, "the truth", ha="center", color="C7")
axis.set_xticks(range(4), labels)
axis.set(ylabel="accuracy on noise [%]", xlim=(-0.5, 3.5))
axis.spines[["top", "right"]].set_visible(False)
plt.show()
