"""Selection of the few best features of a node to branch on."""

from ._jit import jit_entry
from .arrays import new_indices, new_vector


@jit_entry
def largest(free, values, count):
    """Up to ``count`` free features by decreasing value, ties in their order."""
    size = min(count, free.shape[0])
    chosen = new_indices(size)
    n_chosen = 0
    for j in free:
        at = n_chosen
        while at > 0 and values[j] > values[chosen[at - 1]]:
            at -= 1
        if at == size:
            continue
        n_chosen = min(n_chosen + 1, size)
        for t in range(n_chosen - 1, at, -1):
            chosen[t] = chosen[t - 1]
        chosen[at] = j
    return chosen


@jit_entry
def most_fractional(free, z, count):
    """Up to ``count`` free features whose z are closest to one half, closest first."""
    closeness = new_vector(z.shape[0])
    for j in free:
        closeness[j] = min(z[j], 1.0 - z[j])
    return largest(free, closeness, count)


@jit_entry
def most_gaining(free, z, curvature, count):
    """Up to ``count`` free features by the product of the children's expected gains.

    If no curvature is known, those whose z are closest to one half.
    """
    score = new_vector(z.shape[0])
    known = 0
    for j in free:
        score[j] = curvature[j] ** 2 * z[j] ** 3 * (1.0 - z[j]) ** 2
        known += score[j] > 0.0
    if known == 0:
        return most_fractional(free, z, count)
    return largest(free, score, min(count, known))
