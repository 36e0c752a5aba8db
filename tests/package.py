# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Builds Debian's packages, and tries them on a Debian that has nothing else: `./run test --stage package`."""

import os
import shutil
import subprocess
import tempfile

SUITE, MIRROR = "bookworm", "http://deb.debian.org/debian"
LEAST = {
    "lanescope": ["usr/bin/lanescope", "liblanescope-inject.so", "lanescope-sampler", "man/man1/lanescope.1.gz", "man/man1/lanescope-profile.1.gz",
                  "bash-completion/completions/lanescope", "_lanescope", "lanescope.fish", "samples/cuda-double.rep", "doc/lanescope/copyright"],
    "lanescope-ui": ["usr/bin/lanescope-ui", "man/man1/lanescope-ui.1.gz", "applications/io.github.lanescope.Lanescope.desktop",
                     "mime/packages/io.github.lanescope.Lanescope.xml",
                     "scalable/apps/io.github.lanescope.Lanescope.svg", "schemas/io.github.lanescope.Lanescope.gschema.xml",
                     "metainfo/io.github.lanescope.Lanescope.metainfo.xml", "locale/de/LC_MESSAGES/lanescope.mo",
                     "locale/zh_CN/LC_MESSAGES/lanescope.mo"],
}


def run(*command, **options):
    print("+ " + " ".join(command), flush=True)
    return subprocess.run(command, check=True, text=True, **options)


def read(*command, **options):
    return run(*command, capture_output=True, **options).stdout


def check_contents(package):
    """It has what it is to have, and nothing outside of Debian's places."""
    name = os.path.basename(package).split("_")[0]
    files = [line.split(None, 5)[5] for line in read("dpkg", "--contents", package).splitlines()]
    missing = [wanted for wanted in LEAST[name] if not any(file.split(" -> ")[0].endswith(wanted) for file in files)]
    assert not missing, (name, missing, files)
    stray = [file for file in files if not file.startswith(("./usr/bin/", "./usr/lib/", "./usr/share/")) and not file.endswith("/")]
    assert not stray, stray
    fields = read("dpkg-deb", "--field", package, "Depends")
    assert "libc6" in fields, fields
    if name == "lanescope-ui":
        assert "libgtk-4-1 (>= 4.8" in fields and "libadwaita-1-0 (>= 1.2" in fields and "lanescope (= " in fields, fields
    else:
        assert "libgtk" not in fields and "cuda" not in fields, fields


def try_in(root, packages):
    """Installs them in ROOT, records a program there, and starts the viewer."""
    def inside(*words, **options):
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
        return run("chroot", root, *words, env={**environment, **options.pop("env", {})}, **options)

    for package in packages:
        shutil.copy(package, os.path.join(root, "tmp"))
    # The command line first, alone: servers have no GTK.
    names = {os.path.basename(package).split("_")[0]: "/tmp/" + os.path.basename(package) for package in packages}
    inside("apt-get", "install", "-y", "--no-install-recommends", names["lanescope"], stdout=subprocess.DEVNULL)
    installed = inside("dpkg-query", "-W", "-f", "${Package}\n", capture_output=True).stdout
    assert "libgtk" not in installed, installed
    inside("lanescope", "profile", "-o", "/tmp/true.rep", "sh", "-c", "for i in 1 2 3; do /bin/true; done", env={"TMPDIR": "/tmp"})
    facts = inside("lanescope", "info", "/tmp/true.rep", capture_output=True).stdout
    assert "state: complete" in facts and "sh -c" in facts, facts
    inside("lanescope", "export", "-q", "-t", "html", "-f", "true", "-o", "/tmp/true.html", "/tmp/true.rep")
    assert "GPU 0 was idle" in inside("lanescope", "why", "/usr/share/lanescope/samples/cuda-double.rep", capture_output=True).stdout
    inside("apt-get", "install", "-y", "--no-install-recommends", names["lanescope-ui"], "xvfb", "xauth", "x11-apps", "xdotool", "fonts-dejavu-core",
           stdout=subprocess.DEVNULL)
    assert "0.1" in inside("lanescope-ui", "--version", capture_output=True).stdout
    # Pictures until it has drawn the report: xdotool waits for its window.
    script = """lanescope-ui /usr/share/lanescope/samples/cuda-double.rep & viewer=$!
        xdotool search --sync --onlyvisible --name cuda-double >/dev/null
        for i in $(seq 100); do xwd -root -silent -out /tmp/window.xwd; done; kill $viewer"""
    inside("timeout", "120", "xvfb-run", "-a", "-s", "-screen 0 1280x800x24", "sh", "-c", script)
    with open(os.path.join(root, "tmp", "window.xwd"), "rb") as file:
        colors = len(set(zip(*[iter(file.read()[-1280 * 800 * 4:])] * 4)))
    assert colors > 100, f"the viewer's window has {colors} colours"
    inside("apt-get", "purge", "-y", "lanescope", "lanescope-ui", stdout=subprocess.DEVNULL)
    left = [place for place in ("usr/bin/lanescope", "usr/lib/x86_64-linux-gnu/lanescope", "usr/share/lanescope")
            if os.path.exists(os.path.join(root, place))]
    assert not left, left


def main(source, build):
    run(os.path.join(source, "run"), "package", env={**os.environ, "LNS_BUILD_DIR": os.path.abspath(build)})
    folder = os.path.join(build, "package")
    packages = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".deb"))
    assert [os.path.basename(package).split("_")[0] for package in packages] == sorted(LEAST), packages
    for package in packages:
        check_contents(package)
    run("lintian", "--fail-on", "error", "--suppress-tags", "bad-distribution-in-changes-file", *packages)
    with tempfile.TemporaryDirectory(prefix="lanescope-debian-") as root:
        run("mmdebstrap", "--variant=minbase", SUITE, root, MIRROR, stdout=subprocess.DEVNULL)
        try_in(root, packages)
