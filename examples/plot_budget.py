"""
What does one more feature buy?
===============================

Objective, proved lower bound and cross-validated accuracy on the Wisconsin breast
cancer data as the budget grows. The grey band is the unproved part: no choice of
features can have an objective below it.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from frugalsvm import FrugalSVC

X, y = load_breast_cancer(return_X_y=True)
budgets = [1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30]
objectives, bounds, accuracies = [], [], []
for budget in budgets:
    model = make_pipeline(
        StandardScaler(),
        FrugalSVC(budget, random_state=0, method_options={"patience": 30}),
    )
    result = model.fit(X, y)[-1].result_
    objectives.append(result.objective)
    bounds.append(result.lower_bound)
    accuracies.append(100 * cross_val_score(model, X, y, cv=5).mean())
    print(f"B = {budget:2d}   gap {100 * result.gap:5.1f} %")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
left.plot(budgets, objectives, "o-", color="C0", label="objective of the model")
left.plot(budgets, bounds, "v-", color="C7", label="proved lower bound")
left.fill_between(budgets, bounds, objectives, color="C7", alpha=0.25)
left.set(xlabel="budget B", ylabel="objective", ylim=(0, None))
left.legend(frameon=False)
right.plot(budgets, accuracies, "o-", color="C2")
right.set(xlabel="budget B", ylabel="accuracy in 5-fold cross-validation [%]")
for axis in (left, right):
    axis.spines[["top", "right"]].set_visible(False)
plt.show()
