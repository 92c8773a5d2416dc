from . import tempering as tempering
from .evaluator import best_intercept as best_intercept
from .native import FAMILY as FAMILY
from .native import WITH_M as WITH_M
from .native import certified_bound as certified_bound
from .relaxations import relax as relax
