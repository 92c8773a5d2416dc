"""All experiments by name, their tasks, and groups of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .benchmarks.best_known import BEST_KNOWN
from .benchmarks.categories import CATEGORIES
from .benchmarks.classes import CLASS_BENCHMARK
from .benchmarks.clusters import DISTRIBUTED
from .benchmarks.commands import MILLION, TIME
from .benchmarks.kernels import PERSPECTIVE, ROBUSTNESS, SUPPORT
from .benchmarks.lists import ALTERNATIVES
from .benchmarks.prediction import CV, PREDICT
from .benchmarks.proofs import EXACT, GROUP_BENCHMARK, LARGE_SETS, PROOF
from .benchmarks.scale import SCALE
from .benchmarks.searches import BLOCKS, EFFORT, SEEDS, SWAP
from .benchmarks.speed import SPEED
from .benchmarks.trees import BATCHED, CERTIFICATES, THREADS, TREE
from .experiment import Experiment
from .study.accuracy import FIGURE_3, FIGURE_4, TABLE_8, TABLE_9
from .study.peers import PEERS, STABILITY
from .study.programs import FIGURE_2, TABLE_3, TABLE_5, TABLE_6
from .study.reach import DESIGNS, REACH
from .study.searches import TABLE_4, TABLE_7
from .study.small_sets import FIGURE_1, TABLE_1, TABLE_2
from .tasks.methods import facts, method, program, relaxation, root_bound
from .tasks.selection import nested
from .tasks.synthetic import design
from .tasks.validation import fold, split_en, split_fs

#: Seconds of the study's quick grid with two processes on two cores, one experiment
#: after the other. The first one includes compilation; cells shared with earlier ones
#: are not counted.
QUICK_SECONDS = {
    "table1": 4,
    "table2": 1,
    "figure1": 136,
    "table3": 45,
    "table4": 250,
    "table5": 29,
    "figure2": 4,
    "table6": 39,
    "table7": 62,
    "figure3": 142,
    "figure4": 85,
    "table8": 29,
    "table9": 53,
    "peers": 40,
    "stability": 0,
    "reach": 102,
    "designs": 41,
}
STUDY = (
    TABLE_1,
    TABLE_2,
    FIGURE_1,
    TABLE_3,
    TABLE_4,
    TABLE_5,
    FIGURE_2,
    TABLE_6,
    TABLE_7,
    FIGURE_3,
    FIGURE_4,
    TABLE_8,
    TABLE_9,
    PEERS,
    STABILITY,
    REACH,
    DESIGNS,
)
BENCHMARKS = (
    SPEED,
    ROBUSTNESS,
    SUPPORT,
    PERSPECTIVE,
    SWAP,
    EXACT,
    GROUP_BENCHMARK,
    LARGE_SETS,
    THREADS,
    EFFORT,
    SEEDS,
    BLOCKS,
    BEST_KNOWN,
    ALTERNATIVES,
    PROOF,
    CERTIFICATES,
    TREE,
    BATCHED,
    CV,
    PREDICT,
    CLASS_BENCHMARK,
    MILLION,
    CATEGORIES,
    TIME,
    DISTRIBUTED,
    SCALE,
)
#: The study in the order of the paper, then the benchmarks.
EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment for experiment in (*STUDY, *BENCHMARKS)
}
#: Experiments that one name of the command line stands for.
GROUPS = {
    "paper": [experiment.name for experiment in STUDY],
    "bench": ["robustness", "support", "perspective", "swap"],
}

STUDY_TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "design": design,
    "facts": facts,
    "fold": fold,
    "method": method,
    "nested": nested,
    "program": program,
    "relaxation": relaxation,
    "root bound": root_bound,
    "split EN": split_en,
    "split FS": split_fs,
}
#: Tasks that cells name: a data set and parameters in, values for JSON out.
TASKS = STUDY_TASKS | {
    name: task for experiment in BENCHMARKS for name, task in experiment.tasks.items()
}
