import contextlib
import io
import json
import subprocess
import sys

import pytest

import frugalsvm
from tests.commands import main


def test_demo_shows_features_accuracy_and_gap(capsys):
    assert main(["demo"]) == 0
    text = capsys.readouterr().out
    for word in ("worst", "intercept", "gap", "training accuracy", "cross-validated"):
        assert word in text


def test_demo_takes_an_effort(capsys):
    assert main(["demo", "--effort", "fast"]) == 0
    text = capsys.readouterr().out
    assert "no better choice of features was found" in text
    assert main(["demo", "--effort", "huge"]) == 2
    assert "'fast', 'normal', 'thorough'" in capsys.readouterr().err


def test_demo_as_json(capsys):
    assert main(["demo", "--effort", "fast", "--json", "--seed", "1"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["features"]) == 5
    assert found["lower_bound"] <= found["objective"]


def test_unknown_command_is_rejected(capsys):
    assert main(["dance"]) == 2
    assert "dance" in capsys.readouterr().err


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == frugalsvm.__version__


@pytest.fixture
def no_extra(uninstall):
    """As if the packages of the extra were not installed."""
    uninstall("typer", "rich", "jinja2")


def test_without_the_extra_the_install_line_is_printed(no_extra, capsys):
    for command in ("fit", "verify", "info"):
        assert main([command, "data.csv"]) == 1
        text = capsys.readouterr().err
        assert "needs jinja2, rich, typer: pip install 'frugalsvm[cli]'" in text


def test_without_the_extra_nothing_of_it_is_imported():
    code = (
        "import sys;"
        "sys.modules |= dict.fromkeys(['jinja2', 'rich', 'typer']);"
        "from frugalsvm.__main__ import main;"
        "main(['--help'])"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_the_extra_the_demo_works(no_extra, capsys):
    assert main(["demo", "--effort", "fast"]) == 0
    assert "Proved" in capsys.readouterr().out
    with pytest.raises(SystemExit) as stop:
        main(["dance"])
    assert stop.value.code == 2
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "pip install 'frugalsvm[cli]'" in capsys.readouterr().out


def test_without_the_extra_a_closed_pipe_is_no_error(no_extra):
    class Closed(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    with contextlib.redirect_stdout(Closed()):
        assert main(["demo", "--effort", "fast"]) == 1


def test_import_loads_nothing_heavy():
    code = (
        "import sys, frugalsvm;"
        "heavy = {'numba', 'pandas', 'sklearn', 'scipy'} & set(sys.modules);"
        "assert not heavy, heavy;"
        "assert dir(frugalsvm) == sorted(frugalsvm.__all__);"
        "from frugalsvm import FrugalSVC, Problem, Result, Status, relax, solve"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_unknown_names_are_reported():
    with pytest.raises(AttributeError, match="FrugalSVR"):
        frugalsvm.FrugalSVR  # noqa: B018


def test_other_commands_reject_unknown_options(capsys):
    assert main(["demo", "--limit", "3"]) == 2
    assert "--limit" in capsys.readouterr().err
