# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Traces functions that run in stretches, for CPython before 3.12: generators, coroutines and asynchronous generators. Each stretch
is a range, from where the body continues to where it yields, awaits or ends, as sys.monitoring reports it from 3.12 on.

Another generator or coroutine runs the one that such a function returns. An asynchronous generator, which its event loop knows, is
run by an object with its methods."""

import types

import _lanescope_functions as native

GENERATOR, COROUTINE, AWAITABLE_GENERATOR, ASYNCHRONOUS_GENERATOR = 0x20, 0x80, 0x100, 0x200  # of co_flags


def run(inner, number):
    """A generator that runs INNER and records its stretches."""
    step, given = inner.send, None
    while True:
        native.push(number)
        try:
            told = step(given)
        except StopIteration as end:
            return end.value
        finally:
            native.pop(number)
        try:
            given = yield told
            step = inner.send
        except GeneratorExit:
            native.push(number)
            try:
                inner.close()
            finally:
                native.pop(number)
            raise
        except BaseException as error:
            step, given = inner.throw, error


run_awaitable = types.coroutine(types.FunctionType(run.__code__, globals()))


class Steps:
    """Awaits INNER. If the caller ends before the first step, INNER is closed, so that it does not warn that nobody awaited it."""

    __slots__ = ("inner", "number")

    def __init__(self, inner, number):
        self.inner, self.number = inner, number

    def __await__(self):
        return run(self.inner, self.number)

    def __del__(self):
        self.inner.close()


async def wait_for(steps):
    return await steps


def run_coroutine(inner, number):
    return wait_for(Steps(inner, number))


class AsynchronousGenerator:
    def __init__(self, inner, number):
        self.inner, self.number = inner, number

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def __aiter__(self):
        return self

    def __anext__(self):
        return run_coroutine(self.inner.asend(None), self.number)

    def asend(self, value):
        return run_coroutine(self.inner.asend(value), self.number)

    def athrow(self, *error):
        return run_coroutine(self.inner.athrow(*error), self.number)

    def aclose(self):
        return run_coroutine(self.inner.aclose(), self.number)


def runner(function, number):
    """Returns what runs the result of FUNCTION in its place; None if FUNCTION runs in one stretch."""
    flags = getattr(getattr(function, "__code__", None), "co_flags", 0)
    if flags & ASYNCHRONOUS_GENERATOR:
        return lambda inner: AsynchronousGenerator(inner, number)
    if not flags & (GENERATOR | COROUTINE):
        return None
    kind = run_coroutine if flags & COROUTINE else run_awaitable if flags & AWAITABLE_GENERATOR else run

    def take(inner):
        outer = kind(inner, number)
        outer.__name__, outer.__qualname__ = inner.__name__, inner.__qualname__
        return outer

    return take
