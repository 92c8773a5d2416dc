"""Tally: what was tried, with which outcome, and all violations."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

# Violations that are printed of each kind.
EXAMPLES = 6


@dataclass(frozen=True)
class Unit:
    """A reproducible piece of a campaign; ``part`` is one forgery of many."""

    section: str
    seed: int
    index: int
    part: int | None = None

    def __str__(self) -> str:
        parts = [self.section, self.seed, self.index, self.part]
        return ":".join(str(part) for part in parts if part is not None)

    @classmethod
    def parse(cls, text: str) -> Unit:
        section, *numbers = text.split(":")
        return cls(section, *map(int, numbers))


@dataclass
class Tally:
    """Counts by (section, row, column), and violations with their replay arguments."""

    counts: Counter = field(default_factory=Counter)
    violations: list[tuple[str, str]] = field(default_factory=list)
    # The largest measured values, for information.
    largest: dict[str, float] = field(default_factory=dict)

    def count(self, section: str, row: str, *columns: str) -> None:
        for column in columns:
            self.counts[section, row, column] += 1

    def violate(self, unit: Unit, text: str) -> None:
        self.violations.append((str(unit), text))

    def measure(self, name: str, value: float) -> None:
        self.largest[name] = max(value, self.largest.get(name, value))

    def add(self, other: Tally) -> None:
        self.counts += other.counts
        self.violations += other.violations
        for name, value in other.largest.items():
            self.measure(name, value)

    def total(self, section: str, column: str) -> int:
        return sum(
            value
            for (where, _, what), value in self.counts.items()
            if (where, what) == (section, column)
        )

    def table(self) -> str:
        """One block per section, one line per row, violations below."""
        lines = []
        for section in sorted({key[0] for key in self.counts}):
            columns = sorted({c for s, _, c in self.counts if s == section})
            rows = sorted({r for s, r, _ in self.counts if s == section})
            lines.append(f"{section:<18}" + "".join(f"{c:>12}" for c in columns))
            for row in rows:
                numbers = [self.counts[section, row, c] for c in columns]
                lines.append(f"  {row:<16}" + "".join(f"{v:>12,}" for v in numbers))
            numbers = [self.total(section, c) for c in columns]
            lines.append("  total           " + "".join(f"{v:>12,}" for v in numbers))
        lines += [f"{name}: {value:.3g}" for name, value in self.largest.items()]
        lines.append(f"violations: {len(self.violations)}")
        return "\n".join([*lines, *self._violations()])

    def _violations(self) -> list[str]:
        """The kinds, most frequent first, with some examples each."""
        kinds: dict[str, list[str]] = {}
        for unit, text in self.violations:
            kinds.setdefault(text.split(":")[0], []).append(f"    {unit}  {text}")
        lines = []
        for kind in sorted(kinds, key=lambda kind: -len(kinds[kind])):
            lines += [f"  {len(kinds[kind])} x {kind}", *kinds[kind][:EXAMPLES]]
        return lines
