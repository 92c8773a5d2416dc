"""
Alternatives, and what is indispensable
=======================================

The best model with five features is one model. Others may be nearly as good: with a
feature that is cheaper to measure, or that a colleague believes in. ``near_optimal``
lists all choices of features whose objective is within a tolerance of the best, and
proves that none is missing.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from frugalsvm import near_optimal, verify
from frugalsvm.output.plotting import SupportsDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X[:] = StandardScaler().fit_transform(X)
found = near_optimal(X, y, max_features=5, tolerance=0.02, certificate=True)
print(found)

# %%
# One column for each model, the best one on the left. Rows that all models share are in
# a colour of their own: nothing takes the place of these features.

SupportsDisplay.from_near_optimal(found)
plt.show()

# %%
# What takes the place of what, in models that are the same otherwise:

print(found.roles_frame().head(8).to_string())

# %%
# A feature without substitutes that is not indispensable can be replaced, but not
# alone: other features have to go with it.

# %%
# A feature is indispensable at one tolerance and replaceable at the next. The list for
# a smaller tolerance is part of the list for a larger one.

for tolerance in (0.0, 0.005, 0.01, 0.02):
    part = found.within(tolerance)
    needed = ", ".join(part.indispensable) or "none"
    print(f"{100 * tolerance:4.1f} %: {len(part):3d} models, indispensable: {needed}")

# %%
# Could one do with fewer than five features? ``minimal`` gives the smallest sets that
# are still within the tolerance: here no feature of any of the models can be left out.

smallest = found.minimal()
print(f"{len(smallest)} minimal sets, of {smallest[0].size} features and more")

# %%
# The proof that nothing is missing is checked by code that knows nothing of the solver.

print(verify(found.certificate, X, y, max_features=5, C=1.0))
