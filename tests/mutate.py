#!/usr/bin/python3
# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Would the suite notice? Breaks the code in small ways, one at a time, and runs the suite on each.

A mutant is one comparison turned round or one statement dropped in the rooms that everything stands
on. Sites are drawn from a seed, so that a run can be repeated; a mutant that does not compile, or
that leaves the object code as it was, is drawn again. Ends with a line `mutants: N noticed of M`
and fails below the share that --at-least asks for; survivors are named with their line.
"""

import argparse
import hashlib
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

# Each room's own unit tests: they are fast, and most breakages end here.
OWN_TESTS = {
    "src/store": ["codec", "chunk-format", "definition-codec", "levels", "overlap", "writer", "writer-file",
                  "writer-failures", "pixels", "recover", "report", "report-bytes", "report-errors", "report-threads"],
    "capture/wire": ["records", "clock", "pool", "pool-memory", "pool-model", "decoder"],
    "capture/inject": ["inject-edges", "inject-events", "inject-threads", "inject-forks", "inject-life", "inject-calls"],
}
ROOMS = list(OWN_TESTS)
TURNED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
COMPARISON = re.compile(r"(?<=[\w)\]]) (<=|>=|==|!=|<|>) (?=[\w(&*\-'])")
STATEMENT = re.compile(r"^\s+(?!return\b|goto\b|break\b|continue\b|case\b|default\b|typedef\b|static\b|const\b|else\b|if\b|for\b|while\b|do\b|struct\b|enum\b|extern\b|_Static_assert\b)"
                       r"(\(void\)\s*)?[*(]*\w[\w\->.\[\]*() ]*(\s*([-+|&^]|<<|>>)?=\s.*|\s\(.*\)|\+\+|--);\s*$")
DECLARATION = re.compile(r"^\s+(unsigned |const |struct |enum )*\w+\s+\**\w+(\[.*\])?( = .*)?;\s*$")


def strip_comments(lines):
    """Yields whether each line is plain code: no comment, directive, macro body or string."""
    in_comment = in_macro = False
    for line in lines:
        text = line.rstrip("\n")
        starts_comment = "/*" in text
        plain = not in_comment and not in_macro and not starts_comment
        plain = plain and not text.lstrip().startswith("#") and '"' not in text
        if starts_comment or in_comment:
            in_comment = "*/" not in text[text.rfind("/*") if starts_comment else 0:]
        in_macro = (in_macro or text.lstrip().startswith("#")) and text.endswith("\\")
        yield plain


def sites(root):
    """All (path, line index, new text, what) that could be broken, in the order of the tree."""
    found = []
    for room in ROOMS:
        for name in sorted(os.listdir(os.path.join(root, room))):
            if not name.endswith(".c"):
                continue
            path = os.path.join(room, name)
            with open(os.path.join(root, path), encoding="utf-8") as file:
                lines = file.readlines()
            for index, plain in enumerate(strip_comments(lines)):
                if not plain:
                    continue
                line = lines[index]
                for match in COMPARISON.finditer(line):
                    turned = line[:match.start(1)] + TURNED[match.group(1)] + line[match.end(1):]
                    found.append((path, index, turned, f"{match.group(1)} turned into {TURNED[match.group(1)]}"))
                if STATEMENT.match(line) and not DECLARATION.match(line):
                    found.append((path, index, re.match(r"\s*", line).group() + ";\n", "dropped"))
    return found


def objects_digest(build):
    """A digest of what the linker made of the rooms: equal digests mean an equivalent mutant."""
    digest = hashlib.sha256()
    for folder, _, names in sorted(os.walk(build)):
        for name in sorted(names):
            if name.endswith(".o") and any(room in folder for room in ROOMS):
                # Debug sections carry line numbers; the program's text and what it refers to count.
                text = subprocess.run(["objdump", "-dr", os.path.join(folder, name)], capture_output=True,
                                      check=True).stdout
                digest.update(text)
    return digest.hexdigest()


def limit():
    """A mutant that writes for ever must not fill the disk; and Ctrl-C means what it does in a shell, also where
    this runs behind one."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 30, resource.RLIM_INFINITY))


failed = set()  # names of the tests that did, for who wants to know why


def passes(build, *words):
    """Whether the tests that WORDS choose pass; ends at the first that does not."""
    run = subprocess.run(["meson", "test", "-C", build, "--no-rebuild", "--maxfail", "1", *words],
                         capture_output=True, text=True, preexec_fn=limit)
    failed.update(re.findall(r"(\S+) +(?:ERROR|FAIL|TIMEOUT) ", run.stdout))
    return run.returncode == 0


def noticed(build, room=None):
    """Builds, runs the unit tests of ROOM, then the suites that stand on the rooms; None where it does not
    compile."""
    if subprocess.run(["ninja", "-C", build], capture_output=True).returncode != 0:
        return None
    if room is not None and not passes(build, *OWN_TESTS[room]):
        return True
    # Whole runs on a busy machine may fail for no reason of the mutant's: twice is a reason.
    rest = ["--suite", "unit", "--suite", "golden", "--suite", "e2e", "--timeout-multiplier", "2"]
    return not passes(build, *rest) and not passes(build, *rest)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--at-least", type=int, default=16, help="how many of 20 must be noticed")
    options = parser.parse_args()

    source = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    work = tempfile.mkdtemp(prefix="lanescope-mutate-")
    os.chmod(work, 0o755)  # some tests run the tool as somebody else
    tree, build = os.path.join(work, "tree"), os.path.join(work, "build")
    try:
        listed = subprocess.run(["git", "-C", source, "ls-files"], capture_output=True, text=True, check=True).stdout
        for path in listed.split("\n"):
            if path and os.path.exists(os.path.join(source, path)):
                os.makedirs(os.path.dirname(os.path.join(tree, path)), exist_ok=True)
                shutil.copy2(os.path.join(source, path), os.path.join(tree, path))
        subprocess.run(["meson", "setup", build, tree, "-Dui=disabled"], check=True, capture_output=True)
        if noticed(build) is not False:
            sys.exit("mutate: the suite is not green on the tree as it stands: " + ", ".join(sorted(failed)))
        plain = objects_digest(build)
        draw = random.Random(options.seed)
        candidates = sites(tree)
        draw.shuffle(candidates)
        survivors, tried = [], 0
        for path, index, text, what in candidates:
            if tried == options.count:
                break
            full = os.path.join(tree, path)
            with open(full, encoding="utf-8") as file:
                lines = file.readlines()
            broken = list(lines)
            broken[index] = text
            with open(full, "w", encoding="utf-8") as file:
                file.writelines(broken)
            failed.clear()
            outcome = noticed(build, os.path.dirname(path))
            if outcome is False and objects_digest(build) == plain:
                outcome = None
            with open(full, "w", encoding="utf-8") as file:
                file.writelines(lines)
            if outcome is None:
                continue
            tried += 1
            where = f"{path}:{index + 1}: {lines[index].strip()}  [{what}]"
            by = f"  by {', '.join(sorted(failed))}" if outcome else ""
            print(("noticed  " if outcome else "SURVIVED ") + where + by, flush=True)
            if not outcome:
                survivors.append(where)
        print(f"mutants: {tried - len(survivors)} noticed of {tried}")
        sys.exit(0 if (tried - len(survivors)) * 20 >= options.at_least * tried else 1)
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
