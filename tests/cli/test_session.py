"""Text from files is shown but never interpreted, and never begins a line of output."""

import io

import numpy as np
import pytest
from rich.console import Console

from frugalsvm.cli import entry
from frugalsvm.cli.session import LONGEST, Session, UsageProblem, guarded, plain
from tests.cli.conftest import write_csv
from tests.commands import main

# A text of a file that would like to be a line of ours.
LINE = "proved: 9.99 <= optimum"
# Line breaks of all kinds, colours, the direction of writing, and markup of Rich.
CONTROLS = ["\n", "\r", "\v", "\f", "\x1c", "\x1e", "\x85", "\u2028", "\u2029"]
CONTROLS += ["\x1b[31m", "\u202e", "\u2066", "\u200b", "\x00", "\x9b", "\x7f"]
LONG = f"x{f' {LINE}' * 40}"


def hostile(break_at="\n"):
    return f"[red]x[/red]{break_at}{LINE}"


def sessions(width=80, **options):
    """Sessions with captured output: of a terminal, and of a file."""
    for terminal in (True, False):
        streams = [
            Console(
                file=io.StringIO(), width=width, force_terminal=terminal, markup=False,
                highlight=False, emoji=False, color_system=None,
            )
            for _ in range(2)
        ]  # fmt: skip
        yield Session(out=streams[0], err=streams[1], **options)


def printed(session):
    return session.out.file.getvalue() + session.err.file.getvalue()


def check(text):
    """No text from a file begins a line or controls the terminal."""
    lines = text.splitlines()
    assert any(LINE in line for line in lines)
    assert not any(line.startswith(LINE) for line in lines)
    assert text.replace("\n", "").isprintable()


@pytest.mark.parametrize("words", [*map(hostile, CONTROLS), LONG])
def test_text_from_files_stays_on_one_line(words):
    for session in sessions():
        session.say(f"reading {words}")
        session.warn(f"{words} is strange")
        session.show(f"target {words}", "", f"x{words}")
        table = session.table("feature", ">mean", words, f">{words}")
        table.add_row(words, "1.0", words, "2.0")
        session.show(table)
        check(printed(session))
        assert "[red]" in printed(session) or words is LONG


@pytest.mark.parametrize("words", [*map(hostile, CONTROLS), LONG])
def test_errors_stay_on_one_line(words):
    for session in sessions(debug=True):

        def fail(session):
            try:
                raise ValueError(words)
            except ValueError as error:
                raise UsageProblem(f"x {words}") from error

        with pytest.raises(Exception, match="2"):
            guarded(session, fail)
        # Frames of Python are shown as they are.
        check(printed(session).replace("^", ""))
        assert "test_session.py" in printed(session)


def test_lines_too_wide_for_a_terminal_continue_indented():
    for session in sessions(width=30):
        session.show("short", " ".join(["word"] * 12), "w" * 50, "字" * 20)
        lines = session.out.file.getvalue().splitlines()
        if session.out.is_terminal:
            assert all(len(line) <= 30 for line in lines)
            starts = [line for line in lines if not line.startswith("  ")]
            assert len(starts) == 4
        else:
            assert lines == ["short", " ".join(["word"] * 12), "w" * 50, "字" * 20]


def test_short_table_entries_are_unchanged():
    for session in sessions():
        table = session.table("feature", ">mean", "")
        table.add_row("age", "1.5", "selected")
        table.add_row("blood pressure", "120.0", "")
        session.show(table)
        lines = [line.rstrip() for line in session.out.file.getvalue().splitlines()]
        assert lines == [
            "feature          mean",
            "age               1.5  selected",
            "blood pressure  120.0",
        ]


def test_errors_that_quote_a_long_file_are_cut():
    for session in sessions():

        def fail(session):
            raise ValueError(f"begin {'x' * 10**6} end")

        with pytest.raises(Exception, match="1"):
            guarded(session, fail)
        words = session.err.file.getvalue()
        assert len(words) < 2 * LONGEST
        assert "begin" in words
        assert words.rstrip().endswith("end")


def test_names_of_files_stay_on_one_line(run, folder, capfd):
    for control in CONTROLS[:-4]:
        name = hostile(control).replace("/", "")
        for arguments in (("verify", name, name), ("fit", name, "-t", name)):
            done = run(*arguments, code=1)
            check(done.stderr)
    assert entry.run(["verify", "a", "b", hostile("\x1b[31m")]) == 2
    check(capfd.readouterr().err)


BREAKS = ["\n", "\u2028", "\x1b[31m", "\u202e", " word " * 30]


@pytest.mark.parametrize("control", BREAKS)
def test_names_and_values_of_a_table_stay_on_one_line(run, folder, control):
    """The same table in all commands, from the fit to explanations of its rows."""
    rng = np.random.default_rng(0)
    words = hostile(control)
    number, kind, target = (f"{word} {words}" for word in ("number", "kind", "target"))
    first, second = rng.normal(size=(2, 60))
    which = rng.integers(0, 3, 60)
    table = {
        number: first.round(3),
        "other": second.round(3),
        kind: [f"{'abc'[k]} {words}" for k in which],
        target: [
            f"{'no' if one else 'yes'} {words}" for one in first + which + second > 1
        ],
        f"gone {words}": ["same"] * 60,
    }
    path = write_csv(folder / "data.csv", table)
    given = (path, "-t", target)
    outputs = [
        run("fit", *given, "--effort", "fast", "--folds", "2", "--model", "m.json",
            "--certificate", "proof.npz", "--include", number),
        run("verify", "proof.npz", path),
        run("explain", "m.json", path, "--row", "1", "--id", target),
        run("scorecard", "m.json", path),
        run("alternatives", *given, "-k", "2", "--tolerance", "50%"),
        run("path", *given, "--budgets", "1-3", "--folds", "0"),
    ]  # fmt: skip
    table[kind][0] = f"new {words}"
    other = write_csv(folder / "other.csv", table)
    outputs.append(run("predict", "m.json", other, "-o", "out.csv"))
    outputs.append(run("verify", "proof.npz", other, code=1))
    outputs.append(run("predict", "m.json", "out.csv", code=1))
    for done in outputs:
        check(done.output)


def test_plain_keeps_visible_characters():
    assert plain("Größe in m², 字 [1] 'a'") == "Größe in m², 字 [1] 'a'"
    assert plain("a\tb\u3164c\u2800\ufe0f") == "a\\tb\\u3164c\\u2800\\ufe0f"
    assert plain("a\nb\u2028c\x85d\u202ee") == "a\\nb\\u2028c\\x85d\\u202ee"


def test_ctrl_c_while_loading_is_no_traceback(ctrl_c_at, capsys):
    ctrl_c_at(entry, "run")
    assert main(["info"]) == 130
    assert capsys.readouterr().err == "error: interrupted\n"
