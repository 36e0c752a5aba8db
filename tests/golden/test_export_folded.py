# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""lanescope export --type folded and svg: compares the stacks with a comparison of every pair; the picture is valid
SVG whose frames add up to the stacks."""

import collections
import os
import re
import sqlite3
import xml.etree.ElementTree as ET

import exports
import golden
import tap

SVG = "{http://www.w3.org/2000/svg}"


def folded(name, *switches):
    out, _ = golden.run("export", "-t", "folded", "-o", "-", *switches, exports.path(name))
    return [(line.rsplit(" ", 1)[0], int(line.rsplit(" ", 1)[1])) for line in out.decode().splitlines()]


def expected(name):
    """Each call with its thread's ranges that are open from its start to its end, and what it began."""
    database = exports.source(name)
    strings = dict(database.execute("SELECT id, value FROM StringIds"))
    ranges = collections.defaultdict(list)
    for row in database.execute("SELECT globalTid, start, end, COALESCE(text, (SELECT value FROM StringIds WHERE id = textId))"
                                " FROM NVTX_EVENTS WHERE eventType = 59 AND end NOT NULL ORDER BY start, end DESC"):
        ranges[row[0]].append(row[1:])
    work = collections.defaultdict(list)
    for table, column in [("KERNEL", "demangledName"), ("MEMCPY", "NULL")]:
        for pid, correlation, kernel, duration in database.execute(
                f"SELECT globalPid >> 24, correlationId, {column}, end - start FROM CUPTI_ACTIVITY_KIND_{table} ORDER BY rowid"):
            work[pid, correlation].append((strings.get(kernel, "memcpy"), duration))
    stacks = []
    for tid, start, end, correlation in database.execute(
            "SELECT globalTid, start, end, correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME ORDER BY start"):
        for kernel, duration in work.pop((tid >> 24, correlation), []):
            names = [text for s, e, text in ranges[tid] if s <= start and e >= end] + [kernel]
            stacks.append((";".join(n.replace(";", "_") for n in names), duration))
    return stacks


@exports.on_each(["pair", "old"], ["h100x2-nccl", "h100x2-before"], least=(300, 100))
def test_stacks_are_those_of_all_with_all(names, least):
    n_deep = 0
    for name in names:
        got, wanted = folded(name, "--filter-out=none"), expected(name)
        assert collections.Counter(got) == collections.Counter(wanted), (name, got[:2], wanted[:2], len(got), len(wanted))
        n_deep += sum(stack.count(";") > 2 for stack, _ in got)
    assert n_deep > least, n_deep


@exports.on_each([("pair", "all_reduce|layer 3|^memcpy$")], [("h100x2-nccl", "aten::copy_|^memcpy$")])
def test_switches(names, _):
    (name, pattern), = names
    everything = folded(name, "--filter-out=none")
    left = [(s, n) for s, n in everything if not any(re.search(pattern, part) for part in s.split(";"))]
    assert folded(name, "--filter-out", pattern) == left and 0 < len(left) < len(everything)
    _, err = golden.run("export", "-t", "svg", "--filter-out", "[", "-o", "x.svg", exports.path(name), code=125)
    assert b"regular expression" in err and not os.path.exists(golden.path("x.svg")), err


@exports.on_each(["pair"], ["h100x2-nccl"])
def test_the_picture(names, _):
    name, = names
    out, _ = golden.run("export", "-t", "svg", "-o", "-", "--filter-out=none", exports.path(name))
    root = ET.fromstring(out.decode())
    assert not [e for e in root.iter() if "href" in "".join(e.keys())] and b"http" not in out.replace(b"http://www.w3.org/2000/svg", b"")
    frames = [(int(g.get("data-depth")), float(g.get("data-x")), float(g.get("data-width")), g.find(SVG + "title").text)
              for g in root.iter(SVG + "g") if g.get("data-depth")]
    frames.sort()
    stacks = folded(name, "--filter-out=none")
    whole = sum(n for _, n in stacks)
    assert frames[0][:3] == (0, 0.0, 1180.0) and frames[0][3].startswith("all (")
    by_depth = collections.Counter()
    for stack, n in stacks:
        for depth, part in enumerate(stack.split(";")):
            by_depth[depth + 1, part] += n
    drawn = collections.Counter()
    for depth, _, width, title in frames[1:]:
        drawn[depth, title.rsplit(" (", 1)[0].replace(";", "_")] += width
    for key, width in drawn.items():
        wanted = 1180 * by_depth[key] / whole  # of which frames that nobody can see are left out
        assert width <= wanted + 0.01 and (wanted < 20 or width > 0.98 * wanted), (key, width, wanted)
    for (depth, x, width, _), (next_depth, next_x, _, _) in zip(frames, frames[1:]):
        assert depth != next_depth or x + width <= next_x + 0.001
    below = {d: [(x, x + w) for e, x, w, _ in frames if e == d] for d in range(20)}
    assert all(any(a - 0.001 <= x and x + w <= b + 0.001 for a, b in below[d - 1]) for d, x, w, _ in frames if d)


def test_sums_end_at_the_greatest_number():
    """Kernels that last nearly as long as int64 reaches, or end that long before they start: frames keep their widths."""
    with sqlite3.connect(golden.path("long.sqlite")) as database:
        database.executescript("""
            CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
            INSERT INTO StringIds VALUES (1, 'often'), (2, 'once'), (3, 'cudaLaunchKernel'), (4, 'never');
            CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER,
                nameId INTEGER, returnValue INTEGER);
            INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT value, value + 1, 0, 77 << 24 | 77, value, 3, 0 FROM json_each ('[1, 2, 3, 4]');
            CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
                correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER);
            INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT 10, 0x7000000000000000, 0, 1, value, value, 77 << 24, 1 + value / 3, 1 + value / 3
                FROM json_each ('[1, 2, 3]');
            INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, -0x7fffffffffffffff, 0, 1, 7, 4, 77 << 24, 4, 4);""")
    out, _ = golden.run("export", "-t", "svg", "-o", "-", "--filter-out=none", "long.sqlite")
    frames = {g.find(SVG + "title").text.split(" ")[0]: float(g.get("data-width")) for g in ET.fromstring(out.decode()).iter(SVG + "g") if g.get("data-depth")}
    assert frames["all"] == frames["often"] == 1180 and 1000 < frames["once"] < 1180, frames
    assert ("never", 0) in folded(golden.path("long"), "--filter-out=none")


def test_what_is_missing_is_told():
    """An empty flame graph says why it is: no GPU work at all, none that was asked for, none with its call, or none that the filter leaves."""
    ranges = golden.make_report("ranges.rep")
    for type_ in ("folded", "svg"):
        made = golden.path("empty." + type_)
        _, err = golden.run("export", "-f", "true", "--type", type_, "-o", made, ranges)
        assert b"warning: " + made.encode() + b" is empty: the report holds no kernels and no copies" in err and b"--trace=cuda,nvtx" in err, err
        assert type_ == "svg" or os.path.getsize(made) == 0
        out, err = golden.run("export", "-q", "--type", type_, "-o", "-", ranges)
        assert err.startswith(b"lanescope: warning: the output is empty: ") and (type_ == "svg") == (out != b""), err
    source = exports.path("pair")
    for words, told in ((["--filter-out", "."], b"--filter-out leaves out every stack"), (["--times", "0/1ns"], b"--times or --tables leave out every kernel"),
                        (["--tables", "NVTX_EVENTS"], b"--times or --tables leave out every kernel"), ([], b"")):
        out, err = golden.run("export", "-q", "--type", "folded", *words, "-o", "-", source)
        assert told in err and (out == b"") == (told != b"") and (err == b"") == (told == b""), (words, out[:100], err)
    uncalled = golden.path("uncalled.sqlite")
    with sqlite3.connect(uncalled) as database:
        sqlite3.connect(f"file:{source}?immutable=1", uri=True).backup(database)
        database.execute("DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME")
    out, err = golden.run("export", "-q", "--type", "folded", "-o", "-", uncalled)
    assert out == b"" and b"no kernel or copy has the CUDA call that began it" in err, err


tap.main(globals())
