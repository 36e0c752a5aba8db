# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""The harness of the interface tests: a private display, bus and home for each test file, and the
viewer in it, found and driven through its accessible tree, its actions, keys and the mouse.

    import harness                 # first: it may start the file again inside its own session

    def test_opens():
        with harness.App("demo.rep") as app:
            app.find("row", "NVTX").do("row.show-in-events")
            app.wait(lambda: app.find("label", "10 events"))

    harness.main(globals())        # instead of tap.main

`harness.py PROGRAM ARGUMENTS…` runs any program (a C test) in the same kind of session. Without
Xvfb or the accessibility bus everything is skipped, with the reason. Text of nodes is read with
`name`; mouse positions are in pixels of the screen; nothing sleeps longer than it waits for.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import tap

SESSION = "LNS_UI_TEST_SESSION"
NEEDED = ["Xvfb", "openbox", "dbus-daemon", "xdotool", "import", "convert", "xprop"]
SCREEN = (1920, 1080)
VIEWER = os.path.join(tap.BUILD, "ui", "lanescope-ui")
APP_ID = "io.github.lanescope.Lanescope"
APP_PATH = "/io/github/lanescope/Lanescope"


# --- The session: runs once, outside it ------------------------------------------------------------

def session_environment(home, display):
    """The environment of a person who has nothing but HOME and DISPLAY."""
    kept = ("PATH", "LANG", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "LD_LIBRARY_PATH", "ASAN_OPTIONS",
            "UBSAN_OPTIONS", "LSAN_OPTIONS", "TMPDIR")
    env = {key: value for key, value in os.environ.items() if key in kept or key.startswith("LNS_")}
    env.setdefault("LANG", "C.UTF-8")
    runtime = os.path.join(home, "run")
    os.makedirs(runtime, mode=0o700)
    env.update({
        SESSION: home,
        "HOME": home,
        "DISPLAY": display,
        "GDK_BACKEND": "x11",
        "XDG_RUNTIME_DIR": runtime,
        "XDG_CONFIG_HOME": os.path.join(home, "config"),
        "XDG_DATA_HOME": os.path.join(home, "data"),
        "XDG_CACHE_HOME": os.path.join(home, "cache"),
        "XDG_STATE_HOME": os.path.join(home, "state"),
        "GSETTINGS_BACKEND": "keyfile",
        "GSETTINGS_SCHEMA_DIR": os.path.join(tap.BUILD, "data"),
        "GTK_USE_PORTAL": "0",
        "ADW_DISABLE_PORTAL": "1",
    })
    return env


def start_saying(command, option, log, **options):
    """Starts a server that says on a descriptor where it listens; returns (process, its words)."""
    read_end, write_end = os.pipe()
    process = subprocess.Popen(command + [option % write_end], pass_fds=[write_end], stdout=log, stderr=log,
                               **options)
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        words = pipe.readline().strip()
    if not words:
        raise RuntimeError(f"{command[0]} did not start")
    return process, words


def run_session(command):
    """Runs COMMAND in a fresh session and returns its exit status."""
    home = tempfile.mkdtemp(prefix="lns-ui-")
    processes = []
    try:
        # The servers write to a log of their own: standard output belongs to TAP.
        with open(os.path.join(home, "session.log"), "w") as log:
            screen = ["-screen", "0", "%dx%dx24" % SCREEN, "-nolisten", "tcp", "-dpi", "96", "-noreset"]
            server, display = start_saying(["Xvfb"] + screen + ["-displayfd"], "%d", log)
            processes.append(server)
            env = session_environment(home, ":" + display)
            bus, address = start_saying(["dbus-daemon", "--session", "--nofork"], "--print-address=%d", log, env=env)
            processes.append(bus)
            env["DBUS_SESSION_BUS_ADDRESS"] = address
            # A window manager gives focus, which keys and shortcuts need.
            processes.append(subprocess.Popen(["openbox", "--sm-disable"], env=env, stdout=log, stderr=log))
            return subprocess.run(command, env=env).returncode
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait()
        shutil.rmtree(home, ignore_errors=True)


def missing():
    """What this machine lacks, as a reason to skip, or None."""
    absent = [tool for tool in NEEDED if shutil.which(tool) is None]
    if absent:
        return "not installed: " + ", ".join(absent)
    try:
        import gi
        gi.require_version("Atspi", "2.0")
        from gi.repository import Atspi  # noqa: F401
    except (ImportError, ValueError) as error:
        return f"no accessibility library for Python ({error})"
    return None


def main(names, gate=None, long=()):
    """tap.main inside a session of this file's own."""
    if SESSION in os.environ:
        return tap.main(names, gate, long)
    reason = missing()
    if reason is not None:
        print(f"1..0 # SKIP {reason}")
        sys.exit(0)
    sys.exit(run_session([sys.executable, os.path.abspath(sys.argv[0])] + sys.argv[1:]))


# --- Inside the session ----------------------------------------------------------------------------

def accessibility():
    """The Atspi module, with the registry woken up: it must be there before the viewer starts."""
    import gi
    gi.require_version("Atspi", "2.0")
    from gi.repository import Atspi
    Atspi.get_desktop(0)
    return Atspi


def wait(condition, seconds=60, what=None):
    """Calls CONDITION until it gives something true, which is returned; fails after SECONDS, which are enough on an idle machine."""
    seconds *= tap.PATIENCE
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds} s in vain for {what or getattr(condition, '__name__', condition)}")
        time.sleep(0.04)


def steady(read):
    """A condition to wait for: that READ gives something true, and the same as the time before."""
    last = []

    def same():
        value = read()
        held = value and last == [value]
        last[:] = [value]
        return value if held else None
    return same


def run(*command, **options):
    """Runs a tool and returns what it printed, without the last newline."""
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout.rstrip("\n")


class Node:
    """One node of the accessible tree."""

    def __init__(self, app, accessible):
        self.app = app
        self.accessible = accessible

    @property
    def name(self):
        return self.accessible.get_name()

    @property
    def role(self):
        return self.accessible.get_role_name()

    @property
    def description(self):
        return self.accessible.get_description()

    def state(self, name):
        """Whether the node is in the state that Atspi calls NAME, e.g. "checked", "visible"."""
        kind = getattr(self.app.atspi.StateType, name.upper().replace("-", "_"))
        return self.accessible.get_state_set().contains(kind)

    def children(self):
        try:
            found = [self.accessible.get_child_at_index(index) for index in range(self.accessible.get_child_count())]
        except self.app.gone:
            return
        for child in found:
            if child is not None:
                yield Node(self.app, child)

    def walk(self):
        """This node and all below it, parents first."""
        yield self
        for child in self.children():
            yield from child.walk()

    def _matches(self, role, name):
        for node in self.walk():
            try:
                if role is not None and node.role != role:
                    continue
                if name is None or (name(node.name) if callable(name) else node.name == name):
                    yield node
            except self.app.gone:
                continue

    def find_all(self, role=None, name=None):
        """The nodes below with that role and name (exact text, or a function of the name)."""
        return list(self._matches(role, name))

    def find(self, role=None, name=None):
        """The first of find_all, or None. Asks for nothing behind it: each node costs several messages to the viewer and back."""
        return next(self._matches(role, name), None)

    def actions(self):
        """Names of the node's own actions, e.g. "click", "row.pin"; none while it is insensitive."""
        interface = self.accessible.get_action_iface()
        try:
            return [interface.get_action_name(index) for index in range(interface.get_n_actions())]
        except (AttributeError, self.app.gone):
            return []

    def do(self, action="click"):
        """Does the node's action of that name, as soon as it is sensitive."""
        def done():
            names = self.actions()
            return action in names and self.accessible.get_action_iface().do_action(names.index(action))
        self.app.wait(done, what=f"action {action} of {self!r}, which has {self.actions()}")
        return self

    def extents(self, origin=None):
        """(x, y, width, height) on the screen. ORIGIN, if known, saves asking for app.origin()."""
        box = self.accessible.get_component_iface().get_extents(self.app.atspi.CoordType.WINDOW)
        left, top = origin or self.app.origin()
        return box.x + left, box.y + top, box.width, box.height

    def set_text(self, text):
        """Replaces the text of an entry."""
        interface = self.accessible.get_editable_text_iface()
        assert interface is not None and interface.set_text_contents(text), f"{self!r} takes no text"
        return self

    @property
    def text(self):
        """The text of an entry or text view."""
        interface = self.accessible.get_text_iface()
        return interface.get_text(0, interface.get_character_count())

    def click(self, button=1, keys=()):
        """A real click in the middle of the node, with the modifier KEYS held."""
        x, y, width, height = self.extents()
        self.app.click(x + width // 2, y + height // 2, button, keys)
        return self

    def __repr__(self):
        try:
            return f"<{self.role} {self.name!r}>"
        except self.app.gone:
            return "<gone>"


class Picture:
    """Pixels, kept as bytes: three a pixel, row after row."""

    def __init__(self, raw, width):
        self.raw = raw
        self.width = width

    def rows(self, x, y, width, height):
        """A rectangle as rows of (r, g, b)."""
        rows = []
        for row in range(y, y + height):
            start = 3 * (row * self.width + x)
            line = self.raw[start:start + 3 * width]
            rows.append(list(zip(line[0::3], line[1::3], line[2::3])))
        return rows


class App:
    """A running viewer; ends it at the end of the `with` block and fails if it crashed or warned."""

    def __init__(self, *arguments, env=None, size=(1400, 900), window=True, viewer=VIEWER, cwd=None):
        self.arguments = [os.fspath(argument) for argument in arguments]
        # Settings of its own, so that no test sees what another left.
        settings = tempfile.mkdtemp(prefix="config-", dir=os.environ[SESSION])
        # What moves is nowhere while it does.
        os.mkdir(os.path.join(settings, "gtk-4.0"))
        with open(os.path.join(settings, "gtk-4.0", "settings.ini"), "w") as file:
            file.write("[Settings]\ngtk-enable-animations=false\n")
        self.env = {**os.environ, "G_DEBUG": "fatal-warnings", "XDG_CONFIG_HOME": settings,
                    "XDG_STATE_HOME": os.path.join(settings, "state"), **(env or {})}
        self.size = size
        self.want_window = window
        self.viewer = viewer
        self.cwd = cwd

    def __enter__(self):
        self.atspi = accessibility()
        from gi.repository import GLib
        self.gone = GLib.Error
        self.log = tempfile.NamedTemporaryFile(prefix="viewer-", suffix=".log", dir=os.environ[SESSION])
        self.process = subprocess.Popen([self.viewer] + self.arguments, env=self.env, stdout=self.log,
                                        stderr=self.log, stdin=subprocess.DEVNULL, cwd=self.cwd)
        try:
            self.root = wait(self._root, what="the viewer on the accessibility bus")
            if self.want_window:
                self.window = wait(self._window, what="the viewer's window")
                if self.size is not None:
                    self.resize(*self.size)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, kind, value, traceback):
        if kind is not None:
            # What the screen showed when the test failed says more than the failure.
            keep = os.environ.get("LNS_UI_KEEP", os.path.join(tap.BUILD, "meson-logs"))
            if os.path.isdir(keep):
                self.screenshot(os.path.join(keep, f"failed-{os.getpid()}-{time.monotonic_ns()}.png"))
        status = self._end()
        if kind is None:
            assert status in (0, -signal.SIGTERM), f"the viewer ended with {status}: {self.output()}"

    def _end(self):
        """Ends the viewer as a session's end does; returns its status."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def output(self):
        """What the viewer has written to its standard streams."""
        with open(self.log.name, errors="replace") as log:
            return log.read()

    def _root(self):
        assert self.process.poll() is None, f"the viewer ended with {self.process.returncode}: {self.output()}"
        desktop = self.atspi.get_desktop(0)
        for index in range(desktop.get_child_count()):
            child = desktop.get_child_at_index(index)
            try:
                if child is not None and child.get_process_id() == self.process.pid and child.get_child_count() > 0:
                    return Node(self, child)
            except self.gone:
                continue
        return None

    def windows(self):
        """X window ids of the viewer's visible windows, oldest first."""
        listed = subprocess.run(["xdotool", "search", "--onlyvisible", "--pid", str(self.process.pid)],
                                capture_output=True, text=True).stdout.split()

        def is_one(window):
            told = subprocess.run(["xprop", "-id", window, "_NET_WM_WINDOW_TYPE"], capture_output=True, text=True)
            # One that has closed since it was listed is none.
            return told.returncode == 0 and any(kind in told.stdout for kind in ("_TYPE_NORMAL", "_TYPE_DIALOG"))

        return sorted(int(window) for window in listed if is_one(window))

    def _window(self):
        windows = self.windows()
        return windows[0] if windows else None

    # --- The tree

    def find_all(self, role=None, name=None):
        return self.root.find_all(role, name)

    def find(self, role=None, name=None, seconds=60):
        """The first node with that role and name; waits for it."""
        return self.wait(lambda: self.root.find(role, name), seconds, f"{role or 'a node'} {name!r}")

    def gone_node(self, role=None, name=None, seconds=60):
        """Waits until no such node is left."""
        self.wait(lambda: self.root.find(role, name) is None, seconds, f"the end of {role} {name!r}")

    def wait(self, condition, seconds=60, what=None):
        def alive():
            assert self.process.poll() is None, f"the viewer ended with {self.process.returncode}: {self.output()}"
            try:
                return condition()
            except self.gone:
                return None
        return wait(alive, seconds, what)

    def dump(self):
        """The whole tree as text: for a failing test's message, and for who writes one."""
        lines = []

        def visit(node, depth):
            lines.append("  " * depth + f"{node!r} {node.description!r} {node.actions()}")
            for child in node.children():
                visit(child, depth + 1)
        visit(self.root, 0)
        return "\n".join(lines)

    # --- Actions, as other programs on the session bus see them

    def activate(self, action, parameter="", window=1):
        """Activates "app.NAME" or "win.NAME" (of window number WINDOW); PARAMETER is GVariant text."""
        scope, name = action.split(".", 1)
        path = APP_PATH if scope == "app" else f"{APP_PATH}/window/{window}"
        run("gdbus", "call", "--session", "--dest", APP_ID, "--object-path", path, "--method",
            "org.gtk.Actions.Activate", name, f"[<{parameter}>]" if parameter else "@av []", "{}")

    def actions(self, scope="win", window=1):
        """{name: (enabled, parameter type, [state])} of the exported actions."""
        from gi.repository import Gio, GLib
        path = APP_PATH if scope == "app" else f"{APP_PATH}/window/{window}"
        bus = Gio.bus_get_sync(Gio.BusType.SESSION, None)
        answer = bus.call_sync(APP_ID, path, "org.gtk.Actions", "DescribeAll", None,
                               GLib.VariantType("(a{s(bgav)})"), Gio.DBusCallFlags.NONE, 5000, None)
        return answer.unpack()[0]

    # --- Keys, mouse, pixels

    def origin(self, window=None):
        """Where the content of the window begins on the screen."""
        text = run("xdotool", "getwindowgeometry", "--shell", str(window or self.window))
        values = dict(line.split("=") for line in text.splitlines())
        return int(values["X"]), int(values["Y"])

    def geometry(self, window=None):
        text = run("xdotool", "getwindowgeometry", "--shell", str(window or self.window))
        values = dict(line.split("=") for line in text.splitlines())
        return tuple(int(values[key]) for key in ("X", "Y", "WIDTH", "HEIGHT"))

    def resize(self, width, height):
        """Puts the window in the screen's corner with that size, and waits for it."""
        run("xdotool", "windowmove", str(self.window), "0", "0", "windowsize", str(self.window),
            str(width), str(height))
        self.wait(lambda: self.geometry()[2:] == (width, height), what="the new size")

    def focus(self, window=None):
        run("xdotool", "windowactivate", "--sync", str(window or self.window))

    def key(self, *keys):
        """Presses keys, in xdotool's names: "ctrl+o", "Escape"."""
        run("xdotool", "key", "--clearmodifiers", *keys)

    def type(self, text):
        run("xdotool", "type", "--clearmodifiers", "--delay", "5", text)

    def move(self, x, y):
        run("xdotool", "mousemove", str(x), str(y))

    def click(self, x, y, button=1, keys=(), times=1):
        """Clicks at a point of the screen, with modifier KEYS ("ctrl", "shift") held."""
        down = [word for key in keys for word in ("keydown", key)]
        up = [word for key in keys for word in ("keyup", key)]
        run("xdotool", "mousemove", str(x), str(y), *down, "click", "--delay", "10", "--repeat", str(times), str(button),
            *up)

    def scroll(self, x, y, steps, keys=()):
        """Turns the wheel over a point: STEPS > 0 down, < 0 up."""
        self.click(x, y, 5 if steps > 0 else 4, keys, abs(steps))

    def drag(self, x0, y0, x1, y1, button=1, keys=()):
        """Presses at one point, moves in steps, releases at another."""
        down = [word for key in keys for word in ("keydown", key)]
        up = [word for key in keys for word in ("keyup", key)]
        moves = [word for step in range(1, 9) for word in
                 ("mousemove", str(x0 + (x1 - x0) * step // 8), str(y0 + (y1 - y0) * step // 8))]
        run("xdotool", "mousemove", str(x0), str(y0), *down, "mousedown", str(button), *moves,
            "mouseup", str(button), *up)

    def drop(self, *paths):
        """Drags files from another program's window into the middle of this one."""
        source = subprocess.Popen([sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "drag_source.py"), *paths],
                                  stdout=subprocess.PIPE, env=dict(self.env, G_DEBUG=""))
        try:
            source.stdout.readline()
            x, y = self.origin(run("xdotool", "search", "--sync", "--onlyvisible", "--name", "^Dragged Files$").split()[0])
            left, top, width, height = self.geometry()
            self.move(x + 30, y + 30)
            run("xdotool", "mousedown", "1")
            # Programs speak of a drag with one another at each step of it.
            for step in range(1, 9):
                time.sleep(0.1)
                self.move(x + 30 + (left + width // 2 - x - 30) * step // 8, y + 30 + (top + height // 2 - y - 30) * step // 8)
            time.sleep(0.3)
            run("xdotool", "mouseup", "1")
            time.sleep(0.3)
        finally:
            source.terminate()
            source.wait()
            source.stdout.close()

    def screenshot(self, path=None, window=None):
        """Saves the window's pixels as PNG; returns the path."""
        path = path or os.path.join(os.environ[SESSION], f"shot-{time.monotonic_ns()}.png")
        run("import", "-silent", "-window", str(window or "root"), path)
        return path

    def picture(self, x=0, y=0, width=SCREEN[0], height=SCREEN[1]):
        """What the screen shows in a rectangle."""
        raw = subprocess.run(["import", "-silent", "-window", "root", "-crop", f"{width}x{height}+{x}+{y}",
                              "-depth", "8", "rgb:-"], check=True, capture_output=True).stdout
        assert len(raw) == 3 * width * height, "the rectangle leaves the screen"
        return Picture(raw, width)

    def pixels(self, x, y, width, height):
        """The screen's colours as rows of (r, g, b)."""
        return self.picture(x, y, width, height).rows(0, 0, width, height)


if __name__ == "__main__":
    reason_to_skip = missing()
    if reason_to_skip is not None:
        print(f"1..0 # SKIP {reason_to_skip}")
        sys.exit(0)
    sys.exit(run_session(["env", "G_DEBUG=fatal-warnings"] + sys.argv[1:]))
