# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""lanescope export of samples: each format is read back, and has the samples that SQL finds."""

import collections
import contextlib
import csv
import gzip
import json
import os
import re
import sqlite3
import subprocess

import profiling
import tap
from sampling import REFUSAL, SAMPLING, WORK

# Two modules may have functions of one name: clock_gettime of libc and of the vDSO, _start of the program and of ld.so.
FUNCTION = "s.value || ' in ' || m.value"


@contextlib.contextmanager
def recorded():
    """A folder with the report r.rep of a program whose two threads spin; without samples where the machine refuses them."""
    with profiling.Folder() as folder:
        run = folder.profile(*SAMPLING, "sh", "-c", f"{WORK} spin 100; {WORK} spin 100", env={**os.environ, "DEBUGINFOD_URLS": ""})
        assert run.code == 7, run
        yield folder


def export(folder, type_, *words, report="r.rep"):
    run = subprocess.run([tap.LANESCOPE, "export", "-q", "--type", type_, *words, "-o", "-", folder.file(report)], capture_output=True)
    assert run.returncode == 0, run
    assert (b" is empty: " in run.stderr) == (REFUSAL is not None), run.stderr
    return run.stdout


def chains(folder, condition="1", function="s.value"):
    """How many samples each chain has, by (process, FUNCTIONs from the outermost on), by SQL."""
    if REFUSAL is not None:
        return collections.Counter()
    out = subprocess.run([tap.LANESCOPE, "sql", folder.file("r.rep"),
                          f"SELECT e.id, p.pid, t.value, {function} FROM COMPOSITE_EVENTS e JOIN SAMPLING_CALLCHAINS c USING (id) "
                          "JOIN StringIds s ON s.id = c.symbol JOIN StringIds m ON m.id = c.module JOIN PROCESSES p ON p.globalPid = e.globalTid / 0x1000000 * 0x1000000 "
                          f"JOIN ThreadNames n USING (globalTid) JOIN StringIds t ON t.id = n.nameId WHERE {condition} "
                          "ORDER BY e.id, stackDepth DESC"], capture_output=True, text=True, check=True).stdout
    found = collections.defaultdict(list)
    for line in out.splitlines():
        sample, _, name, symbol = line.split("\t")
        found[sample, name].append(symbol)
    return collections.Counter((name, *chain) for (_, name), chain in found.items())


def test_folded():
    with recorded() as folder:
        got = collections.Counter()
        for line in export(folder, "folded").decode().splitlines():
            stack, n = re.fullmatch(r"(.*) (\d+)", line).groups()
            got[tuple(stack.split(";"))] += int(n)
        assert got == chains(folder) and (REFUSAL is not None or sum(got.values()) >= 20), (got, chains(folder))
        assert export(folder, "folded", "--stacks=cpu") == export(folder, "folded")


def middle_of(folder):
    """A time between the first sample and the last; 0 if there is none."""
    out = subprocess.run([tap.LANESCOPE, "sql", folder.file("r.rep"), "SELECT coalesce(min(start) + max(start), 0) / 2 FROM COMPOSITE_EVENTS"],
                         capture_output=True, text=True, check=True).stdout
    return int(out)


def test_times():
    with recorded() as folder:
        middle = middle_of(folder)
        lines = export(folder, "folded", f"--times=/{middle}ns").decode().splitlines()
        n = sum(int(line.rsplit(" ", 1)[1]) for line in lines)
        assert n == sum(chains(folder, f"e.start <= {middle}").values()) and (n > 0) == (REFUSAL is None), lines


def test_perf_script():
    """As FlameGraph's stackcollapse-perf.pl reads it: a head, functions from the innermost on, an empty line."""
    with recorded() as folder:
        got = collections.Counter()
        for block in export(folder, "perf-script").decode().split("\n\n")[:-1]:
            head, *lines = block.split("\n")
            name, = re.fullmatch(r"(\S.*?)\s+\d+/\d+\s+\[\d{3}\]\s+\d+\.\d{6}:\s+\d+ (?:cycles|cpu-clock): ", head).groups()
            places = [re.fullmatch(r"\t *([0-9a-f]+) (.*) \((.*)\)", line).groups() for line in lines]
            got[(name, *(symbol for _, symbol, _ in reversed(places)))] += 1
        wanted = collections.Counter()
        for chain, n in chains(folder).items():
            wanted[tuple("[unknown]" if "+0x" in function else function for function in chain)] += n
        assert got == wanted, (got, wanted)


def test_speedscope():
    with recorded() as folder:
        file = json.loads(export(folder, "speedscope"))
        assert file["$schema"] == "https://www.speedscope.app/file-format-schema.json"
        names = [frame["name"] for frame in file["shared"]["frames"]]
        got = collections.Counter()
        for profile in file["profiles"]:
            assert profile["type"] == "sampled" and profile["unit"] == "none" and profile["startValue"] == 0, profile
            assert len(profile["samples"]) == len(profile["weights"]) == sum(profile["weights"]) == profile["endValue"] > 0
            name = re.fullmatch(r"(.*) \(\d+/\d+\)", profile["name"]).group(1)
            got.update((name, *(names[frame] for frame in sample)) for sample in profile["samples"])
        assert got == chains(folder), got


def test_firefox():
    """The tables of the processed profile of version 60: columns of one length, whose numbers are places in other tables."""
    def check(table, **ranges):
        columns = {name: values for name, values in table.items() if name != "length" and isinstance(values, list)}
        assert {len(values) for values in columns.values()} <= {table["length"]}, table
        for name, (least, end) in ranges.items():
            assert all(value is None or least <= value < end for value in columns[name]), (name, least, end)

    with recorded() as folder:
        file = json.loads(export(folder, "firefox"))
        assert file["meta"]["preprocessedProfileVersion"] == 60 and file["libs"] == [], file["meta"]
        shared, strings = file["shared"], len(file["shared"]["stringArray"])
        assert len(set(shared["stringArray"])) == strings
        stacks, frames, functions, resources, sources = (
            shared[name] for name in ("stackTable", "frameTable", "funcTable", "resourceTable", "sources"))
        check(stacks, frame=(0, frames["length"]))
        assert all(prefix is None or prefix < at for at, prefix in enumerate(stacks["prefix"]))
        check(frames, func=(0, functions["length"]), category=(0, len(file["meta"]["categories"])), line=(1, 1 << 31))
        check(functions, name=(0, strings), resource=(-1, resources["length"]), source=(0, sources["length"]))
        check(resources, name=(0, strings), type=(1, 2))
        check(sources, filename=(0, strings))
        check(shared["nativeSymbols"])
        places = list(zip(functions["name"], functions["resource"]))
        assert len(places) == len(set(places)), "a function is listed twice"

        def functions_of(stack):
            chain = []
            while stack is not None:
                chain.append(shared["stringArray"][functions["name"][frames["func"][stacks["frame"][stack]]]])
                stack = stacks["prefix"][stack]
            return tuple(reversed(chain))

        got, times = collections.Counter(), {}
        for thread in file["threads"]:
            check(thread["samples"], stack=(0, stacks["length"]))
            assert thread["samples"]["time"] == sorted(thread["samples"]["time"]) and thread["markers"]["length"] == 0, thread["name"]
            assert thread["isMainThread"] == (thread["pid"] == str(thread["tid"])), thread["pid"]
            got.update((thread["name"], *functions_of(stack)) for stack in thread["samples"]["stack"])
            times.setdefault(int(thread["pid"]), []).extend(thread["samples"]["time"])
        assert got == chains(folder), got
        if REFUSAL is None:
            rows = subprocess.run([tap.LANESCOPE, "sql", folder.file("r.rep"), "SELECT globalTid >> 24 & 0xffffff, start FROM COMPOSITE_EVENTS"],
                                  capture_output=True, text=True, check=True).stdout.splitlines()
            wanted = collections.defaultdict(list)
            for row in rows:
                pid, start = map(int, row.split("\t"))
                wanted[pid].append(start / 1e6)
            assert {pid: sorted(found) for pid, found in times.items()} == {pid: sorted(found) for pid, found in wanted.items()}


def printed(folder, name, report):
    return subprocess.run([tap.LANESCOPE, "stats", "-q", "-r", name, "-f", "csv", "-o", "-", folder.file(report)], capture_output=True, text=True)


def functions_of(exported, type_):
    """The functions of an export, of folded with their chains and samples."""
    if type_ == "folded":
        chains_ = collections.Counter()
        for line in exported.decode().splitlines():
            chain, n = line.rsplit(" ", 1)
            chains_[chain] += int(n)
        return chains_
    text = (gzip.decompress(exported) if type_ == "pprof" else exported).decode(errors="replace")
    return {name for name in ("leaf", "middle", "main", "_start", "spin") if name in text}


def test_imported_call_chains_are_summed_up():
    """The chains that an nsys export keeps as rows make the same tables of functions as those of the recording."""
    with recorded() as folder:
        if REFUSAL is not None:
            return
        subprocess.run([tap.LANESCOPE, "export", "-q", "-t", "sqlite", "-o", folder.file("r.sqlite"), folder.file("r.rep")], check=True)
        subprocess.run([tap.LANESCOPE, "import", "-q", "-o", folder.file("i.rep"), folder.file("r.sqlite")], check=True)
        for name in ("sample_sum", "sample_tree", "sample_sum:modules", "sample_tree:bottom-up"):
            wanted, got = (printed(folder, name, report) for report in ("r.rep", "i.rep"))
            # Rows of the same numbers may change places.
            assert wanted.returncode == got.returncode == 0 and len(wanted.stdout.splitlines()) > 3, (name, wanted, got)
            assert sorted(wanted.stdout.splitlines()) == sorted(got.stdout.splitlines()), (name, wanted.stdout, got.stdout)
        for type_ in "folded", "svg", "perf-script", "speedscope", "firefox", "pprof":
            wanted, got = (functions_of(export(folder, type_, report=report), type_) for report in ("r.rep", "i.rep"))
            assert wanted == got and len(wanted) > 3, (type_, wanted, got)
        # Rows of one chain that do not stand together might be two chains.
        with contextlib.closing(sqlite3.connect(folder.file("r.sqlite"))) as database, database:
            columns = ", ".join(f'"{row[1]}"' for row in database.execute("PRAGMA table_info(SAMPLING_CALLCHAINS)"))
            (first,) = database.execute("SELECT min(rowid) FROM SAMPLING_CALLCHAINS").fetchone()
            database.execute(f"INSERT INTO SAMPLING_CALLCHAINS ({columns}) SELECT {columns} FROM SAMPLING_CALLCHAINS WHERE rowid = {first}")
        subprocess.run([tap.LANESCOPE, "import", "-q", "-o", folder.file("s.rep"), folder.file("r.sqlite")], check=True)
        got = printed(folder, "sample_sum", "s.rep")
        assert got.returncode == 125 and "in no order and cannot be summed up" in got.stderr, got


def fields(message):
    """[(number, integer or bytes)] of a message of protocol buffers."""
    at, found = 0, []

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        key = varint()
        assert key & 7 in (0, 2), key
        value = varint()
        if key & 7 == 2:
            at, value = at + value, message[at:at + value]
            assert at <= len(message)
        found.append((key >> 3, value))
    return found


def packed(value):
    return [n for _, n in fields(b"".join(b"\x08" + part for part in re.findall(rb"[\x80-\xff]*[\x00-\x7f]", value, re.S)))]


def test_pprof():
    with recorded() as folder:
        profile = collections.defaultdict(list)
        for number, value in fields(gzip.decompress(export(folder, "pprof"))):
            profile[number].append(value)
        texts = [text.decode() for text in profile[6]]
        assert texts[0] == "" and texts[dict(fields(profile[1][0]))[1]] == "samples"
        functions = {dict(fields(function))[1]: texts[dict(fields(function))[2]] for function in profile[5]}
        modules = {dict(fields(module))[1]: dict(fields(module)) for module in profile[3]}
        places = {}
        for location in profile[4]:
            known = dict(fields(location))
            assert known.get(2, 0) == 0 or modules[known[2]][2] <= known[3] < modules[known[2]][3], known
            lines = [dict(fields(value)) for number, value in fields(location) if number == 4]
            places[known[1]] = [functions[line[1]] for line in lines]
        got = collections.Counter()
        for sample in profile[2]:
            known = dict(fields(sample))
            got[tuple(name for place in packed(known[1]) for name in places[place])[::-1]] += packed(known[2])[0]
        wanted = collections.Counter()
        for chain, n in chains(folder).items():
            wanted[chain[1:]] += n
        assert got == wanted, (got, wanted)


def stats(folder, report, *words):
    run = subprocess.run([tap.LANESCOPE, "stats", "-q", "-f", "csv", "-r", report, *words, folder.file("r.rep")], capture_output=True, text=True, check=True)
    return list(csv.DictReader(line for line in run.stdout.splitlines() if line))


def count_functions(chains_):
    """(self, total) by function: a sample counts once for each function of its chain."""
    alone, total = collections.Counter(), collections.Counter()
    for (_, *chain), n in chains_.items():
        alone[chain[-1]] += n
        total.update({symbol: n for symbol in set(chain)})
    return {symbol: (alone[symbol], total[symbol]) for symbol in total}


def test_sums():
    with recorded() as folder:
        rows = stats(folder, "sample_sum")
        got = {(f"{row['Function']} in {row['Module']}"): (int(row["Self"]), int(row["Total"]))
               for row in rows if row["Function"] != "[no call chain]"}
        wanted = count_functions(chains(folder, function=FUNCTION))
        assert got == wanted, (got, wanted)
        assert [int(row["Self"]) for row in rows] == sorted((int(row["Self"]) for row in rows), reverse=True), rows


def paths_of(rows):
    """(path, row) of each row of a tree, the path from its outermost row on, of functions with their modules."""
    path = []
    for row in rows:
        if row["Function"] != "[no call chain]":
            depth = int(row["Depth"])
            assert depth <= len(path) and row["Function"].startswith("  " * depth), row
            path[depth:] = [f"{row['Function'][2 * depth:]} in {row['Module']}"]
            yield tuple(path), row


def test_tree():
    with recorded() as folder:
        got = collections.Counter({path: int(row["Self"]) for path, row in paths_of(stats(folder, "sample_tree"))})
        wanted = collections.Counter()
        for chain, n in chains(folder, function=FUNCTION).items():
            wanted[chain[1:]] += n
        assert +got == wanted, (got, wanted)


def test_tree_by_thread():
    """Below processes and threads, whose numbers are those of SQL by thread."""
    with recorded() as folder:
        tree = list(paths_of(stats(folder, "sample_tree:threads")))
        got = {path: int(row["Total"]) for path, row in tree if int(row["Depth"]) <= 1}
        out = subprocess.run([tap.LANESCOPE, "sql", folder.file("r.rep"), """
            SELECT p.name || ' (' || p.pid || ') in ', t.value || ' (' || (e.globalTid % 0x1000000) || ') in ', count(*) FROM COMPOSITE_EVENTS e
            JOIN PROCESSES p ON p.globalPid = e.globalTid / 0x1000000 * 0x1000000
            JOIN ThreadNames n USING (globalTid) JOIN StringIds t ON t.id = n.nameId
            WHERE e.id IN (SELECT id FROM SAMPLING_CALLCHAINS) GROUP BY e.globalTid"""], capture_output=True, text=True, check=True).stdout
        wanted = collections.Counter()
        for process, thread, n in (line.split("\t") for line in out.splitlines()):
            wanted[process,] += int(n)
            wanted[process, thread] += int(n)
        assert got == wanted and (len(got) > 4) == (REFUSAL is None), (got, wanted)
        whole = collections.Counter()
        for path, row in tree:
            whole[path[2:]] += int(row["Self"])
        assert +whole == collections.Counter({path: int(row["Self"]) for path, row in paths_of(stats(folder, "sample_tree")) if int(row["Self"]) > 0}), (whole, tree)


def test_tree_from_the_bottom_up():
    with recorded() as folder:
        got = {path: (int(row["Total"]), int(row["Self"])) for path, row in paths_of(stats(folder, "sample_tree:bottom-up"))}
        total, alone = collections.Counter(), collections.Counter()
        for (_, *chain), n in chains(folder, function=FUNCTION).items():
            chain.reverse()
            alone[chain[0],] += n
            for i in range(len(chain)):
                total[tuple(chain[:i + 1])] += n
        assert got == {path: (n, alone[path]) for path, n in total.items()}, (got, total)


def test_modules():
    """Calls within a module are one row; a sample counts once for each module of its chain."""
    with recorded() as folder:
        total, alone, counted = collections.Counter(), collections.Counter(), collections.Counter()
        for (_, *chain), n in chains(folder, function="m.value || ' in ' || m.value").items():
            path = [module for i, module in enumerate(chain) if i == 0 or chain[i - 1] != module]
            alone[tuple(path)] += n
            counted.update({module: n for module in set(path)})
            for i in range(len(path)):
                total[tuple(path[:i + 1])] += n
        got = {path: (int(row["Total"]), int(row["Self"])) for path, row in paths_of(stats(folder, "sample_tree:modules"))}
        assert got == {path: (n, alone[path]) for path, n in total.items()}, (got, total)
        summed = {f"{row['Function']} in {row['Module']}": int(row["Total"]) for row in stats(folder, "sample_sum:modules") if row["Function"] != "[no call chain]"}
        assert summed == counted, (summed, counted)


def test_rows_below_a_minimum():
    """What is left out is told, and sums stay whole."""
    with recorded() as folder:
        n = sum(chains(folder).values())
        for kind in "", ":bottom-up":
            whole = {path: int(row["Total"]) for path, row in paths_of(stats(folder, f"sample_tree{kind}"))}
            got = dict(paths_of(stats(folder, f"sample_tree{kind}:min=20")))
            n_all = sum(int(row["Self"]) for row in stats(folder, f"sample_tree{kind}"))
            kept = {path: int(row["Total"]) for path, row in got.items() if not path[-1].endswith("more, each below 20 %] in ")}
            assert kept == {path: n for path, n in whole.items() if n >= 0.2 * n_all}, (kept, whole)
            assert sum(int(row["Self"]) for row in got.values()) == n, got
    for bad in "min=", "min=x", "min=101", "min=-1", "bottom", "modules=1":
        run = subprocess.run([tap.LANESCOPE, "stats", "-r", f"sample_tree:{bad}", "none.rep"], capture_output=True, text=True, check=False)
        assert run.returncode == 125 and "write sample_tree[:bottom-up][:modules][:threads][:min=PERCENT]" in run.stderr, (bad, run)


def test_sums_of_a_time():
    with recorded() as folder:
        middle = middle_of(folder)
        rows = stats(folder, "sample_sum", "--filter-time", f"{middle}ns/")
        wanted = sum(chains(folder, f"start >= {middle}").values())
        n = sum(int(row["Self"]) for row in rows if row["Function"] != "[no call chain]")
        assert n == wanted and (n > 0) == (REFUSAL is None), (rows, wanted)


tap.main(globals())
