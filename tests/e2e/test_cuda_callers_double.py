# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Call chains of CUDA calls, without samples, on the double. This shows nothing about a real GPU or its driver."""

import json
import os
import re
import signal
import subprocess

import profiling
import tap

WITH = os.path.join(tap.SOURCE, "tests", "double", "with")
CALLERS = os.path.join(tap.BUILD, "tests", "double", "cuda-callers")
CALL_BACK = os.path.join(tap.BUILD, "tests", "double", "call-back.so")
DENY = os.path.join(tap.BUILD, "tests", "e2e", "deny-call")
N_CALLS, MOST = 20, 128
CUT = "[callers not recorded]"
CALLS = "SELECT r.*, value AS name FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds ON id = nameId ORDER BY start"
CHAINS = ("SELECT c.*, s.value AS name, m.value AS file FROM CUDA_CALLCHAINS c JOIN StringIds s ON s.id = symbol "
          "LEFT JOIN StringIds m ON m.id = module ORDER BY c.id, stackDepth")


def functions():
    """[(first, past the last, name)] of the program's functions, by offset in its file: it is linked so that addresses are offsets."""
    out = subprocess.run(["nm", "-S", CALLERS], capture_output=True, text=True, check=True).stdout
    return [(int(at, 16), int(at, 16) + int(size, 16), name)
            for at, size, name in re.findall(r"^([0-9a-f]+) ([0-9a-f]+) [tT] (\S+)$", out, re.M)]


def sql(folder, statement, name="r.rep"):
    done = subprocess.run([tap.LANESCOPE, "sql", "-j", folder.file(name), statement], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout or b"[]")


def called(row, known=functions()):
    """What ROW of CUDA_CALLCHAINS is in: a function of the program, or what the report calls it."""
    if row["file"] == CALLERS and "+0x" in row["name"]:
        place = int(row["name"].rsplit("+0x", 1)[1], 16)
        return next(name for first, last, name in known if first <= place < last)
    return row["name"]


def chains(folder):
    """{id: [name], the innermost first}, without what lies above the program in the driver."""
    found = {}
    for row in sql(folder, CHAINS):
        chain = found.setdefault(row["id"], [])
        assert row["stackDepth"] == len(chain), row
        chain.append(row)
    for chain in found.values():
        first = next((i for i, row in enumerate(chain) if row["file"] == CALLERS), len(chain))
        chain[:] = [called(row) for row in chain[first:]]
    return found


def recorded(folder, where, sample="none", n_good=N_CALLS):
    run = folder.profile("-t", "cuda", "-o", "r", "-s", sample, "--cudabacktrace=all:0", CALLERS, where, before=[WITH])
    assert run.code == 7 and run.out == f"{n_good}\n", run
    assert folder.report("r.rep").info["lost"] == 0, run
    return chains(folder)


def chains_of_sets(folder, found):
    """The chains of all sets of memory, which is what the program does from innermost()."""
    return [found[call["callchainId"]] for call in sql(folder, CALLS) if call["name"].startswith("cuMemsetD32")]


def test_callers():
    with profiling.Folder() as folder:
        found = recorded(folder, "plain")
        sets = chains_of_sets(folder, found)
        assert len(sets) == N_CALLS and {tuple(chain[:3]) for chain in sets} == {("innermost", "outermost", "main")}, sets
        calls = sql(folder, CALLS)
        assert all(call["callchainId"] in found for call in calls) and set(found) == {call["callchainId"] for call in calls}, calls
        # Nothing of CUPTI or of Lanescope is in them: the program has not called these.
        rows = sql(folder, CHAINS)
        assert not [row for row in rows if re.search(r"libcupti|lanescope-inject", row["file"] or "")], rows
        # Functions have their names when the command ends.
        assert [row["name"] for row in rows if row["file"] == CALLERS and row["id"] == calls[-1]["callchainId"]][:3] == ["innermost", "outermost", "main"], rows
        # An export has the same rows.
        done = subprocess.run([tap.LANESCOPE, "export", "-t", "jsonlines", "--tables", "CUDA_CALLCHAINS", "-o", "-", folder.file("r.rep")],
                              capture_output=True, check=True)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(lines) == len(rows) == sql(folder, "SELECT count(*) AS n FROM CUDA_CALLCHAINS")[0]["n"], (len(lines), len(rows))
        one = calls[-1]["callchainId"]
        depths = sql(folder, f"SELECT stackDepth AS d FROM CUDA_CALLCHAINS WHERE id = {one}")
        assert [row["d"] for row in depths] == [row["stackDepth"] for row in rows if row["id"] == one], depths
        assert sql(folder, "SELECT count(*) AS n FROM SAMPLING_CALLCHAINS") == [{"n": 0}], rows


def chains_without_frame_pointers(folder, *where):
    """The chains of the sets of memory of a program without frame pointers, [name] each, from the program's first function on."""
    run = folder.profile("-t", "cuda", "-o", "r", "-s", "none", "--cudabacktrace=all:0", CALLERS + "-plain", *where, before=[WITH])
    assert run.code == 7 and folder.report("r.rep").info["lost"] == 0, run
    found = {}
    for row in sql(folder, CHAINS):
        found.setdefault(row["id"], []).append(row["name"])
    return [chain[chain.index("innermost"):] for chain in chains_of_sets(folder, found)]


def test_callers_without_frame_pointers():
    """Found from the thread's stack, up to the start of the thread, also through a library that was loaded just before."""
    # Without symbols of the C library, its own functions have no names.
    for where, outer, start in ((["plain"], ["main"], "_start"), (["thread"], ["run_thread"], ("clone", "libc.so")), (["handler"], ["run_handler", "raise_one", "main"], "_start"),
                                (["library", CALL_BACK], ["call_back", "call_by_library", "main"], "_start")):
        with profiling.Folder() as folder:
            for chain in chains_without_frame_pointers(folder, *where):
                assert chain[:2] == ["innermost", "outermost"] and chain[2] == outer[0], (where, chain)
                assert [name for name in chain if name in outer] == outer and chain[-1].startswith(start) and CUT not in chain, (where, chain)


def test_code_that_takes_the_place_of_other_code():
    """Of two libraries that are loaded at one place, one after the other, each has its calls, if not from the first moment on."""
    again = CALL_BACK.replace("call-back", "call-back-again")
    for program in (CALLERS, CALLERS + "-plain"):
        with profiling.Folder() as folder:
            run = folder.profile("-t", "cuda", "-o", "r", "-s", "none", "--cudabacktrace=memory:0", program, "reload", CALL_BACK, again, before=[WITH])
            assert run.code == 7 and run.out.startswith("same\n"), run
            files = {}
            for row in sql(folder, CHAINS):
                if row["file"] in (CALL_BACK, again):
                    assert row["name"] == "call_back", row
                    files[row["id"]] = row["file"]
            sets = [files.get(call["callchainId"]) for call in sql(folder, CALLS) if call["name"].startswith("cuMemsetD32")]
            assert set(sets[:N_CALLS]) == {CALL_BACK} and set(sets[-N_CALLS:]) == {again}, (sets[:N_CALLS], sets[-N_CALLS:])


def test_callers_that_are_missed_are_told():
    """Of a handler on a stack of its own and a coroutine, what called them lies on another stack."""
    for where, outer in (("alternate", "run_handler"), ("coroutine", "run_coroutine")):
        with profiling.Folder() as folder:
            for chain in chains_without_frame_pointers(folder, where):
                assert chain[:3] == ["innermost", "outermost", outer] and chain[-1] == CUT, (where, chain)
    with profiling.Folder() as folder:  # more callers than are kept
        for chain in chains_without_frame_pointers(folder, "deep"):
            assert MOST - 16 < len(chain) <= MOST + 1 and chain[-1] == CUT and set(chain[2:-1]) == {"deeper"}, chain
    with profiling.Folder() as folder:  # and those that are whole do not look cut
        assert not [chain for chain in recorded(folder, "plain").values() if CUT in chain]


def test_callers_on_each_stack():
    for where, outer in (("thread", "run_thread"), ("handler", "run_handler"), ("alternate", "run_handler"), ("coroutine", "run_coroutine")):
        with profiling.Folder() as folder:
            n = 3 * N_CALLS if where == "thread" else N_CALLS
            sets = chains_of_sets(folder, recorded(folder, where, n_good=n))
            assert len(sets) == n and {tuple(chain[:3]) for chain in sets} == {("innermost", "outermost", outer)}, (where, sets)


def test_a_fork_has_no_callers_of_its_own():
    with profiling.Folder() as folder:
        sets = chains_of_sets(folder, recorded(folder, "child"))
        assert {tuple(chain[:3]) for chain in sets} == {("innermost", "outermost", "main")}, sets


def test_deep_chains_are_cut():
    with profiling.Folder() as folder:
        found = recorded(folder, "deep")
        sets = chains_of_sets(folder, found)
        assert {tuple(chain[:3]) for chain in sets} == {("innermost", "outermost", "deeper")}, sets
        for chain in sets:
            assert MOST - 16 < len(chain) <= MOST + 1 and chain[-1] == CUT and set(chain[2:-1]) == {"deeper"}, chain


def test_a_program_that_executes_another():
    with profiling.Folder() as folder:
        found = recorded(folder, "again")
        last = sql(folder, CALLS)[-N_CALLS:]
        assert {tuple(found[call["callchainId"]][:3]) for call in last} == {("innermost", "outermost", "main")}, found


def test_a_killed_program():
    """The session has read where its code lies."""
    with profiling.Folder() as folder:
        command = folder.start("-t", "cuda", "-o", "r", "-s", "none", "--cudabacktrace=all:0", CALLERS, "wait", before=[WITH])

        def are_there():
            path = folder.file("r.rep")
            done = os.path.exists(path) and subprocess.run([tap.LANESCOPE, "sql", path, "SELECT count(callchainId) FROM CUPTI_ACTIVITY_KIND_RUNTIME"],
                                                           capture_output=True, text=True)
            return done and done.returncode == 0 and int(done.stdout) >= N_CALLS

        profiling.wait_for(are_there, "the calls")
        pid = next(pid for pid in profiling.children(command.pid) if profiling.alive(pid)
                   and os.path.realpath(f"/proc/{pid}/exe") == os.path.realpath(CALLERS))
        os.kill(pid, signal.SIGKILL)
        _, err = command.communicate(timeout=60)
        assert command.returncode == -signal.SIGKILL, (command.returncode, err)
        assert {tuple(chain[:3]) for chain in chains_of_sets(folder, chains(folder))} == {("innermost", "outermost", "main")}


def test_the_kernel_may_refuse_to_read_stacks():
    """A thread's own stack is read without it."""
    for where, is_told in (("plain", False), ("coroutine", True)):
        with profiling.Folder() as folder:
            run = folder.profile("-t", "cuda", "-o", "r", "-s", "none", "--cudabacktrace=memory:0", DENY, "process_vm_readv", CALLERS, where, before=[WITH])
            assert run.code == 7 and run.out == f"{N_CALLS}\n" and ("[LNS-CUDA-032]" in run.err) == is_told, run
            sets = [call["callchainId"] for call in sql(folder, CALLS) if call["name"].startswith("cuMemsetD32")]
            assert [chain is None for chain in sets] == [is_told] * N_CALLS, sets


def test_classes_of_calls():
    classes = {"kernel": {"cuLaunchKernel"}, "memory": {"cuMemAlloc"}, "sync": {"cuStreamSynchronize"}, "other": {"cuModuleLoadData", "cuStreamCreate"}}
    for given, meant in (("kernel:0", ["kernel"]), ("memory:0,sync:0", ["memory", "sync"]), ("other:0", ["other"]), ("all:0", list(classes)),
                         ("all:0,kernel:4000000000", ["memory", "sync", "other"]), ("none", []), ("all:4000000000", [])):
        with profiling.Folder() as folder:
            run = folder.profile("-t", "cuda", "-o", "r", "-s", "none", f"--cudabacktrace={given}", CALLERS, "classes", before=[WITH])
            assert run.code == 7 and run.out == "5\n", run
            of_calls = {call["name"].split("_v")[0]: call["callchainId"] is not None for call in sql(folder, CALLS)}
            for name, calls in classes.items():
                assert {of_calls[call] for call in calls} == {name in meant}, (given, name, of_calls)


def test_only_calls_that_take_long():
    """Each call that has callers took as long as was asked for; the first calls of a program always do."""
    with profiling.Folder() as folder:
        run = folder.profile("-t", "cuda", "-o", "r", "-s", "none", "--cudabacktrace=all:20000", CALLERS, "plain", before=[WITH])
        assert run.code == 7, run
        calls = sql(folder, CALLS)
        short = [call for call in calls if call["end"] - call["start"] < 19000]
        assert short and not [call for call in short if call["callchainId"] is not None], calls


def test_values_that_are_wrong():
    for given, said in (("kernels", "kernels"), ("kernel:1us", "1us"), ("all:-1", "-1"), ("kernel:", "")):
        with profiling.Folder() as folder:
            run = folder.profile(f"--cudabacktrace={given}", "true")
            assert run.code == 125 and f"“{said}”" in run.err and not os.listdir(folder.path), run


def test_samples_have_nodes_of_the_same_tree():
    with profiling.Folder() as folder:
        sets = chains_of_sets(folder, recorded(folder, "plain", sample="process-tree"))
        assert {tuple(chain[:3]) for chain in sets} == {("innermost", "outermost", "main")}, sets


tap.main(globals(), gate=(test_callers,))
