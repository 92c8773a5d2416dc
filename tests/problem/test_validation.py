"""Every error about a problem gives the value and a remedy."""

import numpy as np
import pytest

from frugalsvm import Problem

X = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 5.0], [1.0, 1.0, 5.0], [0.0, 3.0, 5.0]])
Y = np.array([1.0, -1.0, 1.0, -1.0])


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"X": [["a", "b"], ["c", "d"]], "y": [1, -1]}, ValueError, "numeric"),
        ({"X": [[np.nan], [1.0]], "y": [1, -1]}, ValueError, "nan.*row 0, column 0"),
        ({"X": [[1.0], [np.inf]], "y": [1, -1]}, ValueError, "inf.*row 1"),
        ({"X": [[1e200], [1.0]], "y": [1, -1]}, ValueError, "1e.50.*rescale"),
        ({"X": [1.0, 2.0], "y": [1, -1]}, ValueError, "table"),
        ({"y": [1, -1, 1]}, ValueError, r"one label per row of X \(4\)"),
        ({"y": [1, 0, 1, 0]}, ValueError, "-1 or \\+1, got 0"),
        ({"y": [1, 1, 1, 1]}, ValueError, "only one class"),
        ({"sample_weight": [1, 0, 1, 0]}, ValueError, "only one class"),
        ({"sample_weight": [1, -2, 1, 1]}, ValueError, "sample_weight.*-2"),
        ({"sample_weight": [1, 2]}, ValueError, "sample_weight.*4"),
        ({"C": 0}, ValueError, "C must be a positive"),
        ({"C": -1.0}, ValueError, "-1"),
        ({"C": np.inf}, ValueError, "inf"),
        ({"max_features": -1}, ValueError, "max_features.*-1"),
        ({"max_features": 2.5}, TypeError, "max_features.*2.5"),
        ({"max_features": True}, TypeError, "max_features"),
        ({"max_cost": 3.0}, ValueError, "needs feature_costs"),
        ({"feature_costs": [1, 2]}, ValueError, "feature_costs.*3"),
        ({"feature_costs": [1, 0, 2]}, ValueError, "got 0 for feature 1"),
        ({"feature_costs": [1, 1, -2]}, ValueError, "-2 for feature 2"),
        ({"feature_costs": [1, 1, 1], "max_cost": -1}, ValueError, "max_cost.*-1"),
        ({"include": [0, 1], "exclude": [1]}, ValueError, r"overlap.*\[1\]"),
        ({"include": [0, 1], "max_features": 1}, ValueError, "raise max_features"),
        (
            {"include": [0], "feature_costs": [3, 1, 1], "max_cost": 2},
            ValueError,
            "raise max_cost",
        ),
        ({"include": [3]}, ValueError, "include has feature 3"),
        ({"exclude": [-1]}, ValueError, "exclude has feature -1"),
        ({"exclude": [0.5]}, TypeError, "exclude"),
        ({"C": 1e154}, ValueError, "between 1e-30 and 1e.30.*1e.154"),
        ({"C": 1e-31}, ValueError, "between 1e-30 and 1e.30.*1e-31"),
        ({"sample_weight": [1, 1, 1, 1e-320]}, ValueError, "between.*drop a sample"),
        ({"C": 1e-20, "sample_weight": [1, 1, 1, 1e-320]}, ValueError, "got 0"),
        ({"feature_costs": [1e308, 1e308, 1]}, ValueError, "common factor"),
        ({"feature_costs": [1e-60, 1, 1]}, ValueError, "1e-60.*common factor"),
    ],
)
def test_bad_input_is_explained(arguments, error, words):
    with pytest.raises(error, match=words):
        Problem(**{"X": X, "y": Y, **arguments})
