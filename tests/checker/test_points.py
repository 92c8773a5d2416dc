"""Packed dual points: what they store, and what is rejected."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frugalsvm import InvalidCertificate, verify
from frugalsvm.checker import pack, unpack
from tests.campaign.layout import packed_points
from tests.checker.forging import dual_points, proved, sealed
from tests.checker.several import three_classes
from tests.reference import random_data

# The exponents of the finest and of the coarsest grid.
GRIDS = (-1000, 900)


@pytest.fixture(scope="module")
def proof():
    """A proof of 302 samples, two of weight zero: 300 bits in 38 bytes."""
    X, y = random_data(np.random.default_rng(3), 302, 8)
    number = np.arange(302)
    weights = np.where(number % 170 == 3, 0.0, 0.5 + number % 3)
    *_, arrays = proved(X, y, max_features=3, C=0.2, sample_weight=weights)
    assert arrays["point_full"].any()
    assert arrays["point_grid"].size > 3
    assert arrays["point_steps"].size > 6
    return X, y, arrays


# --- one point -------------------------------------------------------------------


def test_a_point_by_hand():
    C = np.array([1.0, 2.0, 1.0, 4.0, 1.0, 1.0, 1.0, 1.0, 3.0])
    alpha = np.array([1.0, 2.0, 0.0, 3.0, 0.5, 0.0, 0.0, 0.0, 3.0])
    packed = pack(alpha, C)
    assert packed.full.tolist() == [0b11000000, 0b10000000]
    assert packed.between.tolist() == [0b00011000, 0]
    assert packed.steps.tolist() == [3 * 2**30, 2**29]
    assert packed.grid == -30
    np.testing.assert_array_equal(unpack(packed, C), alpha)


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32), size=st.integers(1, 40))
def test_points_are_rounded_by_next_to_nothing(seed, size):
    rng = np.random.default_rng(seed)
    C = 10.0 ** rng.uniform(-30, 30, size)
    share = rng.choice([0.0, 1.0, 1 - 1e-13, rng.random(), 1e-200], size)
    alpha = np.minimum(C * share, 10.0 ** rng.uniform(-30, 30))
    packed = pack(alpha, C)
    assert not (packed.full & packed.between).any()
    assert packed.steps.all()
    stored = unpack(packed, C)
    full = np.unpackbits(packed.full, count=size) > 0
    np.testing.assert_array_equal(stored[full], C[full])
    assert (np.abs(stored - alpha)[full] <= 2.0**-32 * C[full]).all()
    most = alpha[~full].max(initial=0.0)
    assert (np.abs(stored - alpha)[~full] <= 2.0**-31 * most).all()


@pytest.mark.parametrize("value", [5e-324, 1e-310, 1e-300])
def test_tiny_points_are_zero_or_tiny(value):
    packed = pack(np.array([value, 0.0]), np.ones(2))
    assert packed.grid == GRIDS[0]
    assert abs(unpack(packed, np.ones(2))[0] - value) <= 2.0 ** GRIDS[0]


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32), size=st.integers(1, 40))
def test_long_steps_lose_nothing_of_the_largest_entries(seed, size):
    rng = np.random.default_rng(seed)
    C = 10.0 ** rng.uniform(-30, 30, size)
    alpha = C * rng.choice([0.0, 1.0, 1 - 1e-15, rng.random()], size)
    packed = pack(alpha, C, np.uint64)
    assert packed.steps.dtype == np.uint64
    assert packed.steps.all()
    most = alpha[alpha < C].max(initial=0.0)
    stored = unpack(packed, C)
    assert (np.abs(stored - alpha) <= 2.0**-53 * most).all()
    np.testing.assert_array_equal(stored[alpha == most], most)


def test_largest_step_does_not_overflow():
    below = math.nextafter(1.0, 0.0)
    packed = pack(np.array([below]), np.array([2.0]))
    assert packed.steps.tolist() == [2**32 - 1]
    assert Fraction(*unpack(packed, np.array([2.0]))[0].as_integer_ratio()) < 1


def test_largest_long_step_is_exact():
    below = math.nextafter(1.0, 0.0)
    packed = pack(np.array([below]), np.array([2.0]), np.uint64)
    assert unpack(packed, np.array([2.0])).tolist() == [below]


# --- in files --------------------------------------------------------------------


def test_long_steps_and_files_prove_the_same(proof, tmp_path):
    X, y, arrays = proof
    C = arrays["weights"][arrays["weights"] > 0]
    long = sealed(arrays, **packed_points(dual_points(arrays), C))
    assert long["point_steps"].dtype == np.uint64
    bound = verify(arrays, X, y).lower_bound
    assert verify(long, X, y).lower_bound == bound > 0
    np.savez_compressed(tmp_path / "proof.npz", **arrays)
    assert verify(tmp_path / "proof.npz", X, y).lower_bound == bound


def test_points_of_several_classes_are_packed():
    problem = three_classes()
    _, _, arrays = proved(
        problem.X, np.array(problem.labels()).T, max_features=2, C=1.0
    )
    width = -(-90 // 8)
    assert arrays["point_full"].size == arrays["point_grid"].size * width
    bound = verify(arrays, problem.X, problem.y).lower_bound
    assert bound == pytest.approx(problem.optimum, rel=2e-4)


def changed(name, at, value):
    """Set one entry, or flip bits of it if the value is a text."""

    def change(arrays):
        array = arrays[name].copy()
        array[at] = array[at] ^ int(value, 2) if isinstance(value, str) else value
        return {name: array}

    return change


def one_more_bit(arrays):
    """A sample that was at zero is between, but has no step."""
    both = arrays["point_full"] | arrays["point_between"]
    at = next(t for t, byte in enumerate(both) if byte != 255 and t % 38 < 37)
    free = 1 << int(np.flatnonzero(np.unpackbits(~both[at : at + 1])[::-1])[0])
    return changed("point_between", at, f"{free:b}")(arrays)


FORGERIES = {
    "unused bits at C": (changed("point_full", 37, "1"), "point_full has bits of no"),
    "unused bits, last": (changed("point_full", -1, "1000"), "point_full has bits"),
    "unused bits between": (
        changed("point_between", 37, "100"), "point_between has bits of no sample",
    ),
    "both": (
        lambda a: {"point_full": a["point_full"] | a["point_between"]},
        "both in point_full and between",
    ),
    "a bit without a step": (one_more_bit, "point_steps has .* entries"),
    "a step less": (
        lambda a: {"point_steps": a["point_steps"][1:]}, "point_steps has .* entries",
    ),
    "a step of zero": (changed("point_steps", 2, 0), "point_steps has a zero"),
    "no steps": (lambda a: {"point_steps": a["point_steps"][:0]}, "point_steps has 0"),
    "too fine": (changed("point_grid", 0, -1001), "point_grid has numbers other than"),
    "too coarse": (changed("point_grid", 1, 901), "point_grid has numbers other than"),
    "a point less": (
        lambda a: {"point_grid": a["point_grid"][1:]}, "inconsistent lengths",
    ),
    "a point more": (
        lambda a: {"point_grid": np.append(a["point_grid"], 0)}, "does not have 38 b",
    ),
    "a byte less": (
        lambda a: {k: a[k][1:] for k in ("point_full", "point_between")},
        "point_full does not have 38 bytes for each",
    ),
    "other lengths": (
        lambda a: {"point_full": a["point_full"][1:]}, "inconsistent lengths",
    ),
    "another format": (lambda a: {"format": np.array(2)}, "unknown format 2"),
    "other entries": (lambda a: {"point_alpha": np.zeros(1)}, "unknown or repeated"),
    "narrower steps": (
        lambda a: {"point_steps": a["point_steps"].astype("u2")}, "has dtype uint16",
    ),
    "steps of other integers": (
        lambda a: {"point_steps": a["point_steps"].astype("i8")}, "has dtype int64",
    ),
    "steps as numbers": (
        lambda a: {"point_steps": a["point_steps"] * 1.0}, "has dtype float64",
    ),
    "bits as flags": (
        lambda a: {"point_full": a["point_full"] > 0}, "point_full has dtype bool",
    ),
    "a table": (
        lambda a: {"point_full": a["point_full"].reshape(-1, 38)}, "2 dimension",
    ),
    "coarser": (
        lambda a: {"point_grid": a["point_grid"] - 1}, "lower_bound .* is claimed",
    ),
    "nothing at C": (
        lambda a: {"point_full": 0 * a["point_full"]}, "lower_bound .* is claimed",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_points_are_rejected(proof, name):
    X, y, arrays = proof
    change, words = FORGERIES[name]
    verify(arrays, X, y)
    with pytest.raises(InvalidCertificate, match=words):
        verify(sealed(arrays, **change(arrays)), X, y)


@pytest.mark.parametrize("name", ["point_full", "point_between", "point_grid"])
def test_each_array_is_needed(proof, name):
    X, y, arrays = proof
    rest = {key: array for key, array in arrays.items() if key != name}
    with pytest.raises(InvalidCertificate, match=f"{name} missing"):
        verify(sealed(rest), X, y)


def test_other_byte_orders_are_the_same_numbers(proof):
    X, y, arrays = proof
    swapped = {**arrays, "point_steps": arrays["point_steps"].astype(">u4")}
    assert verify(swapped, X, y).lower_bound == verify(arrays, X, y).lower_bound


def test_entries_above_c_are_c(proof):
    """Larger units make every entry between one at C, which proves less at most."""
    X, y, arrays = proof
    honest = verify(arrays, X, y).lower_bound
    forged = {**arrays, "point_grid": np.full_like(arrays["point_grid"], GRIDS[1])}
    found = verify(sealed(forged, lower_bound=np.array(0.0)), X, y)
    assert found.lower_bound < honest
