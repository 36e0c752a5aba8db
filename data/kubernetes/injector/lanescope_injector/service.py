# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""The webhook as a service. It is to answer within the three seconds that the API server waits, or not at all, and to stay within 128 MiB
whatever is sent: bodies share a budget, and no connection lives long."""

import asyncio
import asyncio.sslproto
import base64
import concurrent.futures
import json
import ssl
import sys
import threading
import time

from aiohttp import web

from . import patch

BODY_MAX = 3 << 20  # the API server takes no larger object
BODIES_MAX = 3 << 20  # of all requests together: parsed, they take twenty times as much
CONNECTIONS_MAX = 256
DEADLINE_S = 2.5  # for a request, from its headers to its answer
LIFE_S = 8  # of a connection, which has one request
RELOAD_S = 60  # how often a new certificate is looked for

writing = threading.Lock()

# asyncio has a buffer of 256 KiB for each connection, of which 200 would take half of what the service may.
asyncio.sslproto.SSLProtocol.max_size = 16 << 10


def log(event, **facts):
    """Writes a line of JSON, whole, whichever thread calls."""
    line = {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "event": event, **facts}
    with writing:
        sys.stdout.write(json.dumps(line, ensure_ascii=True) + "\n")
        sys.stdout.flush()


class Budget:
    """Bytes that may be in use; a request waits for its share until its deadline."""

    def __init__(self, n_bytes):
        self.left = n_bytes
        self.changed = asyncio.Condition()

    async def take(self, n_bytes):
        async with self.changed:
            await self.changed.wait_for(lambda: self.left >= n_bytes)
            self.left -= n_bytes

    async def give(self, n_bytes):
        async with self.changed:
            self.left += n_bytes
            self.changed.notify_all()


def answer(review, settings):
    """The AdmissionReview that answers REVIEW. Always allows: to forbid is the API server's."""
    request = review["request"]
    pod = request.get("object")
    where = {"uid": request["uid"], "namespace": request.get("namespace"), "dry_run": request.get("dryRun") is True}
    response = {"uid": request["uid"], "allowed": True}
    try:
        if (request.get("kind") or {}).get("kind") != "Pod" or request.get("operation") != "CREATE" or not isinstance(pod, dict):
            raise patch.Refused("it is not a new pod")
        if not patch.is_asked_for(pod):
            raise patch.Refused("it has no label that asks for it")
        metadata = pod["metadata"]
        where["pod"] = metadata.get("name") or f"{metadata.get('generateName', '')}*"
        operations, changes = patch.make(pod, settings)
        response["patchType"] = "JSONPatch"
        response["patch"] = base64.b64encode(json.dumps(operations).encode()).decode()
        log("changed", changes=changes, **where)
    except patch.Refused as reason:
        log("unchanged", reason=str(reason), **where)
        response["warnings"] = [f"lanescope: this pod is not recorded: {reason}"[:250]]
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        log("unchanged", reason=f"it is not a valid pod: {error!r}"[:300], **where)
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}


class Connection(asyncio.Protocol):
    """Passes on to HANDLER, aiohttp's protocol, what happens on a connection, and ends it in time whatever the other side does."""

    def __init__(self, service, handler):
        self.service, self.handler = service, handler

    def connection_made(self, transport):
        self.service.n_connections += 1
        self.end = asyncio.get_running_loop().call_later(LIFE_S, transport.abort)
        self.handler.connection_made(transport)
        if self.service.n_connections > CONNECTIONS_MAX:
            transport.abort()

    def connection_lost(self, exc):
        self.service.n_connections -= 1
        self.end.cancel()
        self.handler.connection_lost(exc)

    def data_received(self, data):
        self.handler.data_received(data)

    def eof_received(self):
        return self.handler.eof_received()

    def pause_writing(self):
        self.handler.pause_writing()

    def resume_writing(self):
        self.handler.resume_writing()


class Service:
    def __init__(self, settings):
        self.settings = settings
        self.budget = Budget(BODIES_MAX)
        self.n_connections = 0
        self.workers = concurrent.futures.ThreadPoolExecutor(1)
        self.app = web.Application(client_max_size=BODY_MAX)
        self.app.add_routes([web.get("/healthz", self.health), web.post("/mutate", self.mutate)])

    async def health(self, _):
        return web.Response(text="ok\n")

    def work(self, review, until):
        """What answers REVIEW, as JSON, in a thread of its own. Nobody waits for it after the time UNTIL."""
        if time.monotonic() > until:
            raise TimeoutError
        return json.dumps(answer(review, self.settings))

    async def mutate(self, request):
        """Answers one AdmissionReview."""
        began = time.monotonic()
        share = BODY_MAX if request.content_length is None else request.content_length
        if share > BODY_MAX:
            return self.refuse(413, "the body is larger than 3 MiB", began)
        taken = False
        try:
            async with asyncio.timeout(DEADLINE_S):
                await self.budget.take(share)
                taken = True
                body = await request.read()
                review = json.loads(body)
                del body
                return self.reply(await asyncio.get_running_loop().run_in_executor(self.workers, self.work, review, began + DEADLINE_S))
        except TimeoutError:
            return self.refuse(503, "the request took too long", began)
        except web.HTTPRequestEntityTooLarge:
            return self.refuse(413, "the body is larger than 3 MiB", began)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            return self.refuse(400, f"it is not an AdmissionReview: {error!r}"[:300], began)
        finally:
            if taken:
                await self.budget.give(share)

    def reply(self, text, status=200):
        response = web.Response(text=text, status=status, content_type="application/json")
        response.force_close()  # a connection is to have one request
        return response

    def refuse(self, status, reason, began):
        log("refused", status=status, reason=reason, seconds=round(time.monotonic() - began, 3))
        return self.reply(json.dumps({"error": reason}), status)

    async def run(self, host, port, certificate, key):
        """Serves until the task is cancelled. Takes a renewed certificate."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate, key)
        runner = web.AppRunner(self.app, access_log=None)
        await runner.setup()
        listening = await asyncio.get_running_loop().create_server(lambda: Connection(self, runner.server()), host, port, ssl=context,
                                                                   ssl_handshake_timeout=3, backlog=256)
        log("listening", port=listening.sockets[0].getsockname()[1], switches=self.settings.switches, match=self.settings.pattern.text,
            notes=self.settings.notes)
        try:
            while True:
                await asyncio.sleep(RELOAD_S)
                try:
                    context.load_cert_chain(certificate, key)
                except (OSError, ssl.SSLError) as error:
                    log("certificate", reason=f"the new one cannot be read: {error}")
        finally:
            listening.close()
            await runner.cleanup()
