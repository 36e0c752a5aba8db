# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""The injector under input that means it ill: it answers within the three seconds that the API server waits, or the pod starts as it is, and
it stays within 128 MiB. Times here are the service's own: what it logs."""

import concurrent.futures
import json
import socket
import ssl

import injecting
import tap
from injecting import Injector, admission, container, pod

LIMIT_BYTES = 128 << 20
TORCHRUN = ["/usr/bin/python3", "/usr/local/bin/torchrun", "train.py"]


def check_works(injector):
    assert injector.change(pod(container(*TORCHRUN)))[1]
    print(f"# at most {injector.peak_bytes() >> 20} MiB", flush=True)
    assert injector.peak_bytes() < LIMIT_BYTES, injector.peak_bytes()


def raw(injector):
    context = ssl.create_default_context(cafile=injector.certificate)
    return context.wrap_socket(socket.create_connection(("127.0.0.1", injector.port), timeout=60 * tap.PATIENCE), server_hostname="localhost")


def test_two_hundred_at_once():
    """Each pod is one that a controller makes, at a moment when hundreds start."""
    with Injector() as injector:
        body = json.dumps(admission(pod(container(*TORCHRUN, env=[{"name": f"V{i}", "value": "x" * 100} for i in range(50)]))))
        with concurrent.futures.ThreadPoolExecutor(200) as threads:
            answers = list(threads.map(lambda _: injector.send("POST", "/mutate", body), range(200)))
        assert [status for status, _ in answers] == [200] * 200, sorted({status for status, _ in answers})
        assert all("patch" in json.loads(text)["response"] for _, text in answers)
        check_works(injector)


def test_huge_requests():
    with Injector() as injector:
        for size in ((3 << 20) + 1, 64 << 20):
            connection = injector.connection()
            connection.putrequest("POST", "/mutate")
            connection.putheader("Content-Length", str(size))
            connection.endheaders()
            assert connection.getresponse().status == 413
            connection.close()
        # As large as the API server lets through, and as costly for a parser as can be.
        bodies = ["[" + ",".join(["{}"] * ((3 << 20) // 3 - 2)) + "]",
                  json.dumps(admission(pod(container("x", args=["y" * (2 << 20)])))),
                  json.dumps(admission(pod(*[container("x", name=f"c{i}") for i in range(20000)])))]
        for body in bodies:
            with concurrent.futures.ThreadPoolExecutor(8) as threads:
                statuses = {status for status, _ in threads.map(lambda _, body=body: injector.send("POST", "/mutate", body), range(8))}
            assert statuses <= {200, 400, 413, 503}, statuses
        check_works(injector)


def test_bodies_without_a_length():
    with Injector() as injector:
        with raw(injector) as stream:
            stream.sendall(b"POST /mutate HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
            try:
                for _ in range(64):
                    stream.sendall(b"100000\r\n" + b"x" * (1 << 20) + b"\r\n")
                answer = stream.recv(4096)
            except (ConnectionError, ssl.SSLError):
                answer = b"HTTP/1.1 413"
            assert b" 413" in answer.split(b"\r\n")[0], answer
        check_works(injector)


def test_slow_requests_do_not_keep_others_waiting():
    """A hundred connections that send a byte, or half a request, and then nothing."""
    begun = [b"", b"P", b"POST /mutate HTTP/1.1\r\nHost: x\r\n", b"POST /mutate HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n{"]
    with Injector() as injector:
        streams = [raw(injector) for _ in range(100)]
        for number, stream in enumerate(streams):
            stream.sendall(begun[number % 4])
        plain = [socket.create_connection(("127.0.0.1", injector.port), timeout=60) for _ in range(50)]  # of which no TLS begins
        check_works(injector)
        # All end by themselves: the last thing each says is an answer or the end.
        for stream in streams:
            try:
                while stream.recv(4096):
                    pass
            except (ConnectionError, ssl.SSLError):
                pass
            stream.close()
        for stream in plain:
            stream.close()
        check_works(injector)
    slow = [line for line in injector.log if line["event"] == "refused" and line["status"] == 503]
    assert all("took too long" in line["reason"] for line in slow), slow


def test_patterns_that_keep_others_busy():
    """A command line that has a backtracking matcher go through 2^100000 ways."""
    with Injector(injectionMatch="^(a|aa|a*)*b$") as injector:
        changed, _ = injector.change(pod(container("a" * 100000)))
        assert changed["spec"]["containers"][0]["command"] == ["a" * 100000]
        check_works(injector)


def test_what_is_not_http():
    with Injector() as injector:
        for bytes_sent in (b"\0" * 1000, b"GET /\r\n\r\n", b"POST /mutate HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"POST /mutate HTTP/9\r\n\r\n",
                           b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 100000, b"POST /mutate HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc"):
            with raw(injector) as stream:
                try:
                    stream.sendall(bytes_sent)
                    stream.recv(4096)
                except (ConnectionError, ssl.SSLError):
                    pass
        with socket.create_connection(("127.0.0.1", injector.port), timeout=60) as stream:
            stream.sendall(b"GET /healthz HTTP/1.1\r\n\r\n")  # without TLS
            try:
                stream.recv(4096)
            except ConnectionError:
                pass
        check_works(injector)


tap.main(globals())
