"""The counter of lines, functions and constants."""

from tests.size import main, size_of

TEXT = '''"""A module
of two lines."""

import math

# Numbers that count.
ONE, TWO = 1, -2.5
LARGE: int = 2**20
NAMES = ("a", "b")
lower = 3


def function(x):
    """What it does."""
    # Why.
    text = """not
    a docstring"""

    return math.sin(x), text


class Thing:
    """A thing."""

    LIMIT = 7

    def method(self): return 1
'''


def test_code_is_what_is_neither_blank_nor_comment_nor_docstring():
    size = size_of(TEXT)
    assert size.files == 1
    # import, four constants, four of the function, three of the class.
    assert size.lines == 12
    assert size.lengths == [4, 1]


def test_constants_are_the_numbers_that_modules_name():
    assert size_of(TEXT).constants == 3


def test_the_table_has_a_row_for_each_layer(capsys):
    assert main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == [
        "layer", "files", "lines", "functions", "median", "longest", "constants",
    ]  # fmt: skip
    assert {"kernels", "tree", "paper"} < {line.split()[0] for line in lines}
    assert lines[-1].startswith("all")
