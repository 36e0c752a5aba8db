# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""lanescope diff: its forms, its gate, its history, and the jobs of data/ci, on runs that were made up. What it finds in a thousand of them,
tests/unit/test-compare.c counts."""

import json
import lzma
import os
import re
import shutil
import sqlite3
import subprocess
import sys

import tap

sys.path.insert(0, os.path.join(tap.SOURCE, "tests", "golden"))
sys.path.insert(0, os.path.join(tap.SOURCE, "tests", "answers"))
import golden  # noqa: E402
import two_runs  # noqa: E402
import worlds  # noqa: E402

CORPUS = os.path.join(tap.SOURCE, "..", "shared", "corpus", "nsys-sqlite")


def run_of(seed, times=1.0, n_steps=30, has_rivals=False):
    """A report of N_STEPS steps of a program, in which the range `augment` takes TIMES as long; SEED is of the machine's noise."""
    path = golden.path(f"{seed}-{times}-{n_steps}-{has_rivals}.sqlite")
    if os.path.exists(path):
        return path
    two_runs.write(path, seed, times, n_steps, has_rivals)
    return path


def diff(*words, code=0):
    return json.loads(golden.run("diff", "--format=json", *words, code=code)[0])


def test_a_run_is_as_long_as_itself():
    """Also one whose steps had no CPU many times (recorded on an H200), whatever memory holds that nobody uses any more."""
    for name in ("server", "loader", "work"):
        path = golden.path(name + ".rep")
        with lzma.open(os.path.join(tap.SOURCE, "tests", "answers", "device", name + ".rep.xz")) as packed, open(path, "wb") as file:
            file.write(packed.read())
        answer, *others = [json.loads(golden.run("diff", "--format=json", path, path, MALLOC_PERTURB_=byte)[0]) for byte in ("0", "90", "165")]
        assert all(other["steps"] == answer["steps"] for other in others), (name, answer["steps"], others[0]["steps"])
        assert answer["steps"]["a"] == answer["steps"]["b"] and answer["steps"]["change"] == 0 and not answer["changes"], (name, answer["steps"])


def test_json_is_what_is_documented():
    a, b = run_of(1), run_of(2, 1.1)
    answer = diff(a, b)
    assert list(answer) == ["verdict", "steps", "runs", "changes", "findings", "differs", "notes"]
    steps = answer["steps"]
    assert list(steps) == ["a", "b", "change", "low", "high", "p"] and list(steps["a"]) == ["count", "p50_ns", "p99_ns"]
    assert steps["a"]["count"] == steps["b"]["count"] == 30
    assert abs(steps["change"] - (steps["b"]["p50_ns"] / steps["a"]["p50_ns"] - 1)) < 1e-6
    assert steps["low"] <= 0.3 / 9 <= steps["high"] and steps["p"] < 0.001
    assert list(answer["findings"]) == ["gone", "new", "changed"]
    change, = answer["changes"]
    assert {"kind", "name", "change_ns", "change", "p", "events"} <= set(change)
    assert (change["kind"], change["name"], change["type"]) == ("range", "augment", "slower")
    assert abs(change["change"] - 0.1) < 0.01 and abs(change["change_ns"] - 300_000) < 30_000 and change["p"] < 0.001
    for event in change["events"]:
        start, text = golden.run("sql", b, f"SELECT start, text FROM {event['table']} WHERE rowid = {event['row']}")[0].decode().strip().split("\t")
        assert int(start) == event["start"] and text == "augment"
    assert re.fullmatch(r"B takes 9\.\d\d ms a step instead of 9\.\d\d ms \(\+3\.\d %, ±0\.\d\): “augment” takes \d+ µs longer\.", answer["verdict"]), answer["verdict"]


def test_text_begins_with_the_sentence():
    a, b = run_of(1), run_of(2, 1.1)
    verdict = diff(a, b)["verdict"]
    text = golden.run("diff", a, b)[0].decode()
    assert " ".join(text.split()).startswith(verdict)
    assert "slower  range" in text and "A: 30 steps “step”" in text
    markdown = golden.run("diff", "--format=markdown", a, b)[0].decode()
    assert markdown.startswith(f"**{verdict}**\n") and "| slower | range | “augment” |" in markdown
    german = golden.run("diff", a, b, LC_ALL="de_DE.UTF-8", LANGUAGE="de")[0].decode()
    assert german.startswith("B braucht "), german
    assert "kein" not in golden.run("diff", "--format=json", a, b, LC_ALL="de_DE.UTF-8", LANGUAGE="de")[0].decode()


def test_the_same_program_did_not_change():
    answer = diff(run_of(1), run_of(3))
    assert answer["changes"] == [] and answer["steps"]["p"] > 0.01 and answer["verdict"].startswith("B takes as long as A")


def test_rivals_do_not_hide_what_takes_longer():
    """Other programs have the CPUs for four in five of the time. They make many steps longer and none shorter: quick ones tell."""
    for seed in range(3):
        same = diff(run_of(seed, has_rivals=True), run_of(10 + seed, has_rivals=True))
        assert same["changes"] == [] and same["steps"]["p"] > 0.01, same["verdict"]
        slower = diff(run_of(seed, has_rivals=True), run_of(20 + seed, 1.2, has_rivals=True))
        assert [(c["name"], c["type"]) for c in slower["changes"]] == [("augment", "slower")], slower
        assert abs(slower["changes"][0]["change"] - 0.2) < 0.05
        assert any("Other programs had the CPUs" in note for note in slower["notes"])


def test_few_steps_are_not_enough():
    answer = diff(run_of(1), run_of(2, 1.5, n_steps=8))
    assert answer["changes"] == [] and answer["steps"]["change"] is None and answer["steps"]["p"] is None
    assert answer["verdict"] == "It cannot be known whether B is slower than A: B has 8 steps that count, and 10 are needed."


def test_the_gate():
    a, b = run_of(1), run_of(2, 1.3)
    for limit, code in (("p50(step) > 5%", 3), ("p50(step)>20%", 0), ("p50(step) > 1ms", 0), ("p50(step) > 500us", 3), ("p50(augment) > 20%", 3),
                        ("p50(augment) > 40%", 0), ("p50(load) > 0%", 0)):
        golden.run("diff", "--fail-on=" + limit, a, b, code=code)
        golden.run("diff", "--fail-on=" + limit, b, a)
    golden.run("diff", "--fail-on=p50(step) > 0%", a, run_of(3))
    for wrong in ("p50(step)", "p50(step) > x", "p50(step) > 5", "p50() > 5%", "step > 5%"):
        assert "is not valid" in golden.run("diff", "--fail-on=" + wrong, a, b, code=125)[1].decode(), wrong
    # A name that is nowhere would be a gate that never closes.
    assert "neither run have a kernel, call, range or function “augmnt”" in golden.run("diff", "--fail-on=p50(augmnt) > 5%", a, b, code=125)[1].decode()
    assert "no limit was checked" in golden.run("diff", "--fail-on=p50(step) > 5%", a, run_of(2, 1.5, n_steps=8))[1].decode()
    assert "takes two reports" in golden.run("diff", a, code=125)[1].decode()
    assert "--baseline=DIR, which is missing" in golden.run("diff", "--last=3", a, b, code=125)[1].decode()


def test_runs_of_a_history_that_differ_are_no_change():
    """What differs between runs of one program by more than within them is told only where it lies outside of what they do."""
    folder = golden.path("differing")
    shutil.rmtree(folder, True)
    for number, times in enumerate((1, 1.1, 0.95, 1.2, 1.05)):
        golden.run("diff", "--baseline=differing", "--fail-on=p50(step) > 500%", run_of(40 + number, times))
    assert diff(run_of(40, 1), run_of(45, 1.25))["changes"], "two of them are apart"
    for times, names in ((1.25, []), (3, ["augment"])):
        answer = diff("--baseline=differing", "--fail-on=p50(step) > 0%", run_of(45, times), code=3 if names else 0)
        assert [change["name"] for change in answer["changes"]] == names, answer["changes"]
        if not names:
            os.remove(os.path.join(folder, "000006.rep"))


def folder_of(name, first_seed, factor, n_runs=5):
    """A folder of runs of one program whose range `augment` differs by up to a quarter between them, and takes FACTOR as long."""
    folder = golden.path(name)
    shutil.rmtree(folder, True)
    os.mkdir(folder)
    for number, times in enumerate((1, 1.1, 0.95, 1.2, 1.05)[:n_runs]):
        shutil.copy(run_of(first_seed + number, times * factor), os.path.join(folder, f"run-{number}.sqlite"))
    return name


def test_folders_of_runs():
    """A pair of them may be apart; that it is the program, only further runs of each tell."""
    before, same, slower = folder_of("before", 80, 1), folder_of("same", 90, 1), folder_of("slower", 100, 1.6)
    pair = diff(f"{before}/run-2.sqlite", f"{same}/run-3.sqlite")
    assert [change["name"] for change in pair["changes"]] == ["augment"] and pair["runs"] == {"a": 1, "b": 1}
    answer = diff(before, same, "--fail-on=p50(step) > 0%")
    assert answer["changes"] == [] and answer["steps"]["p"] > 0.01 and answer["runs"] == {"a": 5, "b": 5}, answer
    assert answer["steps"]["low"] < 0 < answer["steps"]["high"]
    answer = diff(before, slower, "--fail-on=p50(step) > 5%", code=3)
    assert [change["name"] for change in answer["changes"]] == ["augment"] and 0 < answer["changes"][0]["p"] < 0.01, answer["changes"]
    assert answer["steps"]["low"] > 0 and any("typical runs of 5 of A and 5 of B" in note for note in answer["notes"])
    assert "the typical one of 5 runs" in golden.run("diff", before, slower)[0].decode()
    # One report beside a folder, either way; two of each tell only what is far apart.
    assert diff(before, f"{slower}/run-3.sqlite")["runs"] == {"a": 5, "b": 1}
    assert diff(f"{before}/run-0.sqlite", slower)["runs"] == {"a": 1, "b": 5}
    assert diff(folder_of("before-2", 80, 1, 2), folder_of("same-2", 90, 1, 2))["changes"] == []


def test_a_run_without_steps_in_a_folder_takes_none_of_the_other_side():
    before, after = folder_of("all-good", 80, 1), folder_of("one-short", 100, 1.6)
    shutil.copy(run_of(59, n_steps=2), golden.path(os.path.join(after, "run-2.sqlite")))
    answer = diff(before, after)
    assert answer["runs"] == {"a": 5, "b": 4} and [change["name"] for change in answer["changes"]] == ["augment"], answer


def test_a_folder_has_reports():
    """Reports, or else exports of nsys; other files are none."""
    folder = golden.path("nothing")
    shutil.rmtree(folder, True)
    os.mkdir(folder)
    open(os.path.join(folder, "notes.txt"), "w").close()
    assert "the folder nothing has no report (*.rep) to compare" in golden.run("diff", run_of(1), "nothing", code=125)[1].decode()
    golden.run("import", "-o", "nothing/one.rep", run_of(2))
    shutil.copy(run_of(3), os.path.join(folder, "two.sqlite"))
    assert diff(run_of(1), "nothing")["runs"] == {"a": 1, "b": 1}


def test_a_run_without_steps_in_a_history_says_nothing():
    shutil.rmtree(golden.path("with-empty"), True)
    golden.run("diff", "--baseline=with-empty", run_of(59, n_steps=2))
    for number in range(4):
        golden.run("diff", "--baseline=with-empty", run_of(60 + number))
    answer = diff("--baseline=with-empty", "--fail-on=p50(step) > 5%", run_of(70, 1.4), code=3)
    assert [change["name"] for change in answer["changes"]] == ["augment"], answer["changes"]


def test_a_history_is_kept():
    folder = golden.path("history")
    shutil.rmtree(folder, True)
    for seed in range(4):
        out, said = golden.run("diff", "--baseline=history", "--fail-on=p50(step) > 5%", run_of(10 + seed))
        assert b"has no run yet" in said if seed == 0 else b"B takes as long as A" in b" ".join(out.split())
    assert sorted(os.listdir(folder)) == [f"{n:06}.rep" for n in range(1, 5)]
    slow = run_of(20, 1.4)
    answer = diff("--baseline=history", "--last=3", "--fail-on=p50(step) > 5%", slow, code=3)
    assert [c["name"] for c in answer["changes"]] == ["augment"]
    assert len(os.listdir(folder)) == 4, "a run that failed is no baseline"


def script_of(path):
    """The shell script of a job: the lines below `run: |` or `script:`."""
    lines = open(path).read().split("\n")
    at = next(i for i, line in enumerate(lines) if line.strip() in ("run: |", "script:"))
    indent = len(lines[at]) - len(lines[at].lstrip())
    found = []
    for line in lines[at + 1:]:
        if line.strip() and len(line) - len(line.lstrip()) <= indent:
            break
        found.append(re.sub(r"^- ", "", line.strip()))
    return "\n".join(found)


def test_jobs_of_ci_run_as_scripts():
    program = os.path.join(tap.BUILD, "tests", "programs", "demo")
    for name in ("github.yml", "gitlab.yml"):
        script = script_of(os.path.join(tap.SOURCE, "data", "ci", name))
        folder = golden.path("ci-" + name)
        os.mkdir(folder)
        env = dict(os.environ, PATH=os.path.dirname(tap.LANESCOPE) + ":" + os.environ["PATH"], PROGRAM=f"{program} 14", BASELINE="base",
                   CI_COMMIT_BRANCH="main", CI_DEFAULT_BRANCH="main", XDG_CACHE_HOME=golden.path("cache"))
        for k in range(2):
            done = subprocess.run(["bash", "-e", "-c", script.replace("--trace=cuda,nvtx", "--trace=nvtx")], cwd=folder, env=env, capture_output=True, text=True)
            assert done.returncode in (0, 3), (name, done.stdout, done.stderr)
            comparison = open(os.path.join(folder, "comparison.md")).read()
            assert (comparison == "") == (k == 0), comparison
        assert comparison.startswith("**"), comparison


def test_before_and_after_of_the_corpus():
    """What a reader finds by SQL: CPU calls take longer throughout, the GPU waits for launches, and kernels take as long as before."""
    before, after = (os.path.join(CORPUS, f"h100x2-{name}.sqlite") for name in ("before", "after"))
    if not os.path.exists(before):
        raise tap.Skip("no corpus beside the clone")
    average = []
    for path in (before, after):
        connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        average.append(connection.execute("SELECT avg(call.end - call.start) FROM CUPTI_ACTIVITY_KIND_RUNTIME AS call JOIN StringIds AS name "
                                          "ON name.id = call.nameId WHERE name.value = 'cudaLaunchKernel_v7000'").fetchone()[0])
        connection.close()
    answer = diff(before, after)
    assert answer["steps"]["a"]["count"] == 16 and answer["steps"]["b"]["count"] == 15
    assert "launch-rate" in answer["verdict"], answer["verdict"]
    assert average[1] > 1.3 * average[0]
    assert any(c["name"] == "cudaLaunchKernel" and c["type"] == "slower" for c in answer["changes"]), answer["changes"]
    assert any("Most of what the CPU did changed by +" in note for note in answer["notes"])
    assert any("Most kernels took as long" in note for note in answer["notes"])
    assert [f["cause"] for f in answer["findings"]["changed"]][0] == "launch-rate"


tap.main(globals())
