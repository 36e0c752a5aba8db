# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""What the chart's values say, checked once, when the service starts: a mistake shows in `helm install --wait` and in the log, and
not in pods."""

import dataclasses
import json
import re
import shlex

from .pattern import Pattern

# Where pods find Lanescope, and reports if the values name no place for them.
BUNDLE = "/lanescope"
REPORTS = "/lanescope-reports"
NAME = "auto_{PROCESS_NAME}_%{POD_FULLNAME}_%{CONTAINER_NAME}_{TIMESTAMP}_{UID}"
# What a name needs so that no two processes of any pods have the same.
UNIQUE = "_%{POD_FULLNAME}_%{CONTAINER_NAME}_{UID}"
ENDING = re.compile(r"(\.nsys-rep|\.qdrep|\.rep)?$")
# The kernel refuses a variable of 128 KiB and more.
ARGUMENTS_MAX = 64 << 10


@dataclasses.dataclass
class Settings:
    """The values. Volumes and mounts are as in a pod; `switches` is what pods get for devtoolArgs."""
    pattern: Pattern
    switches: str
    volumes: list
    mounts: list
    image: str
    pull_policy: str
    has_image_volumes: bool
    notes: list  # of what was changed in the values


def with_unique_name(words, default):
    """WORDS, of a `profile`, with an --output by which no two reports have one name, and what was done to it, or None."""
    for at, word in enumerate(words[1:], 1):
        if word in ("-o", "--output") and at + 1 < len(words):
            at, head, name = at + 1, "", words[at + 1]
        elif word.startswith("--output="):
            head, name = "--output=", word.removeprefix("--output=")
        elif word.startswith("-o") and not word.startswith("--"):
            head, name = "-o", word[2:]
        else:
            continue
        if "{UID}" in name:
            return words, None
        whole = ENDING.sub(lambda ending: UNIQUE + ending[0], name, count=1)
        return words[:at] + [head + whole] + words[at + 1:], f"the name {name} became {whole}, as reports of several processes would have had it"
    return words + ["-o", default], f"reports are named {default}, as devtoolArgs has no -o"


def checked(value, kind, name):
    """VALUE of the values, or a ValueError if it is not a KIND; an empty one if it is missing."""
    if value is None:
        return kind()
    if not isinstance(value, kind):
        raise ValueError(f"{name} must be a {'list' if kind is list else 'text'}, and is {json.dumps(value)[:80]}")
    return value


def make(values, library):
    """The Settings for VALUES, the JSON that the chart writes. Raises a ValueError that names the value."""
    arguments = checked(values.get("devtoolArgs"), str, "profile.devtoolArgs")
    if len(arguments) > ARGUMENTS_MAX or "\0" in arguments:
        raise ValueError("profile.devtoolArgs is longer than 64 KiB or has a null byte")
    try:
        words = shlex.split(arguments.replace("\\\n", " "), comments=True)
    except ValueError as error:
        raise ValueError(f"profile.devtoolArgs: {error}: {arguments}") from None
    if words[:1] != ["profile"]:
        raise ValueError(f"profile.devtoolArgs must begin with the word profile: {arguments}")
    volumes = checked(values.get("volumes"), list, "profile.volumes")
    mounts = checked(values.get("volumeMounts"), list, "profile.volumeMounts")
    for name, entries, keys in (("volumes", volumes, ["name"]), ("volumeMounts", mounts, ["name", "mountPath"])):
        for entry in entries:
            if not isinstance(entry, dict) or not all(isinstance(entry.get(key), str) for key in keys):
                raise ValueError(f"an entry of profile.{name} has no {' or no '.join(keys)}: {json.dumps(entry)[:80]}")
    missing = {mount["name"] for mount in mounts} - {volume["name"] for volume in volumes}
    if missing:
        raise ValueError(f"profile.volumeMounts has {', '.join(sorted(missing))}, which profile.volumes has not")
    folder = mounts[0]["mountPath"] if mounts else REPORTS
    if not mounts:
        volumes = volumes + [{"name": "lanescope-reports", "emptyDir": {}}]
        mounts = [{"name": "lanescope-reports", "mountPath": REPORTS}]
    words, note = with_unique_name(words, f"{folder.rstrip('/')}/{NAME}")
    bundle = values.get("bundle") or {}
    image = checked(bundle.get("image"), str, "bundle.image")
    if not image:
        raise ValueError("bundle.image is missing")
    return Settings(pattern=Pattern(checked(values.get("injectionMatch"), str, "profile.injectionMatch"), library),
                    switches=shlex.join(words), volumes=volumes, mounts=mounts, image=image,
                    pull_policy=checked(bundle.get("pullPolicy"), str, "bundle.pullPolicy") or "IfNotPresent",
                    has_image_volumes=bundle.get("imageVolume") is True, notes=[note] if note else [])


def read(path, library):
    """The Settings of the file at PATH."""
    with open(path, encoding="utf-8") as file:
        values = json.load(file)
    if not isinstance(values, dict):
        raise ValueError(f"{path} is not an object of JSON")
    return make(values, library)
