# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Records the calls of the requested Python functions as ranges, without a change of the program.

LANESCOPE_PYTHON_FUNCTIONS, which `lanescope profile` sets, has one line for each function, with tabs between the fields:

    function  MODULE  NAME  DOMAIN  CATEGORY  COLOR     NAME is "f" or "Class.method"; COLOR is AARRGGBB in hex, 0 for none
    optional  the same, but nothing is reported if there is no such function
    pytorch   autograd-nvtx | autograd-shapes-nvtx      ranges that PyTorch itself makes around each operator

From CPython 3.12 on, sys.monitoring reports the calls of these functions, which are not changed. Before, and for functions that are
not written in Python, an object takes the place of each in its module or class. A generator or a coroutine gets a range for each
stretch that it runs."""

import os
import sys

import _frozen_importlib

try:
    import _lanescope_functions as native
except ImportError as error:  # this interpreter cannot load it; begin() reports that
    native, import_error = None, error

KNOWN = ((3, 9), (3, 15))
MAIN = ("__main__", "__mp_main__")


class Function:
    """A requested function. The native module gives it its number."""

    def __init__(self, kind, module, name, domain, category, color):
        self.module, self.name = module, name
        self.is_found = False
        self.is_optional = kind == "optional"
        self.number = native.define(domain, category, int(color, 16), name)

    def find(self):
        if not self.is_found and not self.is_optional:
            native.say(f"+{self.name} of module {self.module}"[:200])
        self.is_found = True

    def miss(self, why):
        if not self.is_found and not self.is_optional:
            native.say(f"-{self.name} of module {self.module}"[:200] + f"\t{why}"[:200])
        self.is_found = True  # so that it is reported once


class Monitoring:
    """Traces code objects by sys.monitoring."""

    def __init__(self):
        self.api = sys.monitoring
        events = self.api.events
        self.tool = next((tool for tool in (4, 3) if self.api.get_tool(tool) is None), None)
        if self.tool is None:
            return
        self.api.use_tool_id(self.tool, "lanescope")
        for event in (events.PY_START, events.PY_RESUME, events.PY_THROW):
            self.api.register_callback(self.tool, event, native.enter)
        for event in (events.PY_RETURN, events.PY_YIELD, events.PY_UNWIND):
            self.api.register_callback(self.tool, event, native.leave)
        self.api.set_events(self.tool, events.PY_UNWIND | events.PY_THROW)  # CPython reports these only for all code
        self.local = events.PY_START | events.PY_RESUME | events.PY_RETURN | events.PY_YIELD

    def trace_code(self, code, function):
        if native.watch(code, function.number):
            self.api.set_local_events(self.tool, code, self.local)
            function.find()
        else:
            function.miss("too many functions were asked for")

    def follow_main(self, functions):
        """Waits for the main module to start, whose code contains the code of its functions. Looks after each line of the module
        for functions that it only gives a name."""
        events, everything = self.api.events, self.api.get_events(self.tool)
        follower = None

        def look(code, line):
            if follower.look():
                self.api.set_local_events(self.tool, code, 0)

        def start(code, offset):
            nonlocal follower
            if code.co_name != "<module>" or sys._getframe(1).f_globals.get("__name__") not in MAIN:
                return native.enter(code, offset)
            for inner in codes_within(code):
                for function in functions:
                    if inner.co_qualname == function.name:
                        self.trace_code(inner, function)
            follower = Follower(functions, sys._getframe(1), self)
            if follower.waits:
                self.api.register_callback(self.tool, events.LINE, look)
                self.api.set_local_events(self.tool, code, events.LINE)
            if all(function.is_found for function in functions):
                self.api.set_events(self.tool, everything)
                self.api.register_callback(self.tool, events.PY_START, native.enter)
            return None

        self.api.register_callback(self.tool, events.PY_START, start)
        self.api.set_events(self.tool, everything | events.PY_START)


def codes_within(code):
    for constant in code.co_consts:
        if isinstance(constant, type(code)):
            yield constant
            yield from codes_within(constant)


class StandIns:
    """Replaces functions by objects, for CPython before 3.12."""

    def follow_main(self, functions):
        follower = None

        def look():
            nonlocal follower
            if follower is None:
                follower = Follower(functions, sys._getframe(1), None)
            return follower.look()

        native.follow_main(look, is_helper())


class Follower:
    """Looks for functions of the main module while its FRAME runs and defines them. Looks only for those whose names are in its
    code, because each look costs time."""

    def __init__(self, functions, frame, monitoring):
        self.namespace, self.monitoring = Namespace(frame.f_globals), monitoring
        self.waits = [function for function in functions if not function.is_found and function.name.split(".")[0] in frame.f_code.co_names]

    def look(self):
        """Returns True if there is nothing more to look for."""
        for function in self.waits:
            if function.name.split(".")[0] in self.namespace.__dict__:
                find(self.namespace, function, self.monitoring, says=False)
        self.waits = [function for function in self.waits if not function.is_found]
        return not self.waits


class Namespace:
    """The names of a module that is not complete yet."""

    def __init__(self, names):
        self.__dict__ = names


def find(module, function, monitoring, says=True):
    """Traces FUNCTION in MODULE, which is complete, except for the main module, where a missing name may still come. Reading an
    attribute may run code of the program and fail; that must not make its import fail."""
    try:
        trace_in(module, function, monitoring, says)
    except Exception as error:
        function.miss(f"it cannot be looked at ({type(error).__name__}: {error})")


def trace_in(module, function, monitoring, says):
    owner, parts = module, function.name.split(".")
    for part in parts[:-1]:
        owner = getattr(owner, part, None)
    # Take the entry of the class, or of one that it inherits from, so that a static method stays one after it is replaced.
    classes = owner.__mro__ if isinstance(owner, type) else ()
    found = next((vars(base)[parts[-1]] for base in classes if parts[-1] in vars(base)), None)
    if found is None:
        found = getattr(owner, parts[-1], None)
    if found is None:
        if says:
            function.miss("there is no such name")
        return
    kind = type(found) if isinstance(found, (classmethod, staticmethod)) else None
    inner = found.__func__ if kind else found
    if isinstance(found, property):
        inner = found.fget
    elif type(found).__name__ == "cached_property" and hasattr(found, "func"):
        inner = found.func
    if isinstance(inner, type) or not callable(inner):
        function.miss("it is a class: name its methods" if isinstance(inner, type) else "it is not a function")
        return
    plain = inner
    for _ in range(100):  # some objects return a value for every attribute
        plain = getattr(plain, "__wrapped__", plain)
    if monitoring is not None and hasattr(inner, "__code__") and hasattr(plain, "__code__"):
        monitoring.trace_code(plain.__code__, function)
        return
    try:
        runner = lanescope_generators.runner(plain, function.number) if monitoring is None else None
        if runner and plain is not inner and replace_within(inner, plain, native.wrap(plain, function.number, runner)):
            function.find()
            return
        traced = native.wrap(inner, function.number, runner if plain is inner else None)
        if isinstance(found, property):
            setattr(owner, parts[-1], found.getter(traced))
        elif inner is getattr(found, "func", None) and not callable(found):
            found.func = traced
        else:
            setattr(owner, parts[-1], kind(traced) if kind else traced)
        function.find()
    except (AttributeError, TypeError) as error:
        function.miss(f"it cannot be replaced ({error})")


def replace_within(wrapper, plain, traced):
    """Has WRAPPER, the result of a decorator, call TRACED instead of PLAIN. Returns False if WRAPPER does not hold PLAIN itself."""
    for _ in range(100):
        if wrapper.__wrapped__ is plain:
            break
        wrapper = wrapper.__wrapped__
    cells = [cell for cell in getattr(wrapper, "__closure__", None) or () if cell.cell_contents is plain]
    for cell in cells:
        cell.cell_contents = traced
    return bool(cells)


class Loader:
    """Stands in for a module's loader until the module is run."""

    def __init__(self, real, then):
        self.real, self.then = real, then

    def __getattr__(self, name):
        return getattr(self.real, name)

    def create_module(self, spec):
        return self.real.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self.real
        self.real.exec_module(module)
        self.then(module)


class Finder:
    """Finds modules as the interpreter does, and has a Loader load those with requested functions."""

    def __init__(self, then):
        self.then = then  # by module name
        self.busy = set()

    def find_spec(self, name, path=None, target=None):
        if name not in self.then or name in self.busy:
            return None
        self.busy.add(name)
        try:
            spec = _frozen_importlib._find_spec(name, path, target)
        finally:
            self.busy.discard(name)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = Loader(spec.loader, self.then[name])
        return spec


def trace_autograd(mode):
    """Has PyTorch make a range for each operator, from the program's first use of CUDA to its end. These ranges need CUDA, which
    must not be initialised for them, because a program that has initialised it can no longer fork its workers."""

    def begin_autograd(module):
        begun = []

        def emit():
            begun.append(True)
            try:
                module.autograd.profiler.emit_nvtx(record_shapes=mode == "autograd-shapes-nvtx").__enter__()
            except Exception as error:  # depends on the version of PyTorch
                native.say(f"PyTorch does not emit ranges: {error}"[:240])

        def say_unused():
            if not begun:
                native.say("PyTorch does not emit ranges: the program has not used CUDA")

        later = getattr(getattr(module, "cuda", None), "_lazy_call", None)
        if later is None or getattr(getattr(module, "version", None), "cuda", None) is None:
            emit()
            return
        later(emit)
        import atexit
        atexit.register(say_unused)

    return begin_autograd


def trace_functions(functions, monitoring):
    def arrive(module):
        for function in functions:
            find(module, function, monitoring)

    return arrive


def is_helper():
    """Whether multiprocessing started this process: to run functions of another process's main module, or as its helper."""
    with open("/proc/self/cmdline", "rb") as file:
        return any(word.startswith(b"from multiprocessing.") for word in file.read().split(b"\0"))


def say_missing(functions):
    for function in functions:
        if not function.is_found:
            function.miss("it is not defined there" if function.module == "__main__" else "the module was not imported")


def begin():
    """Reads which functions were requested and begins to trace them. Called once, before the program's own code."""
    rows = [line.split("\t") for line in os.environ["LANESCOPE_PYTHON_FUNCTIONS"].splitlines()]
    why_not = find_why_not()
    if why_not:
        say_untraceable(why_not)
        return
    if not native.connect(os.environ["NVTX_INJECTION64_PATH"]):
        return
    functions = [Function(*row) for row in rows if row[0] in ("function", "optional")]
    if any(function.number < 0 for function in functions):
        return  # this process is in no session, or its ranges are not recorded
    if sys.version_info < (3, 12):
        global lanescope_generators
        import lanescope_generators
    monitoring = Monitoring() if sys.version_info >= (3, 12) else None
    if monitoring is not None and monitoring.tool is None:
        native.say("Python functions are not traced: other tools hold the numbers 3 and 4 of sys.monitoring")
        return
    then = {}
    for name in {function.module for function in functions} - {"__main__"}:
        then[name] = trace_functions([function for function in functions if function.module == name], monitoring)
    for row in rows:
        if row[0] == "pytorch":
            then["torch"] = both(then.get("torch"), trace_autograd(row[1]))
    for name, arrive in then.items():
        if name in sys.modules:
            arrive(sys.modules[name])
    sys.meta_path.insert(0, Finder(then))
    of_main = [function for function in functions if function.module == "__main__"]
    if of_main:
        (monitoring or StandIns()).follow_main(of_main)
    native.say("=")
    if not is_helper():
        import atexit
        atexit.register(say_missing, functions)


def find_why_not():
    """Returns why functions cannot be traced in this interpreter; None if they can. Only versions that the tests have run on can:
    the native module uses exports that are not in the stable ABI, and the events of sys.monitoring differ by version."""
    first, last = (".".join(map(str, version)) for version in KNOWN)
    what = f"{sys.implementation.name} {sys.version_info[0]}.{sys.version_info[1]}"
    if "t" in getattr(sys, "abiflags", ""):
        what += " without a global lock"
    elif sys.implementation.name == "cpython" and KNOWN[0] <= sys.version_info[:2] <= KNOWN[1]:
        # A subinterpreter with a lock of its own refuses it, because the native module relies on one lock for all interpreters.
        return None if native else f"functions cannot be traced in an interpreter of this process: {import_error}"
    return f"functions of {what} cannot be traced: CPython {first} to {last} can"


def say_untraceable(why):
    """Reports WHY by ctypes, because the native module cannot be loaded here. LnsPythonHooks of the injection has five words."""
    import ctypes
    find_hooks = ctypes.CDLL(os.environ["NVTX_INJECTION64_PATH"]).lanescope_python_hooks
    find_hooks.restype = ctypes.POINTER(ctypes.c_void_p)
    say = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(find_hooks()[4])
    say(why.encode())


def both(first, second):
    return second if first is None else lambda module: (first(module), second(module))
