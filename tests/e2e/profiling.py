# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Shared by the tests of `lanescope profile`: runs it, and reads its reports."""

import collections
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

import tap

ACT = os.path.join(tap.BUILD, "tests", "programs", "nvtx-act")
DUMP = os.path.join(tap.BUILD, "tests", "e2e", "report-dump")

OPEN_START, OPEN_END, END_UNKNOWN = 1, 2, 4
COMPLETE, CUT_OFF = 1, 3

# They tell of the double, and that it has no NVML unless a test asks for it.
OF_THE_DOUBLE = ("LNS-CUDA-015", "LNS-GPU-001")

# Runs a command as a user without privileges. Root without them may still read this tree, wherever it is.
OWN_RIGHTS = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.getuid() == 0 else []

Run = collections.namedtuple("Run", "code out err folder")


def format_names():
    """{"lane 6": "cuda-kernel", "column 13": "correlation", …}: what FORMAT.md calls kinds of lanes and columns."""
    with open(os.path.join(tap.SOURCE, "src", "store", "FORMAT.md"), encoding="utf-8") as file:
        text = file.read()
    names = {}
    for title, word in (("lane kind", "lane"), ("column", "column")):
        table = re.search(r"^\| " + title + r" \|.*\n\|[-|]+\n((?:\|.*\n)+)", text, re.M).group(1)
        for number, name in re.findall(r"^\| (\d+) ([^|]+) \|", table, re.M):
            names[f"{word} {number}"] = name.replace(" ", "-")
    return names


NAMES = format_names()


class Report:
    """A report's contents, by kind."""

    def __init__(self, path, counts=False):
        dump = subprocess.run([DUMP] + ["--counts"] * counts + [path], capture_output=True)
        assert dump.returncode == 0, f"{path}: {dump.stderr.decode()}"
        self.events, self.processes, self.threads = [], [], []
        self.losses, self.diagnostics, self.info = [], [], None
        self.lanes = []
        self.devices, self.contexts, self.streams, self.launches, self.links = [], [], [], [], []
        kinds = {"event": self.events, "lane": self.lanes, "process": self.processes, "thread": self.threads,
                 "loss": self.losses, "diagnostic": self.diagnostics, "device": self.devices,
                 "context": self.contexts, "stream": self.streams, "launch": self.launches,
                 "links": self.links}
        for line in dump.stdout.decode().splitlines():
            row = {NAMES.get(key, key): NAMES.get(value, value) if key == "kind" else value for key, value in json.loads(line).items()}
            kind = next(iter(row))
            row[kind] = NAMES.get(row[kind], row[kind])
            if kind == "info":
                self.info = row
            else:
                kinds[kind].append(row)

    def named(self, name):
        return [event for event in self.events if event["name"] == name]

    def names(self):
        return collections.Counter(event["name"] for event in self.events)

    def of(self, kind, **fields):
        """The events of KIND, as the reader calls its lanes, whose fields are FIELDS, by start."""
        return sorted((event for event in self.events if event["event"] == kind
                       and all(event[k] == v for k, v in fields.items())), key=lambda e: e["start"])

    def codes(self):
        return [d["code"] for d in self.diagnostics if d["code"] not in OF_THE_DOUBLE]


class Folder:
    """A folder of its own for a test; removed when it is left."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="lanescope-test-")
        return self

    def __exit__(self, *unused):
        shutil.rmtree(self.path, ignore_errors=True)

    def file(self, name):
        return os.path.join(self.path, name)

    def profile(self, *arguments, before=(), **options):
        """Runs `lanescope profile` with ARGUMENTS here; BEFORE is the command that runs it."""
        run = subprocess.run([*before, tap.LANESCOPE, "profile"] + [str(a) for a in arguments],
                             cwd=self.path, stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
                             **options)
        return Run(run.returncode, run.stdout.decode(), run.stderr.decode(), self)

    def start(self, *arguments, before=(), **options):
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        return subprocess.Popen([*before, tap.LANESCOPE, "profile"] + [str(a) for a in arguments],
                                cwd=self.path, **options)

    def report(self, name="report1.rep", counts=False):
        return Report(self.file(name), counts)


def covered(folder, name, value, *before):
    """The command that runs another one, for which /proc/sys/kernel/NAME says VALUE, as a user without privileges."""
    with open(folder.file("value"), "w", encoding="ascii") as file:
        file.write(f"{value}\n")
    cover = f"mount --bind {folder.file('value')} /proc/sys/kernel/{name} && exec \"$@\""
    return ["unshare", "--map-root-user", "--mount", "sh", "-c", cover, "sh", *before]


def wait_for(condition, what, seconds=20):
    """Waits until CONDITION () is true; its value. SECONDS are enough on an idle machine."""
    seconds *= tap.PATIENCE
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"waited {seconds} s for {what}"
        time.sleep(0.02)


def children(pid):
    """Pids of the children of PID."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except FileNotFoundError:
        return []


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False
