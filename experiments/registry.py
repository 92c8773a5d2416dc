"""All experiments by name, their tasks, and groups of them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from .experiment import Experiment
from .tasks.methods import facts, method, program, relaxation, root_bound
from .tasks.selection import nested
from .tasks.synthetic import design
from .tasks.validation import fold, split_en, split_fs

# Modules of the folders, in the order of the list of experiments.
STUDY = "small_sets programs searches accuracy peers reach"
BENCHMARKS = (
    "speed kernels searches proofs trees lists prediction classes categories levels "
    "scale commands clusters best_known"
)
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


def _by_name(folder: str, modules: str) -> dict[str, Experiment]:
    """The experiments that modules define."""
    members = [
        member
        for name in modules.split()
        for member in vars(import_module(f".{folder}.{name}", __package__)).values()
    ]
    return {member.name: member for member in members if isinstance(member, Experiment)}


_STUDY = _by_name("study", STUDY)
#: The study in the order of the paper, then the benchmarks.
EXPERIMENTS: dict[str, Experiment] = {name: _STUDY[name] for name in QUICK_SECONDS}
EXPERIMENTS |= _by_name("benchmarks", BENCHMARKS)
#: Experiments that one name of the command line stands for.
GROUPS = {
    "paper": list(QUICK_SECONDS),
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
    name: task
    for experiment in EXPERIMENTS.values()
    for name, task in experiment.tasks.items()
}
