# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests the reader of Python frames on each CPython found: what it reads is what the interpreter itself says, whatever the
program does meanwhile."""

import contextlib
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import tap

DUMP = os.path.join(tap.BUILD, "tests", "e2e", "python-stacks")
PYTHONS = {version: path for version, path in tap.pythons().items() if int(version.split(".")[1]) >= 9}
KNOWN = [f"3.{minor}" for minor in range(9, 15)]
# Threads in all kinds of functions. Then one more tells what the interpreter says that the others are in.
STACKS = '''
import asyncio, functools, json, os, sys, threading, time
pipe = os.pipe()
def wait():
    os.read(pipe[0], 1)
def recursion(n):
    if n == 0:
        return wait()
    return recursion(
        n - 1
    )
class Outer:
    class Inner:
        def method(self):
            return self.of_class(
                1,
                2)
        @classmethod
        def of_class(cls, *numbers):
            return cls.of_none()
        @staticmethod
        def of_none():
            wait()
def generator(n):

    for i in range(n):
        yield i
        if i == 3:
            yield from deeper()
def deeper():
    wait()
    yield 0
async def coroutine(n):
    if n:
        return await coroutine(n - 1)
    await asyncio.sleep(0)
    wait()
def through_c():
    return sorted([3, 2], key=lambda n: [wait()
                                         for i in range(1)])
def nächste_ﬁgur():
    try:
        raise KeyError
    except KeyError:
        with contextless():
            wait()
def contextless():
    import contextlib
    return contextlib.nullcontext()
def sleeps():
    time.sleep(1000)
threads = [functools.partial(recursion, 50), Outer.Inner().method, lambda: list(generator(9)), lambda: asyncio.run(coroutine(3)),
           through_c, nächste_ﬁgur, sleeps]
made = [threading.Thread(target=target, daemon=True) for target in threads]
for thread in made:
    thread.start()
def stack(frame):
    found = []
    while frame is not None:
        code = frame.f_code
        found.append([getattr(code, "co_qualname", code.co_name), code.co_filename, code.co_firstlineno, frame.f_lineno])
        frame = frame.f_back
    return found
while True:  # until all are in their last call
    frames = sys._current_frames()
    told = {thread.native_id: stack(frames[thread.ident]) for thread in made}
    if all(found[0][0] in ("wait", "sleeps") and found[0][3] == found[0][2] + 1 for found in told.values()):
        break
    time.sleep(0.001)
print(json.dumps(told), flush=True)
def main():
    sys.stdin.readline()
main()
'''
# Two threads want the GIL all the time, one sleeps.
CONTENTION = '''
import threading, time
def spin():
    n = 0
    while True:
        n += 1
def sleeps():
    time.sleep(1000)
for target in (spin, spin, sleeps):
    threading.Thread(target=target, daemon=True).start()
print("ready", flush=True)
time.sleep(1000)
'''
# Makes functions and threads and drops them as fast as it can. The number of a function is in its name, its file and its line, and
# the outer one calls the inner one of its own number.
CHURN = '''
import threading
def work(numbers):
    for i in numbers:
        names = {}
        text = "\\n" * (i % 97) + f"def outer_{i}(n):\\n if n: return inner_{i}(n)\\ndef inner_{i}(n):\\n for i in range(n): pass\\n"
        exec(compile(text, f"file_{i}.py", "exec"), names)
        for k in range(20):
            names[f"outer_{i}"](30)
def main():
    first = 0
    print("ready", flush=True)
    while True:
        threads = [threading.Thread(target=work, args=(range(first + 10 * k, first + 10 * k + 10),)) for k in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        first = (first + 30) % 9000
main()
'''


# Fields of the table in capture/wire/python-layout.c, and what they are the offsets of, by the first minor version.
FIELDS = {
    "runtime_interpreters": {9: "_PyRuntimeState, interpreters.head"},
    "runtime_gil": {9: "_PyRuntimeState, ceval.gil", 12: None},
    "interpreter_gil": {9: None, 12: "PyInterpreterState, ceval.gil"},
    "interpreter_next": {9: "PyInterpreterState, next"},
    "interpreter_id": {9: "PyInterpreterState, id"},
    "interpreter_threads": {9: "PyInterpreterState, tstate_head", 11: "PyInterpreterState, threads.head"},
    "thread_previous": {9: "PyThreadState, prev"},
    "thread_next": {9: "PyThreadState, next"},
    "thread_interpreter": {9: "PyThreadState, interp"},
    "thread_self": {9: "PyThreadState, thread_id"},
    "thread_native": {9: None, 11: "PyThreadState, native_thread_id"},
    "thread_frame": {9: "PyThreadState, frame", 11: "PyThreadState, cframe"},
    "c_frame_frame": {9: None, 11: "_PyCFrame, current_frame"},
    "frame_previous": {9: "PyFrameObject, f_back", 11: "_PyInterpreterFrame, previous"},
    "frame_code": {9: "PyFrameObject, f_code", 11: "_PyInterpreterFrame, f_code"},
    "frame_instruction": {9: "PyFrameObject, f_lasti", 11: "_PyInterpreterFrame, prev_instr"},
    "frame_owner": {9: None, 11: "_PyInterpreterFrame, owner"},
    "frame_locals": {9: "PyFrameObject, f_localsplus", 11: "_PyInterpreterFrame, localsplus"},
    "type_keys": {9: "PyHeapTypeObject, ht_cached_keys"},
    "code_first_line": {9: "PyCodeObject, co_firstlineno"},
    "code_file": {9: "PyCodeObject, co_filename"},
    "code_name": {9: "PyCodeObject, co_name", 11: "PyCodeObject, co_qualname"},
    "code_lines": {9: "PyCodeObject, co_lnotab", 10: "PyCodeObject, co_linetable"},
    "code_bytes": {9: None, 11: "PyCodeObject, co_code_adaptive"},
}
OBJECTS = {"object_type": "PyObject, ob_type", "bytes_size": "PyVarObject, ob_size", "bytes_data": "PyBytesObject, ob_sval",
           "text_length": "PyASCIIObject, length", "text_state": "PyASCIIObject, state",
           "gil_holder": "struct _gil_runtime_state, last_holder", "gil_locked": "struct _gil_runtime_state, locked"}


class Reader:
    """python-stacks of one process."""

    def __init__(self, pid, program=DUMP, **how):
        self.process = subprocess.Popen([program, str(pid)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **how)
        self.begun = json.loads(self.process.stdout.readline())

    def sample(self, n=1):
        self.process.stdin.write(f"{n}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.communicate()
        assert self.process.returncode == 0, self.process.returncode


@contextlib.contextmanager
def reading(pid, program=DUMP, **how):
    reader = Reader(pid, program, **how)
    try:
        yield reader
    finally:
        reader.close()


@contextlib.contextmanager
def running(*command):
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def in_file(text):
    """The path of a program; a file, because frames have its name."""
    path = os.path.join(folder(), f"program-{abs(hash(text))}.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def folder():
    path = os.path.join(tap.BUILD, "tests", "e2e", "python-reader")
    os.makedirs(path, exist_ok=True)
    return path


def on_each(function):
    """Runs FUNCTION with each CPython found, then tells which are missing."""
    assert PYTHONS
    for version, path in PYTHONS.items():
        try:
            function(version, path)
        except AssertionError as error:
            raise AssertionError(f"CPython {version}: {error}") from error
    missing = [version for version in KNOWN if version not in PYTHONS]
    if missing:
        raise tap.Skip(f"passed with {', '.join(PYTHONS)}; not here: {', '.join(missing)}")


def test_frames_are_those_that_the_interpreter_tells():
    def check(version, path):
        with running(path, in_file(STACKS)) as process:
            told = {int(tid): stack for tid, stack in json.loads(process.stdout.readline()).items()}
            with reading(process.pid) as reader:
                assert reader.begun["state"] == "ready", reader.begun
                assert reader.begun["version"] == 0x300 + int(version.split(".")[1]), reader.begun
                while True:  # until the main thread waits for its input
                    sample = reader.sample()
                    threads = {thread["tid"]: thread for thread in sample["threads"]}
                    if threads[process.pid]["frames"][0][0] == "main":
                        break
                assert len(threads) == len(told) + 1 == 8, threads
                for tid, stack in told.items():
                    assert threads[tid]["frames"] == stack, f"{threads[tid]['frames']}\nis not\n{stack}"
                    assert not threads[tid]["cut"]
                assert [frame[0] for frame in threads[process.pid]["frames"]] == ["main", "<module>"]
                assert {thread["gil"] for thread in threads.values()} == {"none"}, threads
                names = {frame[0] for frame in sum(told.values(), [])}
                assert "nächste_figur" in names and "sleeps" in names and "deeper" in names, names

    on_each(check)


# Threads whose objects keep their attributes in all ways that there are.
NAMES = '''
import json, sys, threading
event = threading.Event()
def fetch():
    event.wait()
class Named(threading.Thread):
    def __init__(self, name, **more):
        self.before = 1
        super().__init__(name=name, daemon=True)
        self.after = 2
    def run(self):
        event.wait()
class Large(Named):
    def __init__(self, name):
        for i in range(40):
            setattr(self, f"attribute_{i}", i)
        super().__init__(name)
class Slots(Named):
    __slots__ = ("one", "two")
asked, changed, replaced = Named("asked for its dict"), Named("has more"), Named("has another dict")
threads = [threading.Thread(target=fetch, daemon=True), threading.Thread(target=fetch, name="grüße-ﬁ", daemon=True),
           Named("named"), Large("large"), Slots("slots"), asked, changed, replaced, Named("x" * 2000), Named("before")]
for thread in threads:
    thread.start()
vars(asked)
vars(changed).update({f"k{i}": i for i in range(30)})
replaced.__dict__ = dict(replaced.__dict__)
print(json.dumps({thread.native_id: thread.name for thread in threads}), flush=True)
sys.stdin.readline()
threads[-1].name = "after"
print("renamed", flush=True)
event.wait()
'''


def test_threads_have_the_names_that_the_program_gave_them():
    def check(version, path):
        with running(path, in_file(NAMES)) as process:
            told = {int(tid): name for tid, name in json.loads(process.stdout.readline()).items()}
            with reading(process.pid) as reader:
                wanted = {tid: name if len(name) <= 1024 else name[:1024] + "…" for tid, name in told.items()}
                if version == "3.14":  # which tells the system
                    wanted = dict.fromkeys(told)
                while True:  # what changes just now is read later
                    found = {thread["tid"]: thread["name"] for thread in reader.sample()["threads"]}
                    if {tid: found[tid] for tid in told} == wanted:
                        break
                    assert all(found[tid] in (None, wanted[tid]) for tid in told), (found, wanted)
                assert found[process.pid] is None, found
                process.stdin.write("\n")
                process.stdin.flush()
                assert process.stdout.readline() == "renamed\n"
                tid = max(tid for tid, name in told.items() if name == "before")
            with reading(process.pid) as reader:
                while version != "3.14" and {t["tid"]: t["name"] for t in reader.sample()["threads"]}[tid] != "after":
                    pass

    on_each(check)


def test_the_gil_has_one_holder_and_others_wait():
    def check(version, path):
        with running(path, in_file(CONTENTION)) as process:
            process.stdout.readline()
            with reading(process.pid) as reader:
                found = set()
                while found != {("spin", "held"), ("spin", "waited"), ("sleeps", "none"), ("<module>", "none")}:
                    holders = 0
                    for thread in reader.sample()["threads"]:
                        if thread["frames"]:
                            function = next(frame[0] for frame in thread["frames"] if frame[1].startswith(folder()))
                            # Sleepers that go to sleep or have just begun have the GIL, too.
                            if function == "spin" or thread["gil"] == "none":
                                if function == "spin" and thread["gil"] == "none":
                                    continue
                                found.add((function, thread["gil"]))
                        holders += thread["gil"] == "held"
                    assert holders <= 1

    on_each(check)


def test_no_function_is_named_for_another():
    def check(version, path):
        with running(path, in_file(CHURN)) as process:
            process.stdout.readline()
            numbers, pairs = set(), 0
            with reading(process.pid) as reader:
                while len(numbers) < 200 or pairs < 20:
                    for thread in reader.sample()["threads"]:
                        frames = thread["frames"]
                        for name, file, first_line, line in frames:
                            if "file_" not in file:
                                assert not name.startswith(("outer_", "inner_")), frames
                                continue
                            number = int(file[5:-3])
                            expected = {f"outer_{number}": 1, f"inner_{number}": 3, "<module>": 1}
                            # 3.9 counts the first line of a module from its first statement.
                            is_at_top = name == "<module>" and version != "3.9"
                            start = 1 if is_at_top else number % 97 + expected.get(name, 0)
                            assert name in expected and first_line == start, (name, file, first_line)
                            assert name == "<module>" or first_line <= line <= first_line + 1, (name, file, first_line, line)
                            numbers.add(number)
                        names = [frame[0] for frame in frames]
                        for callee, caller in zip(names, names[1:]):
                            if callee.startswith("inner_"):
                                assert caller == callee.replace("inner", "outer"), names
                                pairs += 1
                            elif callee.startswith("outer_"):
                                assert caller == "work", names
                assert reader.sample(2000)["state"] == "ready"
            for _ in range(30):  # whatever happens to its threads when a reader begins
                with reading(process.pid) as reader:
                    assert reader.begun["state"] == "ready", reader.begun

    on_each(check)


def test_children_have_readers_of_their_own():
    text = '''
import multiprocessing, os, sys, time
def child(name):
    print(name, os.getpid(), flush=True)
    time.sleep(1000)
if __name__ == "__main__":
    for name in ("fork", "spawn"):
        multiprocessing.get_context(name).Process(target=child, args=(name,), daemon=True).start()
    sys.stdin.readline()
'''

    def check(version, path):
        with running(path, in_file(text)) as process:
            pids = dict(process.stdout.readline().split() for _ in range(2))
            try:
                for name, pid in pids.items():
                    with reading(pid) as reader:
                        while True:
                            thread = reader.sample()["threads"][0]
                            if thread["frames"] and thread["frames"][0][0] == "child" and thread["frames"][0][3] == 5:
                                break
                        assert thread["tid"] == int(pid), (name, thread)
            finally:
                for pid in pids.values():
                    os.kill(int(pid), 9)

    on_each(check)


def test_a_thread_that_waits_and_goes_on_is_followed():
    """It is not read again while it has not run, and is read when it has."""
    text = "import sys\nprint(1, flush=True)\ndef odd():\n return sys.stdin.readline()\ndef even():\n return sys.stdin.readline()\nwhile odd() and even():\n pass\n"

    def check(version, path):
        with running(path, in_file(text)) as process:
            process.stdout.readline()
            with reading(process.pid) as reader:
                follow(process, reader)

    def follow(process, reader):
        for name in ("odd", "even") * 10:
            while True:
                frames = reader.sample(5)["threads"][0]["frames"]
                if frames and frames[0][0] == name:
                    break
            # The same again, of which nothing is read.
            assert reader.sample(5)["threads"][0]["frames"] == frames
            process.stdin.write("\n")
            process.stdin.flush()

    on_each(check)


def test_an_embedded_interpreter():
    programs = sorted(glob.glob(os.path.join(tap.BUILD, "tests", "e2e", "embedded-python*")))
    programs = [path for path in programs if os.path.isfile(path)]
    if not programs:
        raise tap.Skip("libpython was not there to build against")
    assert len(programs) == 2, programs
    for program in programs:
        with running(program, "def embedded():\n import sys\n print(1, flush=True)\n sys.stdin.readline()\nembedded()") as process:
            process.stdout.readline()
            with reading(process.pid) as reader:
                frames = reader.sample()["threads"][0]["frames"]
                assert [frame[:3] for frame in frames] == [["embedded", "<string>", 1], ["<module>", "<string>", 1]], frames


def test_other_programs_have_none():
    with running("sleep", "1000") as process, reading(process.pid) as reader:
        # Until it has left the fork of this test, which is a Python program.
        while reader.begun["state"] == "ready":
            reader = Reader(process.pid)
            reader.close()
        assert reader.begun["state"] == "absent", reader.begun
        assert reader.begun["message"] == f"process {process.pid} has not loaded a Python interpreter", reader.begun


def test_older_versions_are_refused_by_name():
    older = sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.8*/bin/python3")))
    if not older:
        raise tap.Skip("CPython 3.8 is not here")
    with running(older[0], "-c", "print(1, flush=True); input()") as process:
        process.stdout.readline()
        with reading(process.pid) as reader:
            assert reader.begun["state"] == "unsupported", reader.begun
            assert "runs Python 3.8" in reader.begun["message"] and "3.9 to 3.14" in reader.begun["message"], reader.begun


def test_a_process_that_ends_or_runs_another_program():
    def check(version, path):
        with running(path, in_file(CONTENTION)) as process:
            process.stdout.readline()
            with reading(process.pid) as reader:
                assert reader.sample()["state"] == "ready"
                process.kill()
                process.wait()
                assert reader.sample(100)["state"] == "gone"
                assert reader.sample()["threads"] == []
        with running(path, "-c", "import os; print(1, flush=True); os.read(0, 3); os.execvp('cat', ['cat'])") as process:
            process.stdout.readline()
            with reading(process.pid) as reader:
                assert reader.sample()["state"] == "ready"
                process.stdin.write("go\ncat\n")
                process.stdin.flush()
                assert process.stdout.readline() == "cat\n"
                assert reader.sample()["state"] == "gone"

    on_each(check)


def test_a_process_of_another_user():
    message = "which belongs to user 0; run Lanescope as this user or as root"
    if os.getuid() != 0:
        with reading(1) as reader:
            assert reader.begun["state"] == "refused" and message in reader.begun["message"], reader.begun
        return
    with tempfile.TemporaryDirectory() as folder, running(sys.executable, "-c", "print(1, flush=True); input()") as process:
        process.stdout.readline()
        # The other user may not be allowed to look into this tree.
        os.chmod(folder, 0o755)
        program = shutil.copy(DUMP, folder)
        with reading(process.pid, program, user=65534, group=65534, extra_groups=[]) as reader:
            assert reader.begun["state"] == "refused", reader.begun
            assert reader.begun["message"] == f"cannot read the memory of process {process.pid}, {message}", reader.begun


def test_threads_in_another_namespace_have_the_ids_of_ours():
    program = "import os, sys; print(os.getpid(), flush=True); sys.stdin.readline()"
    with running("unshare", "--pid", "--fork", "--kill-child", sys.executable, "-c", program) as process:
        if process.stdout.readline() != "1\n":
            raise tap.Skip("unshare may not make a namespace of processes here")
        with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="utf-8") as file:
            pid = int(file.read())
        with reading(pid) as reader:
            assert [thread["tid"] for thread in reader.sample()["threads"]] == [pid]


def test_offsets_are_those_of_the_headers():
    with open(os.path.join(tap.SOURCE, "capture/wire/python-layout.c"), encoding="utf-8") as file:
        source = file.read()
    number = re.compile(r"\.(\w+) = (\d+)")
    shared = dict(number.findall(source[source.index("#define OBJECTS"):source.index("static const LnsPythonLayout known")]))
    compared = []
    for minor, ascii_bytes, compact_bytes, row in re.findall(r"\{ \.minor = (\d+),\s+OBJECTS \((\d+), (\d+)\),([^}]*)\}", source):
        minor, row = int(minor), dict(number.findall(row))
        path = PYTHONS.get(f"3.{minor}")
        include = path and subprocess.run([path, "-c", "import sysconfig; print(sysconfig.get_paths()['include'])"],
                                          capture_output=True, text=True, check=True).stdout.strip()
        if not include or not os.path.exists(os.path.join(include, "internal", "pycore_interp.h")):
            continue
        named = {field: max((since, what) for since, what in whats.items() if since <= minor)[1] for field, whats in FIELDS.items()}
        named = {field: what for field, what in named.items() if what}
        assert {field for field, value in row.items() if field in FIELDS} == set(named), (minor, row)
        expected = {named[field]: row[field] for field in named} | {what: shared[field] for field, what in OBJECTS.items()}
        checks = "".join(f'_Static_assert (offsetof ({what}) == {value}, "{what}");\n' for what, value in expected.items())
        frames = "internal/pycore_frame.h" if minor >= 11 else "frameobject.h"
        text = (f'#define Py_BUILD_CORE 1\n#include <Python.h>\n#include "internal/pycore_runtime.h"\n#include "internal/pycore_interp.h"\n'
                f'#include "{frames}"\n#include <stddef.h>\n{checks}'
                f'_Static_assert (sizeof (PyASCIIObject) == {ascii_bytes}, "ascii");\n'
                f'_Static_assert (sizeof (PyCompactUnicodeObject) == {compact_bytes}, "compact");\n'
                f'_Static_assert (sizeof (struct _gil_runtime_state) == 208, "GIL_BYTES");\n')
        result = subprocess.run(["cc", "-fsyntax-only", f"-I{include}", f"-I{include}/internal", "-x", "c", "-"], input=text,
                                capture_output=True, text=True)
        assert result.returncode == 0, f"3.{minor}: {result.stderr}"
        compared.append(f"3.{minor}")
    missing = [f"3.{minor}" for minor in range(9, 13) if f"3.{minor}" not in compared]
    if missing:
        raise tap.Skip(f"passed with the headers of {', '.join(compared)}; not here: {', '.join(missing)}")


tap.main(globals(), gate=(test_frames_are_those_that_the_interpreter_tells,))
