# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""FORMAT.md lists the numbers in a report that the headers define, and no others."""

import os
import re

import tap

STORE = os.path.join(tap.SOURCE, "src", "store")


def read(name):
    with open(os.path.join(STORE, name), encoding="utf-8") as file:
        return file.read()


def numbers(header, enum, prefix):
    """{number: words} of an enum whose members are PREFIX_WORDS."""
    body = re.search(r"typedef enum\n\{([^}]*)\} " + enum + ";", re.sub(r"/\*.*?\*/", "", read(header), flags=re.S)).group(1)
    found, value = {}, -1
    for name, given in re.findall(r"(LNS_\w+)(?: = (\d+(?: << \d+)?))?", body):
        value = eval(given) if given else value + 1
        if name.startswith(prefix):
            found[value] = name[len(prefix):].lower().replace("_", " ")
    return found


def rows(title):
    """{number: words} of the first cells of the table under TITLE."""
    table = re.search(r"^\| " + title + r" \|.*\n\|[-|]+\n((?:\|.*\n)+)", read("FORMAT.md"), re.M).group(1)
    return {int(number): words.replace("-", " ") for number, words in re.findall(r"^\| (\d+) ([^|]+) \|", table, re.M)}


def test_columns():
    assert rows("column") == numbers("format/lane-kind.h", "LnsColumnId", "LNS_COLUMN_")


def test_lane_kinds():
    kinds = numbers("format/lane-kind.h", "LnsLaneKind", "LNS_LANE_")
    del kinds[0]
    assert rows("lane kind") == kinds


def test_lists():
    text = " ".join(read("FORMAT.md").split())
    for title, header, enum, prefix in (("Track kinds:", "format/lane-kind.h", "LnsTrackKind", "LNS_TRACK_"),
                                        ("Flags of events, as bits:", "format/lane-kind.h", "LnsEventFlags", "LNS_EVENT_"),
                                        ("counters:", "format/lane-kind.h", "LnsPayloadType", "LNS_PAYLOAD_"),
                                        ("Severities:", "format/definitions.h", "LnsSeverity", "LNS_SEVERITY_")):
        members = numbers(header, enum, prefix)
        assert members, enum
        listed = text[text.index(title):]
        for number, words in members.items():
            assert re.search(rf"\b{number} {words}\b", listed), (enum, number, words)


tap.main(globals())
