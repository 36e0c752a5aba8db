# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""The steps of a cluster's user, by Helm's own client and kubectl, on a server that keeps what it is given, as the API server does, and
asks the webhook that the chart has installed: by its certificate, with its settings. It runs no pods (test_pods.py does), and
validates nothing (test_chart.py does)."""

import base64
import copy
import http.client
import http.server
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import urllib.parse

import injecting
import tap
import test_chart

KINDS = {"api/v1": {"pods": "Pod", "secrets": "Secret", "configmaps": "ConfigMap", "services": "Service", "serviceaccounts": "ServiceAccount",
                    "namespaces": "Namespace"},
         "apis/apps/v1": {"deployments": "Deployment"},
         "apis/kubeflow.org/v1": {"pytorchjobs": "PyTorchJob"},
         "apis/admissionregistration.k8s.io/v1": {"mutatingwebhookconfigurations": "MutatingWebhookConfiguration"}}
UNBOUND = ("namespaces", "mutatingwebhookconfigurations")
PATH = re.compile(r"/(?P<group>api/v1|apis/[^/]+/[^/]+)(/namespaces/(?P<namespace>[^/]+)(?=/))?/(?P<kind>[a-z]+)(/(?P<name>[^/]+))?$")


class Server:
    """Objects by kind, namespace and name, and the port of a webhook's service. Use with `with`."""

    def __enter__(self):
        self.objects, self.hooks, self.lock = {}, {}, threading.RLock()
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *unused):
                pass

            def answer(self):
                size = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(size)
                status, document = owner.answer(self.command, self.path, body)
                # Without schemas, of which an empty message of protobuf has none, clients do not validate.
                text = b"" if self.path.startswith("/openapi/v2") else json.dumps(document).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.http.serve_forever)
        self.thread.start()
        self.folder = tempfile.mkdtemp()
        self.config = os.path.join(self.folder, "config")
        with open(self.config, "w", encoding="utf-8") as file:
            json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "c", "users": [{"name": "u", "user": {}}],
                       "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{self.http.server_port}"}}],
                       "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u", "namespace": "default"}}]}, file)
        return self

    def __exit__(self, *unused):
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()
        shutil.rmtree(self.folder)

    def discover(self, path):
        if path == "/version":
            return {"major": "1", "minor": "31", "gitVersion": "v1.31.0"}
        if path == "/api":
            return {"kind": "APIVersions", "versions": ["v1"]}
        if path == "/apis":
            versions = [group.split("/")[1:] for group in KINDS if group.startswith("apis/")]
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [
                {"name": name, "versions": [{"groupVersion": f"{name}/{version}", "version": version}],
                 "preferredVersion": {"groupVersion": f"{name}/{version}", "version": version}} for name, version in versions]}
        kinds = KINDS.get(path[1:])
        return kinds and {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": path.split("/", 2)[2], "resources": [
            {"name": name, "singularName": kind.lower(), "namespaced": name not in UNBOUND, "kind": kind,
             "verbs": ["create", "delete", "get", "list", "patch", "update"]} for name, kind in kinds.items()]}

    def answer(self, verb, path, body):
        path, _, query = path.partition("?")
        found = {} if path == "/openapi/v2" else self.discover(path)
        where = PATH.match(path)
        if found is not None:
            return 200, found
        if where is None or where["kind"] not in KINDS.get(where["group"], {}):
            return 404, failure(404, f"there is no {path}")
        with self.lock:
            return self.keep(verb, where, urllib.parse.parse_qs(query), json.loads(body) if body and verb != "DELETE" else None)

    def keep(self, verb, where, query, document):
        name = where["name"] or (document or {}).get("metadata", {}).get("name")
        key = (where["kind"], where["namespace"] or "", name)
        there = self.objects.get(key)
        if verb == "GET" and where["name"] is None:
            wanted = [part.split("=") for part in ",".join(query.get("labelSelector", [])).split(",") if "=" in part]
            items = [one for (kind, _, _), one in self.objects.items() if kind == where["kind"]
                     and all(one["metadata"].get("labels", {}).get(label) == value for label, value in wanted)]
            kind = KINDS[where["group"]][where["kind"]]
            return 200, {"kind": kind + "List", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": items}
        if verb in ("GET", "DELETE") and there is None:
            return 404, failure(404, f"{key} is not there")
        if verb == "GET":
            return 200, there
        if verb == "DELETE":
            return 200, self.objects.pop(key)
        if verb == "POST" and there is not None:
            return 409, failure(409, "AlreadyExists")
        if there is None and where["kind"] == "pods":
            document = self.admit(document, where["namespace"])
        made = merge(copy.deepcopy(there or {}), document)
        made["metadata"].setdefault("uid", "1")
        made["metadata"]["resourceVersion"] = "1"
        if where["namespace"]:
            made["metadata"]["namespace"] = where["namespace"]
        self.objects[key] = made
        return 200 if there else 201, made

    def admit(self, pod, namespace):
        """POD as the webhooks leave it that are meant for it."""
        for (kind, _, _), configuration in list(self.objects.items()):
            for hook in configuration["webhooks"] if kind == "mutatingwebhookconfigurations" else []:
                wanted, labels = hook["objectSelector"]["matchLabels"], pod["metadata"].get("labels", {})
                out = {value for one in hook["namespaceSelector"]["matchExpressions"] for value in one["values"]}
                if wanted.items() <= labels.items() and namespace not in out:
                    pod = self.ask(hook, pod, namespace)
        return pod

    def ask(self, hook, pod, namespace):
        """As the API server: by the service's name, with the authority of the configuration, and without the pod if that fails."""
        service = hook["clientConfig"]["service"]
        host = f"{service['name']}.{service['namespace']}.svc"
        context = ssl.create_default_context(cadata=base64.b64decode(hook["clientConfig"]["caBundle"]).decode())
        assert hook["failurePolicy"] == "Ignore"
        try:
            stream = socket.create_connection(("127.0.0.1", self.hooks[service["name"]]), hook["timeoutSeconds"] * tap.PATIENCE)
            connection = http.client.HTTPConnection(host)
            connection.sock = context.wrap_socket(stream, server_hostname=host)
            connection.request("POST", service["path"], json.dumps(injecting.admission(pod, namespace=namespace)))
            response = json.loads(connection.getresponse().read())["response"]
            connection.close()
        except (KeyError, OSError):
            return pod
        return injecting.apply(pod, json.loads(base64.b64decode(response["patch"]))) if "patch" in response else pod

    def of(self, kind):
        return [one for (name, _, _), one in self.objects.items() if name == kind]


def failure(code, reason):
    names = {404: "NotFound", 409: "AlreadyExists"}
    return {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": names[code], "message": reason}


def merge(old, new):
    for name, value in new.items():
        if value is None:
            old.pop(name, None)
        elif isinstance(value, dict) and isinstance(old.get(name), dict):
            merge(old[name], value)
        else:
            old[name] = value
    return old


class Webhook(injecting.Injector):
    """The service as the Deployment of the chart runs it: with the certificate and the settings that Helm has left in the cluster."""

    def __init__(self, server):
        super().__init__(**json.loads(server.of("configmaps")[0]["data"]["settings.json"]))
        self.secret = next(one for one in server.of("secrets") if one["type"] == "kubernetes.io/tls")

    def make_certificate(self):
        for name in ("tls.crt", "tls.key"):
            with open(os.path.join(self.folder, name), "wb") as file:
                file.write(base64.b64decode(self.secret["data"][name]))
        return [os.path.join(self.folder, name) for name in ("tls.crt", "tls.key")]


POD = """
apiVersion: v1
kind: Pod
metadata:
  name: NAME
  labels:
    app: fsdp
    # Enable profiling with Nsight
    LABEL
spec:
  containers:
    - name: pytorch
      image: registry.example/train:1
      command: ["/usr/bin/python3", "/usr/local/bin/torchrun", "--nproc_per_node=8", "/fsdp/train.py"]
"""


def test_004_step_by_step():
    """Install, label, apply, upgrade, comment the label out, uninstall."""
    if shutil.which("kubectl") is None:
        raise tap.Skip("kubectl is not here")
    helm, _, yaml = test_chart.modules()
    with Server() as server:
        def kubectl(*words, text=None):
            run = subprocess.run(["kubectl", "--kubeconfig", server.config, *words], input=text, capture_output=True, text=True, check=False,
                                 timeout=60 * tap.PATIENCE, env={**os.environ, "HOME": server.folder})
            assert run.returncode == 0, run
            return run.stdout

        def create(name, label):
            said = kubectl("apply", "--validate=false", "-f", "-", text=POD.replace("NAME", name).replace("LABEL", label))
            assert said == f"pod/{name} created\n", said
            return json.loads(kubectl("get", "pod", name, "-o", "json"))

        values = yaml.safe_load(test_chart.document_values())
        enabled = "nvidia-devtools-sidecar-injector: enabled"
        with helm.Config(kubeconfig_path=server.config, namespace="default", storage_driver="memory") as config:
            # helm install -f custom_values.yaml devtools-sidecar-injector CHART
            release = config.install(test_chart.CHART, values=values, name="devtools-sidecar-injector")
            assert "deployed" in json.dumps(release).lower(), release
            assert len(server.of("mutatingwebhookconfigurations")) == len(server.of("deployments")) == len(server.of("services")) == 1
            # Until the injector runs, pods start as they are.
            assert "lanescope" not in json.dumps(create("early", enabled))
            with Webhook(server) as webhook:
                server.hooks[server.of("services")[0]["metadata"]["name"]] = webhook.port
                worker = create("fsdp-worker-0", enabled)
                one = worker["spec"]["containers"][0]
                assert one["command"][:2] == ["/lanescope/bin/lanescope", "pod-run"], one
                assert "/fsx_shared/fsdp/auto_{PROCESS_NAME}" in injecting.environment(worker)["LANESCOPE_POD_SWITCHES"]
                path = kubectl("get", "pod", "fsdp-worker-0", "-o", r"jsonpath={.metadata.annotations.lanescope\.io/changes}")
                assert "init container lanescope-bundle" in json.loads(path), path
                # "To disable profiling, you can comment out the label."
                plain = create("fsdp-worker-1", "# " + enabled)
                assert plain["spec"]["containers"][0]["command"][0] == "/usr/bin/python3" and "initContainers" not in plain["spec"], plain
                config.upgrade(test_chart.CHART, values={**values, "devtoolArgs": "profile -t nvtx -o /fsx_shared/b"}, name="devtools-sidecar-injector")
                assert "-o /fsx_shared/b" in server.of("configmaps")[0]["data"]["settings.json"]
            with Webhook(server) as webhook:  # as the Deployment's new pods, whose certificate is a new one
                server.hooks[server.of("services")[0]["metadata"]["name"]] = webhook.port
                worker = create("fsdp-worker-2", "lanescope.io/profile: enabled")
                assert "/fsx_shared/b_%{POD_FULLNAME}" in injecting.environment(worker)["LANESCOPE_POD_SWITCHES"], worker
            # helm uninstall devtools-sidecar-injector
            config.uninstall("devtools-sidecar-injector")
            left = sorted({kind for kind, _, _ in server.objects})
            assert left == ["pods"], left
            assert create("late", enabled)["spec"]["containers"][0]["command"][0] == "/usr/bin/python3"


if __name__ == "__main__":
    tap.main(globals())
