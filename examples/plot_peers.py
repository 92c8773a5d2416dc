"""
Against recursive elimination and the l1 norm
=============================================

Recursive feature elimination drops the smallest weight, again and again; the l1 norm
shrinks weights until few are left. Both are quick, and neither knows how far from the
best choice it ends. All three choose features here, and the same SVM weighs them, so
that only the choice differs.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import RFE
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, l1_min_c

from frugalsvm import FrugalSVC

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
C = 1.0
budgets = [1, 2, 3, 4, 5, 6, 8, 10]


def by_elimination(X, y, budget):
    svm = SVC(kernel="linear", C=C)
    return RFE(svm, n_features_to_select=budget).fit(X, y).get_support(indices=True)


def by_l1(X, y, budget):
    """The largest model of at most so many features along the path of penalties."""
    support = []
    for weight in l1_min_c(X, y) * np.logspace(0.01, 3, 40):
        svm = LinearSVC(penalty="l1", C=weight, tol=1e-3, max_iter=5000)
        found = np.flatnonzero(svm.fit(X, y).coef_[0])
        if found.size > budget:
            break
        support = found
    return support


def by_search(X, y, budget):
    clf = FrugalSVC(budget, C=C, method="swap", random_state=0)
    return clf.fit(X, y).get_support(indices=True)


def objective(X, y, support):
    """The SVM on some features; without any, the best constant."""
    if len(support) == 0:
        return C * 2.0 * np.bincount(y).min()
    svm = SVC(kernel="linear", C=C, tol=1e-6).fit(X[:, support], y)
    losses = np.maximum(0, 1 - (2 * y - 1) * svm.decision_function(X[:, support]))
    return 0.5 * (svm.coef_**2).sum() + C * losses.sum()


# %%
# The bound says that nobody can do better than the grey area; it is proved anew for
# every budget.

peers = {"RFE": by_elimination, "l1": by_l1, "FrugalSVC": by_search}
objectives = {
    name: [objective(X, y, choose(X, y, budget)) for budget in budgets]
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


def accuracy(choose, budget):
    scores = []
    for fit, test in folds:
        support = choose(X[fit], y[fit], budget)
        if len(support) == 0:
            scores.append((y[test] == np.bincount(y[fit]).argmax()).mean())
            continue
        svm = SVC(kernel="linear", C=C).fit(X[np.ix_(fit, support)], y[fit])
        scores.append(svm.score(X[np.ix_(test, support)], y[test]))
    return 100 * np.mean(scores)


accuracies = {
    name: [accuracy(choose, budget) for budget in budgets]
    for name, choose in peers.items()
}

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
styles = {
    "RFE": ("#E69F00", "s--"),
    "l1": ("#009E73", "^:"),
    "FrugalSVC": ("#0072B2", "o-"),
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
