"""Commands in separate processes: signals, pipes and full devices."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import write_csv

COMMAND = [sys.executable, "-m", "frugalsvm"]


def start(*arguments, **options):
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
        **options,
    )


@pytest.mark.skipif(os.name == "nt", reason="signals are different there")
def test_ctrl_c_prints_and_saves_the_best_model_so_far(tmp_path):
    rng = np.random.default_rng(0)
    table = {f"c{j}": rng.normal(size=300).round(3) for j in range(100)}
    table["y"] = rng.integers(0, 2, 300)
    path = write_csv(tmp_path / "hard.csv", table)
    model = tmp_path / "model.json"
    process = start(
        "fit", path, "-t", "y", "-k", "10", "--effort", "thorough", "--model", model,
        "--certificate", tmp_path / "proof.npz",
        # Processes in the background ignore Ctrl-C, and so would their children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    try:
        for line in process.stderr:
            if "incumbent" in line:
                break
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, err
    assert "interrupted: this is the best model found so far" in err
    assert "weight per unit" in out
    assert "interrupted" in out
    assert len(json.loads(model.read_text())["features"]) == 10
    # What was proved until then holds.
    done = start("verify", tmp_path / "proof.npz", path)
    assert "proved: " in done.communicate(timeout=60)[0]
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fit", "data.csv"], "Missing option '--target'"),
        (["fit", "data.csv", "-t", "y", "--seed", "x"], "'--seed'"),
        (["nonsense"], "No such command 'nonsense'"),
    ],
)
def test_bad_usage_is_one_line_and_one_object(arguments, words):
    process = start(*arguments, "--json")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 2
    found = json.loads(out)
    assert words in found["error"]
    assert found["exit_code"] == 2
    assert words in err
    assert err.startswith("error: ")
    assert err.count("\n") == 1


def test_a_pipe_as_input_and_a_reader_that_closes_the_output(fitted):
    head, body = (fitted / "data.csv").read_bytes().split(b"\n", 1)
    # More than a pipe holds.
    text = head + b"\n" + 2_000 * body
    process = subprocess.Popen(
        [*COMMAND, "predict", str(fitted / "model.json"), "-"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    process.stdin.write(text)
    process.stdin.close()
    assert process.stdout.readline().startswith(b"row,prediction,score")
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(timeout=60) == 1
    process.stderr.close()


def test_files_are_written_although_the_reader_closes_the_pipe(fitted, tmp_path):
    model = tmp_path / "model.json"
    process = start(
        "fit", fitted / "data.csv", "-t", "state", "-k", "2", "--effort", "fast",
        "--folds", "0", "--model", model, "-q",
    )  # fmt: skip
    process.stdout.close()
    assert "Traceback" not in process.stderr.read()
    process.wait(timeout=120)
    process.stderr.close()
    assert len(json.loads(model.read_text())["features"]) == 2


@pytest.mark.skipif(os.name == "nt", reason="there is no such shell there")
@pytest.mark.parametrize(
    "arguments",
    [["--version"], ["info"], ["info", "--json"], ["predict"], ["predict", "--json"]],
)
def test_a_reader_that_closes_the_pipe_before_anything_is_written(fitted, arguments):
    if "predict" in arguments:
        arguments += [fitted / "model.json", fitted / "data.csv"]
    ours, theirs = os.pipe()
    os.close(ours)
    process = start(*arguments, stdout=theirs)
    os.close(theirs)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert err == "error: standard output is closed; nothing could be written to it\n"


@pytest.mark.skipif(os.name == "nt", reason="there is no such shell there")
def test_closed_output_that_is_not_needed(fitted, tmp_path):
    """All goes to a file."""
    files = f"{fitted / 'model.json'} {fitted / 'data.csv'} -o {tmp_path / 'p.csv'}"
    done = subprocess.run(
        f"{sys.executable} -m frugalsvm predict {files} >&-", shell=True
    )
    assert done.returncode == 0


def test_all_lines_go_through_a_pipe_without_buffers(fitted):
    head, body = (fitted / "data.csv").read_bytes().split(b"\n", 1)
    done = subprocess.run(
        [*COMMAND, "predict", str(fitted / "model.json"), "-"],
        input=head + b"\n" + 100 * body,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        capture_output=True,
        timeout=60,
    )
    assert done.stdout.count(b"\n") == 8001


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_standard_output_on_a_full_device():
    with open("/dev/full", "w") as full:
        process = start("info", stdout=full)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "no space left on device" in err.lower()
    assert "Traceback" not in err


def test_a_shell_completes_commands_and_options():
    asked = {"COMP_WORDS": "frugalsvm ver", "COMP_CWORD": "1"}
    done = subprocess.run(
        COMMAND,
        env=os.environ | asked | {"_FRUGALSVM_COMPLETE": "complete_bash"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "verify" in done.stdout


def test_help_and_completion_load_nothing_heavy():
    code = (
        "import sys; from frugalsvm.__main__ import main; main(['fit', '--help']);"
        "heavy = {'numba', 'pandas', 'sklearn', 'scipy'} & set(sys.modules);"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@pytest.mark.skipif(os.name == "nt", reason="there is no such shell there")
@pytest.mark.parametrize(
    ("end", "code", "words"),
    [
        (">&-", 1, "error: standard output is closed; nothing could be written"),
        ("--json >&-", 1, "error: standard output is closed; nothing could be written"),
        ("2>&-", 0, ""),
        ("> /dev/full", 1, "no space left on device to write standard output"),
        ("--json > /dev/full", 1, "no space left on device to write standard output"),
    ],
)
def test_files_are_written_even_if_standard_output_is_not(tmp_path, end, code, words):
    if "full" in end and not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)).round(3)
    table = {f"c{j}": X[:, j] for j in range(3)} | {"y": (X[:, 0] > 0).astype(int)}
    path = write_csv(tmp_path / "data.csv", table)
    model = tmp_path / "model.json"
    what = f"fit {path} -t y -k 1 --folds 0 --model {model} {end}"
    done = subprocess.run(
        f"{sys.executable} -m frugalsvm {what}", shell=True, capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert words in done.stderr
    assert len(json.loads(model.read_text())["features"]) == 1
