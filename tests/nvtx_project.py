# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Runs the NVTX project's own tests, at a pinned commit: each program alone, with a library that only counts, and
with Lanescope's. Exit code and output must be the same, nothing may be lost, and the report must hold what was
counted. Without nvcc, the two CUDA programs are left out."""

import os
import re
import shutil
import subprocess
import tempfile

REPOSITORY = "https://github.com/NVIDIA/NVTX"
COMMIT = "5cd1823"  # the branch with the tests
PATH = os.environ["PATH"] + ":/usr/local/cuda/bin"

PROGRAMS = ["self", "calls", "coverage", "coveragec", "coverage-mem", "coverage-payload", "coverage-counter",
            "attributes", "domains", "categories", "regstrings", "linkerdupes"]
PROGRAMS_IN_CUDA = ["coverage-cu", "coverage-memcudart"]

# Calls that make an event, by module and slot: see nvtxDetail/nvtxTypes.h.
EVENTS = [("core", slot) for slot in (1, 2, 3, 4, 5, 6, 8, 9, 10)] + [("core2", slot) for slot in (1, 2, 4)]


def run(command, **options):
    print("+ " + " ".join(command), flush=True)
    subprocess.run(command, check=True, **options)


def build(checkout):
    """Builds the tests in CHECKOUT; returns their folder and whether those in CUDA are among them."""
    if not os.path.exists(checkout):
        run(["git", "clone", "--quiet", os.environ.get("LNS_NVTX_REPOSITORY", REPOSITORY), checkout])
    run(["git", "-C", checkout, "checkout", "--quiet", COMMIT])
    has_nvcc = shutil.which("nvcc", path=PATH) is not None
    tree = os.path.join(checkout, "build" if has_nvcc else "build-without-cuda")
    # The project leaves CUDA out on Apple's systems alone.
    language = ["-DCMAKE_CUDA_ARCHITECTURES=90"] if has_nvcc else ["-DAPPLE=ON"]
    environment = dict(os.environ, PATH=PATH)
    run(["cmake", "-S", os.path.join(checkout, "tests"), "-B", tree] + language, env=environment,
        stdout=subprocess.DEVNULL)
    run(["cmake", "--build", tree, "-j2"], env=environment, stdout=subprocess.DEVNULL)
    run(["ctest", "--test-dir", tree, "--output-on-failure", "--quiet"], env=environment)
    return tree, has_nvcc


def execute(command, tree, **variables):
    """Runs COMMAND in TREE; returns its exit, its output without addresses, and its messages."""
    environment = {key: value for key, value in os.environ.items() if key != "NVTX_INJECTION64_PATH"}
    done = subprocess.run(command, cwd=tree, env=dict(environment, **variables), capture_output=True, text=True)
    return done.returncode, re.sub(r"(0x)+[0-9a-f]+", "0x", done.stdout), done.stderr


def counted(command, tree, counter, work):
    """How many events COMMAND makes."""
    counts = os.path.join(work, "counts")
    execute(command, tree, NVTX_INJECTION64_PATH=counter, NVTX_COUNT_FILE=counts)
    if not os.path.exists(counts):
        return 0
    with open(counts, encoding="ascii") as file:
        rows = [line.split() for line in file]
    os.remove(counts)
    return sum(int(calls) for module, slot, calls in rows if (module, int(slot)) in EVENTS)


def check(name, tree, lanescope, counter):
    """Runs the test NAME and says what came of it."""
    command = [os.path.join(tree, "runtest"), "-t", name]
    with tempfile.TemporaryDirectory() as work:
        made = counted(command, tree, counter, work)
        code, output, _ = execute(command, tree)
        report = os.path.join(work, "r.rep")
        our_code, our_output, messages = execute([lanescope, "profile", "-t", "nvtx", "-o", report] + command, tree)
        assert our_code == code, f"{name}: {code} without us, {our_code} with: {messages}"
        assert our_output == output, f"{name} says without us\n{output}\nand with us\n{our_output}"
        info = subprocess.run([lanescope, "info", report], capture_output=True, text=True).stdout.splitlines()
        assert "lost: 0" in info and "state: complete" in info, (name, info)
        assert f"events: {made}" in info, (name, made, info)
        said = [line.split("warning: ")[1] for line in messages.splitlines() if "[LNS-NVTX-00" in line]
        print(f"  {name}: exit {code}, {made} events" + "".join(f"; {line}" for line in said))


def main(source, build_root):
    tree, has_nvcc = build(os.path.join(source, ".deps", "NVTX"))
    lanescope = os.path.join(build_root, "src", "cli", "lanescope")
    counter = os.path.join(build_root, "tests", "e2e", "libnvtx-count.so")
    for name in PROGRAMS + PROGRAMS_IN_CUDA * has_nvcc:
        check(name, tree, lanescope, counter)
