"""
Probabilities
=============

An SVM gives scores, not probabilities. ``CalibratedClassifierCV`` of scikit-learn turns
them into probabilities: it fits a sigmoid to the scores of held-out folds.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from frugalsvm import FrugalSVC

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.5, stratify=y, random_state=0
)
model = make_pipeline(
    StandardScaler(), FrugalSVC(3, C=0.1, effort="fast", random_state=0)
)

# %%
# ``ensemble=False`` fits a single model with a single set of features: the folds are
# used only for the sigmoid.
calibrated = CalibratedClassifierCV(model, cv=5, ensemble=False).fit(X_train, y_train)
fitted = calibrated.calibrated_classifiers_[0].estimator
names = X.columns[fitted[-1].get_support()]
probability = calibrated.predict_proba(X_test)[:, 1]
print(f"features: {', '.join(names)}")
print(f"Brier score {brier_score_loss(y_test, probability):.3f}")

# %%
# Left: among samples with probability p a fraction p should be benign. Right: the
# probability of each sample by its score.
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
CalibrationDisplay.from_predictions(
    y_test, probability, n_bins=6, strategy="quantile", ax=left, name="FrugalSVC, B = 3"
)
left.set(xlabel="predicted probability of benign", ylabel="fraction that is benign")
left.legend(frameon=False, loc="lower right")
scores = fitted.decision_function(X_test)
order = np.argsort(scores)
right.plot(scores[order], probability[order], color="C7")
for label, word in enumerate(("malignant", "benign")):
    is_class = y_test.to_numpy() == label
    height = np.full(is_class.sum(), -0.06 if label == 0 else 1.06)
    right.plot(scores[is_class], height, "|", color=f"C{3 - 3 * label}", label=word)
right.set(xlabel="score of the SVM", ylabel="probability of benign")
right.legend(frameon=False, loc="center left")
for panel in (left, right):
    panel.spines[["top", "right"]].set_visible(False)
plt.show()
