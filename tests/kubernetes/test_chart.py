# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""The chart, rendered by Helm's own engine (Helm 4, in the package helm-python-sdk), and what it and the injector make, checked against the
published schemas of the API (kubernetes-validate). `./run test --all` fetches both."""

import base64
import copy
import json
import os
import random
import re
import subprocess
import sys

import injecting
import tap
from injecting import Injector, container, pod

PACKAGES = os.path.join(tap.SOURCE, ".deps", "kubernetes", "packages")
CHART = os.path.join(injecting.FOLDER, "chart")
# The oldest that the chart supports, and the newest that the package has. Resources of cert-manager have no schema there.
VERSIONS = ("1.25", "1.37")
DIGEST = "sha256:" + "a" * 64


def modules():
    """(helm_python, kubernetes_validate, yaml)."""
    if not os.path.isdir(PACKAGES):
        raise tap.Skip("the Helm engine and the schemas are not there (`./run test --all` fetches them)")
    if PACKAGES not in sys.path:
        sys.path.insert(0, PACKAGES)
    import helm_python
    import kubernetes_validate
    import yaml
    return helm_python, kubernetes_validate, yaml


def render(values, name="devtools-sidecar-injector", namespace="default"):
    """The documents that Helm would send to the API server, in a list."""
    helm, _, yaml = modules()
    with helm.Chart.load(CHART) as chart:
        chart.validate_schema(values)
        made = chart.render(values=values, name=name, namespace=namespace)
    return [document for path, text in made.items() if path.endswith(".yaml") for document in yaml.safe_load_all(text) if document]


def check(document, versions=VERSIONS):
    """Raises unless DOCUMENT is valid for each of VERSIONS, unknown fields included."""
    validate = modules()[1]
    for version in versions:
        validate.validate(document, version, strict=True)


def settings_of(documents):
    return json.loads(next(one for one in documents if one["kind"] == "ConfigMap")["data"]["settings.json"])


def of(documents, kind):
    return [one for one in documents if one["kind"] == kind]


def document_values():
    """The values of 004.txt, word for word, as `helm install -f custom_values.yaml` reads them."""
    path = os.path.join(tap.SHARED, "use-cases", "004.txt")
    if not os.path.exists(path):
        raise tap.Skip("../shared/use-cases is not there")
    with open(path, encoding="utf-8") as file:
        block = re.search(r"^ *``` yaml\n(.*?)^ *```", file.read(), re.M | re.S)[1]
    return "".join(line.removeprefix("    ") for line in block.splitlines(keepends=True))


# --- The chart. ---------------------------------------------------------------------------------------


def test_what_the_chart_makes_is_valid():
    values = [{}, {"certificate": {"from": "cert-manager"}}, {"certificate": {"from": "secret", "secretName": "own", "caBundle": "x"}},
              {"injector": {"hostNetwork": True, "nodeSelector": {"a": "b"}, "tolerations": [{"operator": "Exists"}], "digest": DIGEST}},
              {"bundle": {"imageVolume": True, "tag": "edge"}, "imagePullSecrets": [{"name": "key"}]}]
    for one in values:
        documents = render(one)
        for document in documents:
            if document["apiVersion"] != "cert-manager.io/v1":
                check(document)
        kinds = [document["kind"] for document in documents]
        assert kinds.count("MutatingWebhookConfiguration") == kinds.count("Deployment") == kinds.count("Service") == kinds.count("ConfigMap") == 1, kinds
        names = [(document["kind"], document["metadata"]["name"]) for document in documents]
        assert len(set(names)) == len(names), names
        # No right in the cluster, and no token to use one.
        assert not [kind for kind in kinds if "Role" in kind], kinds
        template = of(documents, "Deployment")[0]["spec"]["template"]["spec"]
        assert template["automountServiceAccountToken"] is False and of(documents, "ServiceAccount")[0]["automountServiceAccountToken"] is False


def test_the_webhooks_are_harmless():
    hooks = of(render({}), "MutatingWebhookConfiguration")[0]["webhooks"]
    assert [hook["objectSelector"]["matchLabels"] for hook in hooks] == [{injecting.LABEL: "enabled"}, {injecting.OTHER_LABEL: "enabled"}], hooks
    for hook in hooks:
        assert hook["failurePolicy"] == "Ignore" and hook["timeoutSeconds"] == 3 and hook["sideEffects"] == "None", hook
        assert hook["rules"] == [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"], "scope": "Namespaced"}]
        # 004 installs into the namespace in which its pods run.
        assert "default" not in json.dumps(hook["namespaceSelector"]) and "kube-system" in json.dumps(hook["namespaceSelector"])
    again = render({}, name="other")
    assert of(again, "MutatingWebhookConfiguration")[0]["metadata"]["name"] != of(render({}), "MutatingWebhookConfiguration")[0]["metadata"]["name"]


def test_the_certificate_is_for_the_service():
    documents = render({})
    secret, service = of(documents, "Secret")[0], of(documents, "Service")[0]["metadata"]["name"]
    authority = base64.b64decode(of(documents, "MutatingWebhookConfiguration")[0]["webhooks"][0]["clientConfig"]["caBundle"])
    folder = injecting.tempfile.mkdtemp()
    for name, data in (("ca", authority), ("crt", base64.b64decode(secret["data"]["tls.crt"]))):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)
    told = subprocess.run(["openssl", "verify", "-CAfile", f"{folder}/ca", "-verify_hostname", f"{service}.default.svc", f"{folder}/crt"],
                          capture_output=True, text=True, check=False)
    injecting.shutil.rmtree(folder)
    assert told.returncode == 0, told
    deployment = of(documents, "Deployment")[0]["spec"]["template"]["spec"]
    assert {"name": "tls", "secret": {"secretName": secret["metadata"]["name"]}} in deployment["volumes"]


def test_images_have_tags_or_digests():
    documents = render({"bundle": {"digest": DIGEST, "tag": "x"}, "injector": {"image": "mirror/i", "tag": "2"}})
    assert settings_of(documents)["bundle"]["image"].endswith("lanescope-bundle@" + DIGEST)
    assert of(documents, "Deployment")[0]["spec"]["template"]["spec"]["containers"][0]["image"] == "mirror/i:2"


def test_wrong_values_are_refused_when_they_are_installed():
    helm = modules()[0]
    for values in ({"profile": {"devtoolArgs": "launch"}}, {"profile": {"volumes": {}}}, {"profile": {"volumeMounts": [{"name": "x"}]}},
                   {"profile": {"unknown": 1}}, {"profile": None}, {"certificate": {"from": "nowhere"}}, {"bundle": {"digest": "x"}},
                   {"certificate": {"from": "secret"}}):
        try:
            render(values)
        except helm.HelmError:
            continue
        raise AssertionError(f"accepted: {values}")


# --- 004. ---------------------------------------------------------------------------------------------


def test_004_the_values_of_the_document():
    """They stand at the top level there, under a `profile:` that is empty; and properly, too."""
    yaml = modules()[2]
    given = yaml.safe_load(document_values())
    assert given["profile"] is None and set(given) == {"profile", "volumes", "volumeMounts", "devtoolArgs", "injectionMatch"}, given
    proper = {"profile": {name: value for name, value in given.items() if name != "profile"}}
    first, second = settings_of(render(given)), settings_of(render(proper))
    assert first == second and {name: first[name] for name in proper["profile"]} == proper["profile"], (first, second)
    with Injector(**first) as injector:
        changed, _ = injector.change(pod(container("/usr/bin/python3", "/usr/local/bin/torchrun", "--nproc_per_node=8"), label=injecting.OTHER_LABEL))
    assert not injector.begin["notes"], injector.begin
    switches = injecting.environment(changed)["LANESCOPE_POD_SWITCHES"]
    assert switches.replace("'", "") == ("profile --force-overwrite true --trace nvtx,cuda --delay 150 --duration 180 -o /fsx_shared/fsdp/"
                                         "auto_{PROCESS_NAME}_%{POD_FULLNAME}_%{CONTAINER_NAME}_{TIMESTAMP}_{UID}.nsys-rep"), switches
    check(changed)


# --- Pods of workloads. -------------------------------------------------------------------------------


def workloads():
    """The pods that controllers make of a Deployment, a Job, a StatefulSet, a DaemonSet and a PyTorchJob."""
    train = container("torchrun", "--nproc_per_node=8", "train.py", ports=[{"containerPort": 23456, "name": "pytorchjob-port"}],
                      resources={"limits": {"nvidia.com/gpu": "8", "memory": "64Gi", "cpu": "16"}, "requests": {"nvidia.com/gpu": "8"}},
                      env=[{"name": "MASTER_ADDR", "value": "fsdp-worker-0"}, {"name": "RANK", "value": "3"},
                           {"name": "PET_RDZV_ENDPOINT", "value": "etcd:2379"}],
                      volumeMounts=[{"name": "fsx-pv", "mountPath": "/fsx_shared"}, {"name": "shmem", "mountPath": "/dev/shm"}])
    pytorch = pod(train, label=injecting.OTHER_LABEL, restartPolicy="Never", volumes=[
        {"name": "fsx-pv", "persistentVolumeClaim": {"claimName": "fsx-claim"}}, {"name": "shmem", "hostPath": {"path": "/dev/shm"}}],
        tolerations=[{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}])
    web = container(name="web", ports=[{"containerPort": 80}], livenessProbe={"httpGet": {"path": "/", "port": 80}},
                    lifecycle={"preStop": {"exec": {"command": ["sleep", "5"]}}}, securityContext={"readOnlyRootFilesystem": True})
    deployment = pod(web, terminationGracePeriodSeconds=10)
    deployment["metadata"] = {"generateName": "web-5d9c-", "labels": {**deployment["metadata"]["labels"], "pod-template-hash": "5d9c"},
                              "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5d9c", "uid": "1", "controller": True}]}
    job = pod(container("python3", "a.py"), restartPolicy="OnFailure", initContainers=[container("sh", "-c", "true", name="fetch")])
    stateful = pod(container("python3", "a.py", name="db", volumeMounts=[{"name": "data", "mountPath": "/data", "subPath": "x"}]),
                   volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data-0"}}], securityContext={"fsGroup": 1000, "runAsUser": 1000})
    daemon = pod(container("/agent"), hostNetwork=True, hostPID=True, nodeSelector={"a": "b"}, priorityClassName="system-node-critical")
    return [pytorch, deployment, job, stateful, daemon]


def test_pods_of_workloads_are_valid_afterwards():
    for values in ({}, {"bundle": {"image": injecting.IMAGE, "imageVolume": True}}):
        with Injector(**values) as injector:
            for before in workloads():
                check(before)
                changed, changes = injector.change(before)
                assert changes and changed != before, before
                # Image volumes came with 1.31.
                check(changed, VERSIONS if not values else VERSIONS[1:])


def draw_pod(draw):
    """A valid pod of what manifests have, any of it or none."""
    def some(*ways):
        return draw.choice(ways)

    def one_container(number):
        name = f"c{number}"
        fields = {"name": name, "image": some("a", "registry/x@" + DIGEST)}
        if draw.random() < 0.6:
            fields["command"] = some(["torchrun", "x"], ["/usr/bin/python3", "/usr/local/bin/torchrun", "$(A)"], ["sh", "-c", "exec a $$B ü\n"])
        if draw.random() < 0.4:
            fields["args"] = some([], ["--a", ""], ["x" * draw.randrange(2000)])
        if draw.random() < 0.5:
            fields["env"] = [some({"name": "A", "value": "$(B)"}, {"name": "A"}), some({"name": "LD_PRELOAD", "value": "/x.so"}, {"name": "LD_PRELOAD", "value": ""},
                             {"name": "POD_FULLNAME", "value": "own"}, {"name": "LD_PRELOAD", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}})]
        if draw.random() < 0.3:
            fields["envFrom"] = [{"configMapRef": {"name": "c"}}]
        if draw.random() < 0.5:
            fields["volumeMounts"] = [{"name": "v0", "mountPath": some("/fsx_shared", "/data", "/fsx_shared/sub")}]
        if draw.random() < 0.5:
            fields["resources"] = some({}, {"limits": {"cpu": "1"}}, {"requests": {"memory": "1Gi"}, "limits": {"memory": "1Gi", "ephemeral-storage": "1Gi"}})
        if draw.random() < 0.4:
            fields["securityContext"] = some({"runAsUser": draw.randrange(3000)}, {"readOnlyRootFilesystem": True}, {"capabilities": {"drop": ["ALL"], "add": ["SYS_PTRACE"]}},
                                             {"privileged": True}, {"seccompProfile": {"type": "RuntimeDefault"}})
        if draw.random() < 0.3:
            probe = some({"exec": {"command": ["python3", "-c", "1"]}}, {"tcpSocket": {"port": 80}}, {"grpc": {"port": 1}})
            fields[some("livenessProbe", "readinessProbe", "startupProbe")] = probe
        if draw.random() < 0.2:
            fields.update(some({"workingDir": "/a"}, {"stdin": True, "tty": True}, {"lifecycle": {"postStart": {"exec": {"command": ["x"]}}}}, {"ports": [{"containerPort": 1}]}))
        return fields

    made = pod(*[one_container(number) for number in range(draw.randrange(1, 4))], label=some(injecting.LABEL, injecting.OTHER_LABEL))
    spec, metadata = made["spec"], made["metadata"]
    spec["volumes"] = [{"name": "v0", **some({"emptyDir": {}}, {"hostPath": {"path": "/x"}}, {"persistentVolumeClaim": {"claimName": "c"}}, {"configMap": {"name": "c"}})}]
    if draw.random() < 0.3:
        spec["volumes"].append({"name": "nsys-output-volume", "emptyDir": {"medium": "Memory"}})
    if draw.random() < 0.3:
        spec["initContainers"] = [one_container(9)]
    if draw.random() < 0.4:
        spec["securityContext"] = some({"runAsUser": 0}, {"runAsUser": 1000, "runAsNonRoot": True, "fsGroup": 5}, {"seccompProfile": {"type": "RuntimeDefault"}}, {})
    for name, value in (("shareProcessNamespace", True), ("hostNetwork", True), ("serviceAccountName", "s"), ("restartPolicy", "Never"), ("hostUsers", False),
                        ("terminationGracePeriodSeconds", 0), ("nodeSelector", {"a": "b"}), ("hostname", "h")):
        if draw.random() < 0.2:
            spec[name] = value
    if draw.random() < 0.3:
        metadata["annotations"] = some({}, {"a/b": "c"}, {"lanescope.io/containers": "c0"}, {"x": "y" * 5000})
    return made


def check_sense(before, after):
    """What the API server demands beyond the schema, and what must not be lost."""
    spec, old = after["spec"], before["spec"]
    for one in spec["containers"] + spec.get("initContainers", []):
        paths = [mount["mountPath"] for mount in one.get("volumeMounts", [])]
        assert len(set(paths)) == len(paths), paths
        volumes = {volume["name"] for volume in spec["volumes"]}
        assert {mount["name"] for mount in one.get("volumeMounts", [])} <= volumes, (one, volumes)
    for group in (spec["volumes"], spec["containers"], spec.get("initContainers", [])):
        names = [one["name"] for one in group]
        assert len(set(names)) == len(names), names
    annotations = after["metadata"]["annotations"]
    assert sum(len(key) + len(value) for key, value in annotations.items()) < 256 << 10
    # Whatever is not on this list is as it was.
    for number, one in enumerate(old["containers"]):
        new = copy.deepcopy(spec["containers"][number])
        if new.get("command") != one.get("command"):
            assert new["command"] == ["/lanescope/bin/lanescope", "pod-run"] + one["command"], new
        own = {variable["name"]: variable for variable in new.get("env", [])}
        for variable in one.get("env", []):
            assert own[variable["name"]] == variable or variable["name"] == "LD_PRELOAD", (variable, own)
        assert new.get("volumeMounts", [])[:len(one.get("volumeMounts", []))] == one.get("volumeMounts", [])
        for field in set(new) | set(one):
            assert field in ("command", "env", "volumeMounts") or new.get(field) == one.get(field), field
    assert spec["volumes"][:len(old["volumes"])] == old["volumes"] and spec.get("initContainers", [])[1:] == old.get("initContainers", [])
    for field in set(spec) | set(old):
        assert field in ("containers", "initContainers", "volumes") or spec.get(field) == old.get(field), field


def test_five_hundred_random_pods():
    draw = random.Random(tap.SEED)
    n_wrapped = n_preloaded = 0
    with Injector() as injector:
        for number in range(500):
            before = draw_pod(draw)
            changed, changes = injector.change(before)
            if changes is None:
                # Only where nothing can reach any container.
                assert changed == before
                continue
            check_sense(before, changed)
            # The schemas take a fifth of a second.
            if number % 4 == 0:
                check(before, VERSIONS[1:])
                check(changed, VERSIONS[1:])
            n_wrapped += any("its command is run by" in change for change in changes)
            n_preloaded += any("LD_PRELOAD has" in change for change in changes)
    assert n_wrapped > 50 and n_preloaded > 200, (n_wrapped, n_preloaded)


if __name__ == "__main__":
    tap.main(globals())
