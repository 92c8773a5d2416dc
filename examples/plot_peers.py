"""
Compared with recursive elimination and the l1 norm
===================================================

Recursive feature elimination repeatedly drops the smallest weight; the l1 norm
shrinks weights until few are left. Both are fast, but neither says how far from the
best choice it ends. Here the two and frugalsvm choose features, and the same SVM fits
their weights, so only the choice differs.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import RFE
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, l1_min_c

from frugalsvm import FrugalSVC, frugal_path

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
C = 1.0
budgets = [1, 2, 3, 4, 5, 6]


def by_elimination(X, y):
    ranks = RFE(SVC(kernel="linear", C=C), n_features_to_select=1).fit(X, y).ranking_
    return [np.flatnonzero(ranks <= budget) for budget in budgets]


def by_l1(X, y):
    """For each budget, the features of the last model within it, by falling penalty."""
    supports = [np.empty(0, dtype=int)] * len(budgets)
    for weight in l1_min_c(X, y) * np.logspace(0.01, 2, 40):
        svm = LinearSVC(penalty="l1", C=weight, tol=1e-3, random_state=0)
        support = np.flatnonzero(svm.fit(X, y).coef_[0])
        if support.size > 1.5 * max(budgets):
            break
        for k, budget in enumerate(budgets):
            supports[k] = support if support.size <= budget else supports[k]
    return supports


def by_search(X, y):
    path = frugal_path(
        X, 2 * y - 1, max_features=budgets, C=C, random_state=0,
        method_options={"patience": 0},
    )  # fmt: skip
    return [result.selected for _, _, result in path]


def objective(X, y, support):
    """Objective of the SVM on some features; without any, of the best constant."""
    if len(support) == 0:
        return C * 2.0 * np.bincount(y).min()
    svm = SVC(kernel="linear", C=C, tol=1e-6).fit(X[:, support], y)
    losses = np.maximum(0, 1 - (2 * y - 1) * svm.decision_function(X[:, support]))
    return 0.5 * (svm.coef_**2).sum() + C * losses.sum()


# %%
# The bound says that no choice of features can get into the grey area; it is proved
# separately for every budget.

peers = {"RFE": by_elimination, "l1": by_l1, "frugalsvm": by_search}
objectives = {
    name: [objective(X, y, support) for support in choose(X, y)]
    for name, choose in peers.items()
}
bounds = [FrugalSVC(b, C=C, random_state=0).fit(X, y).lower_bound_ for b in budgets]
print(f"{'budget':>6}" + "".join(f"{name:>11}" for name in peers) + f"{'bound':>11}")
for k, budget in enumerate(budgets):
    row = [objectives[name][k] for name in peers]
    print(f"{budget:>6}" + "".join(f"{value:11.2f}" for value in [*row, bounds[k]]))

# %%
# A better objective is not always a better prediction: here are mean accuracies over
# five folds, with the choice inside the folds.

folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))


def accuracy(fit, test, support):
    if len(support) == 0:
        return (y[test] == np.bincount(y[fit]).argmax()).mean()
    svm = SVC(kernel="linear", C=C).fit(X[np.ix_(fit, support)], y[fit])
    return svm.score(X[np.ix_(test, support)], y[test])


accuracies = {}
for name, choose in peers.items():
    table = [
        [accuracy(fit, test, support) for support in choose(X[fit], y[fit])]
        for fit, test in folds
    ]
    accuracies[name] = 100 * np.mean(table, axis=0)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
styles = {
    "RFE": ("#E69F00", "s--"),
    "l1": ("#009E73", "^:"),
    "frugalsvm": ("#0072B2", "o-"),
}
for name, (colour, style) in styles.items():
    left.plot(budgets, objectives[name], style, color=colour, label=name)
    right.plot(budgets, accuracies[name], style, color=colour, label=name)
left.fill_between(budgets, 0, bounds, color="0.88", label="proved to be impossible")
left.set(xlabel="budget", ylabel="objective", ylim=(0, 1.05 * max(objectives["RFE"])))
right.set(xlabel="budget", ylabel="accuracy in 5 folds [%]")
for axis in (left, right):
    axis.legend(frameon=False)
    axis.spines[["top", "right"]].set_visible(False)
plt.show()
