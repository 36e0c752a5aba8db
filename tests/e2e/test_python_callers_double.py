# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Python functions among the callers of CUDA calls, in each CPython found, on the double. This shows nothing about a real GPU or its
driver."""

import json
import os
import subprocess

import profiling
import tap

WITH = os.path.join(tap.SOURCE, "tests", "double", "with")
PYTHONS = {version: path for version, path in tap.pythons().items() if int(version.split(".")[1]) >= 9}
CUT = "[callers not recorded]"
SWITCHES = ["-t", "cuda", "-o", "r", "-s", "none", "--python-backtrace=cuda"]
CUDA = '''
import ctypes, json, os, sys, threading
cuda = ctypes.CDLL("libcuda.so.1")
assert cuda.cuInit(0) == 0
context, memory = ctypes.c_void_p(), ctypes.c_uint64()
assert cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0) == 0
assert cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(4096)) == 0
told = []
def stack(frame):
    found = []
    while frame is not None:
        code = frame.f_code
        found.append([getattr(code, "co_qualname", code.co_name), code.co_filename, frame.f_lineno])
        frame = frame.f_back
    return found
'''
# What the interpreter says of itself is said in the line of the call, as one expression with it.
STACKS = CUDA + '''
def call():
    return told.append(stack(sys._getframe())) or cuda.cuMemsetD32_v2(memory, 0, ctypes.c_size_t(16))
def recursion(n):
    if n:
        return recursion(
            n - 1)
    call()
class Outer:
    class Inner:
        def method(self):
            return [call() for i in range(2)]
def generator():
    for i in range(3):
        yield call()
def through_c():
    return sorted([3, 2], key=lambda n: call())
def nächste_ﬁgur():
    call()
def run():
    cuda.cuCtxSetCurrent(context)
    for what in (call, lambda: recursion(20), Outer.Inner().method, lambda: list(generator()), through_c, nächste_ﬁgur):
        what()
run()
thread = threading.Thread(target=run)
thread.start()
thread.join()
print(json.dumps(told))
'''
# Functions whose memory is used again for others.
CHURN = CUDA + '''
for i in range(3000):
    names = {"cuda": cuda, "memory": memory, "size": ctypes.c_size_t(16)}
    exec(compile("\\n" * (i % 97) + f"def function_{i}():\\n cuda.cuMemsetD32_v2(memory, 0, size)\\n", f"file_{i}.py", "exec"), names)
    names.pop(f"function_{i}")()
print("done")
'''
# A thread is in calls of CUDA while the interpreter ends and frees what it has.
END = CUDA + '''
def run():
    cuda.cuCtxSetCurrent(context)
    while True:
        cuda.cuMemsetD32_v2(memory, 0, ctypes.c_size_t(16))
        event.set()
event = threading.Event()
for i in range(3):
    threading.Thread(target=run, daemon=True).start()
event.wait()
print("done")
'''


def sql(folder, statement):
    done = subprocess.run([tap.LANESCOPE, "sql", "-j", folder.file("r.rep"), statement], capture_output=True)
    if b"no such table: CUDA_CALLCHAINS" in done.stderr: # no call has callers
        return []
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout or b"[]")


def recorded(folder, python, program, *switches):
    """What PROGRAM printed, and the chains of its sets of memory in their order: [(name, file of source, line, module)], innermost first."""
    with open(folder.file("program.py"), "w", encoding="utf-8") as file:
        file.write(program)
    run = folder.profile(*SWITCHES, *switches, python, folder.file("program.py"), before=[WITH])
    assert run.code == 0, run
    chains = {}
    for row in sql(folder, "SELECT c.id, s.value AS name, f.value AS source, sourceLine AS line, m.value AS file FROM CUDA_CALLCHAINS c"
                   " JOIN StringIds s ON s.id = symbol LEFT JOIN StringIds f ON f.id = sourceFile LEFT JOIN StringIds m ON m.id = module"
                   " GROUP BY c.id, stackDepth ORDER BY c.id, stackDepth"):
        chains.setdefault(row["id"], []).append((row["name"], row["source"], row["line"], row["file"]))
    calls = sql(folder, "SELECT callchainId AS id FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds n ON n.id = nameId"
                        " WHERE value LIKE 'cuMemsetD32%' ORDER BY start")
    return run, [chains.get(call["id"]) for call in calls]


def of_python(chain):
    return [[name, source, line] for name, source, line, file in chain if source and source.endswith(".py") or name.startswith("<")]


def test_callers_are_those_that_the_interpreter_tells():
    assert PYTHONS
    for version, python in PYTHONS.items():
        with profiling.Folder() as folder:
            run, chains = recorded(folder, python, STACKS, "--cudabacktrace=all:0")
            told = json.loads(run.out)
            assert len(told) > 10 and len(chains) == len(told) and folder.report("r.rep").info["lost"] == 0, (version, run)
            for chain, stack in zip(chains, told):
                assert of_python(chain) == stack, (version, of_python(chain), stack)
                # The driver's function is the innermost; what called it is known up to the interpreter, without frame pointers.
                names, native = [name for name, *_ in chain], chain[:-len(stack)]
                assert any(name.startswith("cuMemsetD32") for name in names) and "_ctypes" in native[-1][3], (version, chain)
                assert names[-len(stack):] == [name for name, *_ in stack] and CUT not in names, (version, chain)


def test_deep_chains_are_cut():
    deep = CUDA + "sys.setrecursionlimit(5000)\ndef recursion(n):\n return recursion(n - 1) if n else cuda.cuMemsetD32_v2(memory, 0, ctypes.c_size_t(16))\n"
    for version, python in PYTHONS.items():
        with profiling.Folder() as folder:
            _, chains = recorded(folder, python, deep + "recursion(127 - 1)\nrecursion(500)\n", "--cudabacktrace=all:0")
            assert len(of_python(chains[0])) == 128 and chains[0][-1][0] == "<module>", (version, chains[0])
            names = [name for name, *_ in chains[1]]
            assert names.count("recursion") == 128 and names[-1] == CUT, (version, names)


def test_no_function_is_named_for_another():
    for version, python in PYTHONS.items():
        with profiling.Folder() as folder:
            run, chains = recorded(folder, python, CHURN, "--cudabacktrace=memory:0")
            assert run.out == "done\n" and len(chains) == 3000, (version, run)
            for i, chain in enumerate(chains):
                assert of_python(chain)[0] == [f"function_{i}", f"file_{i}.py", i % 97 + 2], (version, i, chain)


def test_an_interpreter_that_ends_meanwhile():
    for version, python in PYTHONS.items():
        for _ in range(3):
            with profiling.Folder() as folder:
                run, chains = recorded(folder, python, END, "--cudabacktrace=all:0")
                assert run.out == "done\n" and chains, (version, run)


def test_callers_of_calls_that_take_long():
    """Without --cudabacktrace, all calls from 1 µs on have callers; with it, those that it names."""
    python = next(iter(PYTHONS.values()))
    callers = "SELECT value AS name, callchainId AS id, end - start AS ns FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds n ON n.id = nameId"
    with profiling.Folder() as folder:
        recorded(folder, python, CUDA)
        calls = sql(folder, callers)
        assert calls and not [call for call in calls if call["ns"] > 50000 and call["id"] is None], calls
    with profiling.Folder() as folder:
        recorded(folder, python, CUDA, "--cudabacktrace=sync:0")
        assert not [call for call in sql(folder, callers) if call["id"] is not None]
    with profiling.Folder() as folder:
        run, _ = recorded(folder, python, CUDA, "--cudabacktrace=none")
        assert "--python-backtrace=cuda records nothing with --cudabacktrace=none" in run.err, run


def test_versions_that_are_not_known():
    others = {version: path for version, path in tap.pythons().items() if int(version.split(".")[1]) < 9}
    for version, python in others.items():
        with profiling.Folder() as folder:
            run, chains = recorded(folder, python, STACKS, "--cudabacktrace=all:0")
            assert "[LNS-CUDA-033]" in run.err and f"Python {version};" in run.err, run.err
            assert chains and not [chain for chain in chains if of_python(chain)], chains
    if not others:
        tap.skip("no CPython below 3.9 is installed")


def test_programs_without_python():
    with profiling.Folder() as folder:
        callers = os.path.join(tap.BUILD, "tests", "double", "cuda-callers")
        run = folder.profile(*SWITCHES, "--cudabacktrace=all:0", callers, "plain", before=[WITH])
        assert run.code == 7 and "LNS-CUDA-033" not in run.err, run
        names = {row["name"] for row in sql(folder, "SELECT s.value AS name FROM CUDA_CALLCHAINS JOIN StringIds s ON s.id = symbol")}
        assert {"innermost", "outermost", "main"} <= names and CUT not in names, names


tap.main(globals())
