#!/usr/bin/python3
# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Would the suite notice? Breaks the code in small ways, one at a time, and runs the suite on each.

A mutant is one comparison turned round or one statement dropped. Each room gets as many as any other,
drawn from a seed, so that a run can be repeated; a mutant that does not compile, or that leaves the
object code as it was, is drawn again. A mutant meets the tests of its own room first, and where these
pass the suites that stand on it. Ends with a line `mutants: N noticed of M` and fails below the share
that --at-least asks for; survivors are named with their line.
"""

import argparse
import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

# Each room's own tests: they are fast, and most breakages end here.
OWN_TESTS = {
    "src/base": ["base", "json-reader", "golden-json", "kernel-name", "golden-info", "golden-kernel_names"],
    "src/store": ["codec", "chunk-format", "definition-codec", "levels", "overlap", "writer", "writer-file",
                  "writer-failures", "pixels", "recover", "report", "report-bytes", "report-errors", "report-refresh", "report-threads"],
    "capture/wire": ["records", "clock", "pool", "pool-memory", "pool-model", "decoder"],
    "capture/inject": ["inject-edges", "inject-events", "inject-threads", "inject-forks", "inject-life", "inject-calls",
                       "inject-cuda-double", "inject-cuda-errors-double", "inject-cuda-life-double", "inject-cuda-range-double",
                       "inject-cuda-work-double"],
    "capture/session": ["decoder", "decoder-cuda", "keep", "session", "session-parts", "ranges", "cuda_double", "profile",
                        "sessions"],
    "src/tables": ["schema", "cuda-tables", "system-tables", "golden-sql", "golden-sql_cuda", "sql", "golden-stats_sql"],
    "src/import": ["import-system", "foreign", "golden-import", "golden-import_tables", "golden-import_trace"],
    "src/export": ["gpu-stacks", "golden-export", "golden-export_chrome", "golden-export_folded"],
    "src/analysis": ["analysis", "cuda-analysis", "cuda-tables", "doctor", "rules", "golden-analyze", "golden-stats", "golden-stats_calls",
                     "golden-stats_cuda", "golden-stats_filter", "golden-stats_ranges"],
    "src/cli": ["options", "golden-help", "golden-errors", "golden-info", "golden-mcp", "golden-profile", "golden-terminals", "switches",
                "profile"],
    "ui": ["event-set", "events-model", "find", "timeline-parts", "ui-timeline-widget", "ui-timeline-cuda", "ui-table-widget",
           "ui-labels", "ui-window", "ui-menus"],
}
# What stands on all rooms, and on the viewer's alone.
SUITES = ["unit", "double", "golden", "e2e"]
VIEWER_SUITES = ["ui"]
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


def sites(root, room):
    """All (path, line index, new text, what) of ROOM that could be broken, in the order of the tree."""
    found = []
    paths = (os.path.relpath(os.path.join(folder, name), root) for folder, _, names in os.walk(os.path.join(root, room)) for name in names)
    for path in sorted(path for path in paths if path.endswith(".c")):
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


def objects_digest(build, room):
    """A digest of what the compiler made of ROOM: equal digests mean an equivalent mutant."""
    digest = hashlib.sha256()
    for folder, _, names in sorted(os.walk(os.path.join(build, room))):
        for name in sorted(names):
            if name.endswith(".o"):
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


def targets(build, suites, tests):
    """The files that TESTS, and those of SUITES, stand on: a mutant waits for no more than these."""
    introspect = ["meson", "introspect", build]
    told = json.loads(subprocess.run(introspect + ["--tests"], capture_output=True, check=True).stdout)
    files = {target["id"]: target["filename"]
             for target in json.loads(subprocess.run(introspect + ["--targets"], capture_output=True, check=True).stdout)}
    wanted = [test for test in told if test["name"] in tests or any(suite.split(":")[-1] in suites for suite in test["suite"])]
    unknown = set(tests) - {test["name"] for test in wanted}
    if unknown:
        sys.exit(f"mutate: no such tests: {', '.join(sorted(unknown))}")
    return sorted({os.path.relpath(file, build) for test in wanted for target in test["depends"] for file in files[target]})


def builds(build, suites, tests):
    return subprocess.run(["ninja", "-C", build] + targets(build, suites, tests), capture_output=True).returncode == 0


def noticed(build, room=None, is_quick=False):
    """Builds, runs the tests of ROOM, then the suites that stand on it, or on all rooms; None where it does not compile."""
    if room is not None and not builds(build, [], OWN_TESTS[room]):
        return None
    if room is not None and not passes(build, *OWN_TESTS[room]):
        return True
    if is_quick:
        return False
    # Whole runs on a busy machine may fail for no reason of the mutant's: twice is a reason.
    suites = VIEWER_SUITES if room == "ui" else SUITES if room is not None else SUITES + VIEWER_SUITES
    if not builds(build, suites, []):
        return None
    rest = [word for suite in suites for word in ("--suite", suite)] + ["--timeout-multiplier", "2"]
    return not passes(build, *rest) and not passes(build, *rest)


def copy_tree(source, tree):
    """Copies what git knows of SOURCE to TREE."""
    listed = subprocess.run(["git", "-C", source, "ls-files"], capture_output=True, text=True, check=True).stdout
    for path in listed.split("\n"):
        if path and os.path.exists(os.path.join(source, path)):
            os.makedirs(os.path.dirname(os.path.join(tree, path)), exist_ok=True)
            shutil.copy2(os.path.join(source, path), os.path.join(tree, path))


def try_site(tree, build, site, plain, is_quick):
    """Whether the mutant of SITE is noticed, None where it is none; and the line. The tree is then as before."""
    path, index, text, _ = site
    full = os.path.join(tree, path)
    with open(full, encoding="utf-8") as file:
        lines = file.readlines()
    with open(full, "w", encoding="utf-8") as file:
        file.writelines(lines[:index] + [text] + lines[index + 1:])
    failed.clear()
    room = os.path.dirname(path)
    outcome = noticed(build, room, is_quick)
    if outcome is False and objects_digest(build, room) == plain:
        outcome = None
    with open(full, "w", encoding="utf-8") as file:
        file.writelines(lines)
    return outcome, lines[index].strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=2, help="mutants of each room")
    parser.add_argument("--room", action="append", choices=ROOMS, help="only this room; may be repeated")
    parser.add_argument("--quick", action="store_true", help="run each room's own tests alone")
    parser.add_argument("--at-least", type=int, default=16, help="how many of 20 must be noticed")
    options = parser.parse_args()

    source = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    work = tempfile.mkdtemp(prefix="lanescope-mutate-")
    os.chmod(work, 0o755)  # some tests run the tool as somebody else
    # Below the tree, where a build that was made by hand is too: its compiler's cache then has most of this one.
    tree, build = os.path.join(work, "tree"), os.path.join(work, "tree", "build")
    os.environ["CCACHE_NOHASHDIR"] = "1"
    rooms = options.room or ROOMS
    survivors, tried = [], 0
    try:
        copy_tree(source, tree)
        if os.path.isdir(os.path.join(os.path.dirname(source), "shared")):  # the corpus, where the tests look for it
            os.symlink(os.path.join(os.path.dirname(source), "shared"), os.path.join(work, "shared"))
        subprocess.run(["meson", "setup", build, tree], check=True, capture_output=True)
        own = sorted({test for room in rooms for test in OWN_TESTS[room]})
        if not builds(build, [], own) or not passes(build, *own) or noticed(build, None, options.quick):
            sys.exit("mutate: the suite is not green on the tree as it stands: " + ", ".join(sorted(failed)))
        plain = {room: objects_digest(build, room) for room in rooms}
        for room in rooms:
            candidates = sites(tree, room)
            random.Random(f"{options.seed} {room}").shuffle(candidates)
            left = options.count
            for site in candidates:
                if left == 0:
                    break
                outcome, line = try_site(tree, build, site, plain[room], options.quick)
                if outcome is None:
                    continue
                left -= 1
                tried += 1
                where = f"{site[0]}:{site[1] + 1}: {line}  [{site[3]}]"
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
