# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""--python-functions-trace on each CPython that is here: every call is a range, and the program is what it is without us."""

import collections
import glob
import json
import os
import shutil
import subprocess

import tap
from profiling import Folder

MODULE = '''
import functools
def plain(a=1, *, b=2):
    return a + b
class Thing:
    made = 0
    def method(self, n): return n
    @classmethod
    def of_class(cls): return cls.made
    @staticmethod
    def of_none(): return 0
def numbers(n):
    yield from range(n)
def fails():
    raise KeyError("as it should")
def decorator(function):
    @functools.wraps(function)
    def inner(*arguments):
        return function(*arguments)
    return inner
@decorator
def decorated():
    return 5
'''
PROGRAM = '''
import inspect, math, pickle, sys, threading
import traced
from traced import plain
def own(n):
    return -n
class Local:
    def method(self):
        return 7
total = 0
for i in range(1000):
    total += plain(i) + own(i)
thing = traced.Thing()
print(total, thing.method(3), traced.Thing.of_class(), thing.of_none(), Local().method(), traced.decorated(), math.sqrt(16))
print(list(traced.numbers(4)), inspect.signature(plain), plain.__name__, pickle.loads(pickle.dumps(plain)) is plain)
for i in range(3):
    try:
        traced.fails()
    except KeyError as error:
        print(error)
thread = threading.Thread(target=lambda: [plain(i) for i in range(50)])
thread.start()
thread.join()
print([entry for entry in sys.path if "lanescope" in entry], "sitecustomize" in sys.modules, file=sys.stderr)
sys.exit(9)
'''
TRACED = [
    {"_comment": "all of these are there", "module": "traced", "domain": "My Domain", "category": "mine", "color": "0x008000",
     "functions": ["plain", "Thing.method", "Thing.of_class", "Thing.of_none", "fails", "decorated", {"function": "numbers", "color": "0xff0000"}]},
    {"module": "__main__", "functions": ["own", "Local.method"]},
    {"module": "math", "functions": ["sqrt"]},
    {"module": "traced", "functions": ["missing", "Thing.missing"]},
    {"module": "never.imported", "functions": ["x"]},
]
CALLS = {"plain": 1050, "Thing.method": 1, "Thing.of_class": 1, "Thing.of_none": 1, "fails": 3, "decorated": 1, "own": 1000,
         "Local.method": 1, "sqrt": 1}


def pythons():
    """By version: the system's, and those of pyenv."""
    found = {}
    for path in ["/usr/bin/python3"] + sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3"))):
        if os.access(path, os.X_OK):
            told = subprocess.run([path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True)
            found.setdefault(told.stdout.strip(), path)
    return found


PYTHONS = pythons()
needs_module = None if os.path.exists(os.path.join(tap.BUILD, "capture/python/_lanescope_functions.abi3.so")) else "built without Python.h"


def prepare(folder):
    for name, text in (("traced.py", MODULE), ("program.py", PROGRAM), ("functions.json", json.dumps(TRACED))):
        with open(folder.file(name), "w", encoding="utf-8") as file:
            file.write(text)


def check(version, path, *switches):
    if needs_module:
        raise tap.Skip(needs_module)
    if path is None:
        raise tap.Skip(f"CPython {version} is not installed")
    with Folder() as folder:
        prepare(folder)
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        bare = subprocess.run([path, *switches, "program.py"], cwd=folder.path, capture_output=True, text=True, env=environment)
        run = folder.profile("-t", "nvtx", "--python-functions-trace=functions.json", path, *switches, "program.py", env=environment)
        assert (run.code, run.out) == (bare.returncode, bare.stdout) == (9, bare.stdout), (bare, run)
        assert bare.stderr.strip() in run.err, (bare.stderr, run.err)
        report = folder.report()
        calls = collections.Counter(report.names())
        generator = calls.pop("numbers")
        assert generator == (5 if tuple(map(int, version.split("."))) >= (3, 12) else 1), calls
        assert calls == CALLS, calls
        assert {event["domain"] for event in report.named("plain")} == {"My Domain"}
        colors = subprocess.run([tap.LANESCOPE, "sql", folder.file("report1.rep"), "SELECT DISTINCT text, color & 0xffffffff FROM NVTX_EVENTS "
                                 "WHERE text IN ('plain', 'numbers', 'own') AND eventType = 59 ORDER BY text"], capture_output=True, text=True)
        assert colors.stdout.splitlines()[-3:] == ["numbers\t4294901760", "own\t", "plain\t4278222848"], colors
        assert len({event["thread"] for event in report.named("plain")}) == 2
        said = " ".join(d["text"] for d in report.diagnostics if d["code"] == "LNS-PYTHON-001")
        for what in ("missing of module traced", "Thing.missing of module traced", "x of module never.imported"):
            assert what in said, said
        assert said.count("is not traced") == 3, said


def test_cpython_3_9():
    check("3.9", PYTHONS.get("3.9"))


def test_cpython_3_10():
    check("3.10", PYTHONS.get("3.10"))


def test_cpython_3_11():
    check("3.11", PYTHONS.get("3.11"))


def test_cpython_3_12():
    check("3.12", PYTHONS.get("3.12"))


def test_cpython_3_13():
    check("3.13", PYTHONS.get("3.13"))


def test_interpreters_that_look_at_no_environment():
    """-S leaves out sitecustomize, -E leaves out PYTHONPATH; with -I the program's own folder is no module path either."""
    check("3.11", PYTHONS.get("3.11"), "-S")
    check("3.11", PYTHONS.get("3.11"), "-E")


def test_an_older_python_is_told_of():
    if needs_module or "3.8" not in PYTHONS:
        raise tap.Skip(needs_module or "CPython 3.8 is not installed")
    with Folder() as folder:
        prepare(folder)
        run = folder.profile("-t", "nvtx", "--python-functions-trace=functions.json", PYTHONS["3.8"], "-c", "print(1)")
        assert (run.code, run.out) == (0, "1\n"), run
        assert "CPython 3.9 to 3.13 can" in run.err, run.err


def test_the_users_own_sitecustomize_runs():
    if needs_module:
        raise tap.Skip(needs_module)
    with Folder() as folder:
        prepare(folder)
        os.mkdir(folder.file("site"))
        with open(folder.file("site/sitecustomize.py"), "w", encoding="utf-8") as file:
            file.write("import sys\nsys.mine = 'here'\n")
        run = folder.profile("-t", "nvtx", "--python-functions-trace=functions.json", "/usr/bin/python3", "-c",
                             "import sys, traced; traced.plain(); print(sys.mine, sys.modules['sitecustomize'].__file__)",
                             env={**os.environ, "PYTHONPATH": folder.file("site")})
        assert run.out == f"here {folder.file('site/sitecustomize.py')}\n", run
        assert folder.report().names()["plain"] == 1


def test_nvtx_is_turned_on_and_children_are_traced():
    if needs_module:
        raise tap.Skip(needs_module)
    with Folder() as folder:
        prepare(folder)
        run = folder.profile("-t", "none", "--python-functions-trace=functions.json", "/usr/bin/python3", "-c",
                             "import multiprocessing, traced\n"
                             "with multiprocessing.Pool(2) as pool: print(pool.map(traced.plain, range(6), chunksize=1))")
        assert run.out == "[2, 3, 4, 5, 6, 7]\n", run
        assert "LNS-TRACE-003" in run.err, run.err
        assert folder.report().names()["plain"] == 6


def test_lists_that_are_wrong():
    with Folder() as folder:
        for text, sentence in (("{", "is not JSON"), ("{}", "must hold a list"), ('[{"functions": ["f"]}]', "entry 1: “module” must"),
                               ('[{"module": "m", "functions": []}]', "entry 1: “functions” must"),
                               ('[{"module": "m", "functions": ["f"]}, {"module": "m", "functions": [3]}]', "entry 2: each of"),
                               ('[{"module": "m", "functions": ["f"], "color": "green"}]', "“color” must be"),
                               ('[{"module": "m", "functions": ["a\\tb"]}]', "each of")):
            with open(folder.file("functions.json"), "w", encoding="utf-8") as file:
                file.write(text)
            run = folder.profile("--python-functions-trace=functions.json", "/bin/true")
            assert run.code == 125 and run.err.count("error:") == 1 and sentence in run.err, run.err
        run = folder.profile("--python-functions-trace=none.json", "/bin/true")
        assert run.code == 125 and "none.json" in run.err, run.err
        assert not glob.glob(folder.file("*.rep")), os.listdir(folder.path)


def test_presets_name_functions_of_modules():
    """A stand-in for PyTorch: its functions of the preset's names are traced, and what it lacks is not complained of."""
    if needs_module:
        raise tap.Skip(needs_module)
    with Folder() as folder:
        os.makedirs(folder.file("torch/autograd"))
        for name, text in (("torch/__init__.py", "from . import autograd, _tensor\ndef save(x): return x\n"),
                           ("torch/_tensor.py", "class Tensor:\n    def backward(self): return 1\n"),
                           ("torch/autograd/__init__.py", "from . import profiler\n"),
                           ("torch/autograd/profiler.py", "class emit_nvtx:\n    def __init__(self, enabled=True, record_shapes=False):\n"
                            "        self.shapes = record_shapes\n    def __enter__(self): print('autograd', self.shapes)\n")):
            with open(folder.file(name), "w", encoding="utf-8") as file:
                file.write(text)
        run = folder.profile("-t", "nvtx", "--pytorch=functions-trace,autograd-shapes-nvtx", "/usr/bin/python3", "-c",
                             "import torch; torch.save(1); torch._tensor.Tensor().backward()", env={**os.environ, "PYTHONPATH": folder.path})
        assert run.out == "autograd True\n", run
        assert folder.report().names() == {"save": 1, "Tensor.backward": 1}, folder.report().names()
        assert "LNS-PYTHON-001" not in run.err, run.err


tap.main(globals())
