"""
The methods over time
=====================

Best objective and lower bound over time for every method on the Wisconsin breast cancer
data, B = 5, C = 10. The searches improve only the objective; their bound comes from the
relaxation. ``exact``, the paper's sequence of semi-relaxations, and
``branch-and-bound`` close the gap.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from frugalsvm import Problem, solve

X, y = load_breast_cancer(return_X_y=True)
problem = Problem(scale(X), 2.0 * y - 1, C=10.0, max_features=5)
METHODS = (
    "relax-and-round", "local-search", "kernel-search", "heuristic", "swap", "exact",
    "branch-and-bound",
)  # fmt: skip

# %%
# A first run compiles the kernels; it is not plotted.
solve(problem, max_nodes=20)
results = {}
for method in METHODS:
    result = solve(problem, method=method, time_limit=60, random_state=0)
    results[method] = result
    print(
        f"{method:<17} {result.status:<10} objective {result.objective:8.3f}   "
        f"bound {result.lower_bound:8.3f}   {result.seconds:6.2f} s"
    )

# %%
# Solid lines are objectives, dashed lines bounds; a dot marks the end of a run.
figure, axes = plt.subplots(2, 4, figsize=(11, 5.2), sharex=True, sharey=True)
for axis, (method, result) in zip(axes.flat, results.items(), strict=False):
    seconds, objective, bound = np.array(result.history).T
    objective[np.isinf(objective)] = np.nan
    axis.step(seconds, objective, "C0", where="post", label="objective")
    axis.step(seconds, bound, "C1--", where="post", label="lower bound")
    axis.plot(seconds[-1], objective[-1], "C0.", seconds[-1], bound[-1], "C1.")
    axis.set_title(f"{method}\n{result.status}", fontsize=10)
    axis.set_xscale("log")
    axis.grid(alpha=0.3)
axes.flat[-1].axis("off")
axes.flat[-1].legend(*axes.flat[0].get_legend_handles_labels(), loc="center")
axes[0, 3].tick_params(labelbottom=True)
figure.supxlabel("seconds")
figure.supylabel("FS-SVM objective")
figure.tight_layout()
plt.show()
