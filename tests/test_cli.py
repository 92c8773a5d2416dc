import subprocess
import sys

import pytest

from frugalsvm.__main__ import main


def test_demo_shows_features_accuracy_and_gap(capsys):
    assert main(["demo"]) == 0
    text = capsys.readouterr().out
    for word in ("worst", "intercept", "gap", "training accuracy", "cross-validated"):
        assert word in text


def test_demo_takes_an_effort(capsys):
    assert main(["demo", "--effort", "fast"]) == 0
    text = capsys.readouterr().out
    assert "no better choice of features was found" in text
    with pytest.raises(SystemExit):
        main(["demo", "--effort", "huge"])
    assert "'fast', 'normal', 'thorough'" in capsys.readouterr().err


def test_unknown_command_is_refused(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["dance"])
    assert stop.value.code == 2
    assert "demo" in capsys.readouterr().err


def test_import_loads_nothing_heavy():
    code = (
        "import sys, frugalsvm;"
        "heavy = {'numba', 'pandas', 'sklearn', 'scipy'} & set(sys.modules);"
        "assert not heavy, heavy;"
        "assert {'FrugalSVC', 'solve'} <= set(dir(frugalsvm));"
        "from frugalsvm import FrugalSVC, Problem, Result, Status, relax, solve"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_unknown_names_are_reported():
    with pytest.raises(ImportError, match="FrugalSVR"):
        from frugalsvm import FrugalSVR  # noqa: F401
