# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""The reader of JSON (src/base/json-reader.h) against Python's: the same documents are valid, and have the same values. The
helper reads each document in pieces too, divided at each of its bytes."""

import json
import os
import random
import re
import struct
import subprocess

import tap

READER = os.path.join(tap.BUILD, "tests", "golden", "read-json")
# What the reader accepts besides, as its header says.
NUMBERLESS = {"nan", "inf", "infinity", "-nan", "-inf", "-infinity"}


def read(documents):
    """What the reader makes of each: its text, or None where it says what is wrong."""
    run = subprocess.run([READER], input=b"".join(struct.pack("=I", len(document)) + document for document in documents),
                         capture_output=True, check=True)
    lines = run.stdout.split(b"\n")[:-1]
    assert len(lines) == len(documents), (len(lines), len(documents), [line for line in lines if line.startswith(b"otherwise")][:3])
    return [None if line.startswith(b"!") else line for line in lines]


def values(text):
    """The values of a text as Python reads them: numbers as they are written, objects with members that have the same name."""
    return json.loads(text, parse_int=lambda digits: ("number", digits), parse_float=lambda digits: ("number", digits),
                      parse_constant=lambda name: None, object_pairs_hook=lambda pairs: ("object", pairs), strict=False)


def mend(document):
    """The document without what JSON forbids and the reader accepts."""
    def replace(match):
        part = match.group()
        if part.startswith('"'):
            return re.sub(r"[\0-\x1f]", " ", part)
        return "NaN" if part.lower() in NUMBERLESS else part
    text = document.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    return re.sub(r'"(?:[^"\\]|\\.)*"?|[-+.0-9A-Za-z]+', replace, text, flags=re.DOTALL)


def whole_characters(value):
    """The value with U+FFFD in place of each half of a pair of surrogates."""
    if isinstance(value, str):
        return re.sub(r"[\ud800-\udfff]", "\ufffd", value)
    return type(value)(map(whole_characters, value)) if isinstance(value, (list, tuple)) else value


def compare(documents):
    """How many of the documents are valid."""
    n_valid = 0
    for document, got in zip(documents, read(documents)):
        try:
            expected = values(mend(document))
        except json.JSONDecodeError:
            assert got is None, (document, got)
            continue
        assert got is not None, document
        n_valid += 1
        try:
            document.decode()
        except UnicodeDecodeError:
            # Bytes that are not UTF-8 stay, and Python shows them as halves of pairs.
            if b"\\u" in document:
                continue
        else:
            expected = whole_characters(expected)
        text = got.decode("utf-8", "surrogateescape")
        assert values(text) == expected, (document, got)
        # Nothing that can be left out is in it.
        assert not re.search(r"\s", re.sub(r'"(?:[^"\\]|\\.)*"', "", text)), got
    return n_valid


CHARACTERS = ["a", "Z", "7", " ", "/", "ä", "€", "😀", "\x7f", "\u2028", "\\\"", "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t", "\\u0000",
              "\\u001F", "\\u0022", "\\u005c", "\\u00e4", "\\u20AC", "\\uD83D\\uDE00", "\\ud800", "\\udc00", "\\ud800\\u0041", "\\ud83d\\ud83d\\ude00",
              "\t", "\x01", "long text of more than eight bytes "]
NUMBERS = ["0", "-0", "7", "-12", "3.25", "-0.5", "1e5", "1E+30", "2e-7", "6.02e23", "9223372036854775807", "-9223372036854775808",
           "123456789012345678901234567890", "1e999"]
WORDS = ["true", "false", "null", "NaN", "Infinity", "-Infinity", "nan", "-inf"]


def space(source):
    return "".join(source.choice(" \t\r\n") for _ in range(source.choice((0, 0, 0, 1, 2, 9))))


def text_of(source):
    return '"' + "".join(source.choice(CHARACTERS) for _ in range(source.choice((0, 1, 2, 3, 12)))) + '"'


def make(source, depth=0):
    kind = source.randrange(8 if depth < 5 else 4)
    if kind == 0:
        text = source.choice(WORDS)
    elif kind == 1:
        text = source.choice(NUMBERS)
    elif kind < 4:
        text = text_of(source)
    elif kind < 6:
        text = "[" + space(source) + ",".join(make(source, depth + 1) for _ in range(source.randrange(5))) + "]"
    else:
        text = "{" + space(source) + ",".join(space(source) + text_of(source) + space(source) + ":" + make(source, depth + 1)
                                              for _ in range(source.randrange(5))) + "}"
    return space(source) + text + space(source)


def mutate(source, document):
    at, to = source.randrange(len(document) + 1), source.randrange(len(document) + 1)
    kind = source.randrange(5)
    if kind == 0:
        return document[:at]
    if kind == 1:
        return document[:min(at, to)] + document[max(at, to):]
    if kind == 2 and at < len(document):
        return document[:at] + bytes([document[at] ^ 1 << source.randrange(8)]) + document[at + 1:]
    if kind == 3:
        return document[:at] + document[min(at, to):max(at, to)] + document[at:]
    word = source.choice([b'"', b"\\", b"\\u", b"\\ud800", b"{", b"}", b"[", b"]", b",", b":", b"-", b".", b"0", b"e", b"null", b"nan", b"/", b"\0", b"\x0b", b"\xff"])
    return document[:at] + word + document[at:]


def test_known_documents():
    """Documents on either side of each rule of the grammar."""
    valid = ["0", "-0", "1.5e-7", '""', "[]", "{}", " [ 1 , { \"a\" : null } ] ", "\ufefftrue", '{"a":1,"a":2}', '{"":[[],{}]}', "NaN", "[-Infinity]",
             '"' + "x" * 500 + '"', "1" * 500, "[" * 200 + "]" * 200]
    invalid = ["", " ", "\ufeff", "01", "-", "+1", "1.", ".5", "1e", "1e+", "0x10", "-nane", "tru", "TRUE", "nulll", "'a'", '"', '"\\', '"\\"', '"\\q"', '"\\u12"',
               '"\\u12g4"', "[", "]", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1}", "{", "}", '{"a"', '{"a":', '{"a":1', '{"a":1,}', '{"a" 1}', "{a:1}", "{1:2}",
               '{"a":1]', '{,"a":1}', "1 2", "[] []", "[]]", "{}x", "// c\n1", "/* c */ 1", "[1]\0", "\x0b1", '{"a"::1}', '{:1}', "\ufeff\ufeff1"]
    documents = [text.encode() for text in valid + invalid]
    assert compare(documents) == len(valid)
    got = read(documents)
    assert None not in got[:len(valid)] and not any(got[len(valid):]), got


def test_random_documents():
    source = random.Random(9)
    documents = [make(source).encode() for _ in range(400)]
    assert compare(documents) == len(documents)


def test_broken_documents():
    source = random.Random(10)
    documents = []
    for _ in range(1500):
        document = make(source).encode()[:400]
        for _ in range(source.randrange(1, 4)):
            document = mutate(source, document)
        documents.append(document)
    assert 100 < compare(documents) < 1400


tap.main(globals())
