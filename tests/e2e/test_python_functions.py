# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests --python-functions-trace on each CPython found: every call is a range, and the program behaves as without
Lanescope."""

import collections
import glob
import json
import os
import subprocess

import tap
from profiling import Folder

MODULE = '''
import asyncio, contextlib, functools
def plain(a=1, *, b=2):
    return a + b
class Thing:
    made = 0
    def method(self, n): return n
    @classmethod
    def of_class(cls): return cls.made
    @staticmethod
    def of_none(): return 0
    @property
    def own(self): return 6
    @functools.cached_property
    def kept(self): return 7
class Child(Thing):
    pass
class Answering:
    def __getattr__(self, name):
        return Answering() if name == "__wrapped__" else object.__getattribute__(self, name)
    def __call__(self):
        return 3
answering = Answering()
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
@functools.lru_cache(maxsize=None)
def remembered(n):
    return n
def echo():
    got = 0
    while True:
        try:
            got = yield got
        except ValueError:
            got = "thrown"
async def waits(n):
    for i in range(n):
        await asyncio.sleep(0)
    return n
async def cancelled():
    pass
async def waits_and_yields(n):
    for i in range(n):
        await asyncio.sleep(0)
        yield i
@contextlib.contextmanager
def managed():
    yield "within"
'''
PROGRAM = '''
import asyncio, copy, inspect, math, pickle, sys, threading, weakref
import traced
from traced import plain
def own(n):
    return -n
class Local:
    def method(self):
        return 7
short = lambda: 8
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
print(short(), traced.answering(), thing.own, thing.kept, thing.kept, traced.Child().method(1), [traced.remembered(i // 10) for i in range(100)][-1])
talk = traced.echo()
print(next(talk), talk.send("sent"), talk.throw(ValueError("now")), talk.close())
with traced.managed() as what:
    print(what)
async def together():
    asyncio.get_running_loop().slow_callback_duration = 1e9  # -X dev says what it finds slow
    print(await traced.waits(3), [i async for i in traced.waits_and_yields(2)])
    print(sum(await asyncio.gather(*(traced.waits(i) for i in range(10)))))
    task = asyncio.create_task(traced.waits(1000))
    for i in range(3):
        await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        print("cancelled")
    task = asyncio.create_task(traced.cancelled())
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        print("cancelled before its first step")
asyncio.run(together())
print(weakref.ref(plain)() is plain, copy.deepcopy(plain) is plain, weakref.WeakMethod(thing.method)()(2))
print(asyncio.iscoroutinefunction(traced.waits), inspect.isgeneratorfunction(traced.echo), inspect.isfunction(plain))
thread = threading.Thread(target=lambda: [plain(i) for i in range(50)])
thread.start()
thread.join()
print([entry for entry in sys.path if "lanescope" in entry], "sitecustomize" in sys.modules, file=sys.stderr)
sys.exit(9)
'''
TRACED = [
    {"_comment": "all of these are there", "module": "traced", "domain": "My Domain", "category": "mine", "color": "0x008000",
     "functions": ["plain", "Thing.method", "Thing.of_class", "Thing.of_none", "Thing.own", "Thing.kept", "answering", "fails", "decorated", "remembered", "echo", "waits", "cancelled",
                   "waits_and_yields", "managed", {"function": "numbers", "color": "0xff0000"}]},
    {"module": "__main__", "functions": ["own", "Local.method", "short"]},
    {"module": "math", "functions": ["sqrt"]},
    {"module": "traced", "functions": ["missing", "Thing.missing"]},
    {"module": "never.imported", "functions": ["x"]},
]
# A call is a range; what yields or awaits is one for each stretch that it runs: once more than it did so. Of managed() one is what
# comes before the block, one what comes after; a task that is cancelled runs four: to its first sleep, twice on, and to its end.
CALLS = {"plain": 1050, "Thing.method": 3, "Thing.of_class": 1, "Thing.of_none": 1, "Thing.own": 1, "Thing.kept": 1, "answering": 1, "fails": 3, "decorated": 1,
         "remembered": 100, "numbers": 5, "echo": 4, "waits": 4 + 55 + 4, "waits_and_yields": 5, "managed": 2, "own": 1000, "Local.method": 1,
         "short": 1, "sqrt": 1}


PYTHONS = tap.pythons()
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
        assert calls.pop("cancelled", 0) <= 1 and "never awaited" not in run.err, (calls, run)
        assert calls == CALLS, calls
        assert {event["domain"] for event in report.named("plain")} == {"My Domain"}
        colors = subprocess.run([tap.LANESCOPE, "sql", folder.file("report1.rep"), "SELECT DISTINCT value, color & 0xffffffff FROM NVTX_EVENTS "
                                 "JOIN StringIds ON id = textId WHERE value IN ('plain', 'numbers', 'own') AND eventType = 59 ORDER BY value"], capture_output=True, text=True)
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


def test_cpython_3_14():
    check("3.14", PYTHONS.get("3.14"))


def test_cpython_3_15():
    check("3.15", PYTHONS.get("3.15"))


def test_interpreters_that_look_at_no_environment():
    """-S leaves out sitecustomize, -E leaves out PYTHONPATH; -X dev has another allocator."""
    for version, switches in (("3.11", ["-S"]), ("3.9", ["-E", "-X", "dev"]), ("3.13", ["-S", "-Xdev"]), ("3.14", ["-S", "-Xdev"]), ("3.15", ["-E"])):
        if version in PYTHONS:
            check(version, PYTHONS[version], *switches)


OWN = "import sys\nsys.path.insert(0, '.')\ndef own(n): return n\nimport traced\nfor i in range(10): own(traced.plain(i))\n"


def counts(*command, folder, said=()):
    run = folder.profile("-f", "true", "-t", "nvtx", "-o", "o", "--python-functions-trace=own.json", *command, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    assert run.code == 0 and all(text in run.err for text in said) and ("LNS-PYTHON" in run.err) == bool(said), run
    return dict(folder.report("o.rep").names())


def prepare_own(folder):
    prepare(folder)
    os.mkdir(folder.file("own_package"))
    for name, text in (("own.py", OWN), ("own_package/__main__.py", OWN), ("shebang.py", f"#!/usr/bin/python3 -I\n{OWN}"),
                       ("own.json", json.dumps([{"module": "__main__", "functions": ["own"]}, {"module": "traced", "functions": ["plain"]}]))):
        with open(folder.file(name), "w", encoding="utf-8") as file:
            file.write(text)
    os.chmod(folder.file("shebang.py"), 0o755)


def test_methods_that_are_inherited():
    if needs_module:
        raise tap.Skip(needs_module)
    program = ("import traced\nchild = traced.Child()\n"
               "print([child.of_none(), traced.Child.of_none(), child.of_class(), traced.Child.of_class(), child.method(3), traced.Child.method(child, 4), child.own])")
    with Folder() as folder:
        prepare(folder)
        with open(folder.file("inherited.json"), "w", encoding="utf-8") as file:
            json.dump([{"module": "traced", "functions": ["Child.of_none", "Child.of_class", "Child.method", "Child.own"]}], file)
        for version in ("3.9", "3.11", "3.13", "3.14", "3.15"):
            path = PYTHONS.get(version)
            if path is None:
                continue
            run = folder.profile("-f", "true", "-o", "o", "-t", "nvtx", "--python-functions-trace=inherited.json", path, "-c", program)
            assert (run.code, run.out) == (0, "[0, 0, 0, 0, 3, 4, 6]\n"), (version, run)
            found = folder.report("o.rep").names()
            assert found == {"Child.of_none": 2, "Child.of_class": 2, "Child.method": 2, "Child.own": 1}, (version, found)


def test_generators_do_what_they_do_without_us():
    n = 0
    for version in ("3.9", "3.10", "3.11"):
        if version in PYTHONS:
            run = subprocess.run([PYTHONS[version], "-BW", "ignore", os.path.join(tap.SOURCE, "tests/programs/generators.py"),
                                  os.path.join(tap.SOURCE, "capture/python"), "1000"], capture_output=True, text=True)
            assert (run.returncode, run.stdout) == (0, "alike True\n"), (version, run)
            n += 1
    if n == 0:
        raise tap.Skip("no CPython before 3.12 is here")


def test_ways_to_start_a_program():
    if needs_module:
        raise tap.Skip(needs_module)
    with Folder() as folder:
        prepare_own(folder)
        python = "/usr/bin/python3"
        for command in ([python, "-m", "own_package"], [python, "-c", OWN], [python, "-I", "own.py"], ["env", "A=1", python, "-I", "own.py"],
                        ["sh", "-c", f"{python} -ES own.py; true"], ["sh", "-c", f"{python} < own.py"], ["./shebang.py"],
                        [python, "-c", "import subprocess, sys; subprocess.run([sys.executable, 'own.py'])"]):
            found = counts(*command, folder=folder)
            assert found == {"own": 10, "plain": 10}, (command, found)
        assert counts("env", "-u", "PYTHONPATH", python, "own.py", folder=folder, said=["LNS-PYTHON-002"]) == {}
        assert counts("/bin/true", folder=folder, said=["LNS-PYTHON-002"]) == {}
        # What no process has found is told of once.
        twice = "import subprocess, sys; [subprocess.run([sys.executable, '-c', 'def own(): pass\\nown()']) for i in range(2)]"
        run = folder.profile("-f", "true", "-t", "nvtx", "--python-functions-trace=own.json", python, "-c", twice)
        assert run.err.count("LNS-PYTHON-001") == 1 and "plain of module traced is not traced: the module was not imported" in run.err, run.err


def test_children_of_multiprocessing():
    """Those that are spawned run the main module under another name; helpers of multiprocessing find nothing, and say nothing."""
    if needs_module:
        raise tap.Skip(needs_module)
    with Folder() as folder:
        prepare_own(folder)
        with open(folder.file("pool.py"), "w", encoding="utf-8") as file:
            file.write("import multiprocessing, sys, traced\ndef own(n): return traced.plain(n)\nif __name__ == '__main__':\n"
                       "    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:\n        pool.map(own, range(40))\n")
        for version, methods in (("3.9", ["forkserver"]), ("3.13", ["spawn"]), ("3.11", ["fork", "spawn"]), ("3.14", ["forkserver"]), ("3.15", ["forkserver"])):
            for method in methods:
                if version in PYTHONS:
                    found = counts(PYTHONS[version], "pool.py", method, folder=folder)
                    assert found == {"own": 40, "plain": 40}, (version, method, found)


def test_an_interpreter_without_a_global_lock_is_told_of():
    if needs_module:
        raise tap.Skip(needs_module)
    with Folder() as folder:
        prepare_own(folder)
        path = os.path.join(tap.BUILD, "capture/python")
        program = f"import sys; sys.abiflags = 't'; sys.path.insert(0, {path!r}); import lanescope_functions; lanescope_functions.begin()"
        with open(folder.file("flags.py"), "w", encoding="utf-8") as file:
            file.write(program)
        run = folder.profile("-t", "nvtx", "--python-functions-trace=own.json", "env", "-u", "PYTHONPATH", "/usr/bin/python3", "flags.py")
        assert run.code == 0 and "without a global lock cannot be traced: CPython 3.9 to 3.15 can" in run.err, run
        assert "uses NVTX" not in run.err, run  # nobody knows


def test_subinterpreters():
    """Calls in one that shares the lock are recorded. One with a lock of its own is told of, and does what it does without us."""
    if needs_module:
        raise tap.Skip(needs_module)
    program = ("import _interpreters as interpreters, traced\ntraced.plain()\nfor kind in ('isolated', 'legacy'):\n"
               "    one = interpreters.create(kind)\n    interpreters.exec(one, 'import traced; print([traced.plain(i) for i in range(5)])')\n"
               "    interpreters.destroy(one)\n")
    versions = [version for version in ("3.13", "3.14", "3.15") if version in PYTHONS]
    if not versions:
        raise tap.Skip("no CPython from 3.13 on is here")
    with Folder() as folder:
        prepare_own(folder)
        for version in versions:
            run = folder.profile("-f", "true", "-o", "o", "-t", "nvtx", "--python-functions-trace=own.json", PYTHONS[version], "-c", program)
            assert (run.code, run.out) == (0, "[2, 3, 4, 5, 6]\n" * 2), (version, run)
            assert "cannot be traced in an interpreter of this process" in run.err and "subinterpreters" in run.err, (version, run)
            assert folder.report("o.rep").names() == {"plain": 6}, (version, folder.report("o.rep").names())


def test_an_older_python_is_told_of():
    if needs_module or "3.8" not in PYTHONS:
        raise tap.Skip(needs_module or "CPython 3.8 is not installed")
    with Folder() as folder:
        prepare(folder)
        run = folder.profile("-t", "nvtx", "--python-functions-trace=functions.json", PYTHONS["3.8"], "-c", "print(1)")
        assert (run.code, run.out) == (0, "1\n"), run
        assert "CPython 3.9 to 3.15 can" in run.err, run.err


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
        for text, sentence in (("{", "is not valid JSON"), ("{}", "must hold a list"), ('[{"functions": ["f"]}]', "entry 1: “module” must"),
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
        os.mkdir(folder.file("distributed"))
        with open(folder.file("distributed/worker.py"), "w", encoding="utf-8") as file:
            file.write("def _run_task_simple(task): return task()\n")
        run = folder.profile("-o", "dask", "-t", "nvtx", "--dask=functions-trace", "/usr/bin/python3", "-c",
                             "from distributed import worker; [worker._run_task_simple(int) for i in range(7)]", env={**os.environ, "PYTHONPATH": folder.path})
        assert folder.report("dask.rep").names() == {"_run_task_simple": 7} and "LNS-PYTHON" not in run.err, run
        # With CUDA the ranges of autograd begin when the program begins to use it, which their own beginning does.
        with open(folder.file("torch/__init__.py"), "a", encoding="utf-8") as file:
            file.write("class version: cuda = '12.1'\nclass cuda:\n    calls = []\n    _lazy_call = calls.append\n")
        for program, out, said in (("import torch; print('uses CUDA'); [call() for call in torch.cuda.calls]", "uses CUDA\nautograd False\n", ""),
                                   ("import torch; print('does not')", "does not\n", "the program has not used CUDA")):
            run = folder.profile("-f", "true", "-t", "nvtx", "--pytorch=autograd-nvtx", "/usr/bin/python3", "-c", program,
                                 env={**os.environ, "PYTHONPATH": folder.path})
            assert run.out == out and (said in run.err if said else "LNS-PYTHON-001" not in run.err), run


tap.main(globals(), gate=(test_nvtx_is_turned_on_and_children_are_traced, test_generators_do_what_they_do_without_us))
