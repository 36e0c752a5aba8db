# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""python3 -m lanescope_injector --settings FILE --certificate FILE --key FILE"""

import argparse
import asyncio
import contextlib
import signal
import sys

from . import service, settings


async def serve(given):
    one = service.Service(settings.read(given.settings, given.library))
    running = asyncio.ensure_future(one.run(given.host, given.port, given.certificate, given.key))
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, running.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await running


def main():
    parser = argparse.ArgumentParser(prog="lanescope_injector", description=__doc__)
    parser.add_argument("--settings", required=True, help="the chart's values as JSON")
    parser.add_argument("--certificate", required=True, help="PEM, renewed in place")
    parser.add_argument("--key", required=True, help="PEM")
    parser.add_argument("--library", default="/usr/lib/lanescope/liblanescope-pod.so", help="the library that pods preload, for its patterns")
    parser.add_argument("--host", default="0.0.0.0")
    parser.add_argument("--port", type=int, default=8443)
    given = parser.parse_args()
    try:
        asyncio.run(serve(given))
    except (OSError, ValueError) as error:
        service.log("failed", reason=str(error))
        sys.exit(1)


main()
