# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Runs a program on the double with the client of client.c, and reads what the client wrote."""

import json
import os
import subprocess
import tempfile

import tap

DOUBLE = os.path.join(tap.BUILD, "tests", "double")
WITH = os.path.join(tap.SOURCE, "tests", "double", "with")
CLIENT = os.path.join(DOUBLE, "liblanescope-double-client.so")

MEMCPY, MEMSET, KERNEL, DRIVER, RUNTIME = 1, 2, 10, 4, 5
DEVICE, CONTEXT, OVERHEAD, PEER, MANAGED = 8, 9, 17, 22, 25
EVENT, STREAM, SYNC, EXTERNAL, MEMORY, POOL, GRAPH, JIT = 36, 37, 38, 39, 49, 50, 51, 52


def program(name):
    """Returns the path of test program NAME, or skips where it was not built."""
    folder = "double" if name == "cuda-driver" else "programs"
    path = os.path.join(tap.BUILD, "tests", folder, name)
    if not os.path.exists(path):
        raise tap.Skip("there is no nvcc here, so the CUDA programs were not built")
    return path


class Run:
    """One run: `status`, `stdout`, `stderr`, the lines of the client, the buffers it kept."""

    def __init__(self, command, env=None, kinds=None, buffers=False, client=True, timeout=30):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out")
            kept = os.path.join(folder, "buffers")
            environment = {k: v for k, v in os.environ.items() if not k.startswith(("LNS_DOUBLE_", "LNS_CLIENT_"))}
            if client:
                environment.update(CUDA_INJECTION64_PATH=CLIENT, LNS_CLIENT_OUT=out)
            if buffers:
                environment["LNS_CLIENT_BUFFERS"] = kept
            if kinds is not None:
                environment["LNS_CLIENT_KINDS"] = ",".join(map(str, kinds))
            environment.update(env or {})
            done = subprocess.run([WITH] + command, env=environment, capture_output=True, text=True, timeout=timeout)
            self.status, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr
            self.lines = []
            if os.path.exists(out):
                with open(out, encoding="utf-8") as file:
                    self.lines = [json.loads(line) for line in file]
            self.buffers = b""
            if buffers and os.path.exists(kept):
                with open(kept, "rb") as file:
                    self.buffers = file.read()

    def records(self, kind, **fields):
        """Returns the records of KIND whose fields equal FIELDS, in the order of arrival."""
        return [line for line in self.lines
                if line.get("kind") == kind and all(line.get(k) == v for k, v in fields.items())]

    def callbacks(self, domain, cbid=None, **fields):
        """Returns the callbacks of DOMAIN and, where given, CBID."""
        return [line for line in self.lines
                if line.get("callback") == domain and cbid in (None, line["cbid"])
                and all(line.get(k) == v for k, v in fields.items())]

    def dropped(self):
        """Returns how many records the client was told were dropped."""
        return sum(line.get("dropped", 0) for line in self.lines)


def run(name, arguments=(), **options):
    """Runs test program NAME; fails where the program did."""
    done = Run([program(name), *arguments], **options)
    assert done.status == 0, f"{name}: status {done.status}: {done.stderr}"
    return done


def kernel_ns(blocks, threads, multiprocessors=132):
    """Duration of a kernel, by the rule in README.md."""
    resident = multiprocessors * 2048
    return 2000 + -(-blocks * threads // resident) * (1000 + threads)


COPY_RATES = {"pageable": 6, "pinned": 24, "host": 10, "peer": 100, "device": 1500}


def copy_ns(size, how):
    """Duration of a copy of SIZE bytes, by the rule in README.md."""
    return 1500 + size // COPY_RATES[how]


def set_ns(size):
    """Duration of a set of SIZE bytes, by the rule in README.md."""
    return 1200 + size // 1500
