"""The quadratic model of an exchange: formulas for numbers and for arrays alike.

Compiled code makes its own of them; descents have them as they are.
"""

# Models are made at the point that belongs to a relative gap of the objective: at most,
# and times the samples for each weight. Where these are few, fine differences matter.
MOST_ROUGH, ROUGHNESS = 0.3, 0.04


def model_gap(n_samples, n_features):
    """The relative gap at which exchanges are modelled."""
    return min(MOST_ROUGH, ROUGHNESS * n_samples / max(n_features, 1))


def exchange_loss(own, coming, rest, more, shared):
    """By how much the objective rises when feature j goes and k comes.

    Parameters
    ----------
    own, coming : numbers or arrays
        Products of both with alpha.
    rest, more : numbers or arrays
        ``q_jj - 1``, which is negative, and ``1 + q_kk``.
    shared : number or array
        ``q_jk``.
    """
    change = own * own * more - 2.0 * own * coming * shared + coming * coming * rest
    return -0.5 * change / (rest * more - shared * shared)
