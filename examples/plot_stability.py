"""
Which features can you rely on?
===============================

With two hundred samples and a thousand features, some model with few features will fit
well, and on other samples a different model will. Stability selection fits many random
halves of the samples and counts how often each feature is selected. Here six features
matter; two of them have a near-identical twin, and twins split the counts: a feature
that comes and goes need not be noise.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from frugalsvm import FrugalSVC, stability_selection
from frugalsvm.report import SelectionDisplay

random = np.random.default_rng(0)
X = pd.DataFrame(
    random.normal(size=(200, 1000)), columns=[f"noise {j}" for j in range(1000)]
)
signals = [f"signal {letter}" for letter in "ABCDEF"]
X = X.rename(columns=dict(zip(X.columns[:6], signals, strict=True)))
score = X[signals].to_numpy() @ np.array([1.8, 1.8, 1.5, 1.5, 1.5, 1.5])
y = score + 0.5 * random.normal(size=200) > 0
# Both twins are measured with the same error.
for letter in "AB":
    truth = X[f"signal {letter}"].to_numpy()
    X[f"signal {letter}"] = truth + 0.2 * random.normal(size=200)
    X[f"twin of {letter}"] = truth + 0.2 * random.normal(size=200)

# %%
# The scaler is in the pipeline: every half is standardised separately, and nothing is
# learned from the other half.

model = make_pipeline(
    StandardScaler(), FrugalSVC(6, C=0.1, method="swap", method_options={"patience": 5})
)
selection = stability_selection(model, X, y, n_pairs=15, random_state=0)
print(selection.to_frame().head(12).round(2))
print(f"\nstability {selection.stability:.2f}")

# %%
# Rows are features, columns are half-samples.

SelectionDisplay.from_stability(selection, max_display=15)
plt.show()

# %%
# The features that most halves agree on, and an upper bound on how many of these are
# there by chance (in expectation, whatever the data are):

print("stable:", ", ".join(selection.stable(0.6)))
print(f"by chance: at most {selection.expected_low(0.6):.2f} on average")
