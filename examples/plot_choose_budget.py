"""
Choosing the budget
===================

How many features are enough? ``FrugalSVCCV`` fits every budget and C on every fold.
With ``rule="one-se"``, it takes the fewest features whose score is within one standard
error of the best. The scaler is fitted inside the folds. By default a fixed C selects
the features, and only the C of their weights is chosen; here three values compete.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from frugalsvm import FrugalSVCCV

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
model = FrugalSVCCV(
    max_features=range(1, 13), C=[0.01, 0.1, 1.0], rule="one-se", effort="fast",
    random_state=0,
).fit(X, y)  # fmt: skip
print(model.path_)

# %%
# The chosen model, and how often its features were selected in the folds.
chosen = model.get_support()
print(
    f"{model.best_max_features_} features, selected with C = {model.best_C_:g}, "
    f"weights with C = {model.best_refit_C_:g}"
)
for name, share in zip(
    X.columns[chosen], model.selection_frequency_[chosen], strict=True
):
    print(f"{name:<24} in {share:.0%} of the folds")

# %%
# Left: mean scores with their standard errors; all scores above the dashed line are as
# good as the best. Right: in how many folds a feature is selected at the chosen budget.
path = model.path_
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for row, C in enumerate(path.C):
    left.errorbar(
        path.max_features + 0.12 * (row - 1), 100 * path.score_mean[row],
        100 * path.score_se[row], fmt="o-", capsize=2, label=f"C = {C:g}",
    )  # fmt: skip
best = np.unravel_index(np.argmax(path.score_mean), path.score_mean.shape)
left.axhline(
    100 * (path.score_mean[best] - path.score_se[best]), color="C7", linestyle="--"
)
left.plot(
    model.best_max_features_ + 0.12 * (path.best[0] - 1), 100 * model.best_score_, "s",
    markersize=13, markerfacecolor="none", color="k", label="chosen",
)  # fmt: skip
left.set(xlabel="budget B", ylabel="balanced accuracy in 5-fold cross-validation [%]")
left.legend(frameon=False, loc="lower right")
order = np.argsort(-model.selection_frequency_, kind="stable")
order = order[model.selection_frequency_[order] > 0][::-1]
colours = np.where(chosen[order], "C0", "C7")
right.barh(X.columns[order], 100 * model.selection_frequency_[order], color=colours)
right.set(xlabel="folds that select it [%]", title="blue: in the final model")
for panel in (left, right):
    panel.spines[["top", "right"]].set_visible(False)
plt.show()
