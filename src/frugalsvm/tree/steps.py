"""Generators of tasks."""
from collections.abc import Generator
from typing import Any
from ..engine.protocol import Answer, Engine, Task
Steps = Generator[list[Task], list[Answer], Any]


def run(engine: Engine, steps: Steps) -> Any:
    """Answer the tasks of a generator; what it returns."""
    try:
        tasks = next(steps)
        while True:
            tasks = steps.send(engine.solve(tasks))
    except StopIteration as end:
        return end.value


def together(many: list[Steps]) -> Steps:
    """One generator that runs several side by side and returns what they return."""
    values = [None] * len(many)
    waiting: dict[int, list[Task]] = {}
    for t, steps in enumerate(many):
        _advance(t, steps, None, waiting, values)
    while waiting:
        asked = list(waiting.items())
        answers = yield [task for _, tasks in asked for task in tasks]
        waiting = {}
        at = 0
        for t, tasks in asked:
            own = answers[at : at + len(tasks)]
            at += len(tasks)
            _advance(t, many[t], own, waiting, values)
    return values


def _advance(t, steps, answers, waiting, values):
    try:
        waiting[t] = next(steps) if answers is None else steps.send(answers)
    except StopIteration as end:
        values[t] = end.value
