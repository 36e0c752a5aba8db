# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""What the injector answers, as the API server would ask it: by TLS, on loopback."""

import ctypes
import json
import random
import re

import injecting
import tap
from injecting import Injector, container, environment, pod

TOOL = "/lanescope/bin/lanescope"
TORCHRUN = ["/usr/bin/python3", "/usr/local/bin/torchrun", "--nproc_per_node=8", "train.py"]


def test_a_pod_with_either_label_is_changed_and_no_other():
    with Injector() as injector:
        assert injector.send("GET", "/healthz") == (200, b"ok\n")
        for label in (injecting.LABEL, injecting.OTHER_LABEL):
            changed, changes = injector.change(pod(container(*TORCHRUN), label=label))
            assert changed["spec"]["containers"][0]["command"] == [TOOL, "pod-run"] + TORCHRUN and changes, changed
        for other in (pod(container(*TORCHRUN), label="app"), {**pod(container(*TORCHRUN)), "metadata": {"name": "x"}}):
            assert injector.change(other) == (other, None)
        disabled = pod(container(*TORCHRUN))
        disabled["metadata"]["labels"][injecting.LABEL] = "disabled"
        assert injector.change(disabled) == (disabled, None)
    assert injector.code == 0 and [line["event"] for line in injector.log].count("changed") == 2, injector.log
    assert all(line["time"] and line["uid"] == "uid-1" for line in injector.log if line["event"] in ("changed", "unchanged")), injector.log


def test_the_values_of_the_document_are_in_the_pod():
    """004: the volume, its mount, the switches word for word, and the variables of its name."""
    with Injector() as injector:
        changed, changes = injector.change(pod(container(*TORCHRUN, args=["--epochs", "2"])))
    spec, one = changed["spec"], changed["spec"]["containers"][0]
    assert {"name": "nsys-output-volume", "persistentVolumeClaim": {"claimName": "fsx-claim"}} in spec["volumes"], spec
    assert {"name": "nsys-output-volume", "mountPath": "/fsx_shared"} in one["volumeMounts"], one
    assert one["args"] == ["--epochs", "2"]
    own = environment(changed)
    assert own["LANESCOPE_POD_SWITCHES"].replace("'", "") == " ".join(injecting.SWITCHES.split()), own
    assert own["POD_FULLNAME"] == "$(LANESCOPE_POD_NAMESPACE)_$(LANESCOPE_POD_NAME)" and own["CONTAINER_NAME"] == "pytorch", own
    fields = {variable["name"]: variable["valueFrom"]["fieldRef"]["fieldPath"] for variable in one["env"] if "valueFrom" in variable}
    assert fields == {"LANESCOPE_POD_NAMESPACE": "metadata.namespace", "LANESCOPE_POD_NAME": "metadata.name", "NODE_NAME": "spec.nodeName"}, fields
    # A variable must come before those that use it.
    names = [variable["name"] for variable in one["env"]]
    assert names.index("POD_FULLNAME") > max(names.index("LANESCOPE_POD_NAMESPACE"), names.index("LANESCOPE_POD_NAME")), names
    assert "LD_PRELOAD" not in own and "LANESCOPE_POD_MATCH" not in own, own
    assert any("pytorch: its command" in change for change in changes) and any("nsys-output-volume" in change for change in changes), changes
    init = spec["initContainers"][0]
    assert init["image"] == injecting.IMAGE and init["command"] == ["/bin/lanescope", "pod-copy", "/lanescope"], init


def test_a_command_that_does_not_match_and_no_command_are_reached_by_the_environment():
    with Injector(injectionMatch="^/usr/bin/python3 (a|b)$") as injector:
        for one in (container("torchrun", "train.py"), container(), container(args=["--x"])):
            before = dict(one)
            changed, _ = injector.change(pod(one))
            after, own = changed["spec"]["containers"][0], environment(changed)
            assert after.get("command") == before.get("command") and after.get("args") == before.get("args"), after
            assert own["LD_PRELOAD"] == "/lanescope/lib/lanescope/liblanescope-pod.so" and own["LANESCOPE_POD_TOOL"] == TOOL, own
            # The kubelet makes one dollar of two, and would take $(…) for a variable.
            assert own["LANESCOPE_POD_MATCH"] == "^/usr/bin/python3 (a|b)$$", own


def test_what_a_pod_has_already_stays():
    preloaded = container("x", env=[{"name": "LD_PRELOAD", "value": "/opt/libjemalloc.so"}, {"name": "NODE_NAME", "value": "mine"}],
                          volumeMounts=[{"name": "data", "mountPath": "/fsx_shared/"}])
    elsewhere = container("x", name="b", env=[{"name": "LD_PRELOAD", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}}}])
    before = pod(preloaded, elsewhere, volumes=[{"name": "nsys-output-volume", "emptyDir": {}}, {"name": "data", "emptyDir": {}}],
                 initContainers=[{"name": "first", "image": "i"}])
    before["metadata"]["annotations"] = {"a/b": "c"}
    with Injector() as injector:
        changed, changes = injector.change(before)
        again, none = injector.change(changed)
    assert none is None and again == changed
    one = changed["spec"]["containers"][0]
    own = environment(changed)
    # A sanitizer must be preloaded before all others.
    assert own["LD_PRELOAD"] == "/opt/libjemalloc.so:/lanescope/lib/lanescope/liblanescope-pod.so" and own["NODE_NAME"] == "mine", own
    assert len({variable["name"] for variable in one["env"]}) == len(one["env"]), one["env"]
    assert [mount["mountPath"] for mount in one["volumeMounts"]] == ["/fsx_shared/", "/lanescope"], one
    assert changed["spec"]["containers"][1] == elsewhere, "what cannot be reached is left alone"
    assert [volume["name"] for volume in changed["spec"]["volumes"]] == ["nsys-output-volume", "data", "lanescope"], changed
    assert changed["spec"]["volumes"][0] == {"name": "nsys-output-volume", "emptyDir": {}}
    assert [one["name"] for one in changed["spec"]["initContainers"]] == ["lanescope-bundle", "first"]
    assert changed["metadata"]["annotations"]["a/b"] == "c"
    assert any("was mounted already" in change for change in changes) and any(change.startswith("container b: not changed") for change in changes)


def test_pods_that_cannot_be_changed_start_as_they_are():
    own_volume = pod(container(*TORCHRUN), volumes=[{"name": "lanescope", "emptyDir": {}}])
    own_mount = pod(container(*TORCHRUN, volumeMounts=[{"name": "x", "mountPath": "/lanescope"}]))
    windows = pod(container(*TORCHRUN), os={"name": "windows"})
    other = pod(container(*TORCHRUN))
    other["metadata"]["annotations"] = {"lanescope.io/containers": "main"}
    with Injector() as injector:
        for one, reason in ((own_volume, "volume"), (own_mount, "mounts"), (windows, "Windows"), (other, "containers")):
            response = injector.review(one)
            assert "patch" not in response and reason in response["warnings"][0], response
        assert "patch" not in injector.review(pod(container(*TORCHRUN)), operation="UPDATE")
        assert "patch" not in injector.review({"kind": "Deployment", "spec": {}}, kind={"kind": "Deployment"})
        named = pod(container(*TORCHRUN), container("istio", name="proxy"))
        named["metadata"]["annotations"] = {"lanescope.io/containers": "pytorch, x"}
        changed, _ = injector.change(named)
        assert changed["spec"]["containers"][1] == container("istio", name="proxy"), changed


def test_the_class_of_service_and_the_users_stay():
    some = {"requests": {"cpu": "1"}}
    with Injector() as injector:
        init = [injector.change(one)[0]["spec"]["initContainers"][0] for one in (
            pod(container("x")), pod(container("x", resources=some)), pod(container("x"), securityContext={"runAsUser": 0}))]
    assert "resources" not in init[0], "a pod without any would be BestEffort no more"
    assert init[1]["resources"]["limits"] == init[1]["resources"]["requests"], "a Guaranteed pod would be so no more"
    assert "runAsUser" not in init[0]["securityContext"] and init[2]["securityContext"]["runAsUser"] == 65532, init
    context = init[0]["securityContext"]
    assert context["runAsNonRoot"] and context["readOnlyRootFilesystem"] and context["allowPrivilegeEscalation"] is False, context
    assert context["capabilities"] == {"drop": ["ALL"]} and context["seccompProfile"] == {"type": "RuntimeDefault"}, context


def test_reports_in_the_pod_have_half_of_its_storage():
    limited = container("x", resources={"limits": {"ephemeral-storage": "3Gi"}})
    with Injector() as injector:
        assert "LANESCOPE_POD_REPORT_BYTES" not in environment(injector.change(pod(limited))[0]), "a claim outlives the pod"
    for size, volume, half in (("3Gi", {}, 3 << 29), ("1G", {"sizeLimit": "100Mi"}, 50 << 20), (None, {}, None), ("odd", {"sizeLimit": "2k"}, 1000)):
        values = {"volumes": [{"name": "v", "emptyDir": volume}], "volumeMounts": [{"name": "v", "mountPath": "/v"}]}
        limited["resources"]["limits"] = {"ephemeral-storage": size} if size else {}
        with Injector(**values) as injector:
            own = environment(injector.change(pod(limited))[0])
        assert own.get("LANESCOPE_POD_REPORT_BYTES") == (str(half) if half else None), (size, volume, own)


def test_processes_of_a_pod_that_shares_them():
    with Injector() as injector:
        assert environment(injector.change(pod(container("x"), shareProcessNamespace=True))[0])["LANESCOPE_POD_SHARED"] == "1"
        assert "LANESCOPE_POD_SHARED" not in environment(injector.change(pod(container("x")))[0])


def test_an_image_volume_needs_no_init_container():
    with Injector(bundle={"image": injecting.IMAGE, "imageVolume": True}) as injector:
        changed, _ = injector.change(pod(container(*TORCHRUN)))
    assert "initContainers" not in changed["spec"]
    assert changed["spec"]["volumes"][0] == {"name": "lanescope", "image": {"reference": injecting.IMAGE, "pullPolicy": "IfNotPresent"}}


def test_names_of_reports_never_collide():
    """Sixty-four workers with one name would overwrite each other's reports."""
    for name in ("/out/report", "/out/%{POD_FULLNAME}.nsys-rep", "/out/{TIMESTAMP}"):
        for form in (["-o", name], [f"-o{name}"], [f"--output={name}"], ["--output", name]):
            with_args = " ".join(["profile", "-t", "nvtx", *form, "--stats=true"])
            with Injector(devtoolArgs=with_args) as injector:
                switches = environment(injector.change(pod(container(*TORCHRUN)))[0])["LANESCOPE_POD_SWITCHES"]
            assert re.search(r"_%\{POD_FULLNAME\}_%\{CONTAINER_NAME\}_\{UID\}(\.nsys-rep)?'? ", switches), switches
            assert injector.begin["notes"] and "--stats=true" in switches, injector.begin
    with Injector(devtoolArgs="profile", volumes=None, volumeMounts=None) as injector:
        changed, _ = injector.change(pod(container(*TORCHRUN)))
    assert "-o '/lanescope-reports/auto_{PROCESS_NAME}_%{POD_FULLNAME}" in environment(changed)["LANESCOPE_POD_SWITCHES"], changed
    assert {"name": "lanescope-reports", "emptyDir": {}} in changed["spec"]["volumes"]


def test_wrong_values_end_the_service_and_are_named():
    for values, word in (({"devtoolArgs": "launch x"}, "begin with the word profile"), ({"devtoolArgs": "profile 'x"}, "No closing quotation"),
                         ({"injectionMatch": "(a"}, "injectionMatch"), ({"injectionMatch": "(?i)a"}, "injectionMatch"),
                         ({"volumes": {}}, "profile.volumes must be a list"), ({"volumes": []}, "nsys-output-volume"),
                         ({"volumeMounts": [{"name": "x"}]}, "mountPath"), ({"bundle": {}}, "bundle.image is missing")):
        with Injector(**values) as injector:
            injector.process.wait(10)
        assert injector.code == 1 and injector.begin["event"] == "failed" and word in injector.begin["reason"], (values, injector.begin)


def test_patterns_are_those_of_python():
    """Random patterns on random texts. Where Python refuses one, so does the library, or the pattern is not Python's."""
    library = ctypes.CDLL(injecting.LIBRARY)
    library.lns_pattern_problem.restype = ctypes.c_char_p
    draw = random.Random(tap.SEED)

    def atom(depth):
        kind = draw.randrange(14)
        plain = ["a", "b", "/", " ", ".", "[ab]", "[^a]", "[a-c]", "[]a]", "\\d", "\\w", "\\S", "\\.", "\\W"]
        if kind < 8 or depth == 3:
            return draw.choice(plain)
        if kind < 10:
            return draw.choice(["^", "$", "\\b"])
        if kind < 12 or depth:
            return draw.choice(["(", "(?:"]) + choice(depth + 1) + ")"
        return draw.choice(["(?=", "(?!"]) + choice(3) + ")"

    def piece(depth):
        one = atom(depth)
        is_place = one in ("^", "$", "\\b") or one.startswith(("(?=", "(?!"))
        return one + ("" if is_place else draw.choice(["", "", "", "*", "+", "?", "{2}", "{1,}", "{0,2}", "*?"]))

    def choice(depth):
        return "|".join("".join(piece(depth) for _ in range(draw.randrange(1, 4))) for _ in range(draw.choice([1, 1, 2])))

    n_found = 0
    for _ in range(1500):
        pattern = choice(0)
        assert library.lns_pattern_problem(pattern.encode()) is None, pattern
        compiled = re.compile(pattern.encode(), re.DOTALL)
        for _ in range(4):
            text = "".join(draw.choice("abc 1/_.") for _ in range(draw.randrange(8))).encode()
            found = compiled.search(text) is not None
            assert library.lns_pattern_is_in(pattern.encode(), text, len(text)) == found, (pattern, text, found)
            n_found += found
    assert 1000 < n_found < 5000, n_found


def test_what_is_not_a_review_is_refused():
    with Injector() as injector:
        for body in ("", "{", "[]", "null", '{"request": 1}', '{"request": {}}', json.dumps({"request": {"uid": "uid-1", "object": []}})[:-1],
                     "[" * 100000, '{"request": {"uid": "uid-1"}}x'):
            status, text = injector.send("POST", "/mutate", body)
            assert status == 400 and b"not an AdmissionReview" in text, (body[:50], status, text)
        for broken in (None, [], {}, {"spec": None, "metadata": {}}, {"metadata": {"labels": {injecting.LABEL: "enabled"}}},
                       pod(1), pod({}), pod({"name": "x", "command": "torchrun"}), pod({"name": "x", "command": [1]}),
                       pod({"name": "x", "env": [None]}), pod({"name": "x", "env": 3}), pod(container("x", volumeMounts=[1])),
                       pod(container("x"), volumes=[1]), pod(container("x"), securityContext=3)):
            assert "patch" not in injector.review(broken), broken
        assert injector.send("GET", "/mutate")[0] == 405 and injector.send("POST", "/else")[0] == 404
        assert injector.change(pod(container(*TORCHRUN)))[1], "it still works"


tap.main(globals())
