"""
A scorecard that fits on a card
===============================

Five features with integer points that you add up: a model for use without a computer.
The card is made from a model with a proof, and says how much accuracy the rounding
costs.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from frugalsvm import FrugalSVC, PortableModel
from frugalsvm.report import ScoresDisplay, WeightsDisplay

data = load_breast_cancer(as_frame=True)
y = np.where(data.target == 0, "malignant", "benign")
X_fit, X_card, y_fit, y_card = train_test_split(
    data.data, y, test_size=0.5, stratify=y, random_state=0
)

# %%
# Scores are not probabilities; scikit-learn's calibration converts them. With
# ``ensemble=False`` the result is a single model, which can be exported.

pipeline = make_pipeline(StandardScaler(), FrugalSVC(5, random_state=0))
calibrated = CalibratedClassifierCV(pipeline, ensemble=False).fit(X_fit, y_fit)
model = PortableModel.from_estimator(calibrated, X_fit, y_fit)
print(model)

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.2), layout="constrained")
WeightsDisplay.from_estimator(model, ax=left)
ScoresDisplay.from_estimator(model, X_card, y_card, ax=right)
plt.show()

# %%
# The card is made from the model, which keeps statistics of the samples of its fit:
# ranges of similar values, points in proportion to the weights, the threshold of the
# model, and a probability for every sum. The other half of the samples shows how good
# it is.

card = model.to_scorecard(X_card, y_card, points=20, bins=4)
print(card)

# %%
# More points and more ranges lose less accuracy, but take more patience to add up.

for points, bins in ((5, 2), (10, 3), (20, 4), (50, 6), (100, 10)):
    result = model.to_scorecard(X_card, y_card, points=points, bins=bins).evaluation
    print(
        f"{points:3d} points, {bins:2d} ranges: {100 * result.accuracy:.1f} %, "
        f"{100 * result.accuracy_loss:+.1f} % lost, "
        f"{100 * result.changed:.1f} % classified differently"
    )

# %%
# The model itself can be exported as a file, which holds only data, or as SQL for a
# database.

print(model.to_json()[:480], "...")
print(model.to_sql()[:160], "...")
