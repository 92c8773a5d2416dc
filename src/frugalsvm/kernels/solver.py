"""The compiled call for SVMs and relaxations; it lets other threads run meanwhile.

Both share one entry: otherwise the interior point, which takes longest to compile,
would be compiled twice.
"""

import numpy as np

from ._jit import jit_nogil
from .arrays import new_vector
from .data import Data
from .svm import SVM, SVMTask, solve_svm
from .tasks import ANSWER, TASK, Answers, Tasks, solve_tasks

# Where the entries of one argument end and those of the next begin.
_DATA = len(Data._fields)
_SVM = _DATA + len(SVMTask._fields)
_TASKS = _SVM + len(Tasks._fields)
_NO_FEATURES = np.empty(0, dtype=np.int64)
_NO_SIDES = np.empty((0, 0), dtype=np.int8)
_NOTHING = np.empty((0, 0))
NO_WEIGHTS = np.empty(0)
# Placeholders in calls for relaxations, and in calls for an SVM.
NO_SVM = SVMTask(_NO_FEATURES, 0.0, 0.0, NO_WEIGHTS, 0)
NO_TASKS = Tasks(
    np.empty(0, dtype=TASK), _NO_FEATURES, _NO_FEATURES, _NO_FEATURES, _NO_SIDES
)
NO_ANSWERS = Answers(
    np.empty(0, dtype=ANSWER), _NOTHING, _NO_SIDES, _NOTHING, _NOTHING, _NOTHING,
    NO_WEIGHTS, np.empty(0, dtype=np.int8), _NO_FEATURES,
)  # fmt: skip


@jit_nogil
def _solve(*parts):
    """``solve``, given the concatenated entries of its arguments."""
    data = Data(*parts[:_DATA])
    tasks = Tasks(*parts[_SVM:_TASKS])
    if tasks.table.shape[0] == 0:
        svm = solve_svm(data, SVMTask(*parts[_DATA:_SVM]))
    else:
        solve_tasks(data, tasks, Answers(*parts[_TASKS:]))
        svm = SVM(new_vector(0), 0.0, new_vector(0), 0.0, 0.0, 0)
    return svm.w, svm.b, svm.alpha, svm.primal, svm.dual, svm.rounds


def solve(data, svm, tasks, answers):
    """Solve all tasks or, if there are none, an SVM, which is returned.

    Ends early, with bounds that are weaker but valid, once the flag of the data is set.
    """
    # Numba takes longer to unpack a named tuple than its separate entries.
    return SVM(*_solve(*data, *svm, *tasks, *answers))
