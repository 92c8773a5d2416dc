"""Ways to forge a certificate: fields, types, trees, dual points, problems, mixtures.

Each takes a random generator, the arrays and the source they come from, and returns
other arrays. Most keep the file consistent, so that forgeries get as far as the bounds.
"""

from __future__ import annotations

import numpy as np

from frugalsvm.checker import fingerprint

from .generator import chance, in_order, power, random_costs, random_max_cost
from .layout import (
    COLUMNS,
    PACKED,
    Node,
    Tree,
    decode,
    decode_list,
    encode,
    encode_list,
)
from .packed import change_packed
from .strong import strengthen

TREE = (*COLUMNS, "fixing_start", "fixing")
CLAIM = ("selected", "coef", "intercept", "intercepts", "objective", "lower_bound")
# Sections of the problem, which a file need not have.
SECTIONS = ("groups", "signs")
PROBLEM = ("weights", "costs", "max_cost", "max_features", "include", "exclude",
           "fit_intercept", *SECTIONS)  # fmt: skip
SCALING = ("mean", "scale")
LIST = ("threshold", "listed_start", "listed_feature", "listed_coef",
        "listed_intercept")  # fmt: skip
INTEGERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4", ">i8")
FLOATS = ("f2", "f4", "f8", ">f8", "g")
# Numbers that break careless arithmetic.
ODD = (0.0, -0.0, -1.0, np.nan, np.inf, -np.inf, 1e-320, 1e-160, 1e160, 1.7e308)


REFIT = (
    "refit_weights", "refit_coef", "refit_intercept", "refit_intercepts",
    "refit_objective", "refit_lower_bound", "refit_sample", "refit_alpha",
)  # fmt: skip


# --- anything ------------------------------------------------------------------------


def _any_name(rng, arrays) -> str:
    names = [*TREE, *PACKED, *CLAIM, *PROBLEM, "n_classes", *LIST, *REFIT, *SCALING]
    return str(rng.choice([name for name in names if name in arrays]))


def change_field(rng, arrays, source):
    """Change one entry of one array."""
    name = _any_name(rng, arrays)
    array = np.array(arrays[name])
    if array.size == 0:
        return arrays
    flat = array.reshape(-1)
    at = rng.integers(flat.size)
    if array.dtype.kind == "b":
        flat[at] = not flat[at]
    elif array.dtype.kind == "f":
        factor = rng.choice([-1.0, 0.5, 2.0, 1e3, 1e-3, 1 + 1e-7])
        flat[at] = rng.choice([flat[at] * factor, rng.choice(ODD)], p=[0.7, 0.3])
    elif array.dtype.kind in "iu":
        step = int(rng.choice([-3, -2, -1, 1, 2, 3, 100, 2**31]))
        flat[at] = np.array(int(flat[at]) + step).astype(array.dtype)
    return {**arrays, name: flat.reshape(array.shape)}


def change_type(rng, arrays, source):
    """Convert an array to another type with roughly the same values."""
    name = _any_name(rng, arrays)
    kinds = {"f": FLOATS, "i": INTEGERS, "u": INTEGERS, "b": ("b1", "u1")}
    types = kinds.get(arrays[name].dtype.kind, ())
    if chance(rng, 0.05) or not types:
        types = ("O", "U9", "c16")
    return {**arrays, name: arrays[name].astype(str(rng.choice(types)))}


def change_size(rng, arrays, source):
    """An array longer, shorter or of another shape."""
    name = _any_name(rng, arrays)
    array = np.atleast_1d(arrays[name])
    cut = int(rng.integers(array.size + 1))
    twice = np.append(array, array)
    others = [array[:cut], array[cut:], twice, array[None], array[::-1]]
    return {**arrays, name: others[rng.integers(len(others))]}


# --- the tree ------------------------------------------------------------------------


def cut_tree(rng, arrays, source):
    """Exchange, drop, double, move and relabel nodes."""
    tree = decode(arrays)
    for _ in range(rng.integers(1, 3)):
        # Nothing can be cut from an empty tree.
        if tree.nodes:
            tree = rng.choice(SURGERY)(rng, tree, source)
    if chance(rng, 0.6):
        strengthen(rng, source.pool, tree)
    return encode(tree, arrays)


def _any(rng, tree: Tree) -> int:
    return int(rng.integers(len(tree.nodes)))


def _inner(rng, tree: Tree) -> int:
    """A node with children, if there is one."""
    return int(rng.choice([max(node.parent, 0) for node in tree.nodes]))


def _some(rng, children: list[int]) -> list[int]:
    """Both children, or one: then the tree no longer covers everything."""
    return children if chance(rng, 0.6) else children[:1]


def _leaf(rng, tree: Tree) -> Node:
    return tree.nodes[int(rng.choice(tree.leaves()))]


def _feature(rng, tree: Tree, at: int, source) -> int:
    """A feature for a node, mostly one that is still to be decided."""
    free = sorted(set(source.varying) - tree.decided(at))
    if free and chance(rng, 0.9):
        return int(rng.choice(free))
    return int(rng.integers(source.n_features))


def _relabel(rng, tree, source):
    at = _inner(rng, tree)
    feature = _feature(rng, tree, at, source)
    for child in _some(rng, tree.children(at)):
        tree.nodes[child].feature = feature
    return tree


def _flip(rng, tree, source):
    for child in _some(rng, tree.children(_inner(rng, tree))):
        tree.nodes[child].inside = not tree.nodes[child].inside
    return tree


def _drop(rng, tree, source):
    """Turn a node into a leaf, or remove it."""
    at = _any(rng, tree)
    if chance(rng, 0.2) and at > 0:
        return tree.without({at})
    below = tree.children(at)
    tree.nodes[at].point = int(rng.integers(max(1, len(tree.points))))
    return tree.without(set(below))


def _swap(rng, tree, source):
    """Two leaves exchange their points, or two nodes their places."""
    if chance(rng, 0.7):
        one, two = _leaf(rng, tree), _leaf(rng, tree)
        one.point, two.point = two.point, one.point
        return tree
    one, two = tree.nodes[_any(rng, tree)], tree.nodes[_any(rng, tree)]
    one.parent, two.parent = two.parent, one.parent
    return tree


def _move(rng, tree, source):
    """Another parent, or a copy of a node."""
    at = _any(rng, tree)
    if chance(rng, 0.2):
        tree.nodes.append(Node(**vars(tree.nodes[at])))
    elif at > 0:
        tree.nodes[at].parent = int(rng.integers(at))
    return tree


def _split(rng, tree, source):
    """Two new leaves below a leaf, with the points of others."""
    at = int(rng.choice(tree.leaves()))
    feature = _feature(rng, tree, at, source)
    for inside in (True, False):
        point = int(rng.integers(max(1, len(tree.points))))
        tree.nodes.append(Node(at, feature, inside, point))
    tree.nodes[at].point = -1
    return tree


def _other_point(rng, tree, source):
    leaf = _leaf(rng, tree)
    leaf.point = tree.add_point(source.pool.any_point(rng))
    leaf.price = _price(rng, leaf.price)
    return tree


def _price(rng, present: float) -> float:
    """A price of the cost budget: any is admitted, none may prove too much."""
    if chance(rng, 0.5):
        return present
    return float(rng.choice([0.0, present * 1.1, power(rng, -6, 6), rng.choice(ODD)],
                            p=[0.3, 0.3, 0.3, 0.1]))  # fmt: skip


SURGERY = (_relabel, _flip, _drop, _swap, _move, _split, _other_point)


def change_fixings(rng, arrays, source):
    """Add, move, remove and invert fixings; give them other points."""
    tree = decode(arrays)
    for _ in range(rng.integers(1, 4) if tree.nodes else 0):
        node = tree.nodes[at := _any(rng, tree)]
        kind = rng.integers(6)
        if kind < 3 or not node.fixings:
            feature = _feature(rng, tree, at, source)
            node.fixings.append(feature if chance(rng, 0.5) else ~feature)
            if node.fixing_point < 0 or chance(rng, 0.5):
                node.fixing_point = tree.add_point(source.pool.any_point(rng))
                node.fixing_price = _price(rng, node.fixing_price)
        elif kind == 3:
            tree.nodes[_any(rng, tree)].fixings.append(node.fixings.pop())
        elif kind == 4:
            node.fixings[0] = ~node.fixings[0]
        else:
            node.fixing_point = int(rng.integers(len(tree.points)))
    if chance(rng, 0.6):
        strengthen(rng, source.pool, tree)
    return encode(tree, arrays)


# --- dual points ---------------------------------------------------------------------


def change_points(rng, arrays, source):
    """Dual points scaled, disturbed, exchanged, at C, beyond C, tiny, huge."""
    tree = decode(arrays)
    everywhere = chance(rng, 0.3)
    for t in range(len(tree.points)):
        if tree.points[t][0] and (everywhere or chance(rng, 1 / len(tree.points))):
            tree.points[t] = _disturbed(rng, tree, t, source)
    return encode(tree, arrays)


def _disturbed(rng, tree: Tree, t: int, source):
    samples, values = tree.points[t]
    alpha = np.array(values)
    kind = rng.integers(7)
    if kind == 0:
        alpha = alpha * rng.choice([0.5, 2.0, 1 + 1e-7, 1e-30, 1e30, 1e-300, 1e290])
    elif kind == 1:
        alpha = alpha * (1 + power(rng, -16, 0) * rng.normal(size=alpha.size))
    elif kind == 2:
        alpha = source.pool.C[np.minimum(samples, source.pool.C.size - 1)]
        alpha = alpha * rng.choice([1.0, 1 + 1e-15, 1.5, 1e10])
    elif kind == 3:
        return tree.points[rng.integers(len(tree.points))]
    elif kind == 4:
        alpha[rng.integers(alpha.size)] = rng.choice(ODD)
    elif kind == 5:
        return source.pool.any_point(rng)
    else:
        order = rng.permutation(alpha.size)
        return np.array(samples)[order].tolist(), values
    with np.errstate(all="ignore"):
        return samples, np.abs(alpha).tolist() if chance(rng, 0.9) else alpha.tolist()


# --- the problem and the claim -------------------------------------------------------


def change_problem(rng, arrays, source):
    """Other parameters: the proof is then for another problem."""
    new = dict(arrays)
    n = source.n_features
    name = str(rng.choice([name for name in PROBLEM if name not in SECTIONS]))
    if name == "weights":
        factor = rng.choice([0.5, 2.0, 1 + 1e-9, 1e-8, 1e8, 1e150, 1e-150])
        some = rng.random(source.n_samples) < rng.choice([0.3, 1.0])
        with np.errstate(all="ignore"):
            new[name] = np.where(some, arrays[name] * factor, arrays[name])
    elif name == "costs":
        factor = rng.choice([0.5, 2.0, 1 + 1e-9, 1e30, 1e300])
        costs = random_costs(rng, n) if chance(rng, 0.5) else arrays[name] * factor
        new[name] = np.asarray(costs, float)
    elif name == "max_cost":
        found = random_max_cost(rng, np.asarray(arrays["costs"], float))
        new[name] = np.array(np.inf if found is None else found)
    elif name == "max_features":
        new[name] = np.array(int(rng.choice([0, 1, 2, 3, n, n + 1, 10**6])))
    elif name == "fit_intercept":
        new[name] = ~arrays[name]
    else:
        kept = rng.random(n) < rng.choice([0.0, 0.3])
        new[name] = np.flatnonzero(kept).astype(arrays[name].dtype)
    return new


def change_columns(rng, arrays, source):
    """Other groups and signs: split, merged, moved, flipped, removed, out of range."""
    for _ in range(rng.integers(1, 3)):
        if not all(_is_whole(arrays, name) for name in SECTIONS):
            break
        kind = str(
            rng.choice(["groups", "signs", "drop", "odd"], p=[0.4, 0.4, 0.1, 0.1])
        )
        if kind == "groups":
            arrays = _other_groups(rng, arrays, source)
        elif kind == "signs":
            arrays = _other_signs(rng, arrays, source)
        else:
            name = str(rng.choice(SECTIONS))
            if kind == "drop":
                arrays = {key: arrays[key] for key in arrays if key != name}
            elif name in arrays:
                odd = np.array(arrays[name])
                odd[rng.integers(odd.size)] = rng.choice([-2, -1, 2, 3, 7, 2**62])
                arrays = {**arrays, name: odd}
    return arrays


def _is_whole(arrays, name: str) -> bool:
    return name not in arrays or (
        arrays[name].dtype.kind in "iu"
        and arrays[name].ndim == 1
        and bool((np.abs(arrays[name]) < 100).all())
    )


def _other_groups(rng, arrays, source):
    """Columns move, groups split or merge; costs and weights follow if they can."""
    width = source.n_columns
    old = np.array(arrays.get("groups", np.arange(width)))
    new, at = old.copy(), rng.integers(width, size=2)
    kind = rng.integers(4)
    if kind == 0:
        new[at[0]] = new[at[1]]
    elif kind == 1:
        new[at] = new[at[::-1]]
    elif kind == 2:
        # A column of its own.
        new[at[0]] = new.max() + 1
    else:
        new[new == new[at[0]]] = new[at[1]]
    if chance(rng, 0.9):
        new = in_order(new)
    made = {**arrays, "groups": new}
    if chance(rng, 0.9):
        n = int(new.max()) + 1
        made["costs"] = np.resize(arrays["costs"], n) if arrays["costs"].size else (
            np.ones(n)
        )  # fmt: skip
        for name in ("include", "exclude"):
            made[name] = arrays[name][arrays[name] < n]
    if chance(rng, 0.7):
        made |= _weights_follow(arrays, old, new)
    return made


def _weights_follow(arrays, old, new):
    """The weights of the solution, in the order of other groups."""
    here = [np.flatnonzero(old == g) for g in arrays["selected"]]
    columns = np.concatenate([np.empty(0, dtype=np.int64), *here])
    n_machines = intercepts_of(arrays).size
    if columns.size * n_machines != arrays["coef"].size:
        return {}
    coef = np.zeros((n_machines, old.size), dtype=arrays["coef"].dtype)
    coef[:, columns] = arrays["coef"].reshape(n_machines, columns.size)
    selected = np.unique(new[coef.any(axis=0)])
    there = [coef[:, new == g] for g in selected]
    return {"selected": selected, "coef": np.hstack([coef[:, :0], *there]).ravel()}


def intercepts_of(arrays, prefix: str = "") -> np.ndarray:
    """The intercepts of all machines."""
    name = f"{prefix}intercepts"
    return np.atleast_1d(arrays.get(name, arrays[name.removesuffix("s")]))


def _other_signs(rng, arrays, source):
    """Signs flipped, removed or added; weights mostly as they were."""
    width = source.n_columns
    signs = np.array(arrays.get("signs", np.zeros(width, dtype=np.int64)))
    some = rng.random(width) < rng.choice([0.2, 0.5, 1.0])
    kind = rng.integers(4)
    if kind == 0:
        signs = np.where(some, -signs, signs)
    elif kind == 1:
        signs = np.where(some, 0, signs)
    else:
        signs = np.where(some, rng.choice([-1, 0, 1], width), signs)
    made = {**arrays, "signs": signs}
    if chance(rng, 0.1):
        # A weight of the wrong sign.
        made["coef"] = arrays["coef"] * rng.choice([-1.0, 1.0], arrays["coef"].size)
    return made


def change_scaling(rng, arrays, source):
    """Other units of the columns, mostly with the fingerprint of the data in them."""
    n, m = source.X.shape[1], source.X.shape[0]
    has_units = all(arrays.get(name, source.X).shape == (n,) for name in SCALING)
    kind = rng.integers(5)
    if kind == 0:
        made = {key: arrays[key] for key in arrays if key not in SCALING}
    elif kind == 1 or not has_units:
        spread = source.X.std(axis=0)
        usual = source.X.mean(axis=0), np.where(spread > 0, spread, 1.0)
        units = usual if chance(rng, 0.7) else (np.zeros(n), np.ones(n))
        made = {**arrays, **dict(zip(SCALING, units, strict=True))}
    else:
        made = {**arrays, **{name: np.array(arrays[name]) for name in SCALING}}
        name, at = SCALING[rng.integers(2)], rng.integers(n)
        value, scale = made[name][at], made["scale"][at]
        step = float(rng.choice([-1.0, 1.0])) * power(rng, -11, 8)
        others = [value + step * scale, value * (1 + step), rng.choice(ODD)]
        made[name][at] = others[rng.choice(3, p=[0.45, 0.45, 0.1])]
    kept = arrays["weights"] > 0
    if kept.shape == (m,) and chance(rng, 0.9):
        with np.errstate(all="ignore"):
            X = source.X
            if "mean" in made:
                X = (X - made["mean"]) / made["scale"]
            X, y = X[kept], source.y[kept]
            A = (X * y[:, None]).T if source.y.min() < 0 else X.T
            made["fingerprint"] = np.array(fingerprint(A, y))
    return made


def exchange_sets(rng, arrays, source):
    """Swap included and excluded features."""
    return {**arrays, "include": arrays["exclude"], "exclude": arrays["include"]}


def change_solution(rng, arrays, source):
    """Weights scaled, rounded or none at all."""
    kind = rng.integers(4)
    if kind == 0:
        return {**arrays, "coef": arrays["coef"] * rng.choice([0.0, 0.5, -1.0, 1e-9])}
    if kind == 1:
        coarse = arrays["coef"].astype(str(rng.choice(["f2", "f4"])))
        return {**arrays, "coef": coarse.astype(float) if chance(rng, 0.8) else coarse}
    if kind == 2:
        shift = power(rng, -12, 3) * rng.choice([-1.0, 1.0])
        name = "intercepts" if "intercepts" in arrays else "intercept"
        return {**arrays, name: arrays[name] + shift}
    return poor_solution(rng, arrays)


def poor_solution(rng, arrays):
    """A bad solution without features, which leaves room for wrong bounds."""
    shifted = chance(rng, 0.5) and np.all(arrays["fit_intercept"])
    size = power(rng, -1, 8) if shifted else 0.0
    name = "intercepts" if "intercepts" in arrays else "intercept"
    return {
        **arrays,
        "selected": arrays["selected"][:0],
        "coef": arrays["coef"][:0],
        name: np.full(arrays[name].shape, float(size)),
    }


def mix(rng, arrays, source):
    """Some arrays of another proof for the same data."""
    other = source.proofs[rng.integers(len(source.proofs))]
    groups = [TREE, PACKED, TREE + PACKED, CLAIM, PROBLEM, CLAIM + PROBLEM, LIST,
              SCALING, CLAIM + PROBLEM + SCALING]  # fmt: skip
    names = groups[rng.integers(len(groups))]
    if chance(rng, 0.2):
        names = (_any_name(rng, arrays),)
    # Without a section, the other problem is one without it.
    ways = (*SECTIONS, *SCALING)
    absent = {name for name in ways if name in names and name not in other}
    kept = {name: array for name, array in arrays.items() if name not in absent}
    return {**kept, **{name: other[name] for name in names if name in other}}


# --- the list ------------------------------------------------------------------------


def change_list(rng, arrays, source):
    """Sets dropped, added, doubled, cut and exchanged; other weights."""
    listed = decode_list(arrays)
    for _ in range(rng.integers(1, 3)):
        listed = _changed_list(rng, listed, source)
    return encode_list(listed, arrays)


def _changed_list(rng, listed, source):
    n, kind = source.n_features, rng.integers(6)
    if kind == 0 or not listed:
        some = np.flatnonzero(rng.random(n) < rng.choice([0.2, 0.5, 0.8])).tolist()
        machines = source.pool.n_machines
        weights = rng.normal(size=machines * len(some)).tolist()
        return [*listed, (some, weights, [0.0] * machines)]
    at = int(rng.integers(len(listed)))
    features, coef, intercepts = map(list, listed[at])
    if kind in (1, 2):
        return listed[:at] + listed[at + 1 :]
    if kind == 3 and features:
        features[rng.integers(len(features))] = int(rng.integers(n))
        if chance(rng, 0.8):
            features = sorted(set(features))
            coef = coef[: len(features) * len(intercepts)]
    elif kind == 4:
        coef = [value * rng.choice([0.0, -1.0, 0.5, rng.choice(ODD)]) for value in coef]
        intercepts = [
            float(rng.choice([0.0, b, power(rng, -3, 5)])) for b in intercepts
        ]
    else:
        return [*listed, listed[at]]
    return [*listed[:at], (features, coef, intercepts), *listed[at + 1 :]]


# name -> (function, how often); in this order, for the last ones break the layout.
MUTATIONS = {
    "problem": (change_problem, 3),
    "columns": (change_columns, 3),
    "scaling": (change_scaling, 2),
    "sets": (exchange_sets, 0.3),
    "solution": (change_solution, 1),
    "tree": (cut_tree, 4),
    "fixings": (change_fixings, 4),
    "points": (change_points, 3),
    "packed": (change_packed, 3),
    "list": (change_list, 2),
    "mixture": (mix, 2),
    "field": (change_field, 2),
    "type": (change_type, 1.5),
    "size": (change_size, 0.3),
}
