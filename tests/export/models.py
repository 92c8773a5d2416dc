"""Models for the tests of this folder."""

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from frugalsvm import FrugalSVC

# Names that break what does not quote.
NAMES = [
    "plain",
    'say "hi"',
    "O'Neil; DROP TABLE t; --",
    "back`tick [and] bracket\\",
    "line\nbreak {0} %s",
    "日本 é",
]


def data(n_samples=120, seed=0):
    """Six features on very different scales, all of which matter."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_samples, len(NAMES)))
    noise = random.normal(size=n_samples)
    y = np.where(X @ [2, -2, 1.5, -1.5, 1, -1] + noise > 0, "it's", "none")
    scales = [1, 10, 1e3, 1e-3, 5, 2]
    return pd.DataFrame(X * scales + [0, 3, 1e4, 0, -7, 1], columns=NAMES), y


def fitted(max_features=5, method=None, **options):
    """A pipeline, calibrated if a method is given."""
    pipeline = make_pipeline(
        StandardScaler(), FrugalSVC(max_features, random_state=0, **options)
    )
    if method is not None:
        pipeline = CalibratedClassifierCV(pipeline, method=method, ensemble=False, cv=3)
    return pipeline.fit(*data())
