"""Deadline: the time limit of a whole command."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

# What a clock reads; tests have one of their own.
Clock = Callable[[], float]


def working_seconds() -> float:
    """Seconds on a clock that stands still while kernels are compiled."""
    # Imported here: help and completion do without the compiler.
    from ..run import compilation

    return time.perf_counter() - compilation.seconds_spent()


@dataclass(frozen=True)
class Deadline:
    """When a command, or a part of it, has to end.

    Attributes
    ----------
    end : float or None
        On the clock; None for no limit.
    clock : callable
    left_out : list of str
        What was not done for lack of time, and how to get it.
    """

    end: float | None = None
    clock: Clock = working_seconds
    left_out: list[str] = field(default_factory=list)

    @classmethod
    def after(cls, seconds: float | None, clock: Clock = working_seconds) -> Deadline:
        """It ends some seconds from now."""
        return cls(None if seconds is None else clock() + seconds, clock)

    @property
    def left(self) -> float | None:
        """Seconds that are left; None without a limit."""
        return None if self.end is None else max(0.0, self.end - self.clock())

    @property
    def is_over(self) -> bool:
        """Whether no time is left."""
        return self.left == 0.0

    def part(self, share: float) -> float | None:
        """A share of what is left, in seconds; None without a limit."""
        return None if self.left is None else share * self.left

    def within(self, share: float) -> Deadline:
        """The deadline of a part of the command, which may use a share of the time."""
        return Deadline.after(self.part(share), self.clock)

    def leave_out(self, what: str, how: str) -> None:
        """Note what was not done, and how to get it."""
        self.left_out.append(f"{what} ({how})")

    @property
    def remark(self) -> str:
        """What was left out, in words; empty if nothing was."""
        if not self.left_out:
            return ""
        return f"--time-limit ended before: {'; '.join(self.left_out)}"
