# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""lanescope mcp, asked by a peer that knows only JSON and lines: the protocol, each tool, the numbers and their statements, and hostile
requests."""

import json
import lzma
import os
import re
import shutil
import signal
import sqlite3
import subprocess

import agent
import exports
import golden
import make_traces
import tap

SAMPLE = os.path.join(tap.SOURCE, "data", "samples", "cuda-double.rep")
REPORT = golden.make_report()
TOOLS = ["open", "why", "findings", "what_if", "steps", "stats", "sql", "events", "diff"]
ENDLESS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"


# --- The protocol ------------------------------------------------------------------------------------------------------

def test_versions_are_agreed_on():
    for version in agent.VERSIONS:
        with agent.Agent(version) as peer:
            assert peer.welcome["protocolVersion"] == version
            assert peer.welcome["serverInfo"]["name"] == "lanescope" and "tools" in peer.welcome["capabilities"]
            assert peer.ask("ping") == {}
    with agent.Agent("1999-01-01") as peer:
        assert peer.welcome["protocolVersion"] == agent.VERSIONS[-1]


def test_requests_that_say_their_version():
    meta = {"io.modelcontextprotocol/protocolVersion": agent.STATELESS, "io.modelcontextprotocol/clientCapabilities": {}}
    with agent.Agent(None) as peer:
        found = peer.ask("server/discover", _meta=meta)
        assert found["supportedVersions"] == [agent.STATELESS] + agent.VERSIONS[::-1]
        assert found["resultType"] == "complete" and found["ttlMs"] > 0 and found["cacheScope"] == "public"
        assert found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "lanescope"
        assert [tool["name"] for tool in peer.ask("tools/list", _meta=meta)["tools"]] == TOOLS
        called = peer.ask("tools/call", name="open", arguments={"path": SAMPLE}, _meta=meta)
        assert called["resultType"] == "complete" and called["structuredContent"]["report"] == "r1"
        other = peer.answer(peer.begin("tools/list", _meta={**meta, "io.modelcontextprotocol/protocolVersion": "2030-01-01"}))
        assert other["error"]["code"] == -32022 and other["error"]["data"]["requested"] == "2030-01-01"
        assert other["error"]["data"]["supported"] == found["supportedVersions"]
        assert peer.refused("tools/list", _meta={"io.modelcontextprotocol/protocolVersion": agent.STATELESS}) == -32602
        assert peer.refused("ping", _meta=meta) == -32601
        assert peer.refused("server/discover") == -32601


def test_tools_describe_themselves():
    with agent.Agent() as peer:
        tools = peer.ask("tools/list")["tools"]
    assert [tool["name"] for tool in tools] == TOOLS
    for tool in tools:
        assert tool["description"].endswith(".") and len(tool["description"]) < 600, tool
        assert tool["annotations"]["readOnlyHint"] and not tool["annotations"]["destructiveHint"]
        schema = tool["inputSchema"]
        assert schema["type"] == "object" and schema["additionalProperties"] is False
        assert set(schema["required"]) <= set(schema["properties"])
        assert all(value["description"] for value in schema["properties"].values())
        assert tool["outputSchema"]["type"] == "object"
    assert len(json.dumps(tools)) < 20000


def test_what_is_no_request_is_refused():
    deep = "[" * 3000 + "]" * 3000
    with agent.Agent() as peer:
        for line, code in ((b"{", -32700), (b"not json", -32700), (b'{"a":1}{"b":2}', -32700), (b'{"jsonrpc":"2.0","id":1', -32700),
                           (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32700), (b'"\xff\xfe"', -32700), (deep.encode(), -32700),
                           (b"1", -32600), (b"null", -32600), (b"[]", -32600), (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600),
                           (b"{}", -32600), (b'{"jsonrpc":"1.0","id":7,"method":"ping"}', -32600),
                           (b'{"jsonrpc":"2.0","id":7}', -32600), (b'{"jsonrpc":"2.0","id":7,"method":5}', -32600),
                           (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600), (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
                           (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":[1]}', -32600),
                           (b'{"jsonrpc":"2.0","id":7,"method":"resources/list"}', -32601),
                           (b'{"jsonrpc":"2.0","id":7,"method":""}', -32601),
                           (b'{"jsonrpc":"2.0","id":7,"method":"tools/call"}', -32602),
                           (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":7}}', -32602),
                           (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"rm"}}', -32602),
                           (b"x" * (3 << 20), -32700)):
            peer.send(line + b"\n")
            message = peer.read()
            assert message["error"]["code"] == code, (line[:80], message)
            assert message["id"] in (None, 7), message
        # No answer is due to these.
        for line in (b"", b"  \r", b'{"jsonrpc":"2.0","method":"notifications/unknown"}', b'{"jsonrpc":"2.0","id":9,"result":{}}',
                     b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}',
                     b'{"jsonrpc":"2.0","method":"notifications/cancelled"}'):
            peer.send(line + b"\n")
        assert peer.ask("ping") == {}


def test_ids_come_back_as_they_are():
    with agent.Agent() as peer:
        for number in ("a", "", "ü\n", 0, -1, 2 ** 53, "7"):
            peer.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"}) + "\n")
            assert peer.read() == {"jsonrpc": "2.0", "id": number, "result": {}}


def test_a_line_with_several_messages():
    with agent.Agent("2025-03-26") as peer:
        call = {"jsonrpc": "2.0", "id": "open", "method": "tools/call", "params": {"name": "open", "arguments": {"path": SAMPLE}}}
        peer.send(json.dumps([{"jsonrpc": "2.0", "id": 50, "method": "ping"}, call, {"jsonrpc": "2.0", "method": "notifications/x"}, 5]) + "\n")
        answers = {message["id"]: message for message in peer.read()}
        assert answers[50]["result"] == {} and answers["open"]["result"]["structuredContent"]["report"] == "r1"
        assert answers[None]["error"]["code"] == -32600 and len(answers) == 3
        peer.send(json.dumps([{"jsonrpc": "2.0", "method": "notifications/x"}]) + "\n")
        assert peer.ask("ping") == {}


def test_input_that_ends_is_answered_first():
    lines = [json.dumps({"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": {"name": "open", "arguments": {"path": SAMPLE}}})
             for i in range(3)]
    told, _ = golden_mcp("\n".join(lines).encode())  # the last line has no newline
    assert [json.loads(line)["id"] for line in told.splitlines()] == [0, 1, 2]


def golden_mcp(text, code=0):
    done = subprocess.run([tap.LANESCOPE, "mcp"], input=text, capture_output=True, cwd=golden.FOLDER, timeout=60)
    assert done.returncode == code, done
    return done.stdout, done.stderr


def test_a_cancelled_call_has_no_answer():
    with agent.Agent() as peer:
        report = peer.open(SAMPLE)
        for _ in range(3):
            endless = peer.begin("tools/call", name="sql", arguments={"report": report, "statement": ENDLESS, "seconds": 60})
            waits = peer.begin("tools/call", name="sql", arguments={"report": report, "statement": ENDLESS, "seconds": 60})
            peer.tell("notifications/cancelled", requestId=waits, reason="test")
            peer.tell("notifications/cancelled", requestId=endless)
            assert peer.call("sql", report=report, statement="SELECT 7 AS n")["rows"][0]["values"] == {"n": 7}
        assert peer.kept == {}


def test_a_ping_is_answered_while_a_call_runs():
    with agent.Agent() as peer:
        report = peer.open(SAMPLE)
        endless = peer.begin("tools/call", name="sql", arguments={"report": report, "statement": ENDLESS, "seconds": 60})
        assert peer.ask("ping") == {}
        peer.tell("notifications/cancelled", requestId=endless)


def test_calls_that_nobody_can_take_are_refused():
    with agent.Agent() as peer:
        report = peer.open(SAMPLE)
        numbers = [peer.begin("tools/call", name="sql", arguments={"report": report, "statement": ENDLESS, "seconds": 60}) for _ in range(80)]
        refused = peer.answer(numbers[-1])
        assert refused["error"]["code"] == -32603, refused
        for number in numbers:
            peer.tell("notifications/cancelled", requestId=number)
        assert peer.ask("ping") == {}
        assert all("error" in message for message in peer.kept.values())


def test_a_signal_ends_it():
    peer = agent.Agent()
    peer.begin("tools/call", name="sql", arguments={"report": peer.open(SAMPLE), "statement": ENDLESS, "seconds": 60})
    peer.process.send_signal(signal.SIGTERM)
    assert peer.process.wait(timeout=60) == -signal.SIGTERM
    peer.process.communicate()


def test_an_output_that_is_gone_is_an_error():
    process = subprocess.Popen([tap.LANESCOPE, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    process.stdin.flush()
    assert process.wait(timeout=60) == 125
    assert b"standard output" in process.stderr.read()
    process.stderr.close()
    process.stdin.close()


# --- Answers -----------------------------------------------------------------------------------------------------------

def questions(peer, report):
    """An answer of each tool about REPORT, and of some with other arguments."""
    yield peer.call("why", report=report)
    yield peer.call("why", report=report, time="1us/1s", top=2)
    findings = peer.call("findings", report=report, top=20)
    yield findings
    for row in findings["rows"][:3]:
        yield peer.call("findings", report=report, finding=row["handle"])
    steps = peer.call("steps", report=report)
    yield steps
    name = peer.call("sql", report=report, statement="SELECT name FROM LNS_STEPS LIMIT 1")["rows"]
    if name and "ranges" in steps["answer"]:
        yield peer.call("steps", report=report, range=name[0]["values"]["name"])
    for proposal in steps.get("next", []):
        yield peer.call(proposal["tool"], **proposal["arguments"])
    for name in ("nvtx_sum", "cuda_gpu_kern_sum", "cuda_gpu_mem_size_sum", "osrt_sum", "cuda_api_sum"):
        summary = peer.call("stats", report=report, name=name, top=4)
        yield summary
        for proposal in summary.get("next", []):
            yield peer.call(proposal["tool"], **proposal["arguments"])
    yield peer.call("sql", report=report, statement="SELECT count(*) AS n, sum(\"end\" - start) AS ns, avg(start) FROM NVTX_EVENTS")
    for where in ("duration > 2us and not name ~ 'e'", "kind = kernel", "name contains a and start >= 1us", "thread != 5", "process = 19804",
                  "device = 0 or bytes > 1KiB", "kind = range or kind = \"CUDA call\""):
        yield peer.call("events", report=report, where=where, top=3)
    yield peer.call("diff", a=report, b=report, top=3)


def check_reports(paths, least):
    n = 0
    with agent.Agent() as peer:
        for path in paths:
            opened = peer.call("open", path=path)
            peer.paths[opened["report"]] = path
            n += peer.check(opened)
            for answer in questions(peer, opened["report"]):
                n += peer.check(answer)
    assert n >= least, n


def device_report(name):
    """The path of a report of a real GPU."""
    path = golden.path(f"device-{name}.rep")
    if not os.path.exists(path):
        with lzma.open(os.path.join(tap.SOURCE, "tests", "answers", "device", f"{name}.rep.xz")) as packed, open(path, "wb") as file:
            shutil.copyfileobj(packed, file)
    return path


def test_statements_give_the_numbers_again():
    check_reports([SAMPLE, REPORT, device_report("exit")], 350)


def test_statements_give_the_numbers_of_exports_again(names=("pair", "system", "graphs")):
    check_reports([exports.path(name) for name in names], 400)


def test_statements_give_the_numbers_of_exports_again_of_the_corpus():
    exports.need()
    test_statements_give_the_numbers_of_exports_again(["h100x2-nccl", "a100-mpi-saxpy"])


def test_statements_give_the_numbers_of_traces_again():
    folder = golden.path("traces")
    os.mkdir(folder)
    make_traces.make(folder)
    check_reports([os.path.join(folder, name) for name in sorted(os.listdir(folder))[:2]], 200)


def test_findings_are_those_of_why():
    answer = json.loads(golden.run("why", "--format=json", SAMPLE)[0])
    with agent.Agent() as peer:
        report = peer.open(SAMPLE)
        told = peer.call("why", report=report, top=10)
        assert told["answer"] == answer["verdict"]
        ledger, *findings = told["rows"]
        assert ledger["values"] == {key: answer["devices"][0][key] for key in ("span_ns", "busy_ns", "idle_ns")}
        assert [(row["handle"], row["values"]["ns"], row["values"]["count"]) for row in findings] \
            == [(f"f{i}", f["ns"], f["count"]) for i, f in enumerate(answer["findings"], 1)]
        steps = peer.call("steps", report=report)
        assert steps["rows"][0]["values"] == {key: answer["steps"][key] for key in ("count", "p50_ns", "p99_ns")}
        assert [row["handle"] for row in steps["rows"][1:]] == [f"s{step['index']}" for step in answer["steps"]["outliers"]]
        one = peer.call("findings", report=report, finding="f1")
        assert sum(row["values"].get("lost_ns", 0) for row in one["rows"]) <= answer["findings"][0]["ns"]
        event = answer["findings"][0]["events"][0]
        assert any(f"{event['table']}:{event['row']}" in note for note in one["notes"])
        cause = peer.call("findings", report=report, cause="cpu-work")
        assert [row["values"]["ns"] for row in cause["rows"]] == [f["ns"] for f in answer["findings"] if f["cause"] == "cpu-work"]
        assert peer.call("findings", report=report, cause="lock-wait")["rows"] == []


def test_findings_say_what_they_are_worth():
    path = device_report("loader")
    answer = json.loads(golden.run("why", "--format=json", path)[0])
    gains = [(f"/findings/{i}/gain", {key: f["gain"][key] for key in ("run_ns", "predicted_ns", "low_ns", "high_ns", "confidence")})
             for i, f in enumerate(answer["findings"]) if f["gain"] is not None]
    assert gains[0][1]["low_ns"] < gains[0][1]["predicted_ns"] < gains[0][1]["run_ns"]
    with agent.Agent() as peer:
        report = peer.open(path)
        told = peer.call("why", report=report)
        assert [(row["at"], row["values"]) for row in told["rows"] if "predicted_ns" in row["values"]] == gains
        rows = [row.get("handle", row.get("at")) for row in told["rows"]]
        assert rows.index("/findings/0/gain") == rows.index("f1") + 1
        one = peer.call("findings", report=report, finding="f1")
        assert [row["values"] for row in one["rows"] if "predicted_ns" in row["values"]] == [gains[0][1]]
        assert peer.check(told) > 20 and peer.check(one) > 10
        # A part of the time is not a run, and of the sample too much is not known.
        for other in (peer.call("why", report=report, time="7s/8s"), peer.call("why", report=peer.open(SAMPLE))):
            assert not any("predicted_ns" in row["values"] for row in other["rows"])


def test_what_would_be_different():
    path, edits = device_report("loader"), ["kernel ~ gemm: 0.5", "call ~ cuda: none"]
    answer = json.loads(golden.run("what-if", "--format=json", path, *edits)[0])
    with agent.Agent() as peer:
        report = peer.open(path)
        told = peer.call("what_if", report=report, edits=edits)
        assert told["answer"] == answer["sentence"] and "instead of" in told["answer"]
        run, shares, step, *alone = [row["values"] for row in told["rows"]]
        assert run == {key: answer[key] for key in ("measured_ns", "predicted_ns", "low_ns", "high_ns", "confidence", "replayed_ns")}
        assert run["low_ns"] < run["predicted_ns"] < run["measured_ns"]
        assert shares == {key: answer[key] for key in ("inferred", "unknown", "unlaunched")}
        assert step == {key: answer["steps"][key] for key in ("count", "p50_ns", "predicted_p50_ns")}
        assert alone == [{key: edit[key] for key in ("count", "ns", "alone_ns")} for edit in answer["edits"]]
        assert [row["text"] for row in told["rows"][3:]] == edits
        assert peer.check(told) == 18 and told["next"][0]["tool"] == "why" and "notes" not in told
        # Steps of another name.
        other = peer.call("what_if", report=report, edits=edits[:1], range="train")
        assert "--steps='train'" in other["statement"] and peer.check(other) > 10
        assert "no range" in peer.fails("what_if", report=report, edits=edits, range="no step")


def test_what_is_not_known_is_not_foretold():
    with agent.Agent(LANGUAGE="de", LC_ALL="C.UTF-8") as peer:
        told = peer.call("what_if", report=peer.open(SAMPLE), edits=["kernel: 0.5"])
        run, shares, step, edit = [row["values"] for row in told["rows"]]
        assert told["answer"].startswith("How long the run would take is not known") and "record" in told["notes"][0]
        assert run["measured_ns"] > 0 and all(run[key] is None for key in ("predicted_ns", "low_ns", "high_ns", "confidence"))
        assert shares["unknown"] > 0.25 and step["predicted_p50_ns"] is None and "alone_ns" not in edit
        assert peer.check(told) == 14


def test_events_are_those_of_the_table():
    database = golden.path("sample.sqlite")
    golden.run("export", "--type=sqlite", "-o", database, SAMPLE)
    plain = sqlite3.connect(database)
    with agent.Agent() as peer:
        report = peer.open(SAMPLE)
        told = peer.call("events", report=report, where="kind = kernel and name ~ 'G[EM]+M' and duration >= 3254ns", top=3)
        n, total, longest = plain.execute('SELECT count(*), sum("end" - start), max("end" - start) FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds '
                                          "ON id = demangledName WHERE value LIKE '%gemm%' AND \"end\" - start >= 3254").fetchone()
        assert told["rows"][0]["values"] == {"count": n, "total_ns": total, "longest_ns": longest} and n > 3
        assert [row["values"]["duration_ns"] for row in told["rows"][1:]] == [ns for ns, in plain.execute(
            'SELECT "end" - start AS ns FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = demangledName '
            "WHERE value LIKE '%gemm%' ORDER BY ns DESC LIMIT 3")]
        for row in told["rows"][1:]:
            table, number = row["handle"].split(":")
            assert peer.call("sql", report=report, statement=f"SELECT start FROM {table} WHERE rowid = {number}")["rows"][0]["values"]["start"] \
                == row["values"]["start_ns"]
        # What an event does not have fails a test, and passes its contrary.
        def count(where, kind):
            rows = [row for row in peer.call("events", report=report, where=where)["rows"] if row.get("text") == kind]
            return rows[0]["values"]["count"] if rows else 0
        kernels, = plain.execute("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()
        assert count("thread = 5", "kernels") == 0 and count("thread != 5", "kernels") == kernels
        assert count("kind = kernel", "ranges") == 0 and count("kind != kernel", "ranges") == 72
        assert count("kind contains call", "CUDA calls") > 0 and count("kind contains call", "kernels") == 0
        assert count("thread = cuda-training", "CUDA calls") == count("process = cuda-training", "CUDA calls") > 0
        assert peer.call("events", report=report, where="name = nobody")["rows"] == []


def test_a_report_keeps_its_handle():
    path, link = golden.path("kept.rep"), golden.path("link.rep")
    shutil.copy(SAMPLE, path)
    os.symlink("kept.rep", link)
    with agent.Agent() as peer:
        assert [peer.open(name) for name in (path, "kept.rep", link, REPORT, path)] == ["r1", "r1", "r1", "r2", "r1"]
        os.utime(path, ns=(1, 1))
        assert peer.open(path) == "r3"
        for i in range(16):
            shutil.copy(SAMPLE, golden.path(f"kept{i}.rep"))
            assert peer.open(f"kept{i}.rep") == f"r{4 + i}"
        assert "was closed" in peer.fails("why", report="r3")
        assert "no report" in peer.fails("why", report="r99") and "no report" in peer.fails("why", report="kept.rep")
        assert peer.call("why", report="r19")["rows"]


def test_answers_are_short():
    with agent.Agent() as peer:
        report = peer.open(SAMPLE)
        wide = "SELECT " + ", ".join(f"'{'x' * 200}' AS c{i}" for i in range(100)) + " FROM NVTX_EVENTS"
        told = peer.call("sql", report=report, statement=wide, top=200)
        assert len(told["rows"]) < 10 and told["left_out"] >= 1, len(told["rows"])
        told = peer.call("sql", report=report, statement="SELECT start FROM NVTX_EVENTS", top=10)
        assert len(told["rows"]) == 10 and told["left_out"] == 1 and "more rows" in told["notes"][0]
        told = peer.call("sql", report=report, statement="SELECT printf('%.*c', 5000, 'x') AS text")
        assert len(told["rows"][0]["values"]["text"]) == 241
        assert "left_out" not in peer.call("sql", report=report, statement="SELECT 1")
        kernels = peer.call("stats", report=report, name="cuda_gpu_kern_sum", top=2)
        assert len(kernels["rows"]) == 2 and kernels["left_out"] == 3


def test_the_page_for_agents_names_what_there_is():
    with open(os.path.join(tap.SOURCE, "data", "agents", "lanescope", "SKILL.md"), encoding="utf-8") as file:
        page = file.read()
    assert page.startswith("---\nname: lanescope\ndescription: ") and len(page.splitlines()) <= 60
    assert all(f"`{tool}`" in page for tool in TOOLS), [tool for tool in TOOLS if f"`{tool}`" not in page]
    profile = next(command for command in json.loads(golden.run("--capabilities=json")[0])["commands"] if command["name"] == "profile")
    names = {"--" + option["name"] for option in profile["switches"]} | {"-" + option.get("letter", "") for option in profile["switches"]}
    used = set(re.findall(r"(?<![\w-])(--?[a-z][a-z-]*)", page)) - {"--help"}
    assert used <= names and len(used) >= 5, used - names
    with agent.Agent() as peer:  # the statistics and conditions that it names
        report = peer.open(SAMPLE)
        for name in re.findall(r"`(\w+_sum)`", page):
            peer.call("stats", report=report, name=name)
        assert peer.call("events", report=report, where=re.search(r"`events` \(`(.+?)`\)", page)[1])["report"] == report


# --- Hostile requests --------------------------------------------------------------------------------------------------

def test_arguments_are_checked():
    with agent.Agent() as peer:
        report = peer.open(SAMPLE)
        assert "needs path" in peer.fails("open")
        assert "must be a string" in peer.fails("open", path=7)
        assert "must be a string" in peer.fails("open", path=None)
        assert "no parameter" in peer.fails("open", path=SAMPLE, mode="w")
        assert "whole number" in peer.fails("why", report=report, top=10 ** 6)
        assert "whole number" in peer.fails("why", report=report, top="3")
        assert "whole number" in peer.fails("sql", report=report, statement="SELECT 1", top=-1)
        assert "there is no finding" in peer.fails("findings", report=report, finding="f999")
        assert "there is no finding" in peer.fails("findings", report=report, finding="1")
        assert "unknown cause" in peer.fails("findings", report=report, cause="sloth")
        assert "nosuch_sum" in peer.fails("stats", report=report, name="nosuch_sum")
        for where in ("duration >", "name ~ '('", "colour = red", "domain = x", "(" * 1000, "name ~ '" + "(a{99}){99}" + "'", "name ~ '(a)\\1'"):
            assert peer.fails("events", report=report, where=where), where
        assert peer.fails("why", report=report, time="yesterday")
        for edits in ([], "kernel: 0.5", [5], ["kernel: 0.5"] * 9, {"0": "kernel: 0.5"}, None):
            assert "array of 1 to 8 strings" in peer.fails("what_if", report=report, edits=edits), edits
        for edit in ("", "kernel", "kernel ~ (a{99}){99}: 0.5", "range ~ (a{99}){99}: none", "range ~ (a)\\1: none", "kernel ~ (: 0.5",
                     "kernel ~ nothing_is_called_so: 0.5", "kernel: " + "9" * 9999, "kernel ~ " + "x" * 501 + ": none"):
            assert peer.fails("what_if", report=report, edits=[edit]), edit
        for arguments in ([], "x", 5):
            assert peer.ask("tools/call", name="open", arguments=arguments)["isError"]


def test_statements_only_read():
    with agent.Agent() as peer:
        report = peer.open(SAMPLE)
        before = set(os.listdir(golden.FOLDER))
        for statement in ("CREATE TABLE x (a)", "DELETE FROM NVTX_EVENTS", "INSERT INTO StringIds VALUES (1, 'x')", "DROP TABLE NVTX_EVENTS",
                          "ATTACH 'other.db' AS other", "VACUUM INTO 'copy.db'", "PRAGMA writable_schema = 1", "PRAGMA journal_mode = wal",
                          "SELECT load_extension('x')", "SELECT readfile('/etc/passwd')", "SELECT writefile('x', 'y')",
                          "SELECT * FROM pragma_database_list", "SELECT 1; SELECT 2", "", "-- nothing", "SELECT * FROM nosuch", "SELEC 1",
                          "SELECT zeroblob(1000000000)"):
            assert peer.fails("sql", report=report, statement=statement), statement
        assert "sqlite_temp_master" in peer.fails("sql", report=report, statement="SELECT * FROM nosuch")
        assert "took longer" in peer.fails("sql", report=report, statement=ENDLESS, seconds=1)
        assert peer.call("sql", report=report, statement="SELECT count(*) AS n FROM CUPTI_ACTIVITY_KIND_KERNEL")["rows"][0]["values"] == {"n": 168}
        assert set(os.listdir(golden.FOLDER)) == before


def test_a_statement_cannot_take_all_memory():
    with agent.Agent() as peer:
        report = peer.open(SAMPLE)
        greedy = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000000) " \
                 "SELECT max(t) FROM (SELECT printf('%.*c', 10000, 'x') || i AS t FROM n ORDER BY t DESC LIMIT 10000000)"
        told = peer.fails("sql", report=report, statement=greedy, seconds=60)
        assert "too much memory" in told or "took longer" in told, told  # the latter where the machine is slow
        assert peer.call("why", report=report)["rows"]


def test_no_file_but_reports_is_read():
    secret = golden.path("secret")
    os.mkdir(secret)

    def write(name, text):
        with open(os.path.join(secret, name), "wb") as file:
            file.write(text)
        return os.path.join(secret, name)

    database = os.path.join(secret, "cookies.sqlite")
    with sqlite3.connect(database) as plain:
        plain.execute("CREATE TABLE cookies (value TEXT)")
        plain.execute("INSERT INTO cookies VALUES ('HIDDEN')")
    os.mkfifo(os.path.join(secret, "fifo"))
    os.symlink("/dev/zero", os.path.join(secret, "zero.rep"))
    os.symlink("loop", os.path.join(secret, "loop"))
    paths = [write("key", b"-----BEGIN HIDDEN-----\n"), write("auth.json", b'{"token":"HIDDEN"}'), write("list.json", b'["HIDDEN"]'),
             write("empty.rep", b""), write("SQLite.rep", b"SQLite format 3\0HIDDEN"), write("x.nsys-rep", b"HIDDEN" * 99), database, secret, "",
             ".", "/", "/dev/zero", "/dev/stdin", "/proc/self/environ", "/proc/self/mem", "/proc/kmsg", "/nonexistent", "x" * 10000,
             "~/x.rep", "file:///etc/passwd", SAMPLE + "/../../x", "-", "$(id)"]
    paths += [os.path.join(secret, name) for name in ("fifo", "zero.rep", "loop")]
    with agent.Agent(HOME=secret) as peer:
        for path in paths:
            assert "HIDDEN" not in peer.fails("open", path=path), path
        assert "no report" in peer.fails("why", report="r1")
        assert "\n" not in peer.fails("open", path="a\x01\nb")


def test_nothing_else_is_touched():
    """Only what was named is read, and only what an import needs is written."""
    if shutil.which("strace") is None:
        raise tap.Skip("strace is not here")
    log, temporary, cache, damaged = (golden.path(name) for name in ("calls", "temporary", "unused", "damaged.rep"))
    os.mkdir(temporary)
    with open(SAMPLE, "rb") as file:
        text = bytearray(file.read())
    text[len(text) // 2:len(text) // 2 + 64] = bytes(64)
    with open(damaged, "wb") as file:
        file.write(text)
    words = ["strace", "-f", "-o", log, "-e", "trace=open,openat,creat,mkdir,rename,renameat2,unlink,unlinkat,rmdir,symlink,link,execve"]
    reports = (SAMPLE, exports.path("pair"), damaged)
    with agent.Agent(words=words, TMPDIR=temporary, XDG_CACHE_HOME=cache, HOME=cache) as peer:
        for path in reports:
            list(questions(peer, peer.open(path)))
            assert len(os.listdir(temporary)) <= 2, os.listdir(temporary)  # the import, and what was rebuilt
        peer.fails("open", path="/etc/passwd")
    assert os.listdir(temporary) == [] and not os.path.exists(cache)
    with open(log, encoding="utf-8", errors="replace") as file:
        calls = re.findall(r'^\d+ +(\w+)\((?:AT_FDCWD, )?"([^"]*)"(.*)\) += [^-]', file.read(), re.M)
    assert len(calls) > 10 and sum(name == "execve" for name, _, _ in calls) == 1, "a process was started"
    for name, path, rest in calls:
        is_own = path.startswith(temporary)
        is_system = path.startswith(("/proc/", "/sys/", "/dev/null", "/dev/urandom", "/etc/localtime", "/etc/ld.so", "/lib", "/usr/lib"))
        if name == "execve" or is_own:
            continue
        assert name in ("open", "openat"), (name, path)
        # strace shows names relative to a folder that is being removed without it
        assert is_system or path in (*reports, "/etc/passwd") or "O_DIRECTORY" in rest or path in ("lanescope", "imported", "recovered"), (name, path, rest)
        assert "O_WRONLY" not in rest and "O_RDWR" not in rest or path == "/dev/null", (name, path, rest)
    assert any(path.startswith(temporary) for _, path, _ in calls)  # the import was seen


tap.main(globals())
