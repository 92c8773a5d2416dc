"""Module names from before the layers keep working, with a warning."""

import pickle
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec

import pytest

from frugalsvm.runtime.aliases import MOVED, PACKAGE, new_name

# Shown in README, docs and docstrings before they moved.
SHOWN = {
    "frugalsvm.baselines": "ElasticNetSVC",
    "frugalsvm.models": "bigmp",
    "frugalsvm.models.weight_bounds": "big_m",
    "frugalsvm.plotting": "WeightsDisplay",
    "frugalsvm.portable": "Feature",
    "frugalsvm.report": "render",
    "frugalsvm.relaxations": "relax",
    "frugalsvm.solvers": "available_solvers",
    "frugalsvm.estimators.frugal_svc": "FrugalSVC",
}


@pytest.mark.parametrize("old", MOVED)
def test_moved_modules_exist(old):
    assert find_spec(f"{PACKAGE}.{MOVED[old]}") is not None
    assert not MOVED[old].startswith(old)


@pytest.mark.parametrize("old", SHOWN)
def test_old_names_are_the_same_modules(old, monkeypatch):
    for name in [name for name in sys.modules if new_name(name)]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.warns(DeprecationWarning, match=f"{old} is now .* 0.2"):
        module = import_module(old)
    new = new_name(old)
    assert module is import_module(new)
    assert module.__spec__.name == module.__name__ == new
    assert hasattr(module, SHOWN[old])


def test_the_warning_is_about_the_line_that_imports(monkeypatch):
    monkeypatch.delitem(sys.modules, "frugalsvm.models", raising=False)
    with pytest.warns(DeprecationWarning, match="is now") as caught:
        from frugalsvm.models import bigmp  # noqa: F401
    assert {one.filename for one in caught} == {__file__}


def test_old_pickles_are_read():
    sys.modules.pop("frugalsvm.estimators.frugal_svc", None)
    with pytest.warns(DeprecationWarning, match="is now"):
        found = pickle.loads(b"cfrugalsvm.estimators.frugal_svc\nFrugalSVC\n.")
    assert found.__module__ == "frugalsvm.api.estimators.frugal_svc"


def test_new_names_and_wrong_ones_are_left_alone():
    assert new_name("frugalsvm.api.path") is None
    assert new_name("frugalsvm.problem") is None
    assert new_name("numpy.path") is None
    with pytest.raises(ModuleNotFoundError):
        import_module("frugalsvm.nothing")
    with pytest.raises(ModuleNotFoundError):
        import_module("frugalsvm.models.nothing")


def test_importing_the_package_uses_no_old_name():
    code = "import frugalsvm; [getattr(frugalsvm, name) for name in frugalsvm.__all__]"
    command = [sys.executable, "-W", "error::DeprecationWarning:frugalsvm", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
