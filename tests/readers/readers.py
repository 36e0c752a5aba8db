# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Other people's programs that read nsys exports, as tests/readers/fetch brings them: how to run each on a file, and
what it must produce. A reader's function raises Failed with the last line that the program printed."""

import json
import os
import shutil
import sqlite3
import subprocess

import tap

FOLDER = os.path.join(tap.SOURCE, ".deps", "readers")
PYTHON = os.path.join(FOLDER, "venv", "bin", "python")


PATIENCE = 120


class Failed(Exception):
    """What a reader said last."""


def is_here(name):
    return os.path.exists(os.path.join(FOLDER, name, ".commit")) and os.path.exists(
        os.path.join(FOLDER, "venv", ".complete"))


def run(*command, path="", code=None, cwd=None):
    """Runs the venv's python with COMMAND or, where there is CODE, with that; its output."""
    environment = dict(os.environ, PYTHONPATH=os.path.join(FOLDER, path), PYTHONDONTWRITEBYTECODE="1", LC_ALL="C.UTF-8")
    words = [PYTHON, "-c", code, *command] if code else [PYTHON, *command]
    try:
        done = subprocess.run(words, env=environment, cwd=cwd, capture_output=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        raise Failed(f"no end within {PATIENCE} s") from None
    lines = [l for l in done.stderr.decode(errors="replace").splitlines() if l.strip()]
    if done.returncode != 0:
        told = [l for l in lines if l.startswith("AssertionError: ")] + lines[-1:]
        raise Failed(told[0].lstrip("': ")[:300] if told else f"exit code {done.returncode}")
    return done.stdout.decode(errors="replace")


def count(database, sql):
    """What SQL counts in a file, or 0 where it lacks the table."""
    connection = sqlite3.connect(database)
    try:
        return connection.execute(sql).fetchone()[0]
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()


def expect(condition, text):
    if not condition:
        raise Failed("wrong: " + text)


def kernels(database):
    return count(database, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL")


# ---- The readers: each gets an SQLite export, the report or export that a command line may get in its place,
# and an empty folder. -----------------------------------------------------------------------------------------

def nsys2json(database, report, folder):
    run(os.path.join(FOLDER, "nsys2json", "nsys2json.py"), "-f", database, "-o", folder + "/o.json",
        "-t", "kernel", "nvtx", "nvtx-kernel", "cuda-api")
    with open(folder + "/o.json", encoding="utf-8") as file:
        events = json.load(file)
    expect(sum(e["cat"] == "cuda" for e in events) == kernels(database), "a kernel is missing")


def collapse(database, report, folder, nsys=tap.LANESCOPE):
    """llm.c's script calls `nsys export` itself."""
    out = run(os.path.join(FOLDER, "collapse", "dev", "tools", "collapse_nsys_gpu_stacks.py"),
              "--nsys_executable", nsys, report)
    expect(all(line.rsplit(" ", 1)[1].isdigit() for line in out.splitlines()), "a line is no stack")
    return out


def pipit(database, report, folder):
    out = run(database, path="pipit", code="""if True:
        import sys
        from pipit.trace import Trace
        trace = Trace.from_nsight_sqlite(sys.argv[1])
        print(len(trace.events))""")
    expect(int(out) >= 2 * kernels(database), "a kernel is missing")


def nsys_ai(database, report, folder):
    """Every skill that needs no parameter, and two commands."""
    copy = folder + "/x.sqlite"
    shutil.copy(database, copy)  # it adds indexes
    out = run(copy, path="nsys-ai/src", code="""if True:
        import sqlite3, sys
        from nsys_ai.skills.registry import all_skills, run_skill
        connection, failed = sqlite3.connect(sys.argv[1]), []
        for skill in all_skills():
            if any(p.required for p in skill.params):
                continue
            try:
                run_skill(skill.name, connection)
            except Exception as error:
                failed.append(f"{skill.name}: {error}")
        print("; ".join(failed))""")
    if out.strip():
        raise Failed(out.strip()[:150])
    if kernels(database):
        run("-m", "nsys_ai", "report", copy, "--gpu", "0", "--trim", "0", "100", "-o", folder + "/o.md", path="nsys-ai/src")
        run("-m", "nsys_ai", "diff", copy, copy, "--no-ai", path="nsys-ai/src")


def llm_explainer(database, report, folder):
    run("-m", "nsys_llm_explainer.cli", database, "--out", folder + "/o", path="llm-explainer/src")
    with open(folder + "/o/report.json", encoding="utf-8") as file:
        json.load(file)


def perfetter(database, report, folder):
    run("-m", "lib.nsys_perfetter", "--nsys-report", database, "--output", folder + "/o.pftrace", path="perfetter")
    expect(os.path.getsize(folder + "/o.pftrace") >= 100 * (kernels(database) > 0), "the trace is empty")


def ncompass(database, report, folder):
    """Its converters alone: the package around them wants the whole of its service."""
    run(database, folder + "/o.json", code=f"""if True:
        import sys, types
        for name in ("ncompass", "ncompass.trace"):
            sys.modules[name] = types.ModuleType(name)
            sys.modules[name].__path__ = [{os.path.join(FOLDER, "ncompass")!r} + "/" + name.replace(".", "/")]
        from ncompass.trace.converters import convert_file, ConversionOptions
        kinds = ["kernel", "nvtx", "nvtx-kernel", "cuda-api", "osrt", "sched"]
        convert_file(sys.argv[1], sys.argv[2], ConversionOptions(activity_types=kinds, include_metadata=True))""")
    with open(folder + "/o.json", encoding="utf-8") as file:
        events = json.load(file)
    events = events if isinstance(events, list) else events["traceEvents"]
    expect(sum(e.get("cat") == "kernel" for e in events) >= kernels(database), "a kernel is missing")


def gputrc2graph(database, report, folder):
    """vLLM's script calls `nsys stats` itself, which leaves its file beside the report."""
    copy = shutil.copy(report, folder)
    run(os.path.join(FOLDER, "gputrc2graph", "tools", "profiler", "nsys_profile_tools", "gputrc2graph.py"),
        "--in_file", copy + ",vllm,llama,0", "--nsys_cmd", tap.LANESCOPE, "--out_dir", folder + "/o", cwd=folder)
    expect(os.path.getsize(folder + "/o/result.csv") > 50, "the result is empty")


# Takes each table that is there for one with rows, and then asks CUPTI_ACTIVITY_KIND_MEMSET for a column of another.
WANTS_FILLED_TABLES = {"pipit"}

READERS = {"nsys2json": nsys2json, "collapse": collapse, "pipit": pipit, "nsys-ai": nsys_ai,
           "llm-explainer": llm_explainer, "perfetter": perfetter, "ncompass": ncompass, "gputrc2graph": gputrc2graph}
