"""Files that are not models, and the schema itself."""

import contextlib
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frugalsvm import InvalidModel, PortableModel
from frugalsvm.export import Feature, model_schema
from frugalsvm.export.schema import check, parse
from tests.export.models import data, fitted


@pytest.fixture(scope="module")
def text():
    return PortableModel.from_estimator(
        fitted(2, "sigmoid", certificate=True), *data()
    ).to_json()


def changed(text, path, value):
    """The text with one place replaced; DELETE removes it."""
    content = json.loads(text)
    *inner, last = path
    part = content
    for key in inner:
        part = part[key]
    if value is DELETE:
        del part[last]
    else:
        part[last] = value
    return json.dumps(content)


DELETE = object()


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (["format"], "other", "format is not 'frugalsvm-model'"),
        (["version"], 2, "version 2, but this frugalsvm reads version 1; upgrade"),
        (["version"], "1", "version must be 1, got '1'"),
        (["version"], True, "version must be 1, got True"),
        (["version"], DELETE, "has no 'version'"),
        (["classes"], ["a"], "classes must be a list of at least 2"),
        (["classes"], ["a", "b", "c"], r"weight must be array"),
        (["classes"], ["a", None], r"classes\[1\] must be string or number or boolean"),
        (["classes"], ["a", 1], "labels of the same type"),
        (["features"], {}, "features must be array"),
        (["features", 0, "weight"], "1", r"features\[0\]\.weight must be number"),
        (["features", 0, "weight"], True, r"features\[0\]\.weight must be number"),
        (["features", 0, "weight"], [1.0], r"features\[0\]\.weight must be number"),
        (["features", 1, "scale"], 0, r"features\[1\]\.scale must be > 0, got 0"),
        (["features", 0, "mean"], DELETE, r"features\[0\] has no 'mean'"),
        (["features", 0, "index"], -1, r"features\[0\]\.index must be >= 0"),
        (["features", 0, "index"], 99, "sorted by index|n_features_in"),
        (["features", 0, "extra"], 1, r"features\[0\] has unknown field 'extra'"),
        (["features", 0, "unit"], 3, "unit must be string or null"),
        (["intercept"], None, "intercept must be number"),
        (["intercept"], 10**400, "intercept must be a finite number"),
        (["calibration", "method"], "magic", "method must be 'sigmoid' or 'isotonic'"),
        (["calibration", "a"], DELETE, "calibration has no 'a'"),
        (["calibration", "method"], "isotonic", "calibration has no 'scores'"),
        (
            ["calibration"],
            {"method": "isotonic", "scores": [1, 1], "probabilities": [0, 1]},
            "must be increasing",
        ),
        (
            ["calibration"],
            {"method": "isotonic", "scores": [1], "probabilities": [2]},
            r"probabilities\[0\] must be <= 1, got 2",
        ),
        (
            ["calibration"],
            {"method": "isotonic", "scores": [1], "probabilities": [0, 1]},
            "1 scores, but 2 probabilities",
        ),
        (["proof", "certificate", "checksum"], "xyz", "checksum must be text like"),
        (["metadata", "a"], 1, "metadata.a must be string"),
        (["surprise"], "x" * 500, "the file has unknown field 'surprise'"),
    ],
)
def test_errors_state_the_problem(text, path, value, words):
    with pytest.raises(InvalidModel, match=words) as failure:
        PortableModel.from_json(changed(text, path, value))
    assert len(str(failure.value)) < 300


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not a JSON file"),
        ("{", "not a JSON file"),
        (b"\xff\xfe\x00", "not a JSON file"),
        ("[]", "not a model"),
        ("null", "not a model"),
        ('{"a": 1, "a": 2}', "'a' appears twice"),
        ('{"a": NaN}', "NaN is not a JSON number"),
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
        ('{"format": ' + "1" * 5000 + "}", "not a JSON file"),
        ("1" * 10**6, "not a JSON file"),
        ('{"a": -' + "9" * 10**6 + "}", "not a JSON file"),
    ],
)
def test_invalid_json_is_rejected(text, words):
    with pytest.raises(InvalidModel, match=words):
        PortableModel.from_json(text)


def test_numbers_beyond_double_precision_are_rejected(text):
    huge = changed(text, ["intercept"], 0.5).replace(
        '"intercept": 0.5', '"intercept": 1e999'
    )
    with pytest.raises(InvalidModel, match="intercept must be a finite number"):
        PortableModel.from_json(huge)


N_MANY = 100_000


def test_many_fields_and_features_with_repeats(text):
    """Comparing all pairs would take hours."""
    fields = ", ".join(f'"{k}": 0' for k in range(N_MANY))
    with pytest.raises(InvalidModel, match=r"'7' appears twice"):
        PortableModel.from_json(f'{{{fields}, "7": 0}}')
    one = json.loads(text)["features"][0]
    many = [one | {"name": f"x{k}", "index": k} for k in range(N_MANY)]
    many[-1]["name"] = many[-2]["name"]
    with pytest.raises(InvalidModel, match=f"'x{N_MANY - 2}' twice"):
        PortableModel.from_json(changed(text, ["features"], many))


LONG = "x" * 10**6


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["format"], LONG),
        (["version"], LONG),
        (["version"], 10**4000),
        (["classes"], [LONG, LONG]),
        (["classes"], LONG),
        (["n_features_in"], -(10**4000)),
        (["features", 0, "index"], 10**4000),
        (["features", 0, LONG], 1),
        (["features", 0, "mean"], LONG),
        (["features", 0, "mean"], [0] * 10**6),
        (["proof", "status"], {LONG: LONG}),
        (["metadata", LONG], 1),
        (["metadata", LONG], [LONG]),
        ([LONG], 1),
    ],
)
def test_messages_show_little_of_long_and_deep_files(text, path, value):
    with pytest.raises(InvalidModel) as failure:
        PortableModel.from_json(changed(text, path, value))
    assert len(str(failure.value)) < 300


@pytest.mark.parametrize("pair", [("[", "]"), ('{"a": ', "}")])
def test_deeply_nested_files_can_be_quoted_in_messages(text, pair):
    shallow = changed(text, ["features"], "here")
    for depth in range(800, 1100):
        inner = pair[0] * depth + "0" + pair[1] * depth
        with pytest.raises(InvalidModel, match=r"must be|too deeply") as failure:
            PortableModel.from_json(shallow.replace('"here"', inner))
        assert len(str(failure.value)) < 300


def test_repeated_values_are_shortened_in_messages(text):
    pair = f'"{LONG}": 0'
    with pytest.raises(InvalidModel, match="appears twice") as failure:
        PortableModel.from_json(f"{{{pair}, {pair}}}")
    assert len(str(failure.value)) < 300
    one = json.loads(text)["features"][0] | {"name": LONG}
    for features in ([one, one], [one] + [{**one, "name": "a", "index": 10**9}]):
        with pytest.raises(InvalidModel) as failure:
            PortableModel.from_json(changed(text, ["features"], features))
        assert len(str(failure.value)) < 300
    places = [{**one, "name": f"x{k}", "index": -k % 1000} for k in range(1000)]
    with pytest.raises(InvalidModel, match="sorted by index") as failure:
        PortableModel.from_json(changed(text, ["features"], places))
    assert len(str(failure.value)) < 300


def test_digests_have_no_trailing_line_break(text):
    place = ["proof", "certificate", "checksum"]
    digest = json.loads(text)["proof"]["certificate"]["checksum"]
    PortableModel.from_json(changed(text, place, digest))
    with pytest.raises(InvalidModel, match="checksum must be text like"):
        PortableModel.from_json(changed(text, place, f"{digest}\n"))


@given(drawn=st.data())
@settings(max_examples=100, deadline=None)
def test_the_reader_raises_only_one_kind_of_error(text, drawn):
    """Any value in any place gives a model or InvalidModel."""
    anything = st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=3)
        | st.integers(),
        lambda inner: st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    )  # fmt: skip
    content = json.loads(text)
    place = drawn.draw(st.sampled_from(sorted(content)))
    content[place] = drawn.draw(anything)
    with contextlib.suppress(InvalidModel):
        PortableModel.from_json(json.dumps(content))


def test_unknown_keywords_are_noticed():
    with pytest.raises(KeyError, match="oneOf"):
        check(1, {"oneOf": []})


def test_a_peer_agrees(text):
    """Another validator accepts and rejects the same content by schema."""
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(model_schema())
    jsonschema.Draft202012Validator.check_schema(model_schema())
    validator.validate(parse(text))
    for path, value in [
        (["calibration", "a"], DELETE),
        (["calibration", "method"], "isotonic"),
        (["features", 0, "weight"], True),
        (["features", 1, "scale"], 0),
        (["extra"], 1),
        (["version"], 2),
        (["classes"], ["a", "b", "c"]),
        (["statistics", "rows"], 0),
        (["statistics", "features", 0, "edges"], [0.5] * 10),
    ]:
        assert not validator.is_valid(parse(changed(text, path, value)))
    for path, value in [(["calibration"], None), (["proof"], DELETE)]:
        altered = changed(text, path, value)
        assert validator.is_valid(parse(altered))
        PortableModel.from_json(altered)


def test_numbers_of_a_calibration_beyond_double_precision_are_rejected(text):
    content = json.loads(text)
    content["calibration"] = {"method": "sigmoid", "a": 10**400, "b": 0}
    with pytest.raises(InvalidModel):
        PortableModel.from_json(json.dumps(content))


@pytest.mark.parametrize(
    "classes", [("a", "a\0"), (-1, 2**63 + 1), (2**53 + 1, 2**63), (0, 1), (0.5, 2.0)]
)
def test_labels_are_those_of_the_model(classes):
    model = PortableModel((Feature("x", 0, 0.0, 1.0, 1.0),), 0.0, classes, 1)
    assert model.predict([[-1.0], [1.0]]).tolist() == list(classes)


def test_a_score_that_overflows_is_no_label():
    features = tuple(Feature(n, j, 0.0, 1e-300, w) for j, (n, w) in enumerate(WEIGHTS))
    model = PortableModel(features, 0.0, (0, 1), 2)
    code: dict = {}
    exec(model.to_python(), code)
    # The first sum is infinite, the second one not a number.
    for a, b in ((2.0, 0.0), (2.0, 1.0)):
        with np.errstate(all="raise"), pytest.raises(ValueError, match="row 1 over"):
            model.predict([[a, b]])
        assert code["predict"]({"a": a, "b": b}) is None
        assert code["decision"]({"a": a, "b": b}) is None


WEIGHTS = (("a", 1e10), ("b", -1e10))


def test_a_model_is_saved_whole_or_not_at_all(tmp_path, full_disk):
    path = tmp_path / "model.json"
    path.write_text("the one before")
    model = PortableModel((), 0.0, (0, 1), 0)

    with pytest.raises(OSError, match="no space"):
        model.save(path)
    assert path.read_text() == "the one before"
    assert list(tmp_path.iterdir()) == [path]
