# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Runs the containers of a pod by its specification, with namespaces, as a kubelet and its runtime would: init containers first, volumes
mounted, variables expanded, users, capabilities, seccomp, limits and signals as the pod says. What a cluster alone has is not here:
networks, storage classes, images from registries (an image is a folder, over this machine's files if it asks for that).

As a program, `runtime.py FILE`, it is the last step of a container: it runs in the new namespaces, makes the file system, and becomes
the command."""

import ctypes
import ctypes.util
import fcntl
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile

LIBC = ctypes.CDLL(None, use_errno=True)
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE, MNT_DETACH = 1, 32, 4096, 16384, 1 << 18, 2
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, PR_SET_PDEATHSIG = 24, 38, 22, 1
CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 1 << 17, 1 << 26, 1 << 27, 1 << 28, 1 << 29, 1 << 30
# Calls that the default profile of container runtimes refuses without privileges, by the numbers of x86-64 and AArch64.
REFUSED = {"x86_64": {"perf_event_open": 298, "bpf": 321, "mount": 165, "umount2": 166, "unshare": 272, "setns": 308, "keyctl": 250,
                      "add_key": 248, "userfaultfd": 323, "kexec_load": 246, "init_module": 175, "open_by_handle_at": 304, "pivot_root": 155},
           "aarch64": {"perf_event_open": 241, "bpf": 280, "mount": 40, "umount2": 39, "unshare": 97, "setns": 268, "keyctl": 219,
                       "add_key": 217, "userfaultfd": 282, "kexec_load": 104, "init_module": 105, "open_by_handle_at": 265, "pivot_root": 41}}
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
CGROUPS = "/sys/fs/cgroup/memory"


# --- In the namespaces of a container. ---------------------------------------------------------------


def call(name, *arguments):
    arguments = [argument.encode() if isinstance(argument, str) else argument for argument in arguments]
    if getattr(LIBC, name)(*arguments) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name} {arguments}: {os.strerror(code)}")


def mount(source, target, kind=None, flags=0, data=None):
    call("mount", source, target, kind, ctypes.c_ulong(flags), data)


def bind(source, target, read_only):
    """Mounts SOURCE, a folder, at TARGET, which is made."""
    os.makedirs(target, exist_ok=True)
    mount(source, target, None, MS_BIND | MS_REC)
    if read_only:
        mount(None, target, None, MS_REMOUNT | MS_BIND | MS_RDONLY)


def make_root(work):
    """The container's file system."""
    root = os.path.join(work["scratch"], "root")
    mount(None, "/", None, MS_REC | MS_PRIVATE)
    mount("none", work["scratch"], "tmpfs")
    for name in ("root", "upper", "work", "image"):
        os.mkdir(os.path.join(work["scratch"], name))
    lower = os.path.join(work["scratch"], "image")
    shutil.copytree(work["image"]["folder"], lower, dirs_exist_ok=True, symlinks=True)
    if work["image"]["has_machine"]:
        lower += ":/"
    mount("overlay", root, "overlay", 0, f"lowerdir={lower},upperdir={work['scratch']}/upper,workdir={work['scratch']}/work")
    # Containers have no folders of this machine.
    for name in ("work", "root", "home", "sys/fs/cgroup"):
        if os.path.isdir(os.path.join(root, name)):
            mount("none", os.path.join(root, name), "tmpfs")
    for name in ("proc", "dev", "tmp"):
        os.makedirs(os.path.join(root, name), exist_ok=True)
    mount("proc", os.path.join(root, "proc"), "proc")
    mount("none", os.path.join(root, "dev"), "tmpfs")
    for name in ("null", "zero", "urandom", "full"):
        with open(os.path.join(root, "dev", name), "wb"):
            pass
        mount(f"/dev/{name}", os.path.join(root, "dev", name), None, MS_BIND)
    os.makedirs(os.path.join(root, "dev/shm"))
    mount("none", os.path.join(root, "dev/shm"), "tmpfs")
    # As in an image: a folder of the root, read-only with it.
    if work["image"]["has_machine"]:
        shutil.rmtree(os.path.join(work["scratch"], "upper", "tmp"), ignore_errors=True)
        mount("none", os.path.join(root, "tmp"), "tmpfs", MS_RDONLY if work["read_only"] else 0)
    for volume in work["mounts"]:
        bind(volume["source"], root + volume["target"], volume["read_only"])
    if work["read_only"]:
        mount(None, root, None, MS_REMOUNT | MS_RDONLY)
    os.chdir(root)
    call("syscall", REFUSED[os.uname().machine]["pivot_root"], ".", ".")
    call("umount2", ".", MNT_DETACH)
    os.chdir(work["folder"])


def refuse_calls():
    """Has the kernel answer EPERM to what the default profile refuses."""
    refused = REFUSED[os.uname().machine].values()
    code = [(0x20, 0, 0, 0)]  # the call's number
    for at, number in enumerate(refused):
        code.append((0x15, len(refused) - at, 0, number))
    code += [(0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x00050000 | 1)]
    program = b"".join(struct.pack("HBBI", *line) for line in code)
    buffer = ctypes.create_string_buffer(program)
    description = struct.pack("HxxxxxxP", len(code), ctypes.addressof(buffer))
    call("prctl", PR_SET_SECCOMP, 2, ctypes.create_string_buffer(description), 0, 0)


def give_users(pid, ready):
    """Maps the users of the namespace of process PID one to one, once READY has a byte. Only a process outside of it may. Python's modules
    may be out of reach by now."""
    os.read(ready, 1)
    for name in ("uid_map", "gid_map"):
        os.write(os.open(f"/proc/{pid}/{name}", os.O_WRONLY), b"0 0 65536")
    os._exit(0)


def leave_users():
    """Enters a namespace of users, in which this process's privileges reach nothing outside of it."""
    ready, go = os.pipe()
    mapper = os.fork() or give_users(os.getppid(), ready)
    call("unshare", CLONE_NEWUSER)
    os.write(go, b"x")
    assert os.waitpid(mapper, 0)[1] == 0
    os.close(ready)
    os.close(go)


def separate():
    """Leaves the namespaces of this machine. Returns in process 1 of the new ones; the process outside ends as that one does, as a shell
    says it."""
    call("unshare", CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNET)
    child = os.fork()
    if child == 0:
        call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        with socket.socket() as one: # a pod has a loopback of its own
            fcntl.ioctl(one, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))
        return
    status = os.waitpid(child, 0)[1]
    os._exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))


def enter(work):
    """Makes the container of WORK of this process."""
    separate()
    make_root(work)
    if work["has_users"]:
        leave_users()
    if work["drops_capabilities"]:
        for capability in range(64):
            LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    if work["user"]:
        os.setgroups([])
        os.setgid(work["group"])
        os.setuid(work["user"])
    if not work["may_gain"]:
        call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if work["refuses_calls"]:
        refuse_calls()
    os.execvpe(work["command"][0], work["command"], work["environment"])


# --- The kubelet's part. -----------------------------------------------------------------------------


class Image:
    """Files, over those of this machine if HAS_MACHINE, and what an image says beside them."""

    def __init__(self, folder, has_machine=True, entrypoint=(), environment=None, user=0):
        self.folder, self.has_machine, self.entrypoint, self.user = folder, has_machine, list(entrypoint), user
        self.environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", **(environment or {})}


def expand(text, variables):
    """TEXT with $(NAME) replaced where NAME is known, and $$ by $."""
    return re.sub(r"\$\$|\$\(([-._a-zA-Z][-._a-zA-Z0-9]*)\)",
                  lambda found: "$" if found[0] == "$$" else variables.get(found[1], found[0]), text)


def quantity_bytes(text):
    number, unit = re.fullmatch(r"(\d+)(Ki|Mi|Gi|)", text).groups()
    return int(number) << {"": 0, "Ki": 10, "Mi": 20, "Gi": 30}[unit]


class Running:
    """A container that runs, and the process outside of it that waits for its first one."""

    def __init__(self, process, cgroup, environment):
        self.process, self.cgroup, self.environment = process, cgroup, environment

    def first_pid(self):
        """The container's process 1, as this machine numbers it."""
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as file:
            return int(file.read().split()[0])

    def signal(self, number):
        os.kill(self.first_pid(), number)

    def execute(self, *command):
        """What COMMAND prints in the container, started as `kubectl exec` and probes are."""
        variables = [f"{name}={value}" for name, value in self.environment.items()]
        return subprocess.run(["nsenter", "-t", str(self.first_pid()), "-m", "-n", "-p", "-i", "-u", "-r", "-w", "/usr/bin/env", "-i", *variables, *command],
                              capture_output=True, text=True, check=False)

    def wait(self, timeout_s=60):
        """(exit code as a kubelet says it, what it printed, its errors)."""
        out, errors = self.process.communicate(timeout=timeout_s)
        if self.cgroup:
            os.rmdir(self.cgroup)
        return self.process.returncode, out.decode(), errors.decode()


class Pod:
    """POD with images by name, claims as folders, and a folder for its empty volumes. Use with `with`."""

    def __init__(self, pod, images, claims=None, has_users=False):
        self.pod, self.images, self.claims, self.has_users = pod, images, claims or {}, has_users
        self.spec = pod["spec"]

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="lanescope-pod-")
        return self

    def __exit__(self, *unused):
        shutil.rmtree(self.folder)

    def volume(self, name):
        """The folder of the volume NAME on this machine."""
        volume = next(volume for volume in self.spec.get("volumes", []) if volume["name"] == name)
        if "persistentVolumeClaim" in volume:
            return self.claims[volume["persistentVolumeClaim"]["claimName"]]
        if "image" in volume:
            return self.images[volume["image"]["reference"]].folder
        path = os.path.join(self.folder, "volume-" + name)
        assert "emptyDir" in volume, volume
        if not os.path.isdir(path):
            os.mkdir(path)
            os.chmod(path, 0o777)
        return path

    def variables(self, container, image):
        """The environment of CONTAINER."""
        metadata = self.pod["metadata"]
        fields = {"metadata.namespace": metadata.get("namespace", "default"), "metadata.name": metadata["name"], "spec.nodeName": "node-1"}
        own = {}
        for variable in container.get("env", []):
            source = variable.get("valueFrom")
            own[variable["name"]] = fields[source["fieldRef"]["fieldPath"]] if source else expand(variable.get("value", ""), own)
        return {**image.environment, "HOSTNAME": metadata["name"], "KUBERNETES_SERVICE_HOST": "10.0.0.1", **own}, own

    def limit(self, container):
        """A new control group with the memory that CONTAINER may have, or None."""
        text = container.get("resources", {}).get("limits", {}).get("memory")
        if text is None or not os.access(CGROUPS, os.W_OK):
            return None
        path = tempfile.mkdtemp(prefix="lanescope-pod-", dir=CGROUPS)
        with open(os.path.join(path, "memory.limit_in_bytes"), "w", encoding="ascii") as file:
            file.write(str(quantity_bytes(text)))
        return path

    def start(self, container):
        image = self.images[container["image"]]
        environment, own = self.variables(container, image)
        context = {**self.spec.get("securityContext", {}), **container.get("securityContext", {})}
        user = context.get("runAsUser", image.user)
        if context.get("runAsNonRoot") and user == 0:
            raise ValueError(f"{container['name']}: container has runAsNonRoot and image will run as root")
        command = container.get("command", image.entrypoint) + container.get("args", [])
        scratch = tempfile.mkdtemp(dir=self.folder)
        work = {"image": {"folder": image.folder, "has_machine": image.has_machine}, "scratch": scratch,
                "command": [expand(word, own) for word in command], "environment": environment, "folder": container.get("workingDir", "/"),
                "mounts": [{"source": self.volume(mount["name"]), "target": mount["mountPath"], "read_only": mount.get("readOnly", False)}
                           for mount in container.get("volumeMounts", [])],
                "read_only": context.get("readOnlyRootFilesystem", False), "user": user, "group": context.get("runAsGroup", user),
                "drops_capabilities": context.get("capabilities", {}).get("drop") == ["ALL"],
                "may_gain": context.get("allowPrivilegeEscalation", True),
                "refuses_calls": context.get("seccompProfile", {}).get("type") == "RuntimeDefault"}
        work["has_users"] = self.has_users
        path = scratch + ".json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(work, file)
        cgroup = self.limit(container)

        def join():
            if cgroup:
                with open(os.path.join(cgroup, "cgroup.procs"), "w", encoding="ascii") as file:
                    file.write(str(os.getpid()))

        process = subprocess.Popen([sys.executable, __file__, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, preexec_fn=join)
        return Running(process, cgroup, environment)

    def prepare(self):
        """Runs the init containers, one after the other. Returns their errors; raises if one fails, as the pod would wait for ever."""
        said = ""
        for container in self.spec.get("initContainers", []):
            code, out, errors = self.start(container).wait()
            said += errors
            if code != 0:
                raise RuntimeError(f"{container['name']}: {code}: {out}{errors}")
        return said

    def run(self, timeout_s=60):
        """The results of the containers, which run side by side, after the init containers have."""
        self.prepare()
        running = [self.start(container) for container in self.spec["containers"]]
        return [container.wait(timeout_s) for container in running]


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    with open(sys.argv[1], encoding="utf-8") as given:
        enter(json.load(given))
