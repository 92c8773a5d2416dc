"""
How tight are the relaxations?
==============================

Lower bounds of all relaxations of the paper and the optimum of FS-SVM on the ten
"worst" measurements of the Wisconsin breast cancer data as the budget B grows. Bounds
of relaxations are recomputed from dual points; the optimum and the semi-relaxation
SR-DLMP(K), which keeps the B + 1 best-ranked features binary, are reported by SCIP.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from frugalsvm import Problem, relax
from frugalsvm.paper.models import big_m, cop

data = load_breast_cancer()
X = scale(data.data[:, 20:])
y = 2.0 * data.target - 1
budgets = np.arange(1, 10)
# The Shor relaxations are drawn as crosses on top of their decomposed counterparts.
LINES = ("SVM", "BoxMP", "DSCoP", "DSCoMP")
TWINS = {"SMP": "BoxMP", "SCoP": "DSCoP", "SCoMP": "DSCoMP"}

# %%
# M comes from the paper's proposition. For comparison we add the smallest M that does
# not cut off the optimum: unknown in practice, and the best case for big-M models.
optimum, semi = [], []
bounds = {kind: {name: [] for name in (*LINES, *TWINS)} for kind in range(2)}
for B in budgets:
    problem = Problem(X, y, C=1.0, max_features=int(B))
    best = cop(problem).solve()
    optimum.append(best.objective)
    plain = relax(problem)
    M = big_m(problem, best.objective), np.abs(best.variables["w"]).max()
    K = np.argsort(plain.u)[: B + 1]
    semi.append(relax(problem, "SR-DLMP", K=K, M=M[0]).reported_bound)
    for kind in range(2):
        for name, values in bounds[kind].items():
            extra = {"M": 1.0001 * M[kind]} if "M" in name[1:] and name != "SVM" else {}
            values.append(relax(problem, name, **extra).bound)
    print(
        f"B = {B}   optimum {optimum[-1]:7.3f}   SR-DLMP {semi[-1]:7.3f}   "
        + "   ".join(f"{name} {bounds[0][name][-1]:6.3f}" for name in LINES)
        + f"   M = {M[0]:.2f} (smallest: {M[1]:.2f})"
    )

# %%
# Left: the bounds with M from the proposition. Right: the part of the distance between
# SVM and the optimum that they cover; dashed lines use the smallest M.
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
colours = {"SVM": "C7", "BoxMP": "C1", "DSCoP": "C0", "DSCoMP": "C3"}
left.plot(budgets, optimum, "ko-", label="optimum (CoP)")
left.plot(budgets, semi, "C2s:", markersize=4, label="SR-DLMP(K), |K| = B + 1")
for name in reversed(LINES):
    left.plot(budgets, bounds[0][name], color=colours[name], label=name)
for name, twin in TWINS.items():
    left.plot(budgets, bounds[0][name], "x", color=colours[twin], label=name)
left.set(xlabel="budget B", ylabel="objective, and bounds below it")
left.legend(frameon=False, ncols=2)

floor = np.array(bounds[0]["SVM"])
distance = np.array(optimum) - floor
right.plot(budgets, 100 * (semi - floor) / distance, "C2s:", markersize=4)
for name in ("DSCoMP", "DSCoP", "BoxMP"):
    for kind, style in enumerate(("-", "--")):
        covered = 100 * (np.array(bounds[kind][name]) - floor) / distance
        label = f"{name}, smallest M" if kind and name != "DSCoP" else None
        right.plot(budgets, covered, style, color=colours[name], label=label)
right.set(xlabel="budget B", ylabel="distance from SVM to optimum covered [%]")
right.legend(frameon=False)
for panel in (left, right):
    panel.spines[["top", "right"]].set_visible(False)
plt.show()
