# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""The machine that tests/device/run uses: its GPU, its programs, and how they are recorded."""

import ctypes
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("LNS_BUILD_ROOT") or os.environ.get("LNS_BUILD_DIR") or os.path.join(ROOT, "build")
LANESCOPE = os.path.join(BUILD, "src", "cli", "lanescope")
LIMIT_S = 430  # after this time no further check begins
END_S = 470    # at this time a program that still runs is ended
NVCC_ARGUMENTS = {
    "cuda-threads": ["--default-stream", "per-thread"],
    "liblaunches.so": ["-shared", "-Xcompiler", "-fPIC"],
    "matrices": ["-lcublas"],
}
SOURCES = {"liblaunches.so": "tests/device/launches.cu", "vectoradd-static": "tests/programs/cuda-vectoradd.cu"}


class CouldNot(Exception):
    """Ends a check that cannot run on this machine; the argument says why."""


def wheels():
    """Patterns for the folders of NVIDIA's wheels, for machines without the CUDA toolkit."""
    asked = subprocess.run(["python3", "-c", "import sys; print(*filter(None, sys.path), sep='\\n')"], capture_output=True, text=True,
                           check=False)
    return [os.path.join(folder, "nvidia", *kind) for folder in asked.stdout.splitlines()
            for kind in (("cu13", "lib"), ("cuda_runtime", "lib"), ("cuda_cupti", "lib"), ("cublas", "lib"))]


def tail(text):
    return " / ".join(text.strip().splitlines()[-8:])


class Machine:
    def __init__(self, out):
        self.out = os.path.abspath(out)
        os.makedirs(self.out, exist_ok=True)
        self.begin = time.monotonic()
        self.cost = {}
        self.cupti = self.kernel_driver = None
        self.nvcc = shutil.which("nvcc") or next(iter(glob.glob("/usr/local/cuda/bin/nvcc")), None)
        self.env = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
        self.driver, self.gpu, self.is_double = self._ask_driver()
        if not self.is_double:
            folders = [folder for place in ("/usr/local/cuda/lib64", "/usr/local/cuda/extras/CUPTI/lib64", *wheels())
                       for folder in glob.glob(place)]
            self.env["LD_LIBRARY_PATH"] = ":".join(filter(None, [os.environ.get("LD_LIBRARY_PATH", ""), *folders]))
        # PyTorch brings its own CUDA libraries.
        self.torch_env = {"LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", "")}
        self.torch = self._ask_torch()

    def _ask_driver(self):
        """The CUDA version of libcuda, the name of the first GPU, and whether it is the double's; empty without a GPU."""
        version, name, uuid = ctypes.c_int(0), ctypes.create_string_buffer(256), ctypes.create_string_buffer(16)
        try:
            cuda = ctypes.CDLL("libcuda.so.1")
        except OSError:
            return "", "", False
        cuda.cuDriverGetVersion(ctypes.byref(version))
        if cuda.cuInit(0) == 0:
            cuda.cuDeviceGetName(name, len(name), 0)
            cuda.cuDeviceGetUuid_v2(uuid, 0)
        return f"{version.value // 1000}.{version.value % 1000 // 10}", name.value.decode(), uuid.raw.startswith(b"lanescope-doub")

    def _ask_torch(self):
        """PyTorch's version, or why it cannot be used."""
        asked = subprocess.run(["python3", "-c", "import torch; assert torch.cuda.is_available(), 'it sees no GPU';"
                                "print(torch.__version__)"], capture_output=True, text=True, check=False)
        if asked.returncode == 0:
            return asked.stdout.strip()
        return f"cannot be used: {tail(asked.stderr).rsplit(' / ', 1)[-1] or f'python3 ended with {asked.returncode}'}"

    def file(self, name):
        return os.path.join(self.out, name)

    def facts(self):
        kernel_driver = ""
        if os.path.exists("/proc/driver/nvidia/version"):
            with open("/proc/driver/nvidia/version", encoding="utf-8") as file:
                kernel_driver = (re.findall(r"\d+\.\d+(?:\.\d+)?", file.readline()) or [""])[0]
        return {"GPU": self.gpu or "none", "is a double": self.is_double,
                "driver": kernel_driver or self.kernel_driver or "not told",
                "CUDA of the driver": self.driver or "none", "CUPTI": self.cupti or "not seen", "PyTorch": self.torch,
                "nvcc": self.nvcc or "none", "processors": os.cpu_count()}

    def left_s(self):
        """Seconds that one command may take, so that it cannot block the others."""
        return min(100, max(1, self.begin + END_S - time.monotonic()))

    def expect_time(self):
        if time.monotonic() - self.begin > LIMIT_S:
            raise CouldNot(f"the {LIMIT_S} s for all checks were over")
        if not self.gpu:
            raise CouldNot("there is no libcuda.so.1 with a device here")

    def expect_torch(self):
        if self.torch.startswith("cannot"):
            raise CouldNot(f"PyTorch {self.torch}")

    def program(self, name):
        """The path of the program: built here if nvcc can build for this GPU, else taken from the build folder."""
        built = os.path.join(BUILD, "tests", "programs" if name.startswith("cuda-") else "device", name)
        path = self.file(os.path.join("programs", name))
        why = "there is no nvcc here"
        if self.nvcc and not self.is_double:
            why = None if os.path.exists(path) else self._compile(name, path)
        if why is None:
            return path
        if not os.path.exists(built):
            raise CouldNot(f"{os.path.relpath(built, BUILD)} was not built, and {why}")
        return built

    def _compile(self, name, path):
        """Why the program could not be built here, or None if it was."""
        os.makedirs(os.path.dirname(path), exist_ok=True)
        folder = "tests/programs" if name.startswith("cuda-") else "tests/device"
        source = os.path.join(ROOT, SOURCES.get(name, f"{folder}/{name}.cu"))
        runtime = "static" if name == "vectoradd-static" else "shared"
        done = subprocess.run([self.nvcc, "-arch=native", "-cudart", runtime, "-I", ROOT, "-o", path, source,
                               *NVCC_ARGUMENTS.get(name, [])], capture_output=True, text=True, timeout=self.left_s(), check=False)
        return f"nvcc says: {tail(done.stderr)}" if done.returncode != 0 else None

    def execute(self, command, env=None, before=(), code=0):
        """What COMMAND prints. The check fails unless it exits with CODE in time."""
        limit_s = self.left_s()
        process = subprocess.Popen([*before, *command], env={**self.env, **(env or {})}, cwd=HERE, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        try:
            out, err = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # its children would keep the GPU and the pipes open
            process.communicate()
            raise AssertionError(f"{os.path.basename(command[0])} took more than {limit_s:.0f} s") from None
        assert process.returncode == code, f"{os.path.basename(command[0])} ended with {process.returncode}: {tail(err)}"
        return out

    def profile_command(self, name, *switches, trace="cuda,nvtx"):
        return [LANESCOPE, "profile", "-t", trace, "-f", "true", "-o", self.file(name), *switches]

    def record(self, name, command, *switches, trace="cuda,nvtx", env=None, code=0):
        """Records COMMAND, which must exit with CODE, as the report NAME; the report, and what the program printed."""
        out = self.execute(command, env=env, before=self.profile_command(name, *switches, trace=trace), code=code)
        return Recording(self, name), out


class Recording:
    """A report, read with `lanescope info` and `lanescope sql`."""

    def __init__(self, machine, name):
        self.path = machine.file(f"{name}.rep")
        self.info = subprocess.run([LANESCOPE, "info", self.path], capture_output=True, text=True, check=True).stdout
        machine.cupti = self.fact("CUPTI") or machine.cupti
        machine.kernel_driver = self.fact("NVIDIA driver") or machine.kernel_driver

    def fact(self, name):
        found = re.search(rf"^{name}: (.*)$", self.info, re.M)
        return found[1] if found else None

    def sql(self, statement):
        """The rows as dictionaries."""
        asked = subprocess.run([LANESCOPE, "sql", "-j", self.path, statement], capture_output=True, text=True, check=False)
        assert asked.returncode == 0, asked.stderr
        return json.loads(asked.stdout)

    def rows(self, kind, what="*", rest=""):
        """The rows of CUPTI_ACTIVITY_KIND_<KIND>."""
        return self.sql(f"SELECT {what} FROM CUPTI_ACTIVITY_KIND_{kind} {rest}")

    def kernels(self):
        return self.rows("KERNEL", "k.*, s.value AS name", "k JOIN StringIds s ON s.id = k.shortName ORDER BY k.start")
