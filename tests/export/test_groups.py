"""Feature groups and signs in portable models."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from frugalsvm import FrugalSVC, InvalidModel, PortableModel
from frugalsvm.export import Feature, Group

FEATURES = tuple(
    Feature(name, j, 0.5, 1.0, weight)
    for j, (name, weight) in enumerate({"age": 0.3, "red": 2.0, "blue": -1.0}.items())
)
COLOUR = Group("colour", ("red", "blue"))


def model(**more):
    return PortableModel(FEATURES, 0.1, ("no", "yes"), 4, **more)


def test_groups_and_signs_are_stored():
    one = model(groups=(COLOUR,), signs={"age": "+"})
    content = json.loads(one.to_json())
    assert content["groups"] == [{"name": "colour", "features": ["red", "blue"]}]
    assert content["signs"] == {"age": "+"}
    assert PortableModel.from_json(one.to_json()) == one
    # Without them, the file is what it was.
    assert not {"groups", "signs"} & json.loads(model().to_json()).keys()


def test_a_group_is_printed_as_one_block():
    lines = str(model(groups=(COLOUR,))).splitlines()
    place = lines.index("colour:")
    assert [one.split()[0] for one in lines[place + 1 : place + 3]] == ["red", "blue"]
    assert lines[place + 3].startswith("age")
    assert not any(one.endswith(":") for one in str(model()).splitlines())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"groups": [{"name": "a", "features": ["green"]}]}, "there is no 'green'"),
        ({"groups": [{"name": "a", "features": []}]}, "a list of at least 1"),
        ({"groups": [{"name": "a", "features": ["red", "red"]}]}, "'red' twice"),
        (
            {
                "groups": [
                    {"name": "a", "features": ["red"]},
                    {"name": "a", "features": ["blue"]},
                ]
            },
            "the name 'a' twice",
        ),
        ({"groups": [{"name": "a"}]}, "no 'features'"),
        ({"groups": [{"name": "a", "features": ["red"], "x": 1}]}, "unknown field"),
        ({"signs": {"age": "up"}}, "signs.age"),
        ({"signs": {"green": "+"}}, "there is no 'green'"),
    ],
)
def test_forged_groups_are_rejected(change, words):
    content = json.loads(model().to_json()) | change
    with pytest.raises(InvalidModel, match=words):
        PortableModel.from_json(json.dumps(content))


def test_models_of_estimators_have_their_groups_and_signs():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(2, 3, size=(80, 4)), columns=["a", "b1", "c", "b2"])
    y = np.where(X["a"] - X["b1"] + rng.normal(size=80) > 0, 1, 0)
    classifier = FrugalSVC(
        2, feature_groups=["a", "b", "c", "b"], signs=["+", 0, "-", "-"], random_state=0
    )
    fitted = make_pipeline(StandardScaler(), classifier).fit(X.to_numpy(), y)
    made = PortableModel.from_estimator(fitted)
    assert made.groups == (Group("b", ("x1", "x3")),)
    assert made.signs == {"x0": "+", "x3": "-"}
    np.testing.assert_allclose(
        made.decision_function(X.to_numpy()), fitted.decision_function(X.to_numpy())
    )
    assert PortableModel.from_json(made.to_json()) == made
    only = FrugalSVC(2, signs=["+", 0, 0, 0], random_state=0).fit(X.to_numpy(), y)
    assert PortableModel.from_estimator(only).signs == {"x0": "+"}
    assert PortableModel.from_estimator(only).groups == ()
