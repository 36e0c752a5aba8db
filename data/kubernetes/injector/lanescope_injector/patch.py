# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""What is done to a pod. Nothing here reads or writes anything but its arguments: a pod and the settings give a patch."""

import json
import re

from .settings import BUNDLE

LABELS = ("lanescope.io/profile", "nvidia-devtools-sidecar-injector")
CHANGES = "lanescope.io/changes"  # the annotation that lists what was done
ONLY = "lanescope.io/containers"  # the annotation by which a pod names those containers that are meant
TOOL = f"{BUNDLE}/bin/lanescope"
LIBRARY = f"{BUNDLE}/lib/lanescope/liblanescope-pod.so"
VOLUME, INIT = "lanescope", "lanescope-bundle"
USER = 65532  # of the bundle's image
CONTAINERS_MAX = 256


class Refused(Exception):
    """The pod stays as it is; the argument says why."""


def is_asked_for(pod):
    labels = (pod.get("metadata") or {}).get("labels") or {}
    return any(labels.get(label) == "enabled" for label in LABELS)


def literal(text):
    """TEXT as a value of a variable in a pod, where $(NAME) would be replaced."""
    return text.replace("$", "$$")


def field(name, path):
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def quantity_bytes(text):
    """The bytes of a quantity such as 1Gi or 500M; None if it is not one."""
    found = re.fullmatch(r"(\d+)([kKMGTP]i?)?", str(text))
    if found is None:
        return None
    unit = found[2] or ""
    return int(found[1]) * (1024 if unit.endswith("i") else 1000) ** (" KMGTP".index(unit[0].upper()) if unit else 0)


def report_bytes(container, settings):
    """How large reports of CONTAINER may become, so that the pod is not evicted for them: half of what the place has. None if it has no
    limit, as volumes that outlive the pod."""
    place = next(volume for volume in settings.volumes if volume["name"] == settings.mounts[0]["name"])
    if "emptyDir" not in place:
        return None
    limits = [(place["emptyDir"] or {}).get("sizeLimit"), ((container.get("resources") or {}).get("limits") or {}).get("ephemeral-storage")]
    known = [size for size in (quantity_bytes(limit) for limit in limits if limit is not None) if size]
    return min(known) // 2 if known else None


def variables(container, pod, settings):
    """The variables for CONTAINER: those that names of reports have, and those for `lanescope pod-run`. Earlier ones may be used in later
    ones."""
    shared = (pod["spec"].get("shareProcessNamespace") or pod["spec"].get("hostPID")) is True
    return [
        field("LANESCOPE_POD_NAMESPACE", "metadata.namespace"),
        field("LANESCOPE_POD_NAME", "metadata.name"),
        {"name": "POD_FULLNAME", "value": "$(LANESCOPE_POD_NAMESPACE)_$(LANESCOPE_POD_NAME)"},
        {"name": "CONTAINER_NAME", "value": literal(container["name"])},
        field("NODE_NAME", "spec.nodeName"),
        {"name": "LANESCOPE_POD_SWITCHES", "value": literal(settings.switches)},
    ] + [{"name": "LANESCOPE_POD_SHARED", "value": "1"}] * shared + [
        {"name": "LANESCOPE_POD_REPORT_BYTES", "value": str(size)} for size in [report_bytes(container, settings)] if size]


def starter(settings):
    """What has processes of a container look whether they are meant."""
    return [{"name": "LANESCOPE_POD_MATCH", "value": literal(settings.pattern.text)}, {"name": "LANESCOPE_POD_TOOL", "value": TOOL}]


def command_line(container):
    """The words of CONTAINER's command with a blank between them; None if the image has them."""
    command = container.get("command")
    return " ".join(command + (container.get("args") or [])) if command else None


def preload(environment):
    """Adds the library to ENVIRONMENT, behind what is preloaded there, as a sanitizer must come first. False if that comes from elsewhere."""
    known = next((variable for variable in environment if variable.get("name") == "LD_PRELOAD"), None)
    if known is None:
        environment.append({"name": "LD_PRELOAD", "value": LIBRARY})
    elif "valueFrom" in known:
        return False
    else:
        known["value"] = f"{known['value']}:{LIBRARY}" if known.get("value") else LIBRARY
    return True


def changed_container(container, pod, settings, changes):
    """The fields of CONTAINER that change. Adds sentences to CHANGES."""
    name = container["name"]
    line = command_line(container)
    is_wrapped = line is not None and settings.pattern.is_in(line)
    environment = [dict(variable) for variable in container.get("env") or []]
    own = {variable["name"] for variable in environment}
    added = [variable for variable in variables(container, pod, settings) if variable["name"] not in own]
    fields = {}
    if is_wrapped:
        fields["command"] = [TOOL, "pod-run"] + container["command"]
        changes.append(f"container {name}: its command is run by {TOOL}")
    elif preload(environment):
        added += starter(settings)
        changes.append(f"container {name}: LD_PRELOAD has {LIBRARY}, by which processes that match are run by {TOOL}")
    else:
        changes.append(f"container {name}: not changed, as its command does not match and its LD_PRELOAD comes from elsewhere")
        return {}
    fields["env"] = added + environment
    changes.append(f"container {name}: variables {', '.join(variable['name'] for variable in added)}")
    mounts = container.get("volumeMounts") or []
    taken = {mount.get("mountPath", "").rstrip("/") for mount in mounts}
    wanted = [{"name": VOLUME, "mountPath": BUNDLE, "readOnly": True}] + settings.mounts
    new = [mount for mount in wanted if mount["mountPath"].rstrip("/") not in taken]
    if BUNDLE in taken:
        raise Refused(f"container {name} mounts something at {BUNDLE}")
    changes += [f"container {name}: {mount['name']} is mounted at {mount['mountPath']}" for mount in new]
    changes += [f"container {name}: {mount['mountPath']} was mounted already" for mount in wanted if mount not in new]
    fields["volumeMounts"] = mounts + new
    return fields


def init_container(spec, settings):
    """The container that fills the volume. It asks for the least that any admission policy does, and leaves the pod's class of service as
    it is."""
    context = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "readOnlyRootFilesystem": True,
               "runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    if (spec.get("securityContext") or {}).get("runAsUser") == 0:
        context["runAsUser"] = USER
    container = {"name": INIT, "image": settings.image, "imagePullPolicy": settings.pull_policy,
                 "command": ["/bin/lanescope", "pod-copy", BUNDLE], "volumeMounts": [{"name": VOLUME, "mountPath": BUNDLE}],
                 "securityContext": context}
    everyone = spec["containers"] + (spec.get("initContainers") or [])
    if any((one.get("resources") or {}).get(kind) for one in everyone for kind in ("requests", "limits")):
        least = {"cpu": "50m", "memory": "64Mi"}
        container["resources"] = {"requests": least, "limits": dict(least)}
    return container


def check(pod):
    """Raises Refused if POD is not one that can be changed. The API server validates pods only after us."""
    spec, metadata = pod.get("spec"), pod.get("metadata")
    if not isinstance(spec, dict) or not isinstance(metadata, dict) or not isinstance(spec.get("containers"), list):
        raise Refused("it has no list of containers")
    if len(spec["containers"]) > CONTAINERS_MAX:
        raise Refused(f"it has more than {CONTAINERS_MAX} containers")
    if CHANGES in (metadata.get("annotations") or {}):
        raise Refused("it was changed already")
    if (spec.get("os") or {}).get("name") == "windows":
        raise Refused("it runs on Windows")
    if any(volume.get("name") == VOLUME for volume in spec.get("volumes") or []):
        raise Refused(f"it has a volume {VOLUME} of its own")
    if any(one.get("name") == INIT for one in spec.get("initContainers") or []):
        raise Refused(f"it has a container {INIT} of its own")


def make(pod, settings):
    """(patch, changes) for POD: operations of RFC 6902, and a sentence for each change. Raises Refused, and errors of all kinds with what is
    not a pod."""
    check(pod)
    spec = pod["spec"]
    annotations = pod["metadata"].get("annotations") or {}
    only = {name.strip() for name in annotations[ONLY].split(",")} if ONLY in annotations else None
    patch, changes = [], []
    for number, container in enumerate(spec["containers"]):
        if only is not None and container["name"] not in only:
            continue
        for name, value in changed_container(container, pod, settings, changes).items():
            patch.append({"op": "add", "path": f"/spec/containers/{number}/{name}", "value": value})
    if not patch:
        raise Refused("; ".join(changes) or f"no container is one of {ONLY}")
    volumes = spec.get("volumes") or []
    names = {volume.get("name") for volume in volumes}
    first = {"image": {"reference": settings.image, "pullPolicy": settings.pull_policy}} if settings.has_image_volumes else {"emptyDir": {}}
    new = [{"name": VOLUME, **first}] + [volume for volume in settings.volumes if volume["name"] not in names]
    patch.append({"op": "add", "path": "/spec/volumes", "value": volumes + new})
    changes += [f"volume {volume['name']}" for volume in new]
    if not settings.has_image_volumes:
        patch.append({"op": "add", "path": "/spec/initContainers", "value": [init_container(spec, settings)] + (spec.get("initContainers") or [])})
        changes.append(f"init container {INIT}")
    patch.append({"op": "add", "path": "/metadata/annotations", "value": {**annotations, CHANGES: json.dumps(changes)}})
    return patch, changes
