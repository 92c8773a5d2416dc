import errno
import os
import stat
import tempfile
from pathlib import Path

import pytest

from frugalsvm.cli.outputs import check_output, write_file, write_text
from frugalsvm.cli.session import UsageProblem

FULL = Path("/dev/full")


def test_a_file_is_complete(tmp_path):
    path = tmp_path / "out.txt"
    write_text(str(path), "one")
    write_text(str(path), "two")
    assert path.read_text() == "two"
    assert os.listdir(tmp_path) == ["out.txt"]


def test_a_failed_write_leaves_only_the_old_file(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old")

    def fail(file):
        file.write(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left") as caught:
        write_file(str(path), fail)
    assert caught.value.filename == str(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.txt"]


@pytest.mark.skipif(os.name == "nt", reason="no such permissions")
def test_permissions_and_links_stay(tmp_path):
    path, link = tmp_path / "out.txt", tmp_path / "link"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_text(str(link), "new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_folders_are_rejected_at_once(tmp_path):
    check_output("--model", None)
    check_output("--model", "-")
    check_output("--model", str(tmp_path / "new.json"))
    with pytest.raises(UsageProblem, match=r"--model: .* is a folder"):
        check_output("--model", str(tmp_path))
    with pytest.raises(UsageProblem, match="does not exist"):
        check_output("--model", str(tmp_path / "no" / "new.json"))
    with pytest.raises(OSError, match="folder"):
        write_text(str(tmp_path), "text")


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full")
def test_a_full_device(run, fitted, folder):
    with pytest.raises(OSError, match="No space left"):
        write_text(str(FULL), "text")
    assert FULL.is_char_device()
    data, model = fitted / "data.csv", fitted / "model.json"
    done = run("predict", model, data, "-o", FULL, code=1)
    assert "no space left on device to write /dev/full" in done.stderr
    options = ("-t", "state", "--effort", "fast", "--folds", "0")
    done = run(
        "fit",
        data,
        *options,
        "--certificate",
        FULL,
        "--model",
        "m.json",
        "--report",
        "r.html",
        code=1,
    )
    assert "Proved" in done.stdout
    assert "no space left on device to write /dev/full" in done.stderr
    # The other files are written; what is not there cannot be verified.
    assert (folder / "m.json").exists()
    assert "frugalsvm verify" not in done.stdout
    assert "frugalsvm verify" not in (folder / "r.html").read_text()


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full")
@pytest.mark.parametrize(
    "command",
    [["fit", "--model"], ["path", "--report"], ["alternatives", "--certificate"]],
)
def test_a_failed_file_is_part_of_the_json_object(run_json, data, command):
    name, option = command
    budget = ["--budgets", "1"] if name == "path" else ["-k", "1"]
    folds = [] if name == "alternatives" else ["--folds", "0"]
    found = run_json(name, data, "-t", "state", *budget, *folds, option, FULL, code=1)
    assert "no space left" in found["errors"][0]


@pytest.mark.parametrize("name", ["data.csv", "./data.csv", "link.csv"])
def test_inputs_are_not_overwritten(run, data, folder, name):
    (folder / "link.csv").symlink_to(data)
    before = Path(data).read_bytes()
    done = run("fit", data, "-t", "state", "--model", name, code=2)
    assert "is an input file" in done.stderr
    run("path", data, "-t", "state", "--report", name, code=2)
    run("alternatives", data, "-t", "state", "--certificate", name, code=2)
    assert Path(data).read_bytes() == before


def test_two_names_of_one_file(run, data):
    done = run("fit", data, "-t", "state", "--model", "a", "--report", "./a", code=2)
    assert "the same name" in done.stderr


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full")
@pytest.mark.parametrize("command", ["predict", "explain", "export"])
def test_failed_files_of_other_commands(run_json, fitted, command):
    what = ["--to", "sql"] if command == "export" else [fitted / "data.csv"]
    found = run_json(command, fitted / "model.json", *what, "-o", FULL, code=1)
    assert "no space left" in found["errors"][0]


def test_temporary_names_are_unpredictable(tmp_path, monkeypatch):
    """Planted links are not followed, and names differ each time."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    seen = []

    def write(file):
        seen.extend(one for one in os.listdir(tmp_path) if one.endswith(".partial"))
        file.write(b"new")

    path = tmp_path / ("x" * 250)
    for _ in range(2):
        (tmp_path / f".{path.name[:50]}.{os.getpid()}.partial").unlink(missing_ok=True)
        (tmp_path / f".{path.name[:50]}.{os.getpid()}.partial").symlink_to(victim)
        write_file(str(path), write)
    assert victim.read_text() == "precious"
    assert path.read_text() == "new"
    assert len(set(seen)) == 3
    # If a link has the chosen name, another name is chosen.
    names = iter(["first", "second"])
    monkeypatch.setattr(tempfile, "_get_candidate_names", lambda: names, raising=True)
    other = tmp_path / "out.txt"
    (tmp_path / ".out.txt.first.partial").symlink_to(victim)
    write_file(str(other), lambda file: file.write(b"new"))
    assert victim.read_text() == "precious"
    assert other.read_text() == "new"


@pytest.mark.skipif(os.name == "nt", reason="no such permissions")
def test_new_files_have_the_usual_permissions(tmp_path):
    path, usual = tmp_path / "out.txt", tmp_path / "usual.txt"
    write_text(str(path), "text")
    usual.write_text("text")
    assert path.stat().st_mode == usual.stat().st_mode
