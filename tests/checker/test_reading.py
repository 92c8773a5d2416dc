"""Files from strangers: sizes are judged first, and only one exception leaves."""

import io
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest

from frugalsvm import Certificate, InvalidCertificate, verify
from frugalsvm.checker.reading import ENTRIES, FREE_BYTES, MAX_RATIO, save_arrays
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
    # Some bytes of a zip file mean nothing, such as dates.
    assert rejected > 450


@pytest.mark.parametrize(
    "dtype", ["f2", "f4", "i1", "i2", "u1", "u4", "u8", "O", "c16"]
)
@pytest.mark.parametrize("name", ["costs", "coef", "point_alpha", "parent", "fixing"])
def test_other_dtypes_are_refused(proof, name, dtype):
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
def test_anything_else_is_refused(proof, content):
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
    assert peak_of(path, X, y, f"nodes, at most {size:,}") < 2**23


def test_bombs_are_not_unpacked(proof, tmp_path):
    X, y, _, arrays = proof
    path = tmp_path / "proof.npz"
    path.write_bytes(written({**arrays, "point_alpha": np.zeros(10**8)}))
    assert path.stat().st_size < 2**20
    assert peak_of(path, X, y, "would unpack to") < 2**22


def test_a_header_is_not_believed(proof, tmp_path):
    X, y, _, arrays = proof
    path = tmp_path / "proof.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            file = io.BytesIO()
            np.lib.format.write_array(file, np.asarray(array))
            content = file.getvalue()
            if name == "point_alpha":
                shape, huge = f"({array.size},), }}".encode(), b"(1099511627776,), }"
                padding = b" " * (len(huge) - len(shape))
                assert shape + padding in content
                content = content.replace(shape + padding, huge)
            archive.writestr(f"{name}.npy", content)
    assert peak_of(path, X, y, "another size than its header") < 2**22


def test_a_member_that_lies_about_its_size_is_not_unpacked(proof, tmp_path):
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


def test_what_packs_too_well_is_written_plainly(proof, tmp_path):
    *_, arrays = proof
    large = {**arrays, "point_alpha": np.zeros(FREE_BYTES // 8)}
    with open(tmp_path / "large.npz", "wb") as file:
        save_arrays(file, large)
    size = (tmp_path / "large.npz").stat().st_size
    assert FREE_BYTES <= size < MAX_RATIO * FREE_BYTES


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_ways_of_packing_are_refused(proof, tmp_path, method):
    X, y, _, arrays = proof
    with zipfile.ZipFile(tmp_path / "proof.npz", "w", method) as archive:
        for name, array in arrays.items():
            file = io.BytesIO()
            np.lib.format.write_array(file, np.asarray(array))
            archive.writestr(f"{name}.npy", file.getvalue())
    with pytest.raises(InvalidCertificate, match="unusual way"):
        verify(tmp_path / "proof.npz", X, y)


def test_repeated_and_missing_entries_are_refused(proof, tmp_path):
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
