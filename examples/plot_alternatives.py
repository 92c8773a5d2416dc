"""
Alternatives, and what is indispensable
=======================================

The best model with five features is only one model. Others may be nearly as good, with
a feature that is cheaper to measure or that a colleague trusts. ``near_optimal`` lists
all choices of features whose objective is within a tolerance of the best, and
proves that none is missing.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from frugalsvm import near_optimal, verify
from frugalsvm.report import SupportsDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X[:] = StandardScaler().fit_transform(X)
models = near_optimal(X, y, max_features=5, tolerance=0.02, certificate=True)
print(models)

# %%
# One column for each model, the best model on the left. Rows that all models share have
# a different colour: nothing can replace these features.

SupportsDisplay.from_near_optimal(models)
plt.show()

# %%
# Which feature can replace which, in models that are otherwise the same:

print(models.roles_frame().head(8).to_string())

# %%
# A feature without substitutes that is not indispensable can be replaced, but not
# alone: other features have to change as well.

# %%
# A feature is indispensable at one tolerance and replaceable at the next. The list for
# a smaller tolerance is a subset of the list for a larger one.

for tolerance in (0.0, 0.005, 0.01, 0.02):
    part = models.within(tolerance)
    needed = ", ".join(part.indispensable) or "none"
    print(f"{100 * tolerance:4.1f} %: {len(part):3d} models, indispensable: {needed}")

# %%
# Would fewer than five features be enough? ``minimal`` gives the smallest sets that
# are still within the tolerance: here no model can do without any of its features.

smallest = models.minimal()
print(f"{len(smallest)} minimal sets, of {smallest[0].size} features and more")

# %%
# The proof that nothing is missing is checked by code independent of the solver.

print(verify(models.certificate, X, y, max_features=5, C=1.0))
