# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""lanescope info and recover: what they print about complete, broken and open reports."""

import os
import shutil
import sqlite3
import subprocess

import golden
import tap

REPORT = golden.make_report()

INFO = f"""\
path: {REPORT}
state: complete
events: 27
open: 1
lost: 4
duration: 100.050 µs
started: 2023-11-14 22:13:20 UTC
host: example
command line: ./demo --fast
size: 512.0 KiB
processes: 2
  1000 demo, 2 threads, exit code 0
    2000 child, 1 thread
threads: 3
domains: 4
tracks: 7
lanes: 9
  NVTX push/pop ranges: 19 events in 4 tracks
  NVTX start/end ranges: 2 events in 1 track
  NVTX marks: 3 events in 1 track
  counters: 3 events in 1 track
"""

END = """\
gaps: 1
  4 events lost and 2 ends from 40 µs to 41 µs in thread 1001
diagnostics: 1
  LNS-NVTX-003 warning: A range was popped that nobody pushed.
problems: 1
  LNS-DOCTOR-004 warning: 4 events are lost: record with a larger --buffer-size, or to a faster disk
"""


def test_a_whole_report():
    out, err = golden.run("info", REPORT)
    lines = out.split(b"\n")
    strings = [line for line in lines if line.startswith(b"strings: ")]
    assert len(strings) == 1 and int(strings[0][9:]) > 40
    golden.check(out.replace(strings[0] + b"\n", b""), (INFO + END).encode())
    assert err == b""


def test_gaps_and_diagnostics_of_one_kind_are_one_line():
    out = golden.run("info", golden.make_report("gaps.rep", "0", ["gaps"]))[0].decode()
    assert out[out.index("gaps: "):] == """\
gaps: 41
  80 events lost in 40 gaps from 50 µs to 89.1 µs in thread 1000
  4 events lost and 2 ends from 40 µs to 41 µs in thread 1001
diagnostics: 4
  LNS-NVTX-003 warning: A range was popped that nobody pushed.
  LNS-POOL-003 warning: process 2000 was not recorded for 0 ms (and 2 more of this kind)
problems: 0
""", out


def test_many_processes_are_a_line_for_each_name():
    out = golden.run("info", golden.make_report("make.rep", "0", ["make"]))[0].decode()
    assert out[out.index("processes: "):out.index("domains: ")] == """\
processes: 28
  1000 demo, 2 threads, exit code 0
    2000 child, 1 thread
    3000 make, 1 thread, exit code 0
      sh ×12, 12 threads, exit code 0 ×10, other exit codes ×2
        cc1 ×12, 12 threads, exit code 0 ×10, other exit codes ×1, killed ×1
      4000 ld, 1 thread
  it is not known how 1 of them ended
threads: 29
""", out


def test_recover_and_its_default_name():
    out, _ = golden.run("recover", REPORT)
    assert b"Generated:\n    " + golden.path("demo-recovered.rep").encode() in out, out
    info = golden.run("info", golden.path("demo-recovered.rep"))[0]
    assert b"\nstate: recovered\n" in info and b"\nevents: 27\n" in info and b"\nlost: 4\n" in info, info
    _, err = golden.run("recover", REPORT, code=125)
    assert err.startswith(b"lanescope: error: ") and b"demo-recovered.rep" in err, err
    golden.run("recover", "-f", "true", "-o", golden.path("demo-recovered.rep"), REPORT)
    names = "SELECT text FROM NVTX_EVENTS WHERE eventType = 59 ORDER BY start, text"
    golden.check(golden.run("sql", golden.path("demo-recovered.rep"), names)[0], golden.run("sql", REPORT, names)[0])


def test_what_a_cut_report_lacks_is_told():
    """A short run has all its events in its last pages; where even the count is gone, that is said."""
    content = open(golden.make_report("short.rep"), "rb").read()
    for n_bytes in (300000, 524288 - 70000):
        with open(golden.path("piece.rep"), "wb") as file:
            file.write(content[:n_bytes])
        out, err = golden.run("recover", "-f", "true", "-o", golden.path("piece-back.rep"), golden.path("piece.rep"), code=125)
        assert out == b"" and b"cannot recover anything" in err and b"missing: 26 events;" in err, err
        assert not os.path.exists(golden.path("piece-back.rep"))
    long = open(golden.make_report("long.rep", 100000), "rb").read()

    def facts_of(path):
        info = golden.run("info", path)[0].decode()
        return dict(line.split(": ", 1) for line in info.splitlines() if ": " in line and not line.startswith(" ")), info

    whole, _ = facts_of(golden.path("long.rep"))
    with open(golden.path("piece.rep"), "wb") as file:
        file.write(long[:len(long) * 2 // 3])
    out = golden.run("recover", "-f", "true", "-o", golden.path("piece-back.rep"), golden.path("piece.rep"))[0].decode()
    facts, info = facts_of(golden.path("piece-back.rep"))
    missing = int(whole["events"]) - int(whole["open"]) - int(facts["events"]) + int(facts["open"])
    assert missing > 0 and facts["missing"] == f"{missing} events" and f"missing: {missing} events." in out, (out, info)
    assert int(facts["lost"]) == int(whole["lost"]) + missing and "LNS-STORE-001" in info, info
    # Its findings have no advice that is about something else.
    assert "--buffer-size" not in info, info
    with open(golden.path("piece.rep"), "wb") as file:
        file.write(b"\0" * 2 * 65536 + content[2 * 65536:])
    out = golden.run("recover", "-f", "true", "-o", golden.path("piece-back.rep"), golden.path("piece.rep"))[0].decode()
    assert "missing: not known" in out or "missing: at least" in out, out
    assert b"\nmissing: " in golden.run("info", golden.path("piece-back.rep"))[0]


def test_a_truncated_report_is_recovered_on_the_way():
    """Commands answer from what is left, and say so on stderr; the file itself stays as it was."""
    cut = golden.path("cut.rep")
    content = open(golden.make_report("large.rep", 400000), "rb").read()
    with open(cut, "wb") as file:
        file.write(content[:len(content) // 2])
    for words in (["info", cut], ["stats", "-q", cut], ["sql", cut, "SELECT count(*) FROM NVTX_EVENTS"]):
        out, err = golden.run(*words)
        assert out != b"" and b"cut.rep is damaged" in err, (words, err)
    assert b"\nstate: recovered\n" in golden.run("info", cut)[0]
    assert open(cut, "rb").read() == content[:len(content) // 2]


def test_without_level_rows_it_is_damaged():
    damaged = golden.path("levels.rep")
    shutil.copy(golden.make_report("large2.rep", 2000000), damaged)
    database = sqlite3.connect(damaged)
    assert database.execute("DELETE FROM lns_chunk WHERE level > 0").rowcount > 0
    database.commit()
    database.close()
    out, err = golden.run("info", damaged)
    assert b"\ndamaged: " in out and b"levels.rep is damaged" in err, (out, err)
    assert b"\nevents: 2000000\n" in out, out


def test_without_a_report():
    _, err = golden.run("info", code=125)
    assert err.startswith(b"lanescope: error: info needs one report"), err
    _, err = golden.run("info", "--print=env", REPORT, REPORT, code=125)
    assert b"remove the extra argument" in err, err


def test_ui_starts_the_viewer_that_is_there():
    """A viewer on PATH gets the reports; without any, one sentence says what to do."""
    binary = golden.path("alone/lanescope")
    os.makedirs(os.path.dirname(binary))
    os.symlink(tap.LANESCOPE, golden.path("alone/link"))
    shutil.copy(tap.LANESCOPE, binary)
    done = subprocess.run([binary, "ui", "x.rep"], env={"PATH": golden.path("nothing")}, capture_output=True)
    assert done.returncode == 125 and b"lanescope-ui" in done.stderr, done
    viewer = golden.path("bin/lanescope-ui")
    os.makedirs(os.path.dirname(viewer))
    with open(viewer, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nprintf '%s,' \"$@\"\nexit 3\n")
    os.chmod(viewer, 0o755)
    done = subprocess.run([binary, "ui", "a b.rep", "c.rep"], env={"PATH": golden.path("bin") + ":/usr/bin:/bin"}, capture_output=True)
    assert done.returncode == 3 and done.stdout == b"a b.rep,c.rep,", done
    done = subprocess.run([binary, "ui", "a b.rep", "--compare", "c.rep"], env={"PATH": golden.path("bin") + ":/usr/bin:/bin"}, capture_output=True)
    assert done.returncode == 3 and done.stdout == b"--compare,a b.rep,c.rep,", done


def test_several_reports_are_a_line_each():
    missing = os.path.join(os.path.dirname(REPORT), "missing.rep")
    told = subprocess.run([tap.LANESCOPE, "info", REPORT, missing, REPORT], capture_output=True, text=True, check=False)
    assert told.returncode == 125 and told.stderr == f"lanescope: error: {missing} does not exist; check the path\n", told
    row = f"complete           example            27           4          2   100.050 \N{MICRO SIGN}s  {REPORT}"
    assert told.stdout == f"""\
reports: 3
complete: 2
empty: 0
cut off: 0
recording: 0
recovered or incomplete: 0
unreadable: 1

state       ranks  host           events        lost  processes      duration  report
{row}
unreadable                             0           0          0                {missing}
{row}
""", told.stdout


tap.main(globals())
