# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""The names of sampled functions: from the program's own file, from a separate one, and none from a wrong one."""

import collections
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys

import profiling
import tap
from sampling import REFUSAL, SAMPLING, WORK, is_refused, rows

TEMPLATES = os.path.join(tap.BUILD, "tests", "programs", "cpu-templates")
JIT = os.path.join(tap.BUILD, "tests", "programs", "cpu-jit")
CHAIN = ["leaf", "middle", "main"]


def chains(folder, module, name="r.rep"):
    """The functions of MODULE in the chain of each sample, the leaf first, and whether each is called resolved."""
    found = {}
    for sample, symbol, unresolved in rows(
            folder, "SELECT c.id, s.value, ifnull(unresolved, 0) FROM SAMPLING_CALLCHAINS c JOIN StringIds s ON s.id = c.symbol "
                    f"JOIN StringIds m ON m.id = c.module WHERE m.value = '{module}' ORDER BY c.id, stackDepth", name):
        found.setdefault(sample, []).append((symbol, unresolved))
    return list(found.values())


def stubs():
    """[(first, past the last)] of the offsets of the program's stubs (.plt), of which no table of symbols has names."""
    sections = subprocess.run(["readelf", "-SW", WORK], capture_output=True, text=True, check=True).stdout
    return [(int(at, 16), int(at, 16) + int(size, 16))
            for at, size in re.findall(r" \.plt\S* +PROGBITS +[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+) ", sections)]


def is_named(found):
    """Whether most of the chains that were FOUND are CHAIN, and all of them have names."""
    whole = [chain for chain in found if [symbol for symbol, _ in chain[:3]] == CHAIN]
    nameless = [int(symbol.rsplit("+0x", 1)[1], 16) for chain in found for symbol, unresolved in chain if unresolved]
    return len(whole) > len(found) / 2 and all(any(first <= at < last for first, last in stubs()) for at in nameless)


def function_starts():
    """{name: offset in the file} of the functions of the program."""
    segments = [tuple(int(number, 16) for number in found) for found in re.findall(
        r"LOAD +0x([0-9a-f]+) 0x([0-9a-f]+) 0x[0-9a-f]+ 0x([0-9a-f]+) 0x[0-9a-f]+ R E",
        subprocess.run(["readelf", "-lW", WORK], capture_output=True, text=True, check=True).stdout)]
    symbols = subprocess.run(["readelf", "-sW", WORK], capture_output=True, text=True, check=True).stdout
    return {name: offset + int(address, 16) - start for offset, start, size in segments
            for address, name in re.findall(r": ([0-9a-f]+) +\d+ FUNC .* (\S+)$", symbols, re.M) if start <= int(address, 16) < start + size}


def is_unnamed(found, base):
    """Whether all frames of the chains that were FOUND are called BASE+0x…"""
    return bool(found) and all(symbol.startswith(base + "+0x") and unresolved for chain in found for symbol, unresolved in chain)


def stripped(folder):
    """A program without names in FOLDER, and beside it a folder with a file that has them."""
    program, debug = folder.file("program"), folder.file("debug")
    os.makedirs(debug, exist_ok=True)
    subprocess.run(["objcopy", "--only-keep-debug", WORK, os.path.join(debug, "program.debug")], check=True)
    subprocess.run(["strip", "-o", program, WORK], check=True)
    return program, debug


def test_sampled_functions_have_names():
    with profiling.Folder() as folder:
        run = folder.profile(*SAMPLING, WORK, "spin", "200")
        assert run.code == 7 and run.out == "done\n", run
        if not is_refused(run):
            assert is_named(chains(folder, WORK)), chains(folder, WORK)


def test_names_are_the_same_from_the_cache():
    """A report is named without a cache, by a run that fills one, by one that reads it, and with damaged files in it."""
    with profiling.Folder() as folder:
        cache = folder.file("cache")
        kept = os.path.join(cache, "lanescope", "symbols")
        environment = {**os.environ, "XDG_CACHE_HOME": cache}
        run = folder.profile(*SAMPLING, "--resolve-symbols=false", WORK, "spin", "200", env=environment)
        assert run.code == 7 and not os.path.exists(kept), run
        if is_refused(run):
            return
        query = ("SELECT c.id, stackDepth, s.value, ifnull(f.value, ''), ifnull(sourceLine, 0), ifnull(inlined, 0), ifnull(unresolved, 0) "
                 "FROM SAMPLING_CALLCHAINS c JOIN StringIds s ON s.id = c.symbol LEFT JOIN StringIds f ON f.id = sourceFile "
                 "ORDER BY c.id, stackDepth, inlined")
        os.makedirs(os.path.dirname(kept))
        with open(kept, "wb"):
            pass  # a file in the folder's place: there is no cache
        found = []
        for number in range(5):
            shutil.copy(folder.file("r.rep"), folder.file(f"{number}.rep"))
            done = subprocess.run([tap.LANESCOPE, "resolve", f"{number}.rep"], cwd=folder.path, capture_output=True, text=True, env=environment)
            assert done.returncode == 0, done
            found.append(rows(folder, query, f"{number}.rep"))
            if number == 0:
                assert os.path.isfile(kept)
                os.remove(kept)
            elif number == 2:
                assert os.listdir(kept)
                for name in os.listdir(kept):
                    with open(os.path.join(kept, name), "r+b") as file:
                        file.truncate(os.path.getsize(file.name) // 2)
        assert all(names == found[0] for names in found), [len(names) for names in found]
        assert is_named(chains(folder, WORK, "2.rep")), chains(folder, WORK, "2.rep")


def record_templates(folder, *words):
    """Whether a C++ program could be recorded that inlines calls; what it says if this machine refuses samples is checked."""
    if not os.path.exists(TEMPLATES):
        raise tap.Skip("the build had no C++ compiler")
    run = folder.profile(*SAMPLING, *words, TEMPLATES, "200")
    assert run.code == 0, run
    return not is_refused(run)


def test_inlined_calls_and_lines():
    """Of a C++ program with templates; each row is a function, and each address has as many as were inlined there."""
    with profiling.Folder() as folder:
        if not record_templates(folder):
            return
        with open(os.path.join(tap.SOURCE, "tests", "programs", "cpu-templates.cc"), encoding="utf-8") as file:
            lines = file.read().splitlines()
        hot, call = (next(i for i, line in enumerate(lines, 1) if line.endswith(end)) for end in ("// the hot line", "// the call"))
        found = collections.defaultdict(list)
        for sample, *cells in rows(folder, "SELECT c.id, originalIP, s.value, ifnull(f.value, ''), ifnull(sourceLine, 0), ifnull(inlined, 0) "
                                           "FROM SAMPLING_CALLCHAINS c JOIN StringIds s ON s.id = c.symbol "
                                           "LEFT JOIN StringIds f ON f.id = sourceFile ORDER BY c.id, stackDepth"):
            found[sample].append(tuple(cells))
        mixing = collections.Counter()
        for (place, *leaf), (other, *caller) in (chain[:2] for chain in found.values() if len(chain) > 1):
            if (leaf[0], leaf[3]) == ("work::mix(unsigned long)", 1) and os.path.basename(leaf[1]) == "cpu-templates.cc":
                assert place == other and caller[0] == "work::Mixer<unsigned long, 100>::run(unsigned long)", (leaf, caller)
                assert caller[2:] == [call, 0] and caller[1] == leaf[1], (leaf, caller)
                mixing[leaf[2]] += 1
        assert sum(mixing.values()) > len(found) / 2 and mixing[hot] > 0, (mixing, len(found), found[1])
        # The table's number of rows counts inlined calls, and so does the export.
        run = subprocess.run([tap.LANESCOPE, "export", "-t", "sqlite", "r.rep"], cwd=folder.path, capture_output=True, text=True)
        database = sqlite3.connect(folder.file("r.sqlite"))
        query = "SELECT count(*), count(inlined), count(sourceFile), sum(sourceLine) FROM SAMPLING_CALLCHAINS"
        assert database.execute(query).fetchall() == rows(folder, query), run
        database.close()


def test_lines_may_be_left_out():
    with profiling.Folder() as folder:
        query = "SELECT count(inlined) > 0, count(sourceFile) > 0, count(sourceLine) > 0 FROM SAMPLING_CALLCHAINS"
        if not record_templates(folder, "--show-source-info=false"):
            return
        assert rows(folder, query) == [(1, 0, 0)]
        resolve(folder)
        assert rows(folder, query) == [(1, 1, 1)]


def made_code(folder, how):
    """What samples in code that cpu-jit made are called, with file and line; None if this machine refuses samples."""
    run = folder.profile(*SAMPLING, "--force-overwrite=true", JIT, how, "200")
    assert run.code == 0, run
    path = os.path.join(folder.path, run.out.strip())
    for name in path, path + ".behind":
        if os.path.lexists(name):
            os.remove(name)
    if is_refused(run):
        return None
    return collections.Counter(rows(folder, "SELECT s.value, ifnull(f.value, ''), ifnull(sourceLine, 0), ifnull(unresolved, 0) "
                                            "FROM SAMPLING_CALLCHAINS c JOIN StringIds s ON s.id = c.symbol "
                                            "LEFT JOIN StringIds f ON f.id = sourceFile JOIN StringIds m ON m.id = c.module "
                                            "WHERE stackDepth = 0 AND m.value LIKE '//anon%'"))


def test_code_that_a_program_makes():
    """It is named by the maps of just-in-time compilers, which are gone when the report is read."""
    with profiling.Folder() as folder:
        for how, name in ("map", ("made up", "", 0, 0)), ("dump", ("made up", "made-up.source", 42, 0)):
            found = made_code(folder, how)
            assert found is None or (found[name] > 20 and found[name] > sum(found.values()) / 2), (how, found)


def test_maps_of_others_are_not_read():
    """A link, a file of an earlier process with the same id, and none at all."""
    with profiling.Folder() as folder:
        for how in "link", "old", "nothing":
            found = made_code(folder, how)
            # Its addresses are one function: nothing tells more of them apart.
            assert found is None or (sum(found.values()) > 20 and list(found) == [("anon+0x…", "", 0, 1)]), (how, found)
        if found is not None:
            assert "wrote no map of it: `node --perf-basic-prof` and `python3 -X perf` do" in resolve(folder)


def shows_kernel():
    """Whether this user may read the addresses of the kernel's functions."""
    with open("/proc/kallsyms", encoding="ascii", errors="replace") as file:
        return int(file.readline().split()[0], 16) != 0


def test_code_of_the_kernel():
    """That which it maps into programs, and its own where the machine lets both be sampled and named."""
    script = "import os, time\nend = time.process_time() + 0.3\nwhile time.process_time() < end:\n    [time.monotonic() for _ in range(1000)]; os.stat('/')"
    with profiling.Folder() as folder:
        run = folder.profile(*SAMPLING, sys.executable, "-c", script)
        assert run.code == 0, run
        if is_refused(run):
            return
        query = "SELECT s.value, ifnull(unresolved, 0) FROM SAMPLING_CALLCHAINS c JOIN StringIds s ON s.id = c.symbol JOIN StringIds m ON m.id = c.module WHERE m.value = "
        found = collections.Counter(rows(folder, query + "'[vdso]'"))
        assert any("clock_gettime" in row[0] for row in found) and not any(row[1] for row in found), found
        found = collections.Counter(rows(folder, query + "'[kernel.kallsyms]'"))
        assert all(row[1] == (not shows_kernel()) for row in found), found


def resolve(folder, *words, code=0):
    run = subprocess.run([tap.LANESCOPE, "resolve", *words, "r.rep"], cwd=folder.path, capture_output=True, text=True)
    assert run.returncode == code, run
    return run.stdout if code == 0 else run.stderr


def bytes_of(folder, name="r.rep"):
    with open(folder.file(name), "rb") as file:
        return file.read()


def test_names_may_come_later():
    with profiling.Folder() as folder:
        program, debug = stripped(folder)
        run = folder.profile(*SAMPLING, "--resolve-symbols=false", program, "spin", "200")
        if is_refused(run):
            return
        os.chmod(folder.file("r.rep"), 0o640)
        before, events = os.stat(folder.file("r.rep")), folder.report("r.rep").events
        # The program has no names, its libraries may have.
        told = resolve(folder)
        assert re.search(rf"^Not resolved: \d+ in {re.escape(program)}: no symbols cover them; --debug-symbols adds folders to search$", told, re.M), told
        assert is_unnamed(chains(folder, program), "program")
        # Addresses of one function are called by its start, of which call frame information tells.
        starts = function_starts()
        whole = [f"program+0x{starts[name]:x}" for name in CHAIN]
        found = [[symbol for symbol, _ in chain[:3]] for chain in chains(folder, program)]
        assert found.count(whole) > len(found) / 2, (whole, found)
        shutil.move(program, os.path.join(debug, "elsewhere"))
        assert f"in {program}: the file cannot be read here\n" in resolve(folder)
        # Now they are all there, as on a machine that built the program, by build-ids alone.
        shutil.move(os.path.join(debug, "elsewhere"), os.path.join(debug, "program"))
        told = resolve(folder, f"--debug-symbols={debug}")
        assert is_named(chains(folder, program)) and program not in told, (told, chains(folder, program))
        after, content = os.stat(folder.file("r.rep")), bytes_of(folder)
        assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
        assert folder.report("r.rep").events == events
        # Names that are there stay, and nothing is written.
        assert ", 0 of them now." in resolve(folder) and bytes_of(folder) == content


def test_a_report_that_cannot_be_changed():
    with profiling.Folder() as folder:
        run = folder.profile(*SAMPLING, "--resolve-symbols=false", WORK, "spin", "100")
        if is_refused(run):
            return
        os.rename(folder.file("r.rep"), folder.file("s.rep"))
        os.mkdir(folder.file("read-only"))
        words = ["unshare", "-m", "sh", "-c", 'mount --bind . read-only && mount -o remount,bind,ro read-only && exec "$@"', "sh"]
        run = subprocess.run([*words, tap.LANESCOPE, "resolve", "read-only/s.rep"], cwd=folder.path, capture_output=True, text=True)
        if "mount:" in run.stderr or "unshare:" in run.stderr:
            raise tap.Skip("mounts need root")
        assert run.returncode == 125 and "cannot write “read-only/s.rep”: Read-only file system" in run.stderr, run
        assert is_unnamed(chains(folder, WORK, "s.rep"), "cpu-work")


def without_answer(folder):
    """An environment in which a server of debug symbols never answers; the file "asked" is there once it is asked."""
    with open(folder.file("debuginfod-find"), "w", encoding="ascii") as file:
        file.write(f"#!/bin/sh\n: >{folder.path}/asked\nexec sleep 1000\n")
    os.chmod(folder.file("debuginfod-find"), 0o755)
    return {**os.environ, "PATH": folder.path + ":" + os.environ["PATH"], "DEBUGINFOD_URLS": "http://localhost"}


def interrupt(folder, waiting):
    """Ends WAITING by Ctrl-C once it asks the server; what it said."""
    with waiting:
        profiling.wait_for(lambda: os.path.exists(folder.file("asked")), "the server to be asked")
        waiting.send_signal(signal.SIGINT)
        told = waiting.communicate(timeout=60)[1].decode()
    assert waiting.returncode == -signal.SIGINT, (waiting.returncode, told)
    return told


def test_interrupted_it_changes_nothing():
    with profiling.Folder() as folder:
        program, _ = stripped(folder)
        run = folder.profile(*SAMPLING, "--resolve-symbols=false", program, "spin", "100")
        if is_refused(run):
            return
        content = bytes_of(folder)
        waiting = subprocess.Popen([tap.LANESCOPE, "resolve", "r.rep"], cwd=folder.path, env=without_answer(folder), stderr=subprocess.PIPE)
        assert "cancelled" in interrupt(folder, waiting) and bytes_of(folder) == content


def test_interrupted_profile_keeps_its_report():
    with profiling.Folder() as folder:
        program, debug = stripped(folder)
        if REFUSAL is not None:
            assert is_refused(folder.profile(*SAMPLING, program, "spin", "100"))
            return
        told = interrupt(folder, folder.start(*SAMPLING, program, "spin", "100", env=without_answer(folder)))
        assert f"`lanescope resolve {folder.file('r.rep')}` looks them up" in told and folder.file("r.rep") in told.splitlines()[-2], told
        assert folder.report("r.rep").info["state"] == profiling.COMPLETE and is_unnamed(chains(folder, program), "program")
        resolve(folder, f"--debug-symbols={debug}")
        assert is_named(chains(folder, program))


def test_reports_without_addresses():
    with profiling.Folder() as folder:
        folder.profile("-t", "none", "-o", "r.rep", "true")
        content = bytes_of(folder)
        assert resolve(folder) == "The report has no addresses that can be resolved.\n" and bytes_of(folder) == content


def test_names_may_be_left_out():
    with profiling.Folder() as folder:
        run = folder.profile(*SAMPLING, "--resolve-symbols=false", WORK, "spin", "100")
        assert run.code == 7, run
        if not is_refused(run):
            assert is_unnamed(chains(folder, WORK), "cpu-work"), chains(folder, WORK)


def test_names_of_a_stripped_program():
    """They are in a file of their own, in a folder that the user names."""
    with profiling.Folder() as folder:
        program, debug = stripped(folder)
        run = folder.profile(*SAMPLING, program, "spin", "100")
        assert run.code == 7, run
        if is_refused(run):
            return
        assert is_unnamed(chains(folder, program), "program"), chains(folder, program)
        run = folder.profile(*SAMPLING, "--force-overwrite=true", f"--debug-symbols=/none:{debug}", program, "spin", "200")
        assert run.code == 7 and is_named(chains(folder, program)), (run, chains(folder, program))


def test_another_file_gives_no_names():
    """One that took the place of the program after it had run, or nothing at all."""
    with profiling.Folder() as folder:
        program, other = folder.file("program"), folder.file("other")
        for then in f"cp {other} {program}", f"rm {program}":
            shutil.copy(WORK, program)
            # The same functions at the same places, under another build-id.
            shutil.copy(WORK, other)
            subprocess.run(["objcopy", "--remove-section=.note.gnu.build-id", other], check=True)
            run = folder.profile(*SAMPLING, "--force-overwrite=true", "sh", "-c", f"{program} spin 100; {then}")
            assert run.code == 0, run
            if is_refused(run):
                return
            assert is_unnamed(chains(folder, program), "program"), (then, chains(folder, program))


tap.main(globals(), gate=(test_sampled_functions_have_names,))
