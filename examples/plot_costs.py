"""
Costs by name
=============

Features may have prices: here a measurement of the nucleus costs 1 as a mean, 2 as a
standard error and 3 as the worst of all cells. Prices are given by name, in any order,
and ``max_cost`` limits what the model may spend. What does accuracy cost?
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from frugalsvm import FrugalSVC

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
PRICES = {"mean": 1.0, "error": 2.0, "worst": 3.0}
# A Series with names is aligned with the columns, whatever its order.
costs = pd.Series(
    {
        name: next(price for word, price in PRICES.items() if word in name)
        for name in X.columns
    }
).sort_values(ascending=False)

# %%
# A scaler that keeps the names, so that costs find their columns.
scaled = StandardScaler().set_output(transform="pandas").fit_transform(X)
limits = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15]
objectives, bounds, spent = [], [], []
for limit in limits:
    model = FrugalSVC(
        None, C=0.1, feature_costs=costs, max_cost=limit, effort="fast", random_state=0
    ).fit(scaled, y)
    names = model.get_feature_names_out()
    objectives.append(model.objective_)
    bounds.append(model.lower_bound_)
    spent.append({word: sum(word in n for n in names) for word in PRICES})
    print(f"at most {limit:2d}: {costs[names].sum():4g} for {', '.join(names)}")

# %%
# Left: objective and bound as the limit grows. Right: the features that it pays for.
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
left.plot(limits, objectives, "o-", label="objective of the model")
left.plot(limits, bounds, "v-", color="C7", label="proved lower bound")
left.fill_between(limits, bounds, objectives, color="C7", alpha=0.25)
left.set(xlabel="max_cost", ylabel="objective", ylim=(0, None))
left.legend(frameon=False)
bottom = [0.0] * len(limits)
labels = [str(limit) for limit in limits]
for word, price in PRICES.items():
    heights = [price * counts[word] for counts in spent]
    right.bar(labels, heights, bottom=bottom, label=f"{word} ({price:g} each)")
    bottom = [low + high for low, high in zip(bottom, heights, strict=True)]
right.set(xlabel="max_cost", ylabel="spent")
right.legend(frameon=False)
for panel in (left, right):
    panel.spines[["top", "right"]].set_visible(False)
plt.show()
