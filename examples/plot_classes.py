"""
Three classes, two features
===========================

Which two of thirteen measurements tell three kinds of wine apart? With more than two
classes all share one budget: there is a score for each class, all from the same
features, and the class with the largest score is predicted. It is proved that no other
two features give a smaller objective.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from frugalsvm import FrugalSVC

X, y = load_wine(return_X_y=True, as_frame=True)
names = np.array(["Barolo", "Grignolino", "Barbera"])[y]
Z = StandardScaler().set_output(transform="pandas").fit_transform(X)
model = FrugalSVC(2, random_state=0).fit(Z, names)
print(model.result_.verdict)
print(model.summary().filter(like="weight_").round(2).to_string())

# %%
# The plane of the two features. A region has the colour of the class that is predicted
# there; the borders are where two scores are equal.

first, second = model.selected_groups_
plane = Z[[first, second]]
low, high = plane.min() - 0.4, plane.max() + 0.4
ticks = [np.linspace(low[name], high[name], 400) for name in (first, second)]
grid = np.stack(np.meshgrid(*ticks), axis=-1).reshape(-1, 2)
scores = grid @ model.coef_[:, model.get_support()].T + model.intercept_
region = scores.argmax(axis=1).reshape(400, 400)

colors = ["#0072b2", "#d55e00", "#009e73"]
figure, axis = plt.subplots(figsize=(6.4, 4.8), layout="constrained")
axis.pcolormesh(*ticks, region, cmap=ListedColormap(colors), alpha=0.18, linewidth=0)
axis.contour(*ticks, region, levels=[0.5, 1.5], colors="0.3", linewidths=0.8)
for name, color, marker in zip(model.classes_, colors, "os^", strict=True):
    wines = plane[names == name]
    axis.scatter(wines[first], wines[second], s=22, c=color, marker=marker, label=name)
axis.set(
    xlabel=f"{first}, standardised",
    ylabel=f"{second}, standardised",
    title=f"Two of {X.shape[1]} features: objective {model.objective_:.2f}. Proved: no "
    f"other\ntwo are better by more than {100 * model.gap_:.3f} %",
)
axis.legend(loc="upper right")
plt.show()

# %%
# The fraction of wines that are classified correctly, with two features and with more:

for budget in (2, 3, 4, 6):
    more = FrugalSVC(budget, random_state=0).fit(Z, names)
    print(f"B = {budget}: {more.score(Z, names):.3f}", *more.selected_groups_)
