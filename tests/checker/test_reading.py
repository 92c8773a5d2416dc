"""Untrusted files: sizes are checked first, and only one exception is raised."""

import io
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest

from frugalsvm import Certificate, InvalidCertificate, verify
from frugalsvm.checker import checksum, reading
from frugalsvm.checker.reading import (
    ENTRIES,
    FREE_BYTES,
    MAX_RATIO,
    Size,
    _check_sizes,
    read_arrays,
    save_arrays,
)
from tests.checker.forging import proved, sealed
from tests.reference import random_data


@pytest.fixture(scope="module")
def proof():
    X, y = random_data(np.random.default_rng(3), 30, 6)
    _, result, arrays = proved(X, y, max_features=2, C=2.0)
    return X, y, result, arrays


def written(arrays):
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def test_a_file_holds_the_entries_and_nothing_else(proof, tmp_path):
    *_, result, arrays = proof
    result.save_certificate(tmp_path / "proof.npz")
    with zipfile.ZipFile(tmp_path / "proof.npz") as archive:
        assert sorted(archive.namelist()) == sorted(f"{name}.npy" for name in ENTRIES)
    loaded = Certificate.load(tmp_path / "proof.npz").arrays
    for name, array in arrays.items():
        np.testing.assert_array_equal(loaded[name], array)


def test_flipped_bytes_are_only_ever_invalid(proof, tmp_path):
    X, y, _, arrays = proof
    content = written(arrays)
    path = tmp_path / "proof.npz"
    rng = np.random.default_rng(0)
    rejected = 0
    for _ in range(600):
        damaged = bytearray(content)
        for at in rng.integers(len(content), size=rng.integers(1, 4)):
            damaged[at] = rng.integers(256)
        path.write_bytes(bytes(damaged))
        try:
            verify(path, X, y)
        except InvalidCertificate:
            rejected += 1
    # Some bytes of a zip file have no effect, such as dates.
    assert rejected > 450


@pytest.mark.parametrize(
    "dtype", ["f2", "f4", "i1", "i2", "u1", "u4", "u8", "O", "c16"]
)
@pytest.mark.parametrize("name", ["costs", "coef", "point_grid", "parent", "fixing"])
def test_other_dtypes_are_rejected(proof, name, dtype):
    X, y, _, arrays = proof
    with pytest.raises(InvalidCertificate, match=f"{name} has dtype"):
        verify(sealed(arrays, **{name: arrays[name].astype(dtype)}), X, y)


def test_costs_of_half_precision_do_not_hide_a_feature(proof):
    X, y, _, arrays = proof
    costs = np.array([2048, 0.5, 1, 1, 1, 1], dtype=np.float16)
    with pytest.raises(InvalidCertificate, match="costs has dtype float16"):
        verify(sealed(arrays, costs=costs, max_cost=np.array(2048.5)), X, y)


def test_other_byte_orders_are_read(proof):
    X, y, result, arrays = proof
    swapped = {
        name: array.astype(array.dtype.newbyteorder(">"))
        if array.dtype.kind in "if"
        else array
        for name, array in arrays.items()
    }
    assert verify(swapped, X, y).lower_bound >= result.lower_bound


@pytest.mark.parametrize(
    "content", [None, 5, [1, 2], {"format": 2}, {1: 2}, {"format": np.array(2)}]
)
def test_anything_else_is_rejected(proof, content):
    X, y, *_ = proof
    with pytest.raises(InvalidCertificate):
        verify(content, X, y)


def many_nodes(arrays, count):
    """Nodes that are cheap to store."""
    nodes = {
        "parent": np.zeros(count, dtype=np.int32),
        "feature": np.zeros(count, dtype=np.int32),
        "inside": np.zeros(count, dtype=bool), "point": np.zeros(count, dtype=np.int32),
        "price": np.zeros(count), "fixing_point": np.zeros(count, dtype=np.int32),
        "fixing_price": np.zeros(count),
        "fixing_start": np.zeros(count + 1, dtype=np.int32),
        "fixing": np.empty(0, dtype=np.int32),
    }  # fmt: skip
    return {**arrays, **nodes}


def peak_of(path, X, y, words):
    tracemalloc.start()
    try:
        with pytest.raises(InvalidCertificate, match=words):
            verify(path, X, y)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_more_nodes_than_supports_are_not_even_read(proof, tmp_path):
    X, y, _, arrays = proof
    path = tmp_path / "proof.npz"
    path.write_bytes(written(many_nodes(arrays, 10**6)))
    assert peak_of(path, X, y, "1,000,000 nodes") < 2**22


def test_more_nodes_than_bytes_are_not_even_read(tmp_path):
    X, y = random_data(np.random.default_rng(3), 30, 60)
    *_, arrays = proved(X, y, max_features=60)
    path = tmp_path / "proof.npz"
    path.write_bytes(written(many_nodes(arrays, 2 * 10**6)))
    size = path.stat().st_size
    assert peak_of(path, X, y, f"nodes, but at most {size:,}") < 2**23


def test_bombs_are_not_unpacked(proof, tmp_path):
    X, y, _, arrays = proof
    path = tmp_path / "proof.npz"
    path.write_bytes(written({**arrays, "point_steps": np.zeros(10**8, "u4")}))
    assert path.stat().st_size < 2**20
    assert peak_of(path, X, y, "would unpack to") < 2**22


def test_headers_are_not_trusted(proof, tmp_path):
    X, y, _, arrays = proof
    path = tmp_path / "proof.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            file = io.BytesIO()
            np.lib.format.write_array(file, np.asarray(array))
            content = file.getvalue()
            if name == "point_steps":
                shape, huge = f"({array.size},), }}".encode(), b"(1099511627776,), }"
                padding = b" " * (len(huge) - len(shape))
                assert shape + padding in content
                content = content.replace(shape + padding, huge)
            archive.writestr(f"{name}.npy", content)
    assert peak_of(path, X, y, "does not match its header") < 2**22


def test_a_member_with_a_false_size_is_not_unpacked(proof, tmp_path):
    X, y, _, arrays = proof
    path = tmp_path / "proof.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            file = io.BytesIO()
            np.lib.format.write_array(file, np.asarray(array))
            content = file.getvalue()
            more = bytes(2**26) if name == "weights" else b""
            archive.writestr(f"{name}.npy", content + more)
            info = archive.getinfo(f"{name}.npy")
            info.file_size, info.CRC = len(content), zlib.crc32(content)
    del content, more
    tracemalloc.start()
    try:
        verify(path, X, y)
        assert tracemalloc.get_traced_memory()[1] < 2**22
    finally:
        tracemalloc.stop()


def test_a_huge_budget_takes_no_memory(proof):
    X, y, _, arrays = proof
    forged = sealed(arrays, max_features=np.array(2 * 10**9))
    # All six features prove less than two.
    assert peak_of(forged, X, y, "is claimed") < 2**22


def test_data_that_packs_too_well_is_written_uncompressed(proof, tmp_path):
    *_, arrays = proof
    large = {**arrays, "point_steps": np.zeros(FREE_BYTES // 4, "u4")}
    with open(tmp_path / "large.npz", "wb") as file:
        save_arrays(file, large)
    size = (tmp_path / "large.npz").stat().st_size
    assert FREE_BYTES <= size < MAX_RATIO * FREE_BYTES


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compression_methods_are_rejected(proof, tmp_path, method):
    X, y, _, arrays = proof
    with zipfile.ZipFile(tmp_path / "proof.npz", "w", method) as archive:
        for name, array in arrays.items():
            file = io.BytesIO()
            np.lib.format.write_array(file, np.asarray(array))
            archive.writestr(f"{name}.npy", file.getvalue())
    with pytest.raises(InvalidCertificate, match="unsupported method"):
        verify(tmp_path / "proof.npz", X, y)


def test_repeated_and_missing_entries_are_rejected(proof, tmp_path):
    X, y, _, arrays = proof
    path = tmp_path / "proof.npz"
    path.write_bytes(written(arrays))
    with (
        pytest.warns(UserWarning, match="Duplicate"),
        zipfile.ZipFile(path, "a") as file,
    ):
        file.writestr("costs.npy", b"")
    with pytest.raises(InvalidCertificate, match="repeated entries"):
        verify(path, X, y)
    with pytest.raises(InvalidCertificate, match="costs missing"):
        verify({k: v for k, v in arrays.items() if k != "costs"}, X, y)


# --- each check -------------------------------------------------------------------

# Lengths of vectors that fit: 30 samples, 6 features, 5 nodes, 4 points.
COUNTS = {
    "weights": 30, "costs": 6, "include": 1, "exclude": 2, "selected": 3, "coef": 3,
    "parent": 5, "feature": 5, "inside": 5, "point": 5, "price": 5, "fixing_point": 5,
    "fixing_price": 5, "fixing_start": 6, "fixing": 7, "point_grid": 4,
    "point_full": 16, "point_between": 16, "point_steps": 50,
}  # fmt: skip


def check_counts(size=(30, 6), length=None, **changes):
    counts = {**COUNTS, **changes}
    shapes = {name: (n,) for name, n in counts.items()}
    _check_sizes(shapes, None if size is None else Size(*size), length)


def packed(points=4, full=16, between=16, steps=50):
    return {
        "point_grid": points, "point_full": full, "point_between": between,
        "point_steps": steps,
    }  # fmt: skip


def refit(count, samples=9):
    return {
        "refit_coef": count, "refit_weights": 30, "refit_sample": samples,
        "refit_alpha": samples,
    }  # fmt: skip


def several(**changes):
    """Three classes."""
    return {"intercepts": 3, "coef": 9, **changes}


def listing(intercepts, features, weights, sets=None):
    sets = intercepts if sets is None else sets
    return {
        "threshold": 0, "listed_intercept": intercepts, "listed_start": sets + 1,
        "listed_feature": features, "listed_coef": weights,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"size": (31, 6)}, r"data of shape \(30, 6\), not \(31, 6\)"),
        ({"size": (29, 6)}, r"data of shape \(30, 6\), not \(29, 6\)"),
        ({"size": (30, 5)}, r"data of shape \(30, 6\), not \(30, 5\)"),
        ({"size": (30, 7)}, r"data of shape \(30, 6\), not \(30, 7\)"),
        ({"include": 7}, "include has 7 of 6 features"),
        ({"include": 9}, "include has 9 of 6 features"),
        ({"exclude": 7}, "exclude has 7 of 6 features"),
        ({"selected": 7, "coef": 7}, "selected has 7 of 6 features"),
        ({"coef": 2}, "coef and selected differ in length"),
        ({"coef": 4}, "coef and selected differ in length"),
        ({"parent": 0}, "it has 0 nodes"),
        ({"parent": 129}, "it has 129 nodes, but at most 128 are"),
        ({"length": 4}, "it has 5 nodes, but at most 4 are"),
        ({"fixing_start": 5}, "fixing_start has the wrong length"),
        ({"fixing_start": 7}, "fixing_start has the wrong length"),
        ({"fixing": 31}, "more fixings than features"),
        ({"fixing": 61}, "more fixings than features"),
        (packed(11), "more dual points than nodes"),
        (packed(98), "more dual points than nodes"),
        (packed(full=17), "point_full and point_between have"),
        (packed(between=15), "point_full and point_between have"),
        (packed(full=17, between=17), "point_full and point_between have"),
        (packed(steps=129), "point_steps is too long"),
        (several(**packed(full=49, between=49)), "point_full and point_between have"),
        ({"groups": 9}, r"data of shape \(30, 9\), not \(30, 6\)"),
        ({"groups": 9, "size": (30, 10)}, r"data of shape \(30, 9\), not \(30, 10\)"),
        ({"groups": 5, "size": None}, "6 features, but only 5 columns"),
        ({"groups": 5, "size": (30, 5)}, "6 features, but only 5 columns"),
        ({"groups": 9, "size": None, "coef": 10}, "coef is too long"),
        ({"groups": 9, "size": None, "signs": 6}, "signs has the wrong length"),
        ({"signs": 5}, "signs has the wrong length"),
        ({"signs": 7}, "signs has the wrong length"),
        ({"groups": 9, "size": None, "mean": 6, "scale": 6}, "mean or scale"),
        ({"groups": 9, "size": None, **refit(10)}, "refit_coef is too long"),
        (refit(7), "refit_coef is too long"),
        (listing(2, 5, 6), "listed_feature and listed_coef have"),
        ({"groups": 9, "size": None, **listing(2, 13, 13)}, "listed_feature and"),
        ({"groups": 9, "size": None, **listing(2, 12, 19)}, "listed_feature and"),
        ({"intercepts": 0}, "0 classes of 30 samples"),
        ({"intercepts": 31}, "31 classes of 30 samples"),
        ({"intercepts": 3}, "coef and selected differ in length"),
        (several(coef=8), "coef and selected differ in length"),
        (several(groups=9, size=None, coef=28), "coef is too long"),
        (several(**refit(19)), "refit_coef is too long"),
        (several(**refit(18, 91)), "inconsistent lengths"),
        (refit(6, 31), "inconsistent lengths"),
        (several(**listing(7, 5, 15)), "one for each class"),
        (several(**listing(6, 5, 15)), "listed_start has the wrong length"),
        (several(**listing(6, 5, 5, 2)), "listed_feature and listed_coef have"),
        (several(**listing(6, 13, 39, 2)), "listed_feature and listed_coef have"),
        (several(groups=9, size=None, **listing(6, 12, 55, 2)), "listed_feature and"),
    ]
    + [
        ({name: count}, f"{name} and parent differ in length")
        for name in (
            "feature", "inside", "point", "price", "fixing_point", "fixing_price"
        )
        for count in (4, 6)
    ],
)  # fmt: skip
def test_every_check_of_sizes(changes, words):
    with pytest.raises(InvalidCertificate, match=words):
        check_counts(**changes)


def nodes(count):
    names = ("parent", "feature", "inside", "point", "price", "fixing_point")
    return {
        **dict.fromkeys(names, count), "fixing_price": count, "fixing_start": count + 1
    }  # fmt: skip


@pytest.mark.parametrize(
    "changes",
    [
        {}, {"size": None}, {"include": 6}, {"exclude": 6}, {"selected": 6, "coef": 6},
        {"length": 5}, nodes(128), {"fixing": 30}, {"fixing": 0},
        {"length": 10**9, **nodes(128)},
        {"size": None, "costs": 40, **nodes(2**41)},
        {"groups": 9, "size": (30, 9), "coef": 9, "signs": 9, "mean": 9, "scale": 9},
        packed(), packed(10, 40, 40, 320), packed(0, 0, 0, 0), packed(steps=128),
        several(**packed(full=48, between=48)),
        {"groups": 6, "signs": 6}, {"groups": 9, "size": None, **refit(9)}, refit(6),
        {"groups": 9, "size": None, **listing(2, 12, 18)}, listing(2, 12, 12),
        several(), several(groups=9, size=None, coef=27), {"intercepts": 1},
        several(**refit(18, 90)),
        several(**listing(6, 12, 36, 2)), {"intercepts": 30, "coef": 90},
        several(groups=9, size=None, **listing(6, 12, 54, 2)),
        {"size": None, "costs": 0, **nodes(2), "fixing": 0, "include": 0, "exclude": 0,
         "selected": 0, "coef": 0, "point_grid": 4},
    ],
)  # fmt: skip
def test_sizes_at_the_limits(changes):
    check_counts(**changes)


def test_many_features_do_not_allow_more_nodes_than_memory():
    with pytest.raises(InvalidCertificate, match="at most 2,199,023,255,552 are"):
        check_counts(size=None, costs=60, **nodes(2**41 + 1))


def test_the_checksum_is_that_of_every_entry(proof):
    X, y, _, arrays = proof
    whole = checksum(arrays)
    assert str(arrays["checksum"]) == whole
    assert checksum({**arrays, "checksum": np.array("other")}) == whole
    # Never change this: existing files must remain readable.
    known = {"b": np.array([1, 2]), "a": np.array(0.5), "f": np.array([True])}
    expected = "105d64ef9b19f176fb7e8560f55a9fa7c3c3302991bcaa6c24974e7cca30792d"
    assert checksum(known) == expected
    assert checksum({**known, "b": np.array([1, 2], dtype=">i4")}) == expected
    with pytest.raises(InvalidCertificate, match="damaged or changed"):
        verify({**arrays, "price": arrays["price"] + 1.0}, X, y)
    for other in ("0" * 64, "f" * 64):
        with pytest.raises(InvalidCertificate, match="damaged or changed"):
            verify({**arrays, "checksum": np.array(other)}, X, y)


@pytest.mark.parametrize("number", [0, 2, 5])
def test_other_formats_are_rejected(proof, number):
    X, y, _, arrays = proof
    with pytest.raises(InvalidCertificate, match=f"unknown format {number}"):
        verify(sealed(arrays, format=np.array(number)), X, y)


@pytest.mark.parametrize("name", ["format", "max_cost", "costs", "parent"])
def test_other_dimensions_are_rejected(proof, name):
    X, y, _, arrays = proof
    with pytest.raises(InvalidCertificate, match=rf"{name} has dtype \w+ and 2 dim"):
        verify(sealed(arrays, **{name: np.atleast_2d(arrays[name])}), X, y)


def test_numbers_that_are_not_arrays_are_rejected(proof):
    X, y, _, arrays = proof
    with pytest.raises(InvalidCertificate, match="max_cost is not an array"):
        verify({**arrays, "max_cost": float(arrays["max_cost"])}, X, y)
    verify({**arrays, "max_cost": arrays["max_cost"][()]}, X, y)
    with pytest.raises(InvalidCertificate, match="a mapping, got list"):
        verify([], X, y)
    with pytest.raises(InvalidCertificate, match=r"unknown or repeated entries \['ch"):
        verify({**arrays, "more": np.array(1)}, X, y)


def test_flags_are_zero_or_one(proof):
    *_, arrays = proof
    odd = np.full(arrays["inside"].size, 2, dtype=np.uint8).view(bool)
    read = read_arrays(sealed(arrays, inside=odd))["inside"]
    assert read.view(np.uint8).tolist() == [1] * odd.size


def rewritten(path, arrays, change):
    """A file whose members are written by hand; ``change`` may spoil some."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            file = io.BytesIO()
            np.lib.format.write_array(file, np.asarray(array))
            archive.writestr(f"{name}.npy", change(name, file.getvalue()))


@pytest.mark.parametrize("name", ["format", "point_steps"])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda content: content + b" ", "does not match its header"),
        (lambda content: content[:-1], "does not match its header"),
        (lambda content: content[:6] + b"\x02" + content[7:], "unknown version"),
        (lambda content: content[:6] + b"\x00" + content[7:], "unknown version"),
        (lambda content: b"\x00" + content[1:], "cannot be read"),
    ],
)
def test_members_that_are_not_arrays_are_rejected(proof, tmp_path, name, change, words):
    X, y, _, arrays = proof
    path = tmp_path / "proof.npz"
    rewritten(path, arrays, lambda other, content: content)
    verify(path, X, y)
    rewritten(path, arrays, lambda other, c: change(c) if other == name else c)
    with pytest.raises(InvalidCertificate, match=words):
        verify(path, X, y)


def test_a_password_is_rejected(proof, tmp_path):
    X, y, _, arrays = proof
    path = tmp_path / "proof.npz"
    path.write_bytes(written(arrays))
    content = bytearray(path.read_bytes())
    # The flag in the central directory.
    content[content.rindex(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(bytes(content))
    with pytest.raises(InvalidCertificate, match="unsupported method"):
        verify(path, X, y)


def test_files_of_other_kinds_are_rejected(proof, tmp_path):
    X, y, *_ = proof
    with pytest.raises(FileNotFoundError):
        verify(tmp_path / "nothing", X, y)
    with pytest.raises(IsADirectoryError):
        verify(tmp_path, X, y)
    with pytest.raises(InvalidCertificate, match=r"cannot be read \(File is not a zip"):
        verify(__file__, X, y)


def test_limits_are_part_of_the_format():
    """With lower ones files that were written could not be read."""
    assert (reading.FORMAT, FREE_BYTES, MAX_RATIO) == (1, 2**26, 100)


@pytest.fixture
def few_bytes(monkeypatch):
    """Limits that small files reach."""
    monkeypatch.setattr(reading, "FREE_BYTES", 2**16)
    monkeypatch.setattr(reading, "MAX_RATIO", 10)


def test_how_well_a_file_may_be_packed(proof, tmp_path, few_bytes):
    X, y, _, arrays = proof
    path = tmp_path / "proof.npz"
    seen = set()
    for size in range(1000, 48_000, 2000):
        path.write_bytes(written({**arrays, "point_steps": np.zeros(size, "u4")}))
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
        length = path.stat().st_size
        fits = unpacked <= 2**16 + 10 * length
        words = f"{length:,} bytes, but would unpack to {unpacked:,}"
        with pytest.raises(
            InvalidCertificate, match="point_steps is too long" if fits else words
        ):
            verify(path, X, y)
        seen.add(fits)
    assert seen == {True, False}


def test_how_well_a_file_is_packed(few_bytes):
    rng = np.random.default_rng(0)
    seen = set()
    for size in range(0, 12_000, 500):
        for content in (np.zeros(size), rng.integers(0, 99, size)):
            arrays = {"a": content, "b": np.arange(10)}
            packed, unpacked = io.BytesIO(), io.BytesIO()
            np.savez_compressed(packed, **arrays)
            np.savez(unpacked, **arrays)
            fits = content.nbytes + 80 <= 2**15 + 5 * packed.tell()
            file = io.BytesIO(b"before")
            file.seek(6)
            save_arrays(file, arrays)
            assert file.getvalue()[:8] == b"beforePK"
            expected = packed if fits else unpacked
            assert len(file.getvalue()) == 6 + expected.tell()
            with np.load(io.BytesIO(file.getvalue()[6:])) as loaded:
                np.testing.assert_array_equal(loaded["a"], content)
            seen.add(fits)
    assert seen == {True, False}


# --- the preparation -----------------------------------------------------------------


def test_a_preparation_is_kept_and_sealed(proof, tmp_path):
    X, y, result, _ = proof
    noted = result.certificate.with_preparation("mm, not inches: \u00b5")
    noted.save(tmp_path / "proof.npz")
    assert verify(tmp_path / "proof.npz", X, y).gap == verify(noted, X, y).gap
    loaded = Certificate.load(tmp_path / "proof.npz")
    assert loaded.preparation == "mm, not inches: \u00b5"
    assert result.certificate.preparation is None
    arrays = dict(noted.arrays)
    changed = arrays["preparation"].copy()
    changed[0] += 1
    with pytest.raises(InvalidCertificate, match="damaged or changed"):
        verify(arrays | {"preparation": changed}, X, y)
    del arrays["preparation"]
    with pytest.raises(InvalidCertificate, match="damaged or changed"):
        verify(arrays, X, y)


@pytest.mark.parametrize(
    ("note", "words"),
    [
        (np.zeros(3), "preparation has dtype float64"),
        (np.zeros((2, 2), np.uint8), "2 dimension"),
        (np.array("text"), "preparation has dtype"),
        (np.zeros(reading.MAX_REMARK + 1, np.uint8), "preparation is too long"),
    ],
)
def test_other_preparations_are_rejected(proof, note, words):
    X, y, _, arrays = proof
    with pytest.raises(InvalidCertificate, match=words):
        verify(sealed(arrays | {"preparation": note}), X, y)


def test_other_entries_are_required_besides_a_preparation(proof):
    X, y, _, arrays = proof
    note = {"preparation": np.zeros(3, np.uint8)}
    verify(sealed(arrays | note), X, y)
    with pytest.raises(InvalidCertificate, match="unknown or repeated"):
        verify(sealed(arrays | note | {"remark": np.zeros(3, np.uint8)}), X, y)
    fewer = {name: one for name, one in arrays.items() if name != "price"}
    with pytest.raises(InvalidCertificate, match="price missing"):
        verify(sealed(fewer | note), X, y)


def test_messages_show_little_of_a_long_file(tmp_path):
    with zipfile.ZipFile(tmp_path / "proof.npz", "w") as archive:
        for k in range(40):
            archive.writestr(f"{k}{'x' * 60_000}", b"")
        for name in ENTRIES:
            archive.writestr(f"{name}.npy", b"")
    with pytest.raises(InvalidCertificate, match="unknown or repeated") as failure:
        verify(tmp_path / "proof.npz", np.eye(2), [0, 1])
    assert len(str(failure.value)) < 2000
