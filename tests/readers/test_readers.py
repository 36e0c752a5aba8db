# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Runs other people's programs on our exports. tests/readers/fetch brings them; without them the tests skip. CUDA is
recorded on the double, which shows nothing about a real GPU. tests/readers/table.py prints what each program makes
of exports of other machines."""

import atexit
import json
import os
import resource
import shutil
import sqlite3
import subprocess
import tempfile

import readers
import tap

FOLDER = tempfile.mkdtemp(prefix="lanescope-readers-")
atexit.register(shutil.rmtree, FOLDER, True)
os.environ["XDG_CACHE_HOME"] = FOLDER  # where reports are imported to
WITH = os.path.join(tap.SOURCE, "tests", "double", "with")

# What fails in a reader itself, and says so on real exports too.
OWN_ERRORS = {
    ("pipit", "cuda-training"): "no such column: cuda_memcpy.copyKind",  # in its SQL for memsets
    ("collapse", "demo"): "Bad stack",  # it has one stack for all threads
    ("nsys2json", "demo"): "KeyError",  # a process with ranges and no kernels
    ("gputrc2graph", "cuda-ranges"): "ZeroDivisionError",  # fewer than 100 operations
    ("gputrc2graph", "demo"): "FileNotFoundError",  # no GPU trace
}


def has_ties(path):
    """Whether two things happen in one nanosecond, as clocks that count in steps have it now and then: llm.c's script
    takes a range that begins when another ends for one within it, and stops at the "Bad stack"."""
    bounds = [f"SELECT {column} FROM {table}" for column in ("start", "end")
              for table in ("NVTX_EVENTS WHERE eventType = 59", "CUPTI_ACTIVITY_KIND_RUNTIME")]
    times = subprocess.run([tap.LANESCOPE, "sql", path, " UNION ALL ".join(bounds)], check=True, capture_output=True).stdout.split()
    return len(set(times)) < len(times)


def report(program):
    """What PROGRAM does, as a report; without CUPTI's headers there is only the demo."""
    path = os.path.join(FOLDER, program + ".rep")
    binary = tap.program(program)
    arguments = ["1"] if program == "demo" else []
    environment = {k: v for k, v in os.environ.items() if not k.startswith("LNS_DOUBLE_")}
    for _ in range(20):
        if os.path.exists(path) and (program == "demo" or not has_ties(path)):
            break
        subprocess.run([WITH, tap.LANESCOPE, "profile", "-f", "true", "-t", "cuda,nvtx", "-o", path, binary, *arguments],
                       check=True, capture_output=True, env=environment, cwd=FOLDER, timeout=120)
    return path


def exported(path, *switches):
    target = path + "".join(switches) + ".sqlite"
    if not os.path.exists(target):
        subprocess.run([tap.LANESCOPE, "export", "-q", *switches, "-o", target, path], check=True, capture_output=True)
    return target


def read(name, program):
    """Has reader NAME read what PROGRAM did."""
    if not readers.is_here(name):
        raise tap.Skip(f"{name} is not here: tests/readers/fetch brings it")
    path = report(program)
    lazy = ["--lazy=true"] if name in readers.WANTS_FILLED_TABLES else []
    folder = tempfile.mkdtemp(dir=FOLDER)
    own_error = OWN_ERRORS.get((name, program))
    try:
        readers.READERS[name](exported(path, *lazy), path, folder)
    except readers.Failed as error:
        assert own_error is not None and own_error in str(error), f"{name} on {program}: {error}"
        return
    assert own_error is None, f"{name} reads {program} now: take it out of OWN_ERRORS"


def make_test(name):
    def test():
        for program in ("cuda-training", "cuda-ranges", "demo"):
            read(name, program)
    return test


for reader in readers.READERS:
    globals()["test_" + reader.replace("-", "_")] = make_test(reader)


def folded(path, *switches):
    return subprocess.run([tap.LANESCOPE, "export", "-t", "folded", *switches, "-o", "-", path],
                          check=True, capture_output=True, text=True).stdout


def once(script):
    """What llm.c's script prints, where a stack is two lines, "a;a;b;b;kernel 12" and "a;a;b;b;kernel;kernel 12", as
    it would be with each range and each stack once."""
    lines = [line.rsplit(" ", 1) for line in script.splitlines()]
    stacks = []
    for (first, time), (second, again) in zip(lines[::2], lines[1::2], strict=True):
        names = second.split(";")
        assert names[::2] == names[1::2] and first.split(";") == names[:-1] and time == again, (first, second)
        stacks.append(f"{';'.join(names[::2])} {time}\n")
    return "".join(stacks)


def test_folded_is_what_the_script_of_llm_c_prints():
    """The script has one stack for all threads: programs that call CUDA from one are those it is right for."""
    if not readers.is_here("collapse"):
        raise tap.Skip("llm.c's script is not here: tests/readers/fetch brings it")
    check_folded([report(program) for program in ("cuda-training", "cuda-ranges", "cuda-streams", "cuda-memory", "cuda-launches")])


def test_folded_is_what_the_script_of_llm_c_prints_of_the_corpus():
    corpus = os.path.join(tap.SHARED, "corpus", "nsys-sqlite")
    if not os.path.isdir(corpus):
        raise tap.Skip("../shared/corpus is not there")
    if not readers.is_here("collapse"):
        raise tap.Skip("llm.c's script is not here: tests/readers/fetch brings it")
    check_folded([os.path.join(corpus, name + ".sqlite") for name in ("rtx3080-tiny", "a100-cuda-graphs", "a100x4-cloverleaf")])


def check_folded(paths):
    n_lines = 0
    for path in paths:
        script = readers.collapse(None, path, None)
        assert folded(path, "--doubled=true") == script, path
        assert folded(path) == once(script), path
        n_lines += len(script.splitlines())
    assert n_lines > 500, n_lines


READ_ARROW = """if True:
    import json, os, sys
    import pyarrow, pyarrow.parquet
    kind, path = sys.argv[1:]
    tables = {}
    if kind == "arrow":
        source = pyarrow.OSFile(path)
        while source.tell() < source.size():
            stream = pyarrow.ipc.open_stream(source)
            tables[stream.schema.metadata[b"table"].decode()] = stream.read_all()
    for name in os.listdir(path) if kind != "arrow" else []:
        table = (pyarrow.parquet.read_table(path + "/" + name) if kind == "parquetdir"
                 else pyarrow.ipc.open_file(path + "/" + name).read_all())
        tables[name.split(".")[0]] = table
    for table in tables.values():
        table.validate(full=True)
    print(json.dumps({name: [list(map(lambda v: v.hex().upper() if isinstance(v, bytes) else v, row.values()))
                             for row in table.to_pylist()] for name, table in tables.items()}))"""


def test_arrow_and_parquet():
    """All tables, by pyarrow's own reader."""
    if not os.path.exists(os.path.join(readers.FOLDER, "venv", ".complete")):
        raise tap.Skip("pyarrow is not here: tests/readers/fetch brings it")
    for program in ("demo", "cuda-training"):
        database = sqlite3.connect(exported(report(program), "--lazy=true"))
        database.text_factory = lambda b: b.decode("utf-8", "replace")
        names = [name for (name,) in database.execute("SELECT name FROM sqlite_master")]
        wanted = {name: [[v.hex().upper() if isinstance(v, bytes) else v for v in row]
                         for row in database.execute(f"SELECT * FROM {name}")] for name in names}
        for kind in ("arrow", "arrowdir", "parquetdir"):
            path = os.path.join(FOLDER, f"{program}-{kind}")
            subprocess.run([tap.LANESCOPE, "export", "-q", "-t", kind, "-o", path, report(program)], check=True,
                           env=dict(os.environ, LNS_PYTHON=readers.PYTHON))
            got = json.loads(readers.run(kind, path, code=READ_ARROW))
            assert got.keys() == wanted.keys() and len(got) > 50, (kind, got.keys() ^ wanted.keys())
            for name in names:
                assert got[name] == wanted[name], (program, kind, name, got[name][:1], wanted[name][:1])


def test_arrow_and_parquet_say_what_the_system_says():
    """The system takes no more than 4 KiB a file."""
    if not os.path.exists(os.path.join(readers.FOLDER, "venv", ".complete")):
        raise tap.Skip("pyarrow is not here: tests/readers/fetch brings it")
    for kind in ("arrow", "arrowdir", "parquetdir"):
        path = os.path.join(FOLDER, "limited-" + kind)
        done = subprocess.run([tap.LANESCOPE, "export", "-q", "-t", kind, "-o", path, report("demo")], capture_output=True, text=True,
                              env=dict(os.environ, LNS_PYTHON=readers.PYTHON), restore_signals=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 12, 1 << 12)))
        assert done.returncode == 125 and f"{path} cannot be written: File too large" in done.stderr, (kind, done)
        assert not [name for name in os.listdir(FOLDER) if name.startswith("limited-")], os.listdir(FOLDER)


tap.main(globals())
