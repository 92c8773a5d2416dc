"""
A mixed table: categories that count once, weights that point the right way
===========================================================================

A loan application has numbers and categories. Encoded, each category is a column, and a
budget of three columns may buy three of the four kinds of housing. With
``feature_groups`` a variable counts once, however many columns it has; with ``signs`` a
higher income never lowers the score, whatever the sample says.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from frugalsvm import FrugalSVC, encoded_groups, verify

random = np.random.default_rng(7)
n = 400
table = pd.DataFrame(
    {
        "income": random.lognormal(1.0, 0.4, n),
        "age": random.integers(20, 70, n),
        "amount": random.lognormal(2.0, 0.5, n),
        "years_employed": random.gamma(2.0, 3.0, n),
        "housing": random.choice(["own", "rent", "family", "other"], n),
        "purpose": random.choice(["car", "house", "business", "education"], n),
        "history": random.choice(["none", "clean", "late"], n, p=[0.2, 0.6, 0.2]),
    }
)
score = (
    0.8 * table["income"] - 0.15 * table["amount"] + 1.2 * (table["housing"] == "own")
)
score -= 1.6 * (table["history"] == "late") + 0.8 * (table["housing"] == "other")
repaid = score + random.logistic(size=n) > score.median()

# %%
# The encoder makes 15 columns from seven variables. ``feature_groups="auto"`` reads
# from their names and values which belong together; the names must reach the
# classifier, hence ``set_output``. A sign is about the weight in the score for
# ``classes_[1]``, here for loans that are repaid.

numbers = ["income", "age", "amount", "years_employed"]
encode = make_column_transformer(
    (StandardScaler(), numbers),
    (OneHotEncoder(sparse_output=False), ["housing", "purpose", "history"]),
    verbose_feature_names_out=False,
)
signs = {"income": "+", "years_employed": "+", "amount": "-"}
classifier = FrugalSVC(
    3, C=0.1, feature_groups="auto", signs=signs, certificate=True, random_state=0
)
model = make_pipeline(encode, classifier).set_output(transform="pandas")
model.fit(table, repaid)
print("selected:", ", ".join(classifier.selected_groups_))
print(classifier.summary()[["weight", "group"]].to_string())

# %%
# A fitted encoder knows, without any guess, which variable is behind a column. You can
# pass these labels instead of "auto", also for arrays without names.

print(encoded_groups(encode))

# %%
# Without groups, the same budget buys columns: only a part of a variable, although the
# applicant has to be asked for all of it.

columns = make_pipeline(encode, FrugalSVC(3, C=0.1, random_state=0)).fit(table, repaid)
names = encode.get_feature_names_out()
print("three columns:", ", ".join(names[columns[-1].get_support()]))

# %%
# Costs, ``include`` and ``exclude`` are about groups, too: a credit bureau is paid for
# the history, and not for each of its three values.

costs = {"history": 5.0, **dict.fromkeys(numbers, 1.0), "housing": 1.0, "purpose": 1.0}
cheap = make_pipeline(
    encode,
    FrugalSVC(
        None, C=0.1, feature_groups=encoded_groups(encode), signs=signs,
        feature_costs=costs, max_cost=4.0, random_state=0,
    ),
).fit(table, repaid)  # fmt: skip
print("for 4:", ", ".join(cheap[-1].selected_groups_))

# %%
# The proof is about variables and signs. The checker is told which columns count as
# one feature and which signs are required, and accepts no other certificate.

X = encode.transform(table).to_numpy()
checked = verify(
    classifier.result_.certificate, X, repaid, max_features=3, C=0.1,
    feature_groups=encoded_groups(encode),
    signs=[{"+": 1, "-": -1}.get(signs.get(name), 0) for name in names],
)  # fmt: skip
print(
    f"No model with at most 3 of these {len(costs)} variables, in which the score does "
    "not fall with income or years of employment and does not rise with the amount, "
    f"has an objective more than {100 * checked.gap:.2g} % lower (C = 0.1); anyone can "
    "check it with frugalsvm.verify."
)

# %%
# Weights of categories only mean something relative to each other: a constant can be
# moved from all of them to the intercept. For display, we set the smallest to zero. The
# model itself is not changed: its objective, and so the proof, depends on the weights
# as they are.

weights = pd.Series(classifier.coef_[0], index=names)
shown = []
for group in classifier.selected_groups_:
    members = [name for name in names if name == group or name.startswith(f"{group}_")]
    values = weights[members]
    shown.append(values - values.min() if len(values) > 1 else values)
shown = pd.concat(shown)
figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.barh(shown.index[::-1], shown[::-1])
ax.axvline(0, color="gray", linewidth=0.8)
ax.set_xlabel("weight; of categories, relative to the smallest")
plt.show()
