# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""A plain peer of `lanescope mcp`, which knows only JSON and lines, and a check that runs the statements beside an answer's numbers."""

import json
import os
import shlex
import subprocess

import golden
import tap

VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
STATELESS = "2026-07-28"


class Agent:
    """A server and its client. `with Agent() as agent: agent.call("why", report="r1")`."""

    def __init__(self, version="2025-06-18", words=(), **environment):
        env = dict(os.environ, **{"LC_ALL": "C.UTF-8", "XDG_CACHE_HOME": golden.path("cache"), **environment})
        self.process = subprocess.Popen([*words, tap.LANESCOPE, "mcp"], cwd=golden.FOLDER, env=env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.number, self.kept, self.paths = 0, {}, {}
        if version is not None:
            self.welcome = self.ask("initialize", protocolVersion=version, capabilities={}, clientInfo={"name": "test", "version": "1"})
            self.tell("notifications/initialized")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if error[0] is not None:
            self.process.kill()
        rest, complaint = self.process.communicate(timeout=60)
        if error[0] is None:
            assert self.process.returncode == 0 and rest == b"" and complaint == b"", (self.process.returncode, rest, complaint)

    def send(self, text):
        self.process.stdin.write(text if isinstance(text, bytes) else text.encode())
        self.process.stdin.flush()

    def read(self):
        """The next line, which is one message."""
        line = self.process.stdout.readline()
        assert line.endswith(b"\n"), (line, self.process.poll())
        return json.loads(line)

    def tell(self, method, **params):
        self.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}) + "\n")

    def begin(self, method, **params):
        """Sends a request and returns its id."""
        self.number += 1
        self.send(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}) + "\n")
        return self.number

    def answer(self, number):
        """The answer to request NUMBER; others that come before it are kept for those who ask."""
        while number not in self.kept:
            message = self.read()
            self.kept[message["id"]] = message
        return self.kept.pop(number)

    def ask(self, method, **params):
        """The result of a request; fails where there is none."""
        message = self.answer(self.begin(method, **params))
        assert "result" in message, message
        return message["result"]

    def refused(self, method, **params):
        """The code of the error that a request gets."""
        return self.answer(self.begin(method, **params))["error"]["code"]

    def call(self, tool, **arguments):
        """What TOOL answers, as data. The text says the same."""
        result = self.ask("tools/call", name=tool, arguments=arguments)
        text, = result["content"]
        assert result["isError"] is False and text["type"] == "text", result
        answer = result["structuredContent"]
        assert text["text"].startswith(answer["answer"] + "\n") or text["text"] == answer["answer"], result
        assert len(text["text"]) < 48 << 10, len(text["text"])
        return answer

    def open(self, path, **arguments):
        """The handle of the file at PATH."""
        answer = self.call("open", path=path, **arguments)
        self.paths[answer["report"]] = os.path.realpath(os.path.join(golden.FOLDER, path))
        return answer["report"]

    def fails(self, tool, **arguments):
        """The sentence with which TOOL refuses ARGUMENTS."""
        result = self.ask("tools/call", name=tool, arguments=arguments)
        assert result["isError"] is True and "structuredContent" not in result, result
        return result["content"][0]["text"]

    def check(self, answer):
        return check(answer, self.paths.get(answer.get("report")))


def check(answer, path):
    """Runs each statement of ANSWER, about the report at PATH, again: it gives the same numbers. Returns how many there were."""
    n, printed = 0, {}
    for row in answer["rows"]:
        values = {key: value for key, value in row["values"].items() if isinstance(value, (int, float)) or value is None}
        if not values:
            continue
        statement = row.get("statement", answer.get("statement"))
        assert statement is not None, row
        if statement not in printed:
            printed[statement] = run_again(statement, path)
        again = at(printed[statement], row.get("at", "/0"))
        for name, value in values.items():
            if " #" not in name:  # of columns with one name, JSON of `sql` has only one
                assert again[name] == value, (row, again)
                n += 1
    return n


def run_again(statement, path):
    """What STATEMENT, of SQL for the report at PATH or a command, prints as JSON."""
    if statement.startswith("lanescope "):
        words = shlex.split(statement)
        return json.loads(golden.run(*words[1:])[0])
    return json.loads(golden.run("sql", "--json", path, statement)[0])


def at(value, pointer):
    for part in pointer.split("/")[1:]:
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value
