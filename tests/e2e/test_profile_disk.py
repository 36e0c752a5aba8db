# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Tests recording on a difficult disk: it fills, another program reads the file, the tool is killed."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time

import tap
from profiling import ACT, COMPLETE, Folder, Report, children, wait_for


class SmallDisk:
    """A file system of SIZE on FOLDER/small, as far as this system lets itself be given one."""

    def __init__(self, folder, size):
        self.path = folder.file("small")
        os.mkdir(self.path)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", self.path],
                          capture_output=True).returncode != 0:
            raise tap.Skip("only root can mount a small file system")

    def __enter__(self):
        return self.path

    def __exit__(self, *unused):
        subprocess.run(["umount", "-l", self.path], check=True)


def info(path):
    out = subprocess.run([tap.LANESCOPE, "info", path], check=True, capture_output=True, text=True).stdout
    return dict(line.split(": ", 1) for line in out.splitlines() if ": " in line and not line.startswith(" "))


def test_a_disk_that_fills_midway():
    with Folder() as folder, SmallDisk(folder, "3500k") as small:
        made = 1000 + 20 * 100000
        spins = ["spin", "1000", "sleep", "2500"] + ["spin", "100000", "sleep", "100"] * 20
        run = folder.profile("-o", small + "/full", ACT, *spins, "print", "the end")
        assert run.code == 125 and run.out == "the end\n", run
        sentences = [line for line in run.err.splitlines() if "error: " in line]
        assert len(sentences) == 1 and "full.rep" in sentences[0] and "No space left" in sentences[0], run.err
        facts = info(small + "/full.rep")
        assert facts["state"] == "incomplete" and "No space left on device" in facts["missing"], facts
        # One that was open at the last commit is there without its end; the whole of it is among the lost ones.
        kept, lost = int(facts["events"]) - int(facts["open"]), int(facts["lost"])
        assert kept >= 1000 and lost > 0 and kept + lost == made, facts
        assert f"{kept} events are in the report, {lost} are lost" in sentences[0], (facts, sentences)
        assert os.listdir(small) == ["full.rep"], os.listdir(small)


def test_a_small_disk_is_filled():
    with Folder() as folder, SmallDisk(folder, "1500k") as small:
        run = folder.profile("-o", small + "/full", ACT, "spin", "3000000")
        facts = info(small + "/full.rep")
        kept, lost = int(facts["events"]) - int(facts["open"]), int(facts["lost"])
        # What is written in one second is more than the disk has room for, and it is not all lost for that.
        assert run.code == 125 and kept > 0 and kept + lost == 3000000, facts


def test_a_disk_that_is_full_from_the_start():
    with Folder() as folder, SmallDisk(folder, "1m") as small:
        run = folder.profile("-o", small + "/full", ACT, "spin", "400000")
        assert run.code == 125 and "0 events are in the report, 400000 are lost" in run.err, run
        out = subprocess.run([tap.LANESCOPE, "info", small + "/full.rep"], check=True, capture_output=True, text=True).stdout
        assert "state: incomplete\nmissing: 400000 events, which could not be written: " in out, out
        # No advice for another cause.
        assert "LNS-DOCTOR-011 error: the report lacks 400000 events" in out and "LNS-DOCTOR-011" in out, out
        assert "--trace" not in out and "--buffer-size" not in out, out
        again = subprocess.run([tap.LANESCOPE, "recover", "-o", folder.file("again.rep"), small + "/full.rep"],
                               check=False, capture_output=True, text=True)
        assert again.returncode == 125 and again.stdout == "" and again.stderr.endswith(
            "there is nothing to recover because all 400000 events were lost when they were recorded; record again\n"), again
        assert not os.path.exists(folder.file("again.rep"))


def test_a_report_that_fails_is_an_error_for_who_drives_lanescope():
    with Folder() as folder, SmallDisk(folder, "1m") as small:
        progress, write_end = os.pipe()
        run = folder.start(f"--progress-fd={write_end}", "-o", small + "/full", ACT, "spin", "400000", pass_fds=[write_end])
        os.close(write_end)
        with os.fdopen(progress, encoding="utf-8") as lines:
            errors = [line for line in map(json.loads, lines) if line["type"] == "error"]
        err = run.communicate(timeout=30)[1].decode()
        assert run.returncode == 125 and [line["code"] for line in errors] == ["LNS-REP-001"], (errors, err)
        assert "No space left on device" in errors[0]["text"] and errors[0]["text"] in err, (errors, err)


def warning_of(run):
    """What RUN, which goes on, says on stderr when the disk takes no more; waits for it."""
    for line in run.stderr:
        if line.startswith(b"lanescope: warning: "):
            assert run.poll() is None
            return line.decode()
    raise AssertionError("nothing is said")


def end_of(run):
    """Has the program of RUN end, and gives the tool's code and the rest of stderr."""
    os.kill(children(run.pid)[0], signal.SIGTERM)
    err = run.stderr.read().decode()
    return run.wait(30), err


def test_a_full_disk_is_told_at_once_and_tried_again():
    with Folder() as folder, SmallDisk(folder, "6m") as small:
        with open(small + "/filler", "wb") as file:
            file.write(bytes(4 << 20))
        run = folder.start("-o", small + "/full", ACT, "spin", "1000", "sleep", "1500", "spin", "600000", "sleep", "60000")
        said = warning_of(run)
        assert "full.rep" in said and "No space left on device" in said and "[LNS-REP-003]" in said, said
        os.remove(small + "/filler")
        path = small + "/full.rep"
        wait_for(lambda: Report(path, counts=True).info["events"] == 601000, "what waited for room")
        code, err = end_of(run)
        assert "LNS-REP" not in err and "error" not in err, (code, err)
        facts = info(path)
        assert (facts["state"], facts["events"], facts["lost"]) == ("complete", "601000", "0"), facts
        assert any(code == "LNS-REP-003" for code in Report(path).codes())


def test_a_disk_that_turns_read_only_is_told_with_its_cause():
    """As the kernel does with one that fails: descriptors stay open, and nothing can be written through them."""
    with Folder() as folder:
        image, place = folder.file("image"), folder.file("place")
        os.mkdir(place)
        with open(image, "wb") as file:
            file.truncate(32 << 20)
        if shutil.which("mkfs.ext4") is None or subprocess.run(["mkfs.ext4", "-q", image], capture_output=True).returncode != 0 \
                or subprocess.run(["mount", "-o", "loop", image, place], capture_output=True).returncode != 0:
            raise tap.Skip("only root can mount a file system of its own")
        try:
            run = folder.start("-o", place + "/r", ACT, "spin", "1000", "sleep", "1500", "spin", "1000", "sleep", "60000")
            wait_for(lambda: os.path.exists(place + "/r.rep") and Report(place + "/r.rep", counts=True).info["events"] > 0, "a commit")
            subprocess.run(["mount", "-o", "remount,abort", place], check=True)
            said = warning_of(run)
            assert "r.rep" in said and "Read-only file system" in said, said
            code, err = end_of(run)
            assert "Read-only file system" in err and "Bad file" not in err, (code, err)
        finally:
            subprocess.run(["umount", "-l", place], check=True)


def test_an_output_that_is_removed_midway():
    with Folder() as folder:
        run = folder.start("-o", "gone", ACT, "spin", "1000", "sleep", "1500", "spin", "1000")
        path = folder.file("gone.rep")
        wait_for(lambda: os.path.exists(path) and Report(path, counts=True).info["events"] == 1000, "the first commit")
        os.remove(path)
        err = run.communicate(timeout=30)[1].decode()
        sentences = [line for line in err.splitlines() if "error: " in line]
        assert run.returncode == 125 and len(sentences) == 1 and "gone.rep" in sentences[0], err
        assert "removed" in sentences[0] and "are in the report" not in err and "Generated:" not in err, err
        assert os.listdir(folder.path) == [], os.listdir(folder.path)


def test_another_program_that_reads_the_file():
    with Folder() as folder:
        run = folder.start("-o", "read", ACT, "spin", "1000", "sleep", "1500", "spin", "1000", "sleep", "2500",
                           "spin", "1000")
        path = folder.file("read.rep")
        wait_for(lambda: os.path.exists(path) and Report(path, counts=True).info["events"] == 1000, "the first commit")
        reader = sqlite3.connect(path)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM lns_meta").fetchone()
        time.sleep(2)
        reader.close()
        err = run.communicate(timeout=30)[1].decode()
        assert run.returncode == 0 and "error" not in err and "Generated:" in err, err
        facts = folder.report("read.rep", counts=True).info
        assert (facts["events"], facts["lost"], facts["state"]) == (3000, 0, COMPLETE), facts


tap.main(globals())
