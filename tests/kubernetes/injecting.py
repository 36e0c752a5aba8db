# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""The injector, run for real on loopback with TLS, and what it does to pods."""

import base64
import copy
import http.client
import importlib.util
import json
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading

import tap

FOLDER = os.path.join(tap.SOURCE, "data", "kubernetes")
INJECTOR = os.path.join(FOLDER, "injector")
LIBRARY = os.path.join(tap.BUILD, "capture", "inject", "liblanescope-pod.so")
LABEL = "lanescope.io/profile"
OTHER_LABEL = "nvidia-devtools-sidecar-injector"
IMAGE = "registry.example/lanescope-bundle:1"

# The devtoolArgs and injectionMatch of shared/use-cases/004.txt.
SWITCHES = ("profile --force-overwrite true --trace nvtx,cuda  --delay 150 --duration 180 "
            "-o /fsx_shared/fsdp/auto_{PROCESS_NAME}_%{POD_FULLNAME}_%{CONTAINER_NAME}_{TIMESTAMP}_{UID}.nsys-rep")
VALUES = {
    "devtoolArgs": SWITCHES,
    "injectionMatch": "^/usr/bin/python3 /usr/local/bin/torchrun.*$",
    "volumes": [{"name": "nsys-output-volume", "persistentVolumeClaim": {"claimName": "fsx-claim"}}],
    "volumeMounts": [{"name": "nsys-output-volume", "mountPath": "/fsx_shared"}],
    "bundle": {"image": IMAGE},
}

if INJECTOR not in sys.path:
    sys.path.insert(0, INJECTOR)


def certificate(folder):
    """A certificate for localhost that signs itself, and its key."""
    paths = [os.path.join(folder, name) for name in ("tls.crt", "tls.key")]
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-out", paths[0], "-keyout", paths[1], "-days", "2", "-subj",
                    "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
    return paths


class Injector:
    """The service with VALUES, at a port of its own."""

    def __init__(self, **values):
        self.values = {**copy.deepcopy(VALUES), **values}

    def __enter__(self):
        if importlib.util.find_spec("aiohttp") is None:
            raise tap.Skip("python3-aiohttp is not installed")
        self.folder = tempfile.mkdtemp()
        self.certificate, self.key = self.make_certificate()
        path = os.path.join(self.folder, "settings.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.values, file)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "lanescope_injector", "--settings", path, "--certificate", self.certificate, "--key", self.key, "--library",
             LIBRARY, "--host", "127.0.0.1", "--port", "0"], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": INJECTOR})
        self.begin = json.loads(self.process.stdout.readline())
        # Somebody must read on, as a container's runtime does: a service whose log is not read waits.
        self.log = []
        self.reader = threading.Thread(target=lambda: self.log.extend(json.loads(line) for line in self.process.stdout))
        self.reader.start()
        self.port = self.begin.get("port")
        return self

    def make_certificate(self):
        return certificate(self.folder)

    def __exit__(self, *unused):
        if self.process.poll() is None:
            self.process.terminate()
        self.code = self.process.wait(10)
        self.reader.join()
        shutil.rmtree(self.folder)

    def connection(self, timeout_s=30):
        context = ssl.create_default_context(cafile=self.certificate)
        return http.client.HTTPSConnection("localhost", self.port, context=context, timeout=timeout_s * tap.PATIENCE)

    def send(self, method, path, body=None, headers=None):
        """(status, body) of one request."""
        connection = self.connection()
        connection.request(method, path, body, headers or {"Content-Type": "application/json"})
        response = connection.getresponse()
        text = response.read()
        connection.close()
        return response.status, text

    def review(self, pod, **fields):
        """The response to the AdmissionReview of POD."""
        status, text = self.send("POST", "/mutate", json.dumps(admission(pod, **fields)))
        assert status == 200, (status, text)
        review = json.loads(text)
        assert review["apiVersion"] == "admission.k8s.io/v1" and review["kind"] == "AdmissionReview", review
        assert review["response"]["uid"] == "uid-1" and review["response"]["allowed"] is True, review
        return review["response"]

    def change(self, pod):
        """(the patched POD, the list of changes in its annotation); POD as it is and None without a patch."""
        response = self.review(pod)
        if "patch" not in response:
            return pod, None
        assert response["patchType"] == "JSONPatch", response
        changed = apply(pod, json.loads(base64.b64decode(response["patch"])))
        return changed, json.loads(changed["metadata"]["annotations"]["lanescope.io/changes"])

    def peak_bytes(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM"))


def admission(pod, **fields):
    """What the API server sends for a new POD."""
    request = {"uid": "uid-1", "kind": {"group": "", "version": "v1", "kind": "Pod"}, "resource": {"group": "", "version": "v1", "resource": "pods"},
               "namespace": "default", "operation": "CREATE", "userInfo": {"username": "system:serviceaccount:kube-system:replicaset-controller"},
               "object": pod, "oldObject": None, "dryRun": False, "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"}, **fields}
    return {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}


def apply(document, operations):
    """DOCUMENT after OPERATIONS: the `add`, `replace` and `remove` of RFC 6902."""
    document = copy.deepcopy(document)
    for operation in operations:
        *path, last = [step.replace("~1", "/").replace("~0", "~") for step in operation["path"].split("/")[1:]]
        place = document
        for step in path:
            place = place[int(step)] if isinstance(place, list) else place[step]
        if operation["op"] == "remove" or (operation["op"] == "replace" and isinstance(place, dict)):
            assert last in place, operation
        if operation["op"] == "remove":
            del place[int(last) if isinstance(place, list) else last]
        elif isinstance(place, dict):
            place[last] = operation["value"]
        elif operation["op"] == "replace":
            place[int(last)] = operation["value"]
        else:
            place.insert(len(place) if last == "-" else int(last), operation["value"])
    return document


def pod(*containers, label=LABEL, **spec):
    """A pod with a label that asks for Lanescope."""
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "fsdp-worker-0", "namespace": "default", "labels": {label: "enabled"}},
            "spec": {"containers": list(containers), **spec}}


def container(*command, name="pytorch", **fields):
    return {"name": name, "image": "registry.example/train:1", **({"command": list(command)} if command else {}), **fields}


def environment(changed, number=0):
    """The variables of a container that have values."""
    return {variable["name"]: variable.get("value") for variable in changed["spec"]["containers"][number]["env"]}
