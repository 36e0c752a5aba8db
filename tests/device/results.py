# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""What tests/device/run leaves in its folder: status.txt, and after each check device.jsonl, device.md and reports.tar, reports1.tar and so on. These are
few files, so that they are easy to copy from a machine."""

import gzip
import io
import json
import os
import re
import tarfile

PACKED_BYTES = 4 << 20  # a report that is larger, packed, is not kept
TAR_BYTES = 15 << 20
TARS = 4


class Results:
    def __init__(self, out):
        self.out = os.path.abspath(out)
        os.makedirs(self.out, exist_ok=True)

    def file(self, name):
        return os.path.join(self.out, name)

    def note(self, name, text):
        with open(self.file(name), "w", encoding="utf-8") as file:
            file.write(text)

    def add(self, row, reports=()):
        """Adds ROW, and the REPORTS that are small enough, under the name of the check."""
        with open(self.file("device.jsonl"), "a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
        self.note("device.md", table([self.file("device.jsonl")]))
        for report in reports:
            self.keep(report, re.sub("[^a-z0-9]+", "-", row["check"].lower()).strip("-"))

    def keep(self, report, name):
        with open(report, "rb") as file:
            packed = gzip.compress(file.read(), 4) if os.path.getsize(report) < 64 * PACKED_BYTES else None
        if not packed or len(packed) > PACKED_BYTES:
            return
        paths = (self.file(f"reports{number or ''}.tar") for number in range(TARS))
        path = next((path for path in paths if (os.path.getsize(path) if os.path.exists(path) else 0) + len(packed) < TAR_BYTES), None)
        if path:
            member = tarfile.TarInfo(f"{name}.{os.path.basename(report)}.gz")
            member.size = len(packed)
            with tarfile.open(path, "a") as tar:
                tar.addfile(member, io.BytesIO(packed))


def table(paths):
    """The rows of device.jsonl files as a table in Markdown, after what the machines are. Of a check that ran twice, the last
    counts."""
    machines, checks = {}, {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                if "machine" in row:
                    machines.update(row["machine"])
                else:
                    checks[row["check"]] = row
    lines = [f"- {name}: {value}" for name, value in machines.items()]
    lines += ["", "| check | what must hold | verdict | measured | seconds |", "|---|---|---|---|---|"]
    for row in checks.values():
        figures = ", ".join(f"{name} {value}" for name, value in row["figures"].items())
        words = [row["check"], row["expects"], row["verdict"] + (f": {row['why']}" if row["why"] else ""), figures, str(row["seconds"])]
        lines.append("| " + " | ".join(word.replace("|", "\\|") for word in words) + " |")
    return "\n".join(lines) + "\n"
