# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""The machine that tests/device/run uses: its GPU, its programs, and how they are recorded."""

import ctypes
import glob
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import tempfile
import time

import programs
from programs import ROOT

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("LNS_BUILD_ROOT") or os.environ.get("LNS_BUILD_DIR") or os.path.join(ROOT, "build")
LANESCOPE = os.path.join(BUILD, "src", "cli", "lanescope")
BARE_CLIENT = os.path.join(BUILD, "tests", "device", "libbare-client.so")
LIMIT_S = int(os.environ.get("LNS_DEVICE_LIMIT_S", 480))  # after this time no further check begins
END_S = LIMIT_S + 80                                      # at this time a program that still runs is ended


class CouldNot(Exception):
    """Ends a check that cannot run on this machine; the argument says why."""


class Machine:
    def __init__(self):
        self.work = tempfile.mkdtemp(prefix="lanescope-device-")
        self.begin = time.monotonic()
        self.begin_check()
        self.cupti = self.kernel_driver = None
        self.nvcc = shutil.which("nvcc") or next(iter(glob.glob("/usr/local/cuda/bin/nvcc")), None)
        self.env = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
        self.driver, self.gpu, self.architecture, self.is_double = ask_driver()
        if not self.is_double:
            folders = [folder for place in ("/usr/local/cuda/lib64", "/usr/local/cuda/extras/CUPTI/lib64", *wheels())
                       for folder in glob.glob(place)]
            self.env["LD_LIBRARY_PATH"] = ":".join(filter(None, [os.environ.get("LD_LIBRARY_PATH", ""), *folders]))
        # PyTorch brings its own CUDA libraries.
        self.torch_env = {"LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", "")}
        self.torch = ask_torch()

    def begin_check(self):
        """Forgets what the check before measured."""
        self.figures, self.rehearsal = {}, None
        for path in glob.glob(self.file("*.rep")):
            os.remove(path)

    def measured(self, **figures):
        """Adds FIGURES to what the check found, to be kept even if it fails later."""
        self.figures.update(figures)

    def rehearse(self, why):
        """On the double, makes a check that holds `rehearsed` instead of `passed`, for the reason WHY."""
        if self.is_double:
            self.rehearsal = why

    def size(self, real, double):
        """How many there are on a GPU, or on the double."""
        return double if self.is_double else real

    def file(self, name):
        return os.path.join(self.work, name)

    def facts(self):
        if os.path.exists("/proc/driver/nvidia/version"):
            with open("/proc/driver/nvidia/version", encoding="utf-8") as file:
                self.kernel_driver = (re.findall(r"\d+\.\d+(?:\.\d+)?", file.readline()) or [None])[0]
        return {"GPU": self.gpu or "none", "is a double": self.is_double, "architecture": self.architecture or "none",
                "driver": self.kernel_driver or "not told", "CUDA of the driver": self.driver or "none",
                "CUPTI": self.cupti or "not seen", "PyTorch": self.torch, "nvcc": self.nvcc or "none",
                "processors": os.cpu_count(), "kernel": platform.release(), "libc": " ".join(platform.libc_ver())}

    def status(self):
        """What Lanescope and the driver tell about this machine."""
        told = [subprocess.run(command, env=self.env, capture_output=True, text=True, check=False) for command in (
            [LANESCOPE, "status", "-e"], *([["nvidia-smi", "-q"]] if shutil.which("nvidia-smi") else []))]
        return "\n".join(done.stdout + done.stderr for done in told)

    def left_s(self):
        """Seconds that one command may take, so that it cannot block the others."""
        return min(150, max(1, self.begin + END_S - time.monotonic()))

    def expect_time(self):
        if time.monotonic() - self.begin > LIMIT_S:
            raise CouldNot(f"the {LIMIT_S} s for one command were over")
        if not self.gpu:
            raise CouldNot("there is no libcuda.so.1 with a device here")

    def expect_torch(self):
        if self.torch.startswith("cannot"):
            raise CouldNot(f"PyTorch {self.torch}")

    def program(self, name):
        """The path of the program: of the build folder if it was built for this GPU, else built here."""
        built = os.path.join(BUILD, "tests", "programs" if name.startswith("cuda-") else "device", name)
        if os.path.exists(built) and (self.is_double or self.architecture == "9.0"):
            return built
        path = self.file(name)
        if os.path.exists(path):
            return path
        if self.is_double or not self.nvcc:
            raise CouldNot(f"{os.path.relpath(built, BUILD)} was not built for this GPU, and there is no nvcc here")
        done = subprocess.run(programs.command(self.nvcc, "native", name, path), capture_output=True, text=True,
                              timeout=self.left_s(), check=False)
        if done.returncode != 0:
            raise CouldNot(f"nvcc cannot build {name}: {tail(done.stderr)}")
        return path

    def pytorch(self, script, *words):
        """The command line of a PyTorch program and its environment; on the double, of what stands in for it."""
        if self.is_double:
            self.rehearse("a stand-in ran in place of PyTorch")
            return [self.program("stand-in"), *words], {}
        self.expect_torch()
        return ["python3", script, *words], self.torch_env

    def start(self, command, env=None):
        """Runs COMMAND in the background, in a process group of its own."""
        return subprocess.Popen(command, env={**self.env, **(env or {})}, cwd=HERE, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)

    def end(self, process, code):
        """What the process of start() printed and what it said. The check fails unless it exits with CODE in time."""
        limit_s = self.left_s()
        name = os.path.basename(process.args[0])
        try:
            out, err = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # its children would keep the GPU and the pipes open
            process.communicate()
            raise AssertionError(f"{name} took more than {limit_s:.0f} s") from None
        assert process.returncode == code, f"{name} ended with {process.returncode}, not {code}: {tail(err)}"
        return out, err

    def execute(self, command, env=None, code=0):
        """What COMMAND prints."""
        return self.end(self.start(command, env), code)[0]

    def profile_command(self, name, *switches, trace="cuda,nvtx"):
        traced = ["-t", trace] if trace else []
        return [LANESCOPE, "profile", *traced, "-f", "true", "-o", self.file(name), *switches]

    def record(self, command, *switches, trace="cuda,nvtx", env=None, code=0, name="report"):
        """Records COMMAND, which must exit with CODE; the report, and what the program printed."""
        out = self.execute([*self.profile_command(name, *switches, trace=trace), *command], env=env, code=code)
        return self.report(name), out

    def report(self, name="report"):
        return Recording(self, self.file(f"{name}.rep"))


class Recording:
    """A report, read with `lanescope info` and `lanescope sql`. It may still grow."""

    def __init__(self, machine, path):
        self.path = path
        asked = subprocess.run([LANESCOPE, "info", self.path], capture_output=True, text=True, check=False)
        assert asked.returncode == 0, asked.stderr
        self.info = asked.stdout
        machine.cupti = self.fact("CUPTI") or machine.cupti
        machine.kernel_driver = self.fact("NVIDIA driver") or machine.kernel_driver

    def fact(self, name):
        found = re.search(rf"^{name}: (.*)$", self.info, re.M)
        return found[1] if found else None

    def told(self, pattern):
        """The diagnostics whose code and severity match PATTERN."""
        return re.findall(rf"^  ((?:{pattern}): .*)$", self.info, re.M)

    def sql(self, statement):
        """The rows as dictionaries."""
        asked = subprocess.run([LANESCOPE, "sql", "-j", self.path, statement], capture_output=True, text=True, check=False)
        assert asked.returncode == 0, asked.stderr
        return json.loads(asked.stdout)

    def rows(self, kind, what="*", rest=""):
        """The rows of CUPTI_ACTIVITY_KIND_<KIND>."""
        return self.sql(f"SELECT {what} FROM CUPTI_ACTIVITY_KIND_{kind} {rest}")

    def count(self, kind, rest=""):
        return self.rows(kind, "count(*) AS n", rest)[0]["n"]

    def why(self):
        """What `lanescope why` answers."""
        asked = subprocess.run([LANESCOPE, "why", "--format=json", self.path], capture_output=True, text=True, check=False)
        assert asked.returncode == 0, asked.stderr
        return json.loads(asked.stdout)

    def kernels(self):
        return self.rows("KERNEL", "k.*, s.value AS name", "k JOIN StringIds s ON s.id = k.shortName ORDER BY k.start")

    def names(self):
        """How many kernels there are of each name."""
        return {row["name"]: row["n"] for row in self.rows(
            "KERNEL", "s.value AS name, count(*) AS n", "k JOIN StringIds s ON s.id = k.shortName GROUP BY k.shortName")}


def ask_driver():
    """The CUDA version of libcuda; of the first GPU the name and the compute capability, and whether it is the double's."""
    version, name, uuid = ctypes.c_int(0), ctypes.create_string_buffer(256), ctypes.create_string_buffer(16)
    major, minor = ctypes.c_int(0), ctypes.c_int(0)
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "", "", "", False
    cuda.cuDriverGetVersion(ctypes.byref(version))
    if cuda.cuInit(0) == 0:
        cuda.cuDeviceGetName(name, len(name), 0)
        cuda.cuDeviceGetUuid_v2(uuid, 0)
        for number, value in ((75, major), (76, minor)):
            cuda.cuDeviceGetAttribute(ctypes.byref(value), number, 0)
    return (f"{version.value // 1000}.{version.value % 1000 // 10}", name.value.decode(), f"{major.value}.{minor.value}",
            uuid.raw.startswith(b"lanescope-doub"))


def ask_torch():
    """PyTorch's version, or why it cannot be used."""
    asked = subprocess.run(["python3", "-c", "import torch; assert torch.cuda.is_available(), 'it sees no GPU';"
                            "print(torch.__version__)"], capture_output=True, text=True, check=False)
    if asked.returncode == 0:
        return asked.stdout.strip()
    return f"cannot be used: {tail(asked.stderr).rsplit(' / ', 1)[-1] or f'python3 ended with {asked.returncode}'}"


def wheels():
    """Patterns for the folders of NVIDIA's wheels, for machines without the CUDA toolkit."""
    asked = subprocess.run(["python3", "-c", "import sys; print(*filter(None, sys.path), sep='\\n')"], capture_output=True, text=True,
                           check=False)
    return [os.path.join(folder, "nvidia", *kind) for folder in asked.stdout.splitlines()
            for kind in (("cu13", "lib"), ("cuda_runtime", "lib"), ("cuda_cupti", "lib"), ("cublas", "lib"))]


def tail(text):
    return " / ".join(text.strip().splitlines()[-8:])


def children(pid):
    """The processes whose parent is PID; not every kernel has /proc/PID/task/PID/children."""
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                number, rest = file.read().rsplit(")", 1)
        except OSError:
            continue  # it has ended
        if int(rest.split()[1]) == pid:
            found.append(int(number.split()[0]))
    return found
