# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""ask.py LANESCOPE MODE REPORT…: asks five questions about each report with the official client, which checks each answer against its
schema, and prints a JSON list: for each question its report, words, tool, arguments, answer (or null) and text. MODE is that of the client:
legacy begins with `initialize`, auto finds the newest version. Runs in the environment that fetch makes."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters

QUESTIONS = [
    ("What was the time lost to?", "why", {}),
    ("What shows the costliest finding?", "findings", {"finding": "f1"}),
    ("How long do the steps take, and which are slow?", "steps", {}),
    ("Which kernels took most time?", "stats", {"name": "cuda_gpu_kern_sum", "top": 5}),
    ("How many events lasted longer than a millisecond, and which was the longest?", "events", {"where": "duration > 1ms"}),
    ("Which calls of CUDA took most time?", "stats", {"name": "cuda_api_sum", "top": 5}),
    ("How much was copied, and how long did that take?", "sql",
     {"statement": 'SELECT copyKind, count(*) AS n, sum(bytes) AS bytes, sum("end" - start) AS ns, avg("end" - start) AS mean '
                   "FROM CUPTI_ACTIVITY_KIND_MEMCPY GROUP BY copyKind"}),
    ("What happened in the first half of a second?", "why", {"time": "0s/500ms"}),
    ("Which ranges took most time?", "stats", {"name": "nvtx_sum", "top": 5}),
    ("Which copies moved more than 64 KiB?", "events", {"where": "kind = copy and bytes > 64KiB", "top": 3}),
    ("Which findings are there?", "findings", {"top": 10}),
    ("Which calls waited?", "events", {"where": "name ~ 'sync|wait' and not kind = range"}),
    ("How busy was each stream?", "sql", {"statement": 'SELECT deviceId, streamId, count(*) AS n, sum("end" - start) AS ns '
                                                       "FROM CUPTI_ACTIVITY_KIND_KERNEL GROUP BY deviceId, streamId"}),
    ("How long would it take if kernels took half as long?", "what_if", {"edits": ["kernel: 0.5"]}),
    ("Is it slower than the one before?", "diff", {}),
]
EACH = 5


async def main(lanescope, mode, paths):
    asked = []
    async with Client(StdioServerParameters(command=lanescope, args=["mcp"], env=None), mode=mode) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert {tool for _, tool, _ in QUESTIONS} | {"open"} == tools, tools
        version, before = client.protocol_version, None

        async def ask(path, words, tool, arguments):
            result = await client.call_tool(tool, arguments)
            asked.append({"report": path, "question": words, "tool": tool, "arguments": arguments,
                          "answer": None if result.is_error else result.structured_content, "text": result.content[0].text})
            return asked[-1]

        for number, path in enumerate(paths):
            opened = await ask(path, "What is in it?", "open", {"path": path})
            assert opened["answer"] is not None, opened
            handle = opened["answer"]["report"]
            for i in range(EACH):
                words, tool, arguments = QUESTIONS[(number * EACH + i) % len(QUESTIONS)]
                about = {"a": before or handle, "b": handle} if tool == "diff" else {"report": handle}
                await ask(path, words, tool, {**about, **arguments})
            before = handle
    json.dump({"version": version, "asked": asked}, sys.stdout)


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
