#!/usr/bin/python3
# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""A window at the top left of the screen from which files are dragged, as from a file manager: tests/ui/drag_source.py FILE…
Prints a line once it is there."""

import sys

import gi

gi.require_version("Gdk", "4.0")
gi.require_version("Gtk", "4.0")
from gi.repository import Gdk, Gio, GLib, GObject, Gtk  # noqa: E402


def activate(application):
    window = Gtk.ApplicationWindow(application=application, title="Dragged Files", decorated=False, default_width=64, default_height=64)
    files = Gdk.FileList.new_from_list([Gio.File.new_for_path(path) for path in sys.argv[1:]])
    value = GObject.Value(Gdk.FileList, files)
    source = Gtk.DragSource(actions=Gdk.DragAction.COPY, content=Gdk.ContentProvider.new_for_value(value))
    child = Gtk.Label(label="Files", hexpand=True, vexpand=True)
    child.add_controller(source)
    window.set_child(child)
    window.present()
    GLib.timeout_add(500, lambda: print("there", flush=True))


application = Gtk.Application(application_id="io.github.lanescope.DragSource", flags=Gio.ApplicationFlags.NON_UNIQUE)
application.connect("activate", activate)
application.run([])
