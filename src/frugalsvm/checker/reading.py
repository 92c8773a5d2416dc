"""Reading an untrusted certificate: sizes first, then content; nothing is executed.

A ``.npz`` file is a zip archive of arrays with a header each. All headers are checked
before any array is read: the sizes of the data and of the file limit those of the
arrays.
"""

from __future__ import annotations

import hashlib
import math
import os
import zipfile
from collections.abc import Mapping
from typing import IO, Any, NamedTuple, NoReturn

import numpy as np

# The format that is written and read.
FORMAT = 1
# Maximum ratio of unpacked to packed size: a zip bomb has a far larger one. The writer
# respects it, see ``save_arrays``.
MAX_RATIO = 100
# Unpacked size in bytes that any file may have.
FREE_BYTES = 2**26
# Up to this many features, their number limits the number of nodes.
FEW_FEATURES = 40
# Relative difference that counts as rounding when claims are compared.
CLAIM_TOL = 1e-9

# Dtypes of the entries, with their bytes: a text is 64 characters of four each.
INTEGER, REAL, FLAG, TEXT = ("i4", "i8"), ("f8",), ("b1",), ("U256",)
BYTE, STEP = ("u1",), ("u4", "u8")
SCALARS = {
    "format": INTEGER,
    "fingerprint": TEXT,
    "fit_intercept": FLAG,
    "max_features": INTEGER,
    "max_cost": REAL,
    "intercept": REAL,
    "objective": REAL,
    "lower_bound": REAL,
    "checksum": TEXT,
}
VECTORS = {
    "weights": REAL, "costs": REAL, "include": INTEGER, "exclude": INTEGER,
    "selected": INTEGER, "coef": REAL, "parent": INTEGER, "feature": INTEGER,
    "inside": FLAG, "point": INTEGER, "price": REAL, "fixing_point": INTEGER,
    "fixing_price": REAL, "fixing_start": INTEGER, "fixing": INTEGER,
    "point_full": BYTE, "point_between": BYTE, "point_steps": STEP,
    "point_grid": INTEGER,
}  # fmt: skip
ENTRIES = {**SCALARS, **VECTORS}
# Sections: a file has all entries of one or none.
SECTIONS: tuple[dict[str, tuple[str, ...]], ...] = (
    {
        "threshold": REAL,
        "listed_start": INTEGER,
        "listed_feature": INTEGER,
        "listed_coef": REAL,
        "listed_intercept": REAL,
    },
    {
        "refit_weights": REAL,
        "refit_coef": REAL,
        "refit_intercept": REAL,
        "refit_objective": REAL,
        "refit_lower_bound": REAL,
        "refit_sample": INTEGER,
        "refit_alpha": REAL,
    },
    {"mean": REAL, "scale": REAL},
    {"groups": INTEGER},
    {"signs": INTEGER},
    {"n_classes": INTEGER, "intercepts": REAL},
)
# Additional entries of a file with both a refit and several classes.
CLASS_REFIT_ENTRIES = {"refit_intercepts": REAL}
# Entries of sections that are single numbers.
SECTION_SCALARS = (
    "threshold",
    "refit_intercept",
    "refit_objective",
    "refit_lower_bound",
    "n_classes",
)
# A description of how the numbers were computed, by the author of the file; not proved.
REMARK = "preparation"
# Its maximum size in bytes.
MAX_REMARK = 2**24
# Maximum number of characters from a file in a message.
MAX_SHOWN = 1000
ALL_ENTRIES = {
    **ENTRIES,
    **{name: kind for section in SECTIONS for name, kind in section.items()},
    **CLASS_REFIT_ENTRIES,
    REMARK: BYTE,
}


class InvalidCertificate(ValueError):
    """The certificate proves nothing; the message says why."""


def reject(reason: str) -> NoReturn:
    """Reject the certificate."""
    raise InvalidCertificate(f"invalid certificate: {reason}.")


def require(condition: Any, reason: str) -> None:
    """Reject the certificate unless the condition holds."""
    if not condition:
        reject(reason)


def within_rounding(claim: Any) -> float:
    """The least that must be proved of a claim."""
    return float(claim) - CLAIM_TOL * abs(float(claim))


def check_objective(
    name: str, arrays: Mapping[str, np.ndarray], objective: float
) -> None:
    """Reject the certificate unless a claimed objective is the recomputed one."""
    claimed = float(arrays[name])
    require(
        abs(objective - claimed) <= CLAIM_TOL * objective,
        f"{name} {claimed!r} is claimed, but recomputing it gives {objective!r}",
    )


def check_proved(name: str, arrays: Mapping[str, np.ndarray], proved: float) -> None:
    """Reject the certificate unless a claimed bound is proved."""
    claimed = float(arrays[name])
    require(
        proved >= within_rounding(claimed),
        f"{name} {claimed!r} is claimed, but only {proved!r} is proved",
    )


class Size(NamedTuple):
    """Rows and columns of the data of a certificate."""

    n_samples: int
    n_columns: int


def read_arrays(certificate: Any, size: Size | None = None) -> dict[str, np.ndarray]:
    """All arrays of a file, Certificate or mapping, of the expected kinds and sizes.

    Numbers are returned as doubles and 64-bit integers. If the size of the data is
    unknown, only the length of the file limits the arrays.
    """
    if isinstance(certificate, (str, os.PathLike)):
        arrays = _read_file(certificate, size)
    else:
        arrays = _read_mapping(getattr(certificate, "arrays", certificate), size)
    format = int(arrays["format"])
    require(format == FORMAT, f"unknown format {format}")
    require(
        str(arrays["checksum"]) == checksum(arrays),
        "its checksum is wrong, so it was damaged or changed",
    )
    return arrays


def checksum(arrays: Mapping[str, np.ndarray]) -> str:
    """SHA-256 of all arrays but ``checksum``, in the order of their names."""
    digest = hashlib.sha256()
    for name in sorted(set(arrays) - {"checksum"}):
        array = _standard(np.asarray(arrays[name]))
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def save_arrays(file: IO[bytes], arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays so that ``read_arrays`` accepts them: usually compressed."""
    start = file.tell()
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    unpacked = sum(np.asarray(array).nbytes for array in arrays.values())
    if unpacked > FREE_BYTES // 2 + MAX_RATIO // 2 * (file.tell() - start):
        file.seek(start)
        file.truncate()
        np.savez(file, **arrays)  # type: ignore[arg-type]


def _standard(array: np.ndarray) -> np.ndarray:
    """Numbers as little-endian doubles or 64-bit integers, flags as 0 or 1.

    Unsigned integers are many, and keep their size.
    """
    if array.dtype.kind == "b":
        return array.view(np.uint8) != 0
    kinds = {"f": "<f8", "i": "<i8", "u": f"<u{array.itemsize}"}
    return np.asarray(array, dtype=kinds.get(array.dtype.kind), order="C")


# --- Files ---------------------------------------------------------------------------


class _Header(NamedTuple):
    """The header of an array in a file, and its length in bytes."""

    shape: tuple[int, ...]
    dtype: np.dtype
    length: int

    @property
    def n_bytes(self) -> int:
        """Size of the array itself."""
        return math.prod(self.shape) * self.dtype.itemsize


def _read_file(path: Any, size: Size | None) -> dict[str, np.ndarray]:
    try:
        with open(path, "rb") as file:
            length = os.fstat(file.fileno()).st_size
            with zipfile.ZipFile(file) as archive:
                return _read_archive(archive, length, size)
    except (InvalidCertificate, FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except Exception as error:
        # zipfile, zlib, struct and NumPy's header parser raise many kinds of errors.
        raise InvalidCertificate(
            f"invalid certificate: the file cannot be read ({str(error)[:MAX_SHOWN]})."
        ) from error


def _read_archive(
    archive: zipfile.ZipFile, length: int, size: Size | None
) -> dict[str, np.ndarray]:
    members = archive.infolist()
    names = [member.filename.removesuffix(".npy") for member in members]
    _check_names(names)
    for member in members:
        # Other methods need other modules, or a password.
        method, is_encrypted = member.compress_type, member.flag_bits & 1
        require(
            method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) and not is_encrypted,
            f"{member.filename} is encrypted or compressed by an unsupported method",
        )
    unpacked = sum(member.file_size for member in members)
    require(
        unpacked <= FREE_BYTES + MAX_RATIO * length,
        f"it is {length:,} bytes, but would unpack to {unpacked:,}",
    )
    headers = {}
    for name, member in zip(names, members, strict=True):
        with archive.open(member) as stream:
            headers[name] = _read_header(stream)
        _check_kind(name, headers[name].dtype, headers[name].shape)
        require(
            headers[name].n_bytes == member.file_size - headers[name].length,
            f"the size of {name} does not match its header",
        )
    # Even compressed, a node takes at least a byte.
    _check_sizes({name: header.shape for name, header in headers.items()}, size, length)
    return {
        name: _read_array(archive, member, headers[name])
        for name, member in zip(names, members, strict=True)
    }


def _read_array(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, header: _Header
) -> np.ndarray:
    with archive.open(member) as stream:
        stream.read(header.length)
        # Never read to the end: the stated size may be false.
        content = stream.read(header.n_bytes)
    return _standard(np.frombuffer(content, header.dtype).reshape(header.shape))


def _read_header(stream: IO[bytes]) -> _Header:
    version = np.lib.format.read_magic(stream)
    require(version == (1, 0), f"unknown version {version} of an array")
    shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    return _Header(shape, dtype, stream.tell())


# --- Arrays in memory ----------------------------------------------------------------


def _read_mapping(mapping: Any, size: Size | None) -> dict[str, np.ndarray]:
    require(
        isinstance(mapping, Mapping),
        f"expected a path, a Certificate or a mapping, got {type(mapping).__name__}",
    )
    _check_names(list(mapping))
    arrays = {}
    for name in mapping:
        value = mapping[name]
        require(isinstance(value, (np.ndarray, np.generic)), f"{name} is not an array")
        array = np.asarray(value)
        _check_kind(name, array.dtype, array.shape)
        arrays[name] = _standard(array)
    _check_sizes({name: array.shape for name, array in arrays.items()}, size, None)
    return arrays


# --- Checks of files and arrays ------------------------------------------------------


def _check_names(names: list[Any]) -> None:
    entries = [*ENTRIES, *([REMARK] * (REMARK in names))]
    for section in SECTIONS:
        if any(name in names for name in section):
            entries += section
    if "n_classes" in entries and "refit_coef" in entries:
        entries += CLASS_REFIT_ENTRIES
    require(
        REMARK not in names or "mean" not in names,
        "it has both a preparation and a scaling; a preparation scales by itself",
    )
    missing = [name for name in entries if name not in names]
    require(not missing, f"{', '.join(missing)} missing")
    require(
        len(names) == len(entries),
        f"unknown or repeated entries {sorted(map(str, names))[:40]}"[:MAX_SHOWN],
    )


def _check_kind(name: str, dtype: np.dtype, shape: tuple[int, ...]) -> None:
    is_expected = f"{dtype.kind}{dtype.itemsize}" in ALL_ENTRIES[name]
    require(
        is_expected
        and len(shape) == (0 if name in (*SCALARS, *SECTION_SCALARS) else 1),
        f"{name} has dtype {dtype} and {len(shape)} dimension(s)",
    )


def _check_sizes(
    shapes: Mapping[str, tuple[int, ...]], size: Size | None, length: int | None
) -> None:
    """Check the lengths of all vectors against each other, the data and the file."""
    count = {name: shape[0] for name, shape in shapes.items() if shape}
    require(count.get(REMARK, 0) <= MAX_REMARK, f"{REMARK} is too long")
    n = count["costs"]
    stated = Size(count["weights"], count.get("groups", n))
    m, columns = size or stated
    require(
        stated == (m, columns),
        f"it is for data of shape ({stated.n_samples}, {stated.n_columns}), not "
        f"({m}, {columns})",
    )
    require(n <= columns, f"it has {n:,} features, but only {columns:,} columns")
    require(count.get("signs", columns) == columns, "signs has the wrong length")
    # One weight of each column, one intercept and one dual point for each machine.
    machines = count.get("intercepts", 1)
    require(0 < machines <= max(m, 1), f"it has {machines:,} classes of {m:,} samples")
    for name in ("include", "exclude", "selected"):
        require(count[name] <= n, f"{name} has {count[name]} of {n} features")
    if "groups" in count:
        # A weight for each column of the features: their number is compared later.
        require(count["coef"] <= columns * machines, "coef is too long")
    else:
        require(
            count["coef"] == count["selected"] * machines,
            "coef and selected differ in length",
        )
    nodes = count["parent"]
    limit = 2 ** (min(n, FEW_FEATURES) + 1)
    if length is not None:
        limit = min(limit, length)
    require(
        0 < nodes <= limit,
        f"it has {nodes:,} nodes, but at most {limit:,} are possible",
    )
    for name in ("feature", "inside", "point", "price", "fixing_point", "fixing_price"):
        require(count[name] == nodes, f"{name} and parent differ in length")
    require(count["fixing_start"] == nodes + 1, "fixing_start has the wrong length")
    require(count["fixing"] <= nodes * n, "there are more fixings than features")
    _check_points(count, 2 * nodes, m * machines)
    if "refit_coef" in shapes:
        require(count["refit_weights"] == m, "refit_weights has the wrong length")
        require(count["refit_coef"] <= columns * machines, "refit_coef is too long")
        require(
            count["refit_sample"] == count["refit_alpha"] <= m * machines,
            "refit_sample and refit_alpha have inconsistent lengths",
        )
    if "mean" in shapes:
        require(
            count["mean"] == count["scale"] == columns, "mean or scale is too short"
        )
    if "threshold" in shapes:
        listed, remainder = divmod(count["listed_intercept"], machines)
        require(remainder == 0, "listed_intercept does not have one for each class")
        require(
            listed <= limit,
            f"it lists {listed:,} sets of features, but at most {limit:,} are possible",
        )
        require(
            count["listed_start"] == listed + 1, "listed_start has the wrong length"
        )
        features, weights = count["listed_feature"], count["listed_coef"]
        are_paired = features * machines == weights or "groups" in count
        most = listed * columns * machines
        require(
            are_paired and features <= listed * n and weights <= most,
            "listed_feature and listed_coef have inconsistent lengths",
        )


def _check_points(count: Mapping[str, int], most: int, size: int) -> None:
    """Check the lengths of at most ``most`` dual points of at most ``size`` samples.

    Samples of weight zero have no bits, but the weights are not known here.
    """
    points = count["point_grid"]
    require(points <= most, "there are more dual points than nodes can use")
    require(
        count["point_full"] == count["point_between"] <= points * -(-size // 8),
        "point_full and point_between have inconsistent lengths",
    )
    require(
        count["point_steps"] <= 8 * count["point_between"], "point_steps is too long"
    )
