# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""lanescope why of real programs, recorded with the switches that a user would type: the first sentence names the cause, the
thread, the call and the range. CUDA is the double: its GPU does next to nothing, so that the host's time is all that counts."""

import json
import os
import re
import sys
import tempfile

import tap

for room in ("answers", "e2e", "golden"):
    sys.path.insert(0, os.path.join(tap.SOURCE, "tests", room))
import answers  # noqa: E402
import golden  # noqa: E402
import profiling  # noqa: E402

WITH = os.path.join(tap.SOURCE, "tests", "double", "with")
LOADER = os.path.join(tap.SOURCE, "tests", "programs", "queue-loader.py")
# With samples and states of threads, as is the default.
AS_A_USER = {name: value for name, value in os.environ.items() if name != "LANESCOPE_SAMPLE" and not name.startswith("LNS_DOUBLE_")}


def ask(*command, switches=(), before=()):
    """What `why` says of the run of COMMAND. Its ledgers close."""
    with profiling.Folder() as folder:
        run = folder.profile(*switches, "-o", "r", *command, before=before, env=AS_A_USER)
        assert run.code == 0, run
        if "[LNS-CPU-0" in run.err:
            raise tap.Skip("samples and states of threads are not recorded here")
        answer = json.loads(golden.run("why", "--format=json", folder.file("r.rep"))[0])
    answers.check_ledgers(answer, command)
    assert f"Why: {answer['verdict']}\n" in run.err, run.err
    return answer


def first_of(answer, cause):
    """The first finding, which the verdict is about. A machine that is busy keeps threads off its CPUs, and starts programs
    slowly: so much is true, and the finding behind it is what the program planted."""
    findings = [f for f in answer["findings"] if f["cause"] not in {"cpu-contention", "start-up"} - {cause}]
    first = findings[0]
    if first is answer["findings"][0] and answer["devices"]:
        sentence = first["sentence"]
        assert sentence[0].lower() + sentence[1:] in answer["verdict"], answer["verdict"]
    assert first["cause"] == cause, [(f["cause"], f["ns"], f["sentence"]) for f in answer["findings"]]
    return first


def check(word, cause, *said):
    """The program that loses its time to WORD is told to lose it to CAUSE, and its sentence has all that is SAID."""
    answer = ask(tap.program("cuda-why"), word, switches=("-t", "cuda,nvtx,osrt"), before=[WITH])
    first = first_of(answer, cause)
    thread = [] if cause == "start-up" else [f"Thread {answer['devices'][0]['pid']} "]
    lacks = [text for text in (*thread, *said) if text not in first["sentence"]]
    assert not lacks, (lacks, first["sentence"])
    if cause != "start-up": # then steps are a small part of the time, and not looked for
        assert answer["steps"]["source"] == "nvtx:step", answer["steps"]
    return first


def test_lock_wait():
    check("lock-wait", "lock-wait", "in sem_wait (“load”)", "“loader” in “decode”")


def test_lock_wait_in_a_condition():
    check("lock-wait-condition", "lock-wait", "in pthread_cond_wait (“load”)", "“loader” in “decode”")


def test_io_wait():
    check("io-wait", "io-wait", "in read (“load”)")


def test_io_wait_of_a_disk():
    first = check("io-wait-disk", "io-wait", "in fsync (“load”)")
    assert "for data" not in first["sentence"] and "write" in first["advice"] and "read ahead" not in first["advice"], first


def test_sleep():
    check("sleep", "sleep", "in usleep", "(“load”)")


def test_cpu_contention():
    check("cpu-contention", "cpu-contention", "in “load”", "thread ")


def test_cpu_work():
    check("cpu-work", "cpu-work", "in “load” in ", ", mostly in decode_batch.")


def test_gpu_sync():
    check("gpu-sync", "gpu-sync", "in cudaDeviceSynchronize (“forward”)")


def test_launch_rate():
    check("launch-rate", "launch-rate", "in “forward”")


def test_allocation():
    first = check("allocation", "allocation", "(“load”)")
    assert any(f"{call}{more} (" in first["sentence"] for call in ("cudaFree", "cudaMalloc") for more in ("", " and other calls")), first


def test_module_load():
    check("module-load", "module-load", "in cuModuleLoadData (“load”)")


def test_start_up():
    check("start-up", "start-up", "work began only after", "“tokenize”", "decode_batch")


def test_slow_step():
    # cuda-why.cu: one of 20 steps reads for as long as all others do in total, and longer.
    check("slow-step", "io-wait", "in read (“load”), most in 1 of 20 steps")


def test_advice_without_a_gpu_speaks_of_none():
    answer = ask("/usr/bin/python3", "-c", "print(sum(i * i for i in range(3000000)))")
    first = first_of(answer, "cpu-work")
    assert "GPU" not in first["advice"] and first["advice"], first


def test_a_process_of_several_is_named():
    answer = ask("sh", "-c", "head -c 8000000 /dev/zero | od -v | sort | wc -l")
    ledger = answer["threads"][0]
    named = [f"Process {ledger['pid']} “{name}” " for name in ("sh", "head", "od", "sort", "wc")]
    assert any(answer["verdict"].startswith(name) for name in named), answer["verdict"]


def test_a_thread_is_not_said_to_be_its_process():
    """The process is on a CPU nearly all the time, and its main thread waits for the other one."""
    code = "import threading; t = threading.Thread(target=lambda: sum(i for i in range(9000000))); t.start(); t.join()"
    answer = ask("sh", "-c", f"/usr/bin/python3 -c '{code}'; true")
    verdict, sentences = answer["verdict"], [finding["sentence"] for finding in answer["findings"]]
    assert re.match(r"The main thread of process [0-9]+ “python3” waited ", verdict), verdict
    assert sentences and not any(re.match(r"Process [0-9]+ “python3”", sentence) for sentence in sentences), sentences


def test_what_waits_for_a_disk_is_named():
    """By samples alone: no call of the C library and none of the system is recorded, and a thread that waits is not sampled."""
    with tempfile.TemporaryDirectory() as folder:
        answer = ask("dd", "if=/dev/zero", f"of={folder}/file", "bs=512", "count=4000", "oflag=dsync")
    waits = [f for f in answer["findings"] if f["cause"] == "io-wait" and f["count"] > 1000]
    if not waits:
        raise tap.Skip("this file system does not wait for a disk")
    assert "mostly in " in waits[0]["sentence"] and "write" in waits[0]["sentence"], waits


def test_python_waits_for_its_worker():
    # queue-loader.py: the worker computes in decode (); the main thread waits for the queue, or for the interpreter's lock.
    answer = ask("/usr/bin/python3", LOADER, switches=("-t", "osrt"))
    waits = [f for f in answer["findings"] if f["cause"] == "lock-wait" and f["severity"] == "high"]
    assert waits and first_of(answer, "lock-wait") is waits[0], answer["findings"]
    lacks = [f["sentence"] for f in waits if " for thread " not in f["sentence"] and " held by thread " not in f["sentence"]]
    assert not lacks and "decode" in waits[0]["sentence"], [f["sentence"] for f in waits]
    # Without samples of Python functions of the interpreter are all that is known: how to learn more is said.
    answer = ask("/usr/bin/python3", LOADER, switches=("-t", "osrt", "--python-sampling=false"))
    # Some of these have no name: python3.11+0xfcee0.
    findings = [(f["sentence"], f["advice"], "_PyEval" in f["sentence"], "Py" in f["sentence"] or " in python3" in f["sentence"])
                for f in answer["findings"]]
    assert all("--python-sampling=true" in advice for _, advice, is_frame, _ in findings if is_frame), findings
    assert not any("--python-sampling" in advice for _, advice, _, is_python in findings if not is_python), findings


def test_code_of_a_module_is_told_by_its_own_line():
    said = first_of(ask("/usr/bin/python3", os.path.join(tap.SOURCE, "tests", "programs", "module-code.py")), "cpu-work")["sentence"]
    assert re.search(r"<module> \(module-code\.py:1[34]\)", said), said


tap.main(globals())
