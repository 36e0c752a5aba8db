# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Waits for batches that a thread of its own computes."""

import queue
import threading

BATCHES = 10

ready = queue.Queue(1)


def decode():
    return sum(i * i for i in range(400000))


def work():
    for _ in range(BATCHES):
        ready.put(decode())


threading.Thread(target=work, name="worker").start()
total = 0
for _ in range(BATCHES):
    total += ready.get()
print(total)
