"""The best known supports on the large data sets, as indices of features.

``best_known.json`` holds no data. Objectives are recomputed on the user's copy of the
data.
"""

import json
from pathlib import Path

import numpy as np

from frugalsvm import Problem
from frugalsvm.problem.files import write_whole

FILE = Path(__file__).with_name("best_known.json")
# A support is better if its objective is lower by this fraction.
BETTER = 1e-7
TOL = 1e-9


def objective_of(problem: Problem, support: list[int]) -> float:
    """Objective of the SVM on a support."""
    return problem.engine.solve_svm(np.array(sorted(support)), tol=TOL).primal


class BestKnown:
    """The file, which is updated when a better support is found."""

    def __init__(self, path: Path = FILE):
        self.path = path
        self.entries = self._read()

    @staticmethod
    def key(name: str, C: float, budget: int) -> str:
        """The name of an instance in the file."""
        return f"{name} C={C:g} B={budget}"

    def objective(self, problem: Problem, name: str, C: float, budget: int) -> float:
        """Objective of the best known support, infinite if there is none."""
        entry = self.entries.get(self.key(name, C, budget))
        return np.inf if entry is None else objective_of(problem, entry["support"])

    def support(self, name: str, C: float, budget: int) -> list[int] | None:
        """The best known support."""
        entry = self.entries.get(self.key(name, C, budget))
        return None if entry is None else entry["support"]

    def is_searched(self, key: str, method: str) -> bool:
        """Whether a method has been used to search for better supports."""
        return method in self.entries.get(key, {}).get("searched", {})

    def note(self, key: str, method: str, times: float) -> None:
        """Record such a search, with its time as a multiple of the default's."""
        self.entries[key].setdefault("searched", {})[method] = round(times, 1)
        self._write()

    def offer(
        self, problem: Problem, name: str, C: float, budget: int, support: np.ndarray
    ) -> bool:
        """Store a support if it is better than the known one; return whether it is."""
        features = sorted(int(j) for j in support)
        if not features or len(features) > budget:
            return False
        value = objective_of(problem, features)
        known = self.objective(problem, name, C, budget)
        if not value < known * (1.0 - BETTER):
            return False
        key = self.key(name, C, budget)
        entry = self.entries.setdefault(key, {})
        entry |= {"objective": round(value, 10), "support": features}
        self._write()
        return True

    def _write(self) -> None:
        self._merge()
        lines = [
            f"  {json.dumps(key)}: {json.dumps(self.entries[key])}"
            for key in sorted(self.entries)
        ]
        text = "{\n" + ",\n".join(lines) + "\n}\n"
        write_whole(self.path, lambda file: file.write(text.encode()))

    def _merge(self) -> None:
        """Merge what another process has written meanwhile."""
        for key, theirs in self._read().items():
            ours = self.entries.setdefault(key, theirs)
            searched = theirs.get("searched", {}) | ours.get("searched", {})
            if theirs["objective"] < ours["objective"]:
                ours = self.entries[key] = theirs
            if searched:
                ours["searched"] = searched

    def _read(self) -> dict:
        return json.loads(self.path.read_text()) if self.path.exists() else {}
