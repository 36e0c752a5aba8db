# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""The command lines of the documents in shared/use-cases, with `lanescope` for `nsys`, run by a shell on real
programs: Python with the nvtx package, and CUDA programs; GPUs are the double's. Times are shortened."""

import contextlib
import os
import re
import shutil
import sqlite3
import subprocess
import sys

import profiling
import tap

sys.path.insert(0, os.path.join(tap.SOURCE, "tests", "readers"))
import readers

WITH = os.path.join(tap.SOURCE, "tests", "double", "with")
PROGRAMS = os.path.join(tap.BUILD, "tests", "programs")
NVTX = os.path.join(tap.SOURCE, ".deps", "nvtx")
DOCUMENTS = os.path.join(tap.SHARED, "use-cases")

# Ranges around copies to a GPU, of which the second and third batch are between the profiler's start and stop.
TRAIN = """
import ctypes, nvtx, os, time
from training import local_func
runtime, device = ctypes.CDLL("libcudart.so.13"), ctypes.c_void_p()
host = (ctypes.c_char * 4096)()
assert runtime.cudaMalloc(ctypes.byref(device), 4096) == 0
for i in range(5):
    if i == 1:
        runtime.cudaProfilerStart()
    with nvtx.annotate("Batch" + str(i), color="green"):
        with nvtx.annotate("Copy to device", color="red"):
            assert runtime.cudaMemcpy(device, host, 4096, 1) == 0
        with nvtx.annotate("Forward Pass", color="yellow"):
            assert runtime.cudaMemset(device, 0, 4096) == 0
        local_func()
    if i == 2:
        runtime.cudaDeviceSynchronize()
        runtime.cudaProfilerStop()
elapsed = nvtx.start_range(message="Total Elapsed Time", color="orange")
time.sleep(float(os.environ.get("PAUSE", "0")))
nvtx.end_range(elapsed)
runtime.cudaFree(device)
print("trained")
"""


class Desk(profiling.Folder):
    """A folder with the programs of the documents, where `nsys` is spelt `lanescope`."""

    def __enter__(self):
        if not os.path.exists(os.path.join(NVTX, ".complete")):
            raise tap.Skip("the nvtx package is not there (./run test fetches it)")
        super().__enter__()
        os.mkdir(self.file("bin"))
        os.symlink(tap.LANESCOPE, self.file("bin/lanescope"))
        for name in ("python_script.py", "test.py", "junk.py", "main.py", "train_nvtx.py"):
            self.write(name, TRAIN)
        self.write("training.py", "def local_func():\n    return 1\n")
        if os.path.exists(os.path.join(PROGRAMS, "cuda-ranges")):
            shutil.copy(os.path.join(PROGRAMS, "cuda-ranges"), self.file("train_gpt2cu"))
        return self

    def write(self, name, text):
        with open(self.file(name), "w", encoding="utf-8") as file:
            file.write(text)

    def line(self, line, code=0, **environment):
        """Runs LINE of a document as its reader would type it."""
        env = {k: v for k, v in os.environ.items() if not k.startswith("LNS_DOUBLE_")}
        env.update(environment, PATH=":".join([self.file("bin"), os.path.join(NVTX, "venv", "bin"), os.environ["PATH"]]))
        run = subprocess.run([WITH, "bash", "-c", re.sub(r"^nsys\b", "lanescope", line)], cwd=self.path, env=env, capture_output=True,
                             stdin=subprocess.DEVNULL, timeout=60, check=False)
        run = profiling.Run(run.returncode, run.stdout.decode(), run.stderr.decode(), self)
        assert run.code == code, (line, run)
        return run

    def counts(self, name):
        return dict(self.report(name).names())


def quoted(document, line):
    """LINE, which stands in DOCUMENT."""
    path = os.path.join(DOCUMENTS, document)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            assert line in file.read(), f"{document} has no {line}"
    return line


def block(document, language, number=0):
    """The block of code NUMBER of LANGUAGE in DOCUMENT, without the indentation of its first line."""
    path = os.path.join(DOCUMENTS, document)
    if not os.path.exists(path):
        raise tap.Skip("../shared/use-cases is not there")
    with open(path, encoding="utf-8") as file:
        text = re.findall(rf"^[ \t]*```{language}\n(.*?)^[ \t]*```", file.read(), re.M | re.S)[number]
    indent = re.match(r"[ \t]*", text)[0]
    return "".join(line.removeprefix(indent) for line in text.splitlines(keepends=True))


def warnings(run):
    return re.findall(r"lanescope: warning: (--[^:]+)", run.err)


# --- 000: PyTorch, ranges of the profiler, Python functions ------------------------------------------


def test_000_proof_of_life():
    with Desk() as desk:
        assert "\n  profile " in desk.line("nsys --help").out and "--python-functions-trace" in desk.line("nsys profile --help").out
        run = desk.line(quoted("000.txt", "nsys profile python python_script.py"))
        assert run.out == "trained\n" and re.search(r"Generating '.*report1\.rep'\n(.*\n)*Generated:\n    .*report1\.rep\n", run.err), run
        counts = desk.counts("report1.rep")
        assert counts["Batch4"] == 1 and counts["Copy to device"] == 5 and len(desk.report("report1.rep").of("cuda-memcpy")) == 5


def test_000_a_range_and_functions_of_python():
    with Desk() as desk:
        desk.write("nsight_annotations.json", """[
  {
    "_comment": "Mandatory: Name put on the block in GUI",
    "domain": "My Domain",
    "category": "My Category",
    "color": "0x008000",
    "module": "training",
    "functions": ["local_func"]
  }
]""")
        run = desk.line("nsys profile -f true  -c cudaProfilerApi  --capture-range-end=stop "
                        "--python-functions-trace=nsight_annotations.json  python test.py")
        # If you don't get a message like this in the terminal at the end it didn't run properly.
        assert run.out == "trained\n" and re.search(
            r"Capture range started(.*\n)*.* ended(.*\n)*Generating '.*report1\.rep'\n(.*\n)*Generated:\n    .*report1\.rep\n", run.err), run
        counts = desk.counts("report1.rep")
        assert counts["Batch1"] == counts["Batch2"] == 1 and "Batch0" not in counts and "Batch3" not in counts, counts
        assert counts.get("local_func", counts.get("training.local_func")) == 2, counts


# A file of functions as people print one to explain it: notes in the values, and an ellipsis.
FUNCTIONS = """[
\t{
\t\t"domain": "demo: groups the rows",
\t\t"color": "any: 0x804000",
\t\t"module": "your.module",
\t\t"functions": ["local_func"]
\t},
\t{...}
]
"""


def test_the_file_of_functions_as_it_is_printed():
    check_printed_functions(FUNCTIONS, "any: ", "your.module")


def test_000_the_file_of_functions_as_it_is_printed():
    check_printed_functions(block("000.txt", "json"), "(Optionsal) ", "torch.utils.dummy_func")


def check_printed_functions(printed, note, module):
    """What stands in the way is told, one by one; without the NOTE about the colour, and with the program's module for MODULE, it is taken."""
    with Desk() as desk:
        for text, told in ((printed, "is not valid JSON: line "), (printed.replace(",\n\t{...}", ""), "entry 1: “color” must be a color")):
            desk.write("printed.json", text)
            run = desk.line("nsys profile --python-functions-trace=printed.json python test.py", code=125)
            assert told in run.err and len(run.err.splitlines()) == 1 and run.out == "", run
        desk.write("printed.json", text.replace(note, "").replace(module, "training"))
        desk.line("nsys profile --python-functions-trace=printed.json python test.py")
        counts = desk.counts("report1.rep")
        assert counts.get("local_func", counts.get("training.local_func")) == 5, counts


def test_000_the_line_of_the_launch_dialog():
    line = quoted("000.txt", "-w true -t cuda,nvtx -s cpu  --capture-range=cudaProfilerApi --stop-on-range-end=true --cudabacktrace=true "
                             "-x true -o my_profile")
    with Desk() as desk:
        run = desk.line(f"nsys profile {line} python junk.py", code=143, PAUSE="20")  # the range's end ends the program
        assert sorted(warnings(run)) == [] and "Batch1" in desk.counts("my_profile.rep"), run


# --- 001: Slurm ---------------------------------------------------------------------------------------


def test_001_a_job_with_statistics_and_sqlite():
    for trace in ("'cuda','cublas','cudnn','osrt'", "'cuda','cublas','cudnn','osrt','nvtx'"):
        line = quoted("001.txt", f"nsys profile --trace={trace} --stats='true' --sample=none --export=sqlite -o profile.${{SLURM_JOBID}} ${{cmd}}")
        with Desk() as desk:
            run = desk.line(line, SLURM_JOBID="11264040", cmd="python ./train_nvtx.py")
            assert run.out.startswith("trained\n") and "CUDA API Summary (cuda_api_sum)" in run.out and "SKIPPED: " in run.out, run.out
            assert ("NVTX Range Summary" in run.out) == ("nvtx" in trace)
            assert "--trace: osrt: " not in run.err and "OS Runtime Summary (osrt_sum)" in run.out, run
            assert {"profile.11264040.rep", "profile.11264040.sqlite"} <= set(os.listdir(desk.path))
            with contextlib.closing(sqlite3.connect(desk.file("profile.11264040.sqlite"))) as database:
                tables = {name for name, in database.execute("SELECT name FROM sqlite_master")}
                assert {"CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_MEMCPY", "StringIds"} <= tables, tables
                if "nvtx" in trace:
                    colors = dict(database.execute("SELECT value, color FROM NVTX_EVENTS JOIN StringIds ON id = textId "
                                                   "WHERE value LIKE 'Batch%' OR value LIKE 'Copy%'"))
                    assert (colors["Batch0"], colors["Copy to device"]) == (0x008000, 0xff0000), colors


def test_001_the_job_as_it_is_submitted():
    script = """#!/bin/bash -l
#SBATCH --gres=gpu:1
module () { :; }
module load machine_learning/2023.04

cmd="python ./train_nvtx.py"
"""
    script += quoted("001.txt", "nsys profile --trace='cuda','cublas','cudnn','osrt' --stats='true' --sample=none --export=sqlite "
                                "-o profile.${SLURM_JOBID} ${cmd}\n").replace("nsys", "lanescope")
    with Desk() as desk:
        desk.write("job.sh", script)
        # A login shell begins with a PATH of its own.
        run = desk.line('PATH_=$PATH; sed -i "2iPATH=$PATH_" job.sh; bash job.sh >slurm.out 2>slurm.err', SLURM_JOBID="11264040")
        with open(desk.file("slurm.out"), encoding="utf-8") as out, open(desk.file("slurm.err"), encoding="utf-8") as err:
            assert "CUDA API Summary (cuda_api_sum)" in out.read() and "\r" not in err.read()
        # What the visualization is launched with, by a person without a display, and after it what needs none.
        opened = quoted("001.txt", "nsight-sys profile.11264040.nsys-rep").replace("nsight-sys", "lanescope ui")
        run = desk.line("unset DISPLAY WAYLAND_DISPLAY; " + opened, code=125)
        assert "cannot open a display" in run.err or "cannot find lanescope-ui" in run.err, run
        run = desk.line("nsys stats -q -r cuda_api_sum profile.11264040.nsys-rep")
        assert "cudaMemcpy" in run.out and run.err.count("opening profile.11264040.rep, as which it was written") == 1, run


# --- 002: llm.c ---------------------------------------------------------------------------------------


def test_002_a_whole_run_and_a_range():
    with Desk() as desk:
        if not os.path.exists(desk.file("train_gpt2cu")):
            raise tap.Skip("there is no nvcc here, so the CUDA programs were not built")
        desk.line(quoted("002.txt", "nsys profile ./train_gpt2cu"))
        assert len(desk.report("report1.rep").of("cuda-kernel")) == 3 * (4 + 10)
        # The range's end ends the program, so what it returns is SIGTERM's, unless it was faster.
        run = desk.line("set -e; " + quoted("002.txt", "nsys profile --capture-range cudaProfilerApi ./train_gpt2cu").replace("nsys", "lanescope")
                        + " || [ $? = 143 ]")
        assert len(desk.report("report2.rep").of("cuda-kernel")) == 10, run
        folded = desk.line("nsys export --type folded -o - report2.rep")
        assert re.search(r"^\S.* \d+$", folded.out, re.M), folded
        assert desk.line("nsys export --type svg report2.rep") and os.path.exists(desk.file("report2.svg"))


def test_002_the_flame_graph():
    """llm.c's own script, under the name that the document gives the report; its switches change nothing in it."""
    if not readers.is_here("collapse"):
        raise tap.Skip("llm.c's script is not here: tests/readers/fetch brings it")
    script = os.path.join(readers.FOLDER, "collapse", "dev", "tools", "collapse_nsys_gpu_stacks.py")
    with Desk() as desk:
        shutil.copy(os.path.join(PROGRAMS, "cuda-training"), desk.file("train_gpt2cu"))
        desk.line(quoted("002.txt", "nsys profile ./train_gpt2cu"))
        wanted = desk.line("nsys export --type folded --doubled=true -o - report1.rep").out
        quoted("002.txt", "collapse_nsys_gpu_stacks.py <path to .nsys-rep report file>")
        switches = [quoted("002.txt", switch) for switch in ("--no_strip_layer_number", "--no_strip_train_iter_number", "--no_filter_out_validation")]
        for given in ([], switches):
            run = desk.line(f"{readers.PYTHON} {script} --nsys_executable lanescope {' '.join(given)} report1.nsys-rep")
            assert run.out == wanted and wanted, (given, run)


# --- 003: a tour of switches --------------------------------------------------------------------------


def test_003_the_command_of_the_tour():
    switches = ["-w true", "--cuda-memory-usage=true", "--python-backtrace=cuda", "-s cpu", "-f true", "-x true", "-o baseline"]
    with Desk() as desk:
        run = desk.line(f"nsys profile {' '.join(quoted('003.txt', switch) for switch in switches)} python ./main.py")
        assert not warnings(run) and run.out == "trained\n", run
        report = desk.report("baseline.rep")
        lines = desk.line("lanescope sql baseline.rep \"SELECT count(*) FROM CUDA_CALLCHAINS JOIN StringIds f ON f.id = sourceFile"
                          " WHERE f.value LIKE '%main.py'\"")
        assert int(lines.out.split()[-1]) > 0, lines
        assert report.named("Total Elapsed Time") and report.of("cuda-memory"), {event["event"] for event in report.events}


# A command whose lines are explained, as people write it in notes.
TOUR = """nsys profile \\
    -f true \\      # replace what is there
    -o baseline \\  # the report's name
    python ./main.py
"""


def test_a_block_as_it_is_pasted():
    check_pasted(TOUR)


def test_003_the_block_as_it_is_pasted():
    check_pasted(block("003.txt", "bash").split("\n\n")[0])


def check_pasted(text):
    """The remarks stand behind the backslashes, so that a shell makes a program of the blank between."""
    with Desk() as desk:
        desk.write("tour.sh", text.replace("nsys", "lanescope"))
        run = desk.line("bash tour.sh; rm -f report*", code=0)
        assert "“ ” is not the name of a program; the backslash" in run.err and not os.path.exists(desk.file("baseline.rep")), run


def test_003_each_further_switch():
    with Desk() as desk:
        run = desk.line(f"nsys profile {quoted('003.txt', '--export=sqlite').replace('sqlite', 'json')} -o json python ./main.py")
        assert {"json.rep", "json.jsonl"} <= set(os.listdir(desk.path)), run
        switches = " ".join(quoted("003.txt", switch) for switch in ("--nvtx", "--mpi", "--sample=none", "--force-overwrite=true", "--output-dir=./reports"))
        run = desk.line(f"nsys profile {switches} -o named python ./main.py")
        assert not warnings(run) and desk.counts("reports/named.rep")["Batch4"] == 1, run
        switches = " ".join(quoted("003.txt", switch) for switch in ("--trace=cuda,osrt", "--export=sqlite"))
        run = desk.line(f"nsys profile {switches} -o exported python ./main.py")
        assert not warnings(run) and {"exported.rep", "exported.sqlite"} <= set(os.listdir(desk.path)), run
        run = desk.line(f"nsys profile {quoted('003.txt', '-c cuda')} python ./main.py", code=125)
        assert "-t cuda to record CUDA" in run.err and len(run.err.splitlines()) == 1, run
        quoted("003.txt", "-d 60")
        run = desk.line("nsys profile -d 2 -o short python ./main.py", code=143, PAUSE="60")
        assert "Total Elapsed Time" in desk.counts("short.rep"), run


# --- 004: Kubernetes ----------------------------------------------------------------------------------


def test_arguments_as_an_injector_passes_them():
    check_injector("profile --trace cuda,nvtx --force-overwrite true --delay 0.3 --duration 0.5 "
                   "-o fsx_shared/fsdp/auto_{PROCESS_NAME}_%{POD_FULLNAME}_%{CONTAINER_NAME}_{TIMESTAMP}_{UID}.nsys-rep")


def test_004_the_arguments_of_the_injector():
    arguments = re.search(r'devtoolArgs: "(.*?)"', block("004.txt", " yaml"), re.S)[1].replace("\\\n", " ")
    check_injector(arguments.replace("150", "0.3").replace("180", "0.5").replace("/fsx_shared", "fsx_shared"))


def check_injector(arguments):
    with Desk() as desk:
        run = desk.line(f"nsys {arguments} python ./main.py", code=143, PAUSE="20", POD_FULLNAME="default_fsdp-worker-7", CONTAINER_NAME="pytorch")
        made, = os.listdir(desk.file("fsx_shared/fsdp"))
        assert re.fullmatch(r"auto_python_default_fsdp-worker-7_pytorch_\d{13}_[0-9a-f]{8}\.rep", made), made
        assert run.err.count(".nsys-rep is another format") == 1 and not warnings(run), run.err
        # Copied from the pod, the file opens by itself.
        run = desk.line(f"cp fsx_shared/fsdp/{made} local.rep && rm -r fsx_shared && lanescope info local.rep")
        assert "state: complete\n" in run.out and "command line: python ./main.py\n" in run.out, run


tap.main(globals(), long=(test_003_each_further_switch,))
