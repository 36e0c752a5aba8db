# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Builds the images of data/kubernetes with buildah, which needs no daemon, and runs them as a pod's containers: `./run test --stage
images`. No registry is asked: their Debian is made here, from its packages."""

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile

TESTS = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [TESTS, os.path.join(TESTS, "kubernetes")]

import injecting  # noqa: E402
import runtime  # noqa: E402

DEBIAN, BUNDLE, INJECTOR = "docker.io/library/debian:12-slim", "lanescope-bundle", "lanescope-injector"
SUITE, MIRROR = "bookworm", "http://deb.debian.org/debian"
MOST_BYTES = 8 << 20
# Certificate authorities of this machine alone, through which it may reach Python's packages.
AUTHORITIES = "/usr/local/share/ca-certificates"
# What the strictest of Kubernetes' pod security standards demands, and a root that nothing is written to.
RESTRICTED = {"runAsNonRoot": True, "readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]},
              "seccompProfile": {"type": "RuntimeDefault"}}
# What the API server does, with the Python of the injector's image.
CLIENT = """
import http.client, socket, ssl
trusted = ssl.create_default_context(cafile="/etc/lanescope-tls/tls.crt")
for method, path, body in (("GET", "/healthz", None), ("POST", "/mutate", open("/etc/lanescope/review.json").read())):
    connection = http.client.HTTPSConnection("localhost")
    connection.sock = trusted.wrap_socket(socket.create_connection(("127.0.0.1", 8443)), server_hostname="localhost")
    connection.request(method, path, body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    print(response.status, response.read().decode().strip())
"""


def run(*command, **options):
    print("+ " + " ".join(command), flush=True)
    return subprocess.run(command, check=True, text=True, **options)


class Builder:
    """buildah with a store of its own in FOLDER, which goes with the folder."""

    def __init__(self, folder):
        self.folder = folder
        settings = os.path.join(folder, "storage.conf")
        with open(settings, "w", encoding="utf-8") as file:
            file.write(f'[storage]\ndriver = "vfs"\nrunroot = "{folder}/run"\ngraphroot = "{folder}/store"\n')
        self.environment = {**os.environ, "CONTAINERS_STORAGE_CONF": settings, "BUILDAH_ISOLATION": "chroot", "TMPDIR": folder}

    def __call__(self, *words, **options):
        return run("buildah", *words, env=self.environment, **options)

    def read(self, *words):
        return self(*words, stdout=subprocess.PIPE).stdout.strip()

    def make_debian(self):
        archive = os.path.join(self.folder, "debian.tar")
        hook = [f"--customize-hook=copy-in {AUTHORITIES} {os.path.dirname(AUTHORITIES)}"] if os.path.isdir(AUTHORITIES) else []
        run("mmdebstrap", "--quiet", "--variant=minbase", "--skip=output/dev", *hook, SUITE, archive, MIRROR)
        container = self.read("from", "scratch")
        self("add", "--quiet", container, archive, "/")
        self("commit", "--quiet", "--rm", container, DEBIAN)
        os.remove(archive)

    def build(self, source, name, *arguments):
        part = name.removeprefix("lanescope-")
        self("bud", "--pull-never", *arguments, "-f", os.path.join(source, "data", "kubernetes", part, "Dockerfile"), "-t", name, source)

    def packed_bytes(self, name):
        """What a node pulls of the image NAME."""
        folder = os.path.join(self.folder, "pushed")
        self("push", "--quiet", name, "oci:" + folder)
        blobs = os.path.join(folder, "blobs", "sha256")
        n_bytes = sum(os.path.getsize(os.path.join(blobs, blob)) for blob in os.listdir(blobs))
        shutil.rmtree(folder)
        return n_bytes

    def image(self, name):
        """The image NAME with its files mounted, as runtime.py starts containers of it."""
        said = json.loads(self.read("inspect", "--type", "image", name))["OCIv1"]["config"]
        files = self.read("mount", self.read("from", "--pull-never", name))
        environment = dict(one.split("=", 1) for one in said.get("Env") or [])
        return runtime.Image(files, has_machine=False, entrypoint=said.get("Entrypoint") or [], environment=environment,
                             user=int((said.get("User") or "0").split(":")[0]))


def restricted(image, *arguments, mounts=(), **fields):
    return {"name": "one", "image": image, "args": list(arguments), "securityContext": RESTRICTED,
            "volumeMounts": [{"name": name, "mountPath": path} for name, path in mounts], **fields}


def pod(container, *claims):
    """A pod of CONTAINER whose volumes are CLAIMS."""
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
    return injecting.pod(container, volumes=volumes)


def ask_injector(images, folder, asked):
    """The pod ASKED as the injector's container leaves it."""
    claims = {name: os.path.join(folder, name) for name in ("settings", "tls")}
    for claim in claims.values():
        os.mkdir(claim, 0o755)
    for path in injecting.certificate(claims["tls"]):
        os.chmod(path, 0o644)
    values = {"injectionMatch": "^/bin/sh ", "devtoolArgs": "profile -t nvtx,osrt --why=false -o /reports/recorded_{UID}", "volumes": [],
              "volumeMounts": [], "bundle": {"image": BUNDLE}}
    for name, value in (("settings", values), ("review", injecting.admission(asked))):
        with open(os.path.join(claims["settings"], name + ".json"), "w", encoding="utf-8") as file:
            json.dump(value, file)
    container = restricted(INJECTOR, "--settings=/etc/lanescope/settings.json", "--certificate=/etc/lanescope-tls/tls.crt",
                           "--key=/etc/lanescope-tls/tls.key", mounts=[("settings", "/etc/lanescope"), ("tls", "/etc/lanescope-tls")])
    with runtime.Pod(pod(container, *claims), images, claims) as one:
        running = one.start(container)
        begin = running.process.stdout.readline().decode()
        assert '"port": 8443' in begin, (begin, running.process.stderr.read())
        with open(f"/proc/{running.first_pid()}/status", encoding="ascii") as file:
            assert "Uid:\t65532\t65532\t65532\t65532\n" in file.read()
        told = running.execute("/usr/bin/python3", "-c", CLIENT)
        running.signal(15)
        code, log, errors = running.wait()
    assert code == 0, (code, log, errors)
    health, answer = told.stdout.split("\n", 1)
    assert health == "200 ok" and answer.startswith("200 "), told
    return injecting.apply(asked, json.loads(base64.b64decode(json.loads(answer[4:])["response"]["patch"])))


def try_images(builder, folder):
    """Starts the bundle's program and the injector, and runs the pod that the injector changed, in containers of the images."""
    images = {name: builder.image(name) for name in (DEBIAN, BUNDLE, INJECTOR)}
    claims = {"reports": os.path.join(folder, "reports")}
    os.mkdir(claims["reports"])
    os.chmod(claims["reports"], 0o777)

    def tool(*words):
        container = restricted(BUNDLE, *words, mounts=[("reports", "/reports")])
        with runtime.Pod(pod(container, "reports"), images, claims) as one:
            code, out, errors = one.run()[0]
        assert code == 0, (words, code, out, errors)
        print(out, flush=True)
        return out

    assert "lanescope 0." in tool("--version")
    program = restricted(DEBIAN, mounts=[("reports", "/reports")], command=["/bin/sh", "-c", "for i in 1 2 3; do /bin/true; done; exit 5"])
    program["securityContext"] = {**RESTRICTED, "runAsUser": 65532}
    changed = ask_injector(images, folder, pod(program, "reports"))
    with runtime.Pod(changed, images, claims) as one:
        code, out, errors = one.run()[0]
    assert code == 5, (code, out, errors)
    (report,) = os.listdir(claims["reports"])
    facts = tool("info", "/reports/" + report)
    assert "state: complete" in facts and "/bin/sh -c" in facts and "OS runtime calls: " in facts, facts


def main(source):
    with tempfile.TemporaryDirectory(prefix="lanescope-images-") as folder:
        builder = Builder(folder)
        builder.make_debian()
        builder.build(source, BUNDLE)
        builder.build(source, INJECTOR, "--build-arg", "BUNDLE=" + BUNDLE)
        n_bytes = builder.packed_bytes(BUNDLE)
        print(f"  {BUNDLE}: {n_bytes / (1 << 20):.1f} MiB, {INJECTOR}: {builder.packed_bytes(INJECTOR) / (1 << 20):.1f} MiB packed", flush=True)
        assert n_bytes <= MOST_BYTES, n_bytes
        try:
            try_images(builder, folder)
        finally:
            builder("umount", "--all", stdout=subprocess.DEVNULL)
            builder("rm", "--all", stdout=subprocess.DEVNULL)
