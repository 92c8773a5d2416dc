"""Forged certificates: none may be accepted beyond the optimum of its problem."""

from __future__ import annotations

import contextlib
import functools
import math
import pkgutil
import tempfile
import time
import warnings
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from frugalsvm import (
    InvalidCertificate,
    Problem,
    Result,
    near_optimal,
    relax,
    solve,
    verify,
)
from frugalsvm.checker import checksum

from .generator import (
    chance,
    random_classes,
    random_columns,
    random_constraints,
    random_data,
    random_weights,
)
from .layout import encode, encode_list
from .machines import reference_of
from .mutations import (
    MUTATIONS,
    PROBLEM,
    SCALING,
    SECTIONS,
    intercepts_of,
    poor_solution,
)
from .problems import Case, missing_objections
from .reference import WINDOW, Reference, Stated, varying
from .standard import StandardUnits
from .strong import DualPool, strong_list, strong_tree
from .tally import Tally, Unit

NAME = "forgeries"
# Forgeries and damaged files of one base, problems on its data, strong trees of each.
FORGERIES, FILES = 300, 15
PROBLEMS, STRONG = 3, 3
SAMPLES, FEATURES = 9, 6
# How often a problem has feature groups or signs, and data more than two classes.
GROUPED, CLASSES = 0.6, 0.4
# How often it is about data in other units, and how often these are not standard.
SCALED, OFF_SCALE = 0.4, 0.3
# Maximum seconds to verify a tiny proof.
SLOW = 10.0
# Candidates for the function that computes bounds; the first that exists is counted,
# and a forgery that reaches it counts.
BOUNDS = (
    ("frugalsvm.checker.proof:_Part", "__init__"),
    ("frugalsvm.checker:_Problem", "bound"),
)


@functools.cache
def watch_bounds() -> list[int]:
    """A list with the number of bounds computed so far."""
    owner, name = _bound_function()
    original, calls = getattr(owner, name), [0]

    @functools.wraps(original)
    def counted(*arguments, **keywords):
        calls[0] += 1
        return original(*arguments, **keywords)

    setattr(owner, name, counted)
    return calls


def _bound_function() -> tuple[type, str]:
    for owner, name in BOUNDS:
        with contextlib.suppress(ImportError, AttributeError):
            return pkgutil.resolve_name(owner), name
    raise LookupError("the checker has changed: BOUNDS needs another entry")


@dataclass(frozen=True)
class Source:
    """A valid proof, dual points to forge it with, and all proofs on its data."""

    X: np.ndarray
    y: np.ndarray
    arrays: dict[str, np.ndarray]
    pool: DualPool
    varying: list[int]
    proofs: list[dict[str, np.ndarray]]

    @property
    def n_samples(self) -> int:
        return self.arrays["weights"].size

    @property
    def n_features(self) -> int:
        return self.arrays["costs"].size

    @property
    def n_columns(self) -> int:
        return self.pool.stated.X.shape[1]


def with_refit(problem, result: Result, X, labels, arguments, C: float) -> dict:
    """The arrays of a result's proof, with the SVM on its features for another C."""
    support = np.union1d(result.selected, problem.include).astype(int)
    free = {"max_features": None, "feature_costs": None, "max_cost": None}
    fixed = {
        "C": C, "include": support,
        "exclude": np.setdiff1d(np.arange(problem.n_features), support),
    }  # fmt: skip
    other = Problem(X, labels, **{**arguments, **free, **fixed})
    svm = solve(other, method="swap", random_state=0)
    coef = svm.coef[..., problem.machine_columns.of(support)].ravel()
    # With all features fixed, the relaxation is exact.
    dual = relax(other)
    proof = result.certificate.with_refit(
        other.weights, coef, svm.intercept, svm.objective, dual.bound, dual.alpha
    )
    return dict(proof.arrays)


class Base:
    """Data, some problems on them, and valid proofs of these to be forged."""

    def __init__(self, seed: int, index: int):
        rng = np.random.default_rng([seed, index])
        m, n = int(rng.integers(3, SAMPLES + 1)), int(rng.integers(3, FEATURES + 1))
        self.X, self.y = random_data(rng, m, n)
        n_classes = 2
        if chance(rng, CLASSES):
            self.y = random_classes(rng, self.X, self.y)
            n_classes = int(self.y.max()) + 1
        self.labels = Case(self.X, self.y, {}, {}).labels
        self.weights = random_weights(rng, m, n_classes)
        self.units = StandardUnits(self.X)
        self.sources: list[Source] = []
        self._proofs: list[dict[str, np.ndarray]] = []
        self._references: dict[bytes, Reference] = {}
        for _ in range(PROBLEMS):
            self._add_problem(rng)

    def _add_problem(self, rng) -> None:
        n = self.X.shape[1]
        columns = random_columns(rng, n) if chance(rng, GROUPED) else {}
        if self.labels.ndim > 1:
            # Signs are for two classes only.
            columns.pop("signs", None)
        if "feature_groups" in columns:
            n = int(columns["feature_groups"].max()) + 1
        arguments = {**self.weights, **random_constraints(rng, n), **columns}
        if chance(rng, 0.8):
            # Few features need a tree.
            arguments["max_features"] = int(rng.integers(1, max(n, 2)))
        units = self._units(rng) if chance(rng, SCALED) else {}
        X = self.scaled(units)
        try:
            problem = Problem(X, self.labels, **arguments)
        except ValueError:
            return
        result = solve(
            problem, method="branch-and-bound", certificate=True, random_state=0,
            gap_tol=float(rng.choice([1e-4, 0.0])), method_options={"patience": 0},
        )  # fmt: skip
        honest = dict(result.certificate.arrays)
        pool = DualPool(Case(X, self.y, arguments, {}).stated)
        strong = [encode(strong_tree(rng, pool), honest) for _ in range(STRONG)]
        found = near_optimal(
            problem, tolerance=float(rng.choice([0.0, 0.05, 0.5, 5.0])),
            limit=int(rng.choice([2, 1000])), random_state=0, certificate=True,
        )  # fmt: skip
        lists = [dict(found.certificate.arrays)]
        lists += [encode_list(strong_list(rng, pool), arrays) for arrays in strong]
        refit_C = float(arguments["C"]) * float(rng.choice([0.01, 0.5, 1.0, 100.0]))
        refitted = with_refit(problem, result, X, self.labels, arguments, refit_C)
        proofs = [
            {**arrays, **units}
            for arrays in (honest, refitted, refitted, *strong, *lists)
        ]
        self._proofs += proofs
        self.sources += [
            Source(self.X, self.y, arrays, pool, varying(pool.stated), self._proofs)
            for arrays in proofs
        ]

    def _units(self, rng) -> dict[str, np.ndarray]:
        """Standard units of the columns, or others, for which a proof is as valid."""
        mean, scale = (np.array(part) for part in self.units.rounded)
        if chance(rng, OFF_SCALE):
            some = rng.random(scale.size) < rng.choice([0.3, 1.0])
            factor = float(rng.choice([1e6, 1e-6, 2.0, 1 + 1e-7, 1 + 1e-8]))
            scale = np.where(some, scale * factor, scale)
        elif chance(rng, 0.2):
            mean = mean + scale * float(rng.choice([1.0, 1e-3, 1e-8]))
        return {"mean": mean, "scale": scale}

    def scaled(self, arrays) -> np.ndarray:
        """The data in the units of a file."""
        if not all(name in arrays for name in SCALING):
            return self.X
        mean, scale = (np.asarray(arrays[name], float) for name in SCALING)
        with np.errstate(all="ignore"):
            return (self.X - mean) / scale

    def reference(self, arrays) -> Reference:
        """The reference of the problem as the file states it."""
        names = [name for name in (*PROBLEM, *SCALING) if name in arrays]
        parts = [np.asarray(arrays[name], float) for name in names]
        key = b"|".join(str(part.shape).encode() + part.tobytes() for part in parts)
        key += bytes([name in arrays for name in (*SECTIONS, *SCALING)])
        if key not in self._references:
            self._references[key] = reference_of(self.stated(arrays))
        return self._references[key]

    def standard_reference(self, arrays) -> Reference:
        """The same for the data in standard units, whatever those of the file are."""
        mean, scale = self.units.rounded
        key = (
            b"standard"
            + repr([arrays[n].tobytes() for n in PROBLEM if n in arrays]).encode()
        )
        if key not in self._references:
            stated = self.stated({**arrays, "mean": mean, "scale": scale})
            own = replace(stated, X=self.units.standardised)
            self._references[key] = reference_of(own)
        return self._references[key]

    def refit_reference(self, weights, support, arrays) -> Reference:
        """The reference of the SVM on given features with given weights of the loss."""
        stated = self.stated(arrays)
        weights, support = np.asarray(weights, float), tuple(support)
        parts = [weights, np.array(support), stated.groups, stated.signs]
        key = b"refit" + b"|".join(str(part).encode() for part in parts[1:])
        key += weights.tobytes() + bytes([stated.intercept]) + stated.X.tobytes()
        if key not in self._references:
            rest = tuple(sorted({*range(stated.n_features)} - {*support}))
            self._references[key] = reference_of(
                Stated(
                    stated.X, self.labels, weights, len(support), include=support,
                    exclude=rest, intercept=stated.intercept, groups=stated.groups,
                    signs=stated.signs,
                )
            )  # fmt: skip
        return self._references[key]

    def point(self, columns, coef, intercepts):
        """Weights of all columns and the intercept; for each of several classes."""
        n_machines = self.labels.size // len(self.y)
        whole = np.zeros((n_machines, self.X.shape[1]))
        whole[:, list(columns)] = coef.reshape(n_machines, -1)
        if n_machines > 1:
            return whole, intercepts
        return whole[0], float(intercepts[0])

    def stated(self, arrays) -> Stated:
        return Stated(
            self.scaled(arrays), self.labels, np.asarray(arrays["weights"], np.float64),
            int(arrays["max_features"]), np.asarray(arrays["costs"], np.float64),
            float(arrays["max_cost"]), tuple(arrays["include"].tolist()),
            tuple(arrays["exclude"].tolist()), bool(arrays["fit_intercept"]),
            *(_whole_numbers(arrays.get(name), self.X.shape[1]) for name in SECTIONS),
        )  # fmt: skip


def _whole_numbers(array, size: int) -> np.ndarray | None:
    """A section with a small number for each column; anything else is an error."""
    if array is None:
        return None
    if array.shape != (size,) or array.dtype.kind not in "iu":
        raise ValueError(f"a section of shape {array.shape}")
    if not ((array >= -1) & (array < size)).all():
        raise ValueError(f"a section with {array}")
    return array.astype(np.int64)


def forge(rng, base: Base) -> tuple[str, dict[str, np.ndarray]]:
    """A forgery with a valid checksum, and the name of its (last) mutation."""
    names = list(MUTATIONS)
    weights = np.array([weight for _, weight in MUTATIONS.values()])
    source = base.sources[rng.integers(len(base.sources))]
    # Claim little, so that only the proof is tested.
    claims = ("lower_bound", "threshold", "refit_lower_bound")
    little = {name: np.array(-1e300) for name in claims}
    little = {name: value for name, value in little.items() if name in source.arrays}
    arrays = {**source.arrays, **little}
    number = rng.choice([1, 2, 3], p=[0.5, 0.3, 0.2])
    for which in sorted(rng.choice(len(names), number, p=weights / weights.sum())):
        arrays = MUTATIONS[names[which]][0](rng, arrays, source)
    if chance(rng, 0.6):
        arrays = poor_solution(rng, arrays)
    if chance(rng, 0.9):
        arrays = {**arrays, "objective": np.array(_objective(base, arrays))}
        if "refit_coef" in arrays:
            arrays = {**arrays, "refit_objective": _refit_objective(base, arrays)}
    return names[which], sealed(arrays)


def sealed(arrays):
    return {**arrays, "checksum": np.array(checksum(arrays))}


def _objective(base: Base, arrays) -> float:
    """The objective of the solution, or the present claim if it is invalid."""
    try:
        columns = base.stated(arrays).columns(arrays["selected"])
        point = base.point(columns, arrays["coef"], intercepts_of(arrays))
        return float(base.reference(arrays).objective(*point))
    except (ValueError, IndexError, TypeError, OverflowError):
        present = arrays["objective"].reshape(-1)
        return float(np.real(present[0])) if present.size else 0.0


def _refit_objective(base: Base, arrays) -> np.ndarray:
    """What the weights of the refit are worth, or the present claim."""
    try:
        support = refit_support(arrays["selected"], arrays["include"])
        columns = base.stated(arrays).columns(support)
        intercepts = intercepts_of(arrays, "refit_")
        point = base.point(columns, arrays["refit_coef"], intercepts)
        reference = base.refit_reference(arrays["refit_weights"], support, arrays)
        return np.array(float(reference.objective(*point)))
    except (ValueError, IndexError, TypeError, OverflowError):
        return arrays["refit_objective"]


def refit_support(selected, include) -> tuple[int, ...]:
    """The features whose weights a refit computes."""
    return tuple(np.union1d(selected, include).astype(int).tolist())


def run(unit: Unit) -> Tally:
    """Many forgeries of one base, or one of them."""
    tally = Tally()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        base = Base(unit.seed, unit.index)
        if not base.sources:
            return tally
        for part in range(FORGERIES) if unit.part is None else (unit.part,):
            one = Unit(NAME, unit.seed, unit.index, part)
            rng = np.random.default_rng([unit.seed, unit.index, part])
            judge(one, base, *forge(rng, base), tally)
        if unit.part is None:
            damage_files(unit, base, tally)
    return tally


def judge(
    unit: Unit, base: Base, name: str, arrays, tally: Tally, check=verify
) -> None:
    calls = watch_bounds()
    before, started = calls[0], time.perf_counter()
    tally.count(NAME, name, "tried")
    try:
        proved = check(arrays, base.X, base.y)
    except InvalidCertificate:
        proved = None
    except Exception as error:
        tally.violate(unit, f"exception of verify: {name}: {error!r}")
        proved = None
    note_time(unit, name, time.perf_counter() - started, tally)
    if proved is not None:
        reference = base.reference(arrays)
        if not (reference.optimum.is_tight and reference.generous.is_tight):
            tally.count(NAME, name, "loose")
            return
        tally.count(NAME, name, "accepted")
        found = [
            *objections(proved, reference), *_refit_objections(base, arrays, proved),
            *_weight_objections(base, arrays), *_unit_objections(base, arrays, proved),
        ]  # fmt: skip
        for text in found:
            tally.violate(unit, f"{text} ({name})")
        for section in (*SECTIONS, "n_classes", "mean"):
            if section in arrays:
                tally.count(NAME, f"with {section}", "accepted")
        if proved.refit is not None:
            tally.count(NAME, "refit", "accepted")
    if calls[0] > before:
        tally.count(NAME, name, "counted")


def note_time(unit: Unit, name: str, seconds: float, tally: Tally) -> None:
    if seconds > SLOW:
        tally.violate(unit, f"resources: {name}: verify took {seconds:.1f} s")


def objections(proved, reference: Reference):
    """What an accepted certificate must not prove."""
    bound, objective = proved.lower_bound, proved.objective
    if not np.isfinite([bound, objective]).all():
        yield f"not finite: {bound!r} <= optimum <= {objective!r}"
        return
    optimum = reference.optimum
    if Fraction(bound) > optimum.upper:
        yield f"forged bound: {bound!r} > {float(optimum.upper)!r}"
    if Fraction(objective) < reference.generous.lower:
        yield f"forged objective: {objective!r} < {float(optimum.lower)!r}"
    if proved.alternatives is not None:
        yield from list_objections(proved.alternatives, reference)


def _weight_objections(base: Base, arrays):
    """Weights that the problem of an accepted certificate does not admit."""
    stated = base.stated(arrays)
    if stated.signs is None:
        return
    support = refit_support(arrays["selected"], arrays["include"])
    for name, features in (("coef", arrays["selected"]), ("refit_coef", support)):
        if name in arrays:
            signs = stated.signs[list(stated.columns(features))]
            if (arrays[name] * signs < 0).any():
                yield f"forged weights: {name} {arrays[name]} for signs {signs}"


def _unit_objections(base: Base, arrays, proved):
    """What an accepted certificate must not prove about the data as given."""
    if "mean" not in arrays:
        return
    yield from base.units.objections(arrays["mean"], arrays["scale"])
    reference = base.standard_reference(arrays)
    low, high = reference.generous.lower, reference.optimum.upper
    if not (reference.optimum.is_tight and math.isfinite(high)):
        return
    n_machines = base.labels.size // len(base.y)
    weights = n_machines * np.asarray(arrays["weights"], float)
    slack = base.units.slack(weights, max(float(high), proved.objective))
    if proved.lower_bound > float(high) * (1 + 1e-9) + slack:
        yield f"forged scaling: {proved.lower_bound!r} > {float(high)!r}"
    if proved.objective < float(low) * (1 - 1e-9) - slack:
        yield f"forged scaling: {proved.objective!r} < {float(low)!r}"


def _refit_objections(base: Base, arrays, proved):
    """What an accepted certificate must not prove about its weights."""
    refit, problem = proved.refit, proved.problem
    if refit is None:
        return
    support = refit_support(proved.selected, problem.include)
    optimum = base.refit_reference(refit.weights, support, arrays).optimum
    if not optimum.is_tight:
        return
    if Fraction(refit.lower_bound) > optimum.upper:
        yield f"forged refit: {refit.lower_bound!r} > {float(optimum.upper)!r}"
    if Fraction(refit.objective) < optimum.lower:
        yield f"forged refit: {refit.objective!r} < {float(optimum.lower)!r}"


def list_objections(found, reference: Reference):
    """What an accepted list must not prove about any support."""
    yield from missing_objections(found, reference)
    stated = reference.stated
    listed = [{*support.tolist()} for support in found.supports]
    for support, objective in zip(listed, found.objectives, strict=True):
        whole = tuple(sorted(support | {*stated.include}))
        if support & {*stated.exclude} or not stated.admits(whole, WINDOW):
            yield f"forged list: {whole} is over budget"
        elif not math.isfinite(objective):
            yield f"not finite: {whole} at {objective!r}"
        elif Fraction(objective) < reference.bracket(whole, objective).lower:
            yield f"forged list: {whole} at {objective!r}, below its optimum"


def damage_files(unit: Unit, base: Base, tally: Tally) -> None:
    """Flipped bytes and cut files may only raise InvalidCertificate."""
    rng = np.random.default_rng([unit.seed, unit.index, FORGERIES])
    arrays = base.sources[0].arrays
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "proof.npz"
        save = np.savez if chance(rng, 0.5) else np.savez_compressed
        save(path, **arrays)
        content = path.read_bytes()
        for _ in range(FILES):
            path.write_bytes(damaged(rng, content))
            tally.count(NAME, "file", "tried")
            started = time.perf_counter()
            try:
                proved = verify(path, base.X, base.y)
            except InvalidCertificate:
                continue
            except Exception as error:
                tally.violate(unit, f"exception for a damaged file: {error!r}")
                continue
            finally:
                note_time(unit, "file", time.perf_counter() - started, tally)
            tally.count(NAME, "file", "accepted")
            for text in objections(proved, base.reference(arrays)):
                tally.violate(unit, f"{text} (file)")


def damaged(rng, content: bytes) -> bytes:
    if chance(rng, 0.2):
        return content[: rng.integers(len(content))]
    flipped = bytearray(content)
    for at in rng.integers(len(content), size=rng.choice([1, 1, 2, 10])):
        flipped[at] ^= 1 << rng.integers(8)
    return bytes(flipped)
