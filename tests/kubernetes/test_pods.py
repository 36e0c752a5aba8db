# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Pods that the injector changed, really run: runtime.py makes their containers by the patched specification. The bundle is copied by its
own init container; programs are recorded and end as they do without us."""

import contextlib
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile

import bundle
import injecting
import runtime
import tap
from injecting import Injector, container, pod

MATCH = "(^|/)(act|torchrun|train\\.py)( |$)"
IMAGE = "registry.example/train:1"
# What the image's torchrun does: it starts a process for each worker, as PyTorch's does.
# The agent is no rank, though operators give it a variable RANK.
TORCHRUN = """#!/usr/bin/python3
import os, subprocess, sys
workers = [subprocess.Popen(["/usr/local/bin/act", "mark", f"rank {rank}", "exit", "0"], env={**os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank)}) for rank in range(2)]
sys.exit(max(worker.wait() for worker in workers))
"""


class Cluster:
    """Images and a claim. Use with `with`."""

    def __enter__(self):
        if os.getuid() != 0 or subprocess.run(["unshare", "-m", "-p", "-f", "-n", "true"], capture_output=True).returncode != 0:
            raise tap.Skip("only root can make the namespaces of containers")
        self.folder = tempfile.mkdtemp(prefix="lanescope-cluster-")
        self.shared = self.make("fsx")
        os.chmod(self.shared, 0o777)
        bundle.make(self.make("bundle"))
        train = self.make("train/usr/local/bin")
        shutil.copy(tap.program("nvtx-act"), os.path.join(train, "act"))
        self.script("train/usr/local/bin/torchrun", TORCHRUN)
        self.images = {injecting.IMAGE: runtime.Image(os.path.join(self.folder, "bundle"), has_machine=False, user=65532),
                       IMAGE: runtime.Image(os.path.join(self.folder, "train"))}
        return self

    def __exit__(self, *unused):
        shutil.rmtree(self.folder)

    def make(self, name):
        path = os.path.join(self.folder, name)
        os.makedirs(path)
        return path

    def script(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)

    def change(self, one, **values):
        """The pod ONE as the injector leaves it."""
        values = {"injectionMatch": MATCH, "devtoolArgs": "profile -t nvtx --why=false -o /fsx_shared/{PROCESS_NAME}_%{POD_FULLNAME}_%{CONTAINER_NAME}_{UID}", **values}
        with Injector(**values) as injector:
            changed, changes = injector.change(one)
        assert changes, changed
        return changed

    def pod(self, one, has_users=False, **values):
        return runtime.Pod(self.change(one, **values), self.images, {"fsx-claim": self.shared}, has_users)

    def plain(self, one):
        """The same pod without us."""
        return runtime.Pod(one, self.images, {"fsx-claim": self.shared})

    def reports(self):
        return sorted(glob.glob(os.path.join(self.shared, "**", "*.rep"), recursive=True))


def info(*paths, code=0):
    """The facts that `lanescope info` prints of reports."""
    told = subprocess.run([tap.LANESCOPE, "info", *paths], capture_output=True, text=True, check=False)
    assert told.returncode == code, told
    return dict(line.split(": ", 1) for line in told.stdout.splitlines() if ": " in line and not line.startswith(" "))


def facts(path):
    return info(path)


def names(path):
    """The names of the NVTX events of the report at PATH."""
    told = subprocess.run([tap.LANESCOPE, "sql", "--json", path, "SELECT text FROM NVTX_EVENTS"], capture_output=True, text=True, check=True)
    return sorted(row["text"] for row in json.loads(told.stdout))


def act(*words, name="pytorch", **fields):
    return container("/usr/local/bin/act", *words, name=name, **fields)


def test_the_bundle_is_small_and_needs_nothing():
    """It is copied into each pod, and runs in images of any distribution."""
    folder = tempfile.mkdtemp()
    try:
        bundle.make(folder)
        packed = subprocess.run(f"tar -C {folder} -cf - . | gzip -9 | wc -c", shell=True, capture_output=True, text=True, check=True)
        assert int(packed.stdout) < 8 << 20, packed.stdout
        told = subprocess.run(["readelf", "-ld", os.path.join(folder, "bin", "lanescope")], capture_output=True, text=True, check=True).stdout
        assert "NEEDED" not in told and "INTERP" not in told, told
    finally:
        shutil.rmtree(folder)


# --- The way of a pod. --------------------------------------------------------------------------------


def test_a_wrapped_command_leaves_its_report_in_the_volume():
    with Cluster() as cluster, cluster.pod(pod(act("mark", "one", "print", "out", "warn", "err", "exit", "7"))) as one:
        (code, out, errors), = one.run()
        assert code == 7 and out == "out\n" and "err\n" in errors, (code, out, errors)
        report, = cluster.reports()
        assert re.fullmatch(r"act_default_fsdp-worker-0_pytorch_[0-9a-f]{8}\.rep", os.path.basename(report)), report
        assert names(report) == ["one"] and facts(report)["state"] == "complete"


def test_the_entry_point_of_an_image_is_reached():
    """Neither the manifest nor the injector has a command line here: 004's own pattern, and a torchrun with workers."""
    with Cluster() as cluster:
        cluster.images[IMAGE].entrypoint = ["torchrun"]
        with cluster.pod(pod(container(args=["--nproc_per_node=2", "train.py"])), injectionMatch=injecting.VALUES["injectionMatch"]) as one:
            (code, out, errors), = one.run()
            assert code == 0 and out == "", (code, out, errors)
            report, = cluster.reports()
            assert os.path.basename(report).startswith("python3_default_fsdp-worker-0_pytorch_"), report
            assert names(report) == ["rank 0", "rank 1"], names(report)
            told = info(report, report)
            assert told["reports"] == "2" and told["ranks"] == "0-1" and "missing ranks" not in told, told


def test_a_shell_on_the_way_and_what_does_not_match():
    with Cluster() as cluster, cluster.pod(pod(container("/bin/sh", "-c", "/bin/echo first; act mark a; code=$?; env | grep -c LANESCOPE_POD_; exit $code"),
                                               container("/bin/sh", "-c", "/bin/echo sidecar", name="proxy"))) as one:
        (code, out, errors), (proxy, said, wrong) = one.run()
        assert code == 0 and out.startswith("first\n"), (out, errors)
        assert (proxy, said, wrong) == (0, "sidecar\n", ""), (proxy, said, wrong)
        report, = cluster.reports()
        assert names(report) == ["a"]


def test_what_the_program_sees_is_what_it_sees_without_us():
    """Its words, folder, preloads, signals and limits; of our variables none that acts on what it starts."""
    look = ("import os, resource, signal, sys; print(sys.argv, os.getcwd(), os.environ.get('LD_PRELOAD'), [n for n in os.environ if n.startswith('LANESCOPE_POD_') "
            "and not n.startswith('LANESCOPE_POD_NAME')], signal.getsignal(signal.SIGTERM), signal.pthread_sigmask(signal.SIG_BLOCK, []), "
            "resource.getrlimit(resource.RLIMIT_NOFILE))")
    with Cluster() as cluster:
        cluster.script("train/usr/local/bin/train.py", "#!/usr/bin/python3\n" + look)
        cluster.images[IMAGE].entrypoint = ["train.py", "a b", "$(NOT)"]
        for command in (["/usr/local/bin/train.py", "a b", "$(NOT)"], []):
            one = pod(container(*command, workingDir="/tmp"))
            with cluster.plain(one) as plain, cluster.pod(one) as changed:
                before, after = plain.run()[0][:2], changed.run()[0][:2]
            assert before == after and before[0] == 0, (before, after)
        assert len(cluster.reports()) == 2


# --- Ends. --------------------------------------------------------------------------------------------


def stopped(cluster, number, *words, **values):
    """(code, output, errors) of a container that is sent NUMBER once its program runs."""
    with cluster.pod(pod(act("mark", "begun", *words)), **values) as one:
        one.prepare()
        running = one.start(one.spec["containers"][0])
        line = running.process.stdout.readline()
        assert line == b"ready\n", line
        running.signal(number)
        code, out, errors = running.wait()
        return code, out, errors


def test_sigterm_reaches_the_program_and_the_report_is_whole():
    with Cluster() as cluster:
        code, out, errors = stopped(cluster, signal.SIGTERM, "catch", "15", "print", "ready", "pause", "mark", "behind", "exit", "3")
        assert code == 3 and out.startswith("15\n") or "15" in out, (code, out, errors)
        report, = cluster.reports()
        assert names(report) == ["begun", "behind"] and facts(report)["state"] == "complete", errors


def test_sigterm_ends_a_program_without_a_handler():
    with Cluster() as cluster:
        code, _, errors = stopped(cluster, signal.SIGTERM, "print", "ready", "sleep", "60000")
        assert code == 143, (code, errors)
        report, = cluster.reports()
        assert names(report) == ["begun"] and facts(report)["state"] == "complete", errors


def test_sigkill_after_the_grace_period_leaves_what_was_stored():
    """The kubelet's second step: everything in the container is gone at once."""
    with Cluster() as cluster:
        code, _, errors = stopped(cluster, signal.SIGKILL, "sleep", "2500", "print", "ready", "sleep", "60000")
        assert code == 137, (code, errors)
        report, = cluster.reports()
        assert names(report) == ["begun"] and facts(report)["state"] == "cut off", errors


def test_signals_of_the_program_become_exit_codes():
    with Cluster() as cluster, cluster.pod(pod(act("abort"))) as one:
        (code, _, errors), = one.run()
        assert code == 134, (code, errors)


def test_a_duration_ends_the_program():
    """004: the application is ended when its time is over."""
    with Cluster() as cluster, cluster.pod(pod(act("mark", "a", "sleep", "60000")), devtoolArgs="profile -t nvtx --delay 0 --duration 1 -o /fsx_shared/a") as one:
        (code, _, errors), = one.run()
        assert code == 143, (code, errors)
        assert names(cluster.reports()[0]) == ["a"]


# --- What cannot be recorded. -------------------------------------------------------------------------


def test_a_pod_runs_even_where_nothing_can_be_recorded():
    for arguments, mounted in (("profile --no-such-switch", False), ("profile -o /proc/x/y", False), ("profile -o /fsx_shared/a", True)):
        with Cluster() as cluster:
            changed = cluster.change(pod(act("print", "out", "exit", "5")), devtoolArgs=arguments)
            changed["spec"]["containers"][0]["volumeMounts"][-1]["readOnly"] = mounted
            with runtime.Pod(changed, cluster.images, {"fsx-claim": cluster.shared}) as one:
                (code, out, errors), = one.run()
            assert code == 5 and out == "out\n" and "runs without being recorded" in errors, (arguments, code, out, errors)
            assert not cluster.reports()


def test_a_full_volume_does_not_fail_a_job():
    with Cluster() as cluster:
        small = cluster.make("small")
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1500k", "none", small], check=True)
        try:
            with runtime.Pod(cluster.change(pod(act("spin", "3000000"))), cluster.images, {"fsx-claim": small}) as one:
                (code, _, errors), = one.run(300)
            assert code == 0 and "No space left" in errors, (code, errors)
        finally:
            subprocess.run(["umount", "-l", small], check=True)


def test_a_report_ends_before_the_pod_is_evicted():
    """At half of the ephemeral storage that the container may have, of which an emptyDir is part. The program keeps its own limit."""
    before = act("mark", "a", "print", "ready", "sleep", "60000", resources={"limits": {"ephemeral-storage": "2Gi"}})
    with Cluster() as cluster, cluster.pod(pod(before), volumes=None, volumeMounts=None, devtoolArgs="profile -t nvtx --why=false") as one:
        one.prepare()
        running = one.start(one.spec["containers"][0])
        assert running.process.stdout.readline() == b"ready\n"
        sizes = running.execute("/bin/sh", "-c", "cat /proc/[0-9]*/limits").stdout.splitlines()
        running.signal(signal.SIGTERM)
        code, _, errors = running.wait()
        limits = [line.split()[3] for line in sizes if line.startswith("Max file size")]
        assert code == 143 and limits.count(str(1 << 30)) == 1 and "unlimited" in limits, (limits, errors)
        assert len(glob.glob(os.path.join(one.volume("lanescope-reports"), "*.rep"))) == 1


RESTRICTED = {"runAsNonRoot": True, "runAsUser": 1000, "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]},
              "readOnlyRootFilesystem": True, "seccompProfile": {"type": "RuntimeDefault"}}


def test_the_strictest_security_context():
    """A read-only root, no root user, no capability, no new privileges, the default profile: what can be recorded is, the rest is said."""
    before = act("mark", "a", "exit", "0", securityContext=RESTRICTED)
    with Cluster() as cluster, cluster.pod(pod(before), devtoolArgs="profile -t nvtx,osrt --sample process-tree -o /fsx_shared/a") as one:
        (code, _, errors), = one.run()
        assert code == 0 and "runs without" not in errors, errors
        report, = cluster.reports()
        assert "a" in names(report) and os.stat(report).st_uid == 1000
        assert re.search(r"lanescope: warning: .*perf|LNS-CPU", errors), errors
        init = one.spec["initContainers"][0]["securityContext"]
        assert init["readOnlyRootFilesystem"] and init["runAsNonRoot"], init


def test_users_of_their_own():
    with Cluster() as cluster, cluster.pod(pod(act("mark", "a", "exit", "4"), hostUsers=False), has_users=True) as one:
        (code, _, errors), = one.run()
        assert code == 4 and names(cluster.reports()[0]) == ["a"], errors


def test_records_follow_the_memory_of_the_container():
    with Cluster() as cluster:
        before = act("spin", "200000", "mark", "z", resources={"limits": {"memory": "96Mi"}})
        with cluster.pod(pod(before)) as one:
            assert one.spec["initContainers"][0]["resources"], one.spec
            (code, _, errors), = one.run(200)
        if not os.access(runtime.CGROUPS, os.W_OK):
            raise tap.Skip("the machine has no memory control group that a test can use")
        told = facts(cluster.reports()[0])
        assert code == 0 and len(names(cluster.reports()[0])) + int(told["lost"]) == 200001, (errors, told)


# --- Others in the pod. -------------------------------------------------------------------------------


def test_probes_are_not_recorded():
    """A probe's command matches, too, and has the container's environment."""
    with Cluster() as cluster:
        cluster.images[IMAGE].entrypoint = ["act", "mark", "main", "print", "ready", "await"]
        with cluster.pod(pod(container(name="pytorch"))) as one:
            one.prepare()
            running = one.start(one.spec["containers"][0])
            # Its standard input is /dev/null, so that `await` ends by itself: it may be over before the probe.
            assert running.process.stdout.readline() == b"ready\n"
            running.wait()
        cluster.images[IMAGE].entrypoint = ["act", "mark", "main", "print", "ready", "sleep", "60000"]
        with cluster.pod(pod(container(name="second"))) as one:
            one.prepare()
            running = one.start(one.spec["containers"][0])
            assert running.process.stdout.readline() == b"ready\n"
            probe = running.execute("/bin/sh", "-c", "/usr/local/bin/act mark probe print alive; act exit 9")
            assert probe.returncode == 9 and probe.stdout == "alive\n" and probe.stderr == "", probe
            running.signal(signal.SIGTERM)
            running.wait()
        reports = cluster.reports()
        assert len(reports) == 2 and sorted(sum((names(report) for report in reports), [])) == ["main", "main"], reports


def test_init_containers_and_sidecars_are_as_without_us():
    before = pod(act("mark", "a"), container("/bin/sh", "-c", "act print side exit 6", name="side"))
    before["spec"]["initContainers"] = [{"name": "first", "image": IMAGE, "command": ["/usr/local/bin/act", "mark", "init", "exit", "0"]}]
    before["metadata"]["annotations"] = {"lanescope.io/containers": "pytorch"}
    with Cluster() as cluster, cluster.pod(before) as one:
        assert one.spec["initContainers"][1] == {"name": "first", "image": IMAGE, "command": ["/usr/local/bin/act", "mark", "init", "exit", "0"]}
        (code, _, _), side = one.run()
        assert code == 0 and side == (6, "side\n", ""), side
        assert [names(report) for report in cluster.reports()] == [["a"]]


def test_images_with_musl_start_as_they_are():
    """Their programs have another loader, which must take the starter or at least do no harm. Recording reaches only what glibc loads."""
    if shutil.which("musl-gcc") is None:
        raise tap.Skip("musl-gcc is not here")
    with Cluster() as cluster:
        source, program = os.path.join(cluster.folder, "a.c"), os.path.join(cluster.folder, "train", "usr", "local", "bin", "small")
        with open(source, "w", encoding="utf-8") as file:
            file.write('#include <stdio.h>\n#include <stdlib.h>\nint main (int n, char **words) { printf ("%d %s\\n", n, getenv ("LD_PRELOAD") ? "kept" : "none"); return 11; }\n')
        subprocess.run(["musl-gcc", "-o", program, source], check=True)
        cluster.images[IMAGE].entrypoint = ["small", "x"]
        for match, told, n in (("nothing", "2 kept\n", 0), ("small x", "2 none\n", 1)):
            with cluster.pod(pod(container()), injectionMatch=match) as one:
                (code, out, errors), = one.run()
            assert code == 11 and out == told and len(cluster.reports()) == n, (code, out, errors)


def test_static_programs_are_reached_by_their_command_alone():
    with Cluster() as cluster:
        source, program = os.path.join(cluster.folder, "a.c"), os.path.join(cluster.folder, "train", "usr", "local", "bin", "still")
        with open(source, "w", encoding="utf-8") as file:
            file.write("int main (void) { return 12; }\n")
        subprocess.run(["cc", "-static", "-o", program, source], check=True)
        cluster.images[IMAGE].entrypoint = ["still"]
        for command, n in (([], 0), (["still"], 1)):
            with cluster.pod(pod(container(*command)), injectionMatch="still") as one:
                (code, _, errors), = one.run()
            assert code == 12 and len(cluster.reports()) == n, (code, errors)


# --- Several pods. ------------------------------------------------------------------------------------


def test_sixty_four_workers_have_a_report_each():
    """All with one name of a pod, container and program: what a restarted pod has, too. The names given have no id of their own."""
    with Cluster() as cluster:
        changed = cluster.change(pod(act("mark", "a", "exit", "0")), devtoolArgs="profile -t nvtx --why=false -f true -o /fsx_shared/x.nsys-rep")
        with contextlib.ExitStack() as stack:
            pods = [stack.enter_context(runtime.Pod(changed, cluster.images, {"fsx-claim": cluster.shared})) for _ in range(8)]
            pods[0].prepare()
            for other in pods[1:]:
                shutil.copytree(pods[0].volume("lanescope"), other.volume("lanescope"), dirs_exist_ok=True)
            for _ in range(8):
                for running in [one.start(one.spec["containers"][0]) for one in pods]:
                    code, _, errors = running.wait(300)
                    assert code == 0, errors
        reports = cluster.reports()
        assert len(reports) == 64 and all(names(report) == ["a"] for report in reports), len(reports)


def test_info_tells_which_ranks_are_there():
    """Of five workers, three have reports: one is whole, one was killed, one has no event."""
    events = "profile -t nvtx --sample none --cpuctxsw none --why=false -o /fsx_shared/x"
    with Cluster() as cluster:
        for rank, words in ((0, ["mark", "a", "exit", "0"]), (1, ["mark", "a", "sleep", "2500", "print", "ready", "sleep", "60000"]), (3, ["exit", "0"])):
            worker = act(*words, env=[{"name": "RANK", "value": str(rank)}, {"name": "WORLD_SIZE", "value": "5"}])
            with cluster.pod(pod(worker), devtoolArgs=events) as one:
                one.prepare()
                running = one.start(one.spec["containers"][0])
                if "ready" in words:
                    assert running.process.stdout.readline() == b"ready\n"
                    running.signal(signal.SIGKILL)
                running.wait()
        told = info(*cluster.reports())
        assert told["complete"] == told["empty"] == told["cut off"] == "1" and told["unreadable"] == "0", told
        assert told["ranks"] == "0-1, 3" and told["missing ranks"] == "2, 4", told
        broken = os.path.join(cluster.shared, "broken.rep")
        with open(broken, "wb") as file:
            file.write(b"nothing")
        told = info(*cluster.reports(), code=125)
        assert told["reports"] == "4" and told["unreadable"] == "1" and told["complete"] == "1", told


tap.main(globals(), gate=(test_the_bundle_is_small_and_needs_nothing, test_a_wrapped_command_leaves_its_report_in_the_volume, test_the_entry_point_of_an_image_is_reached,
                          test_sigterm_reaches_the_program_and_the_report_is_whole, test_a_pod_runs_even_where_nothing_can_be_recorded,
                          test_the_strictest_security_context))
