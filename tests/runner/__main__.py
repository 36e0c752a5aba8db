# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""`./run test`: runs the gate, or what the arguments name, and ends with one line: N passed, N failed, N skipped."""

import argparse
import os
import random
import signal
import subprocess
import sys

import changed
import execution
import programs
import record

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCE = os.path.dirname(TESTS)
SHARE_S = 15  # a program that takes longer is shared out
GATE_SEED = 20261124  # the gate is the same every time
PATIENCE = 10  # a busy machine may take so many times as long as an idle one


def read_arguments():
    parser = argparse.ArgumentParser(prog="./run test", description=__doc__)
    parser.add_argument("--build", required=True, help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", metavar="PROGRAM[:CASE]", help="only these, whole")
    parser.add_argument("--suite", action="append", default=[], help="only the programs of this suite, whole; may be repeated")
    parser.add_argument("--all", action="store_true", help="everything, not just the gate")
    parser.add_argument("--changed", nargs="?", const="", metavar="COMMIT",
                        help="only what the changes since COMMIT, or the newest ones, can break")
    parser.add_argument("--times", action="store_true", help="print the twenty slowest cases")
    parser.add_argument("--list", action="store_true", help="print which programs there are or would run, with their suites, and run none")
    parser.add_argument("--full", action="store_true", help="everything, then the stages that take long (tests/README.md)")
    parser.add_argument("--stage", action="append", help="only this stage of what takes long")
    return parser.parse_args()


def plan(chosen, tier, times, left_out):
    """The shares that programs are run in, the longest first. CHOSEN has (program, cases)."""
    shares = []
    for program, cases in chosen:
        expected_s = times.expected_s(tier, program.name)
        n = 1 if cases or not program.is_parallel or expected_s is None else 1 + int(expected_s // SHARE_S)
        excluded = tuple(left_out.get(program.name, ())) if not cases else ()
        # Where nothing is known, meson.build tells by a priority which ones are long.
        order = expected_s / n if expected_s is not None else 1000 * program.priority
        shares += [execution.Share(program, cases, excluded, tier, (i, n), order) for i in range(n)]
    return sorted(shares, key=lambda share: -share.expected_s)


class Run:
    """The results of a run, as they come in."""

    def __init__(self, n_shares):
        self.n_shares, self.n_done = n_shares, 0
        self.results = {}

    def take(self, share, cases):
        self.n_done += 1
        self.results.setdefault(share.program.name, []).extend(cases)
        counts = count([cases])
        words = ", ".join(f"{number} {outcome}" for outcome, number in counts.items() if number > 0 or outcome == "passed")
        part = f" ({share.shard[0] + 1} of {share.shard[1]})" if share.shard[1] > 1 else ""
        print(f"{self.n_done:3}/{self.n_shares} {share.program.name + part:32} {words}, {sum(case.seconds for case in cases):.1f} s",
              flush=True)


def count(lists):
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for cases in lists:
        for case in cases:
            counts[case.outcome] += 1
    return counts


def print_failure(program, case):
    print(f"\nfailed twice: {program}:{case.name}")
    for line in case.text.splitlines():
        print(f"    {line}")
    sys.stdout.flush()


def run_again(run, chosen, tier, run_one, build):
    """Runs each failed case once more, alone. Replaces those that pass then; returns their names."""
    flaky = []
    by_name = {program.name: program for program, _ in chosen}
    for name, cases in run.results.items():
        for case in [case for case in cases if case.outcome == "failed"]:
            print(f"{name}:{case.name} failed and is run once more", flush=True)
            of_program = case.name == execution.OF_THE_PROGRAM
            share = execution.Share(by_name[name], () if of_program else (case.name,), (), tier, (0, 1), 0)
            load = os.getloadavg()
            again = run_one(share)
            if again and all(one.outcome != "failed" for one in again) and (of_program or case.name in [one.name for one in again]):
                cases.remove(case)
                # A program that ended early has more cases now than it had.
                known = {one.name for one in cases}
                cases.extend(one for one in again if one.name not in known)
                flaky.append(f"{name}:{case.name}")
                record.add_flaky(build, name, case, load)
            else:
                for one in again:
                    if one.outcome == "failed":
                        print_failure(name, one)
    return flaky


def main():
    options = read_arguments()
    build = os.path.abspath(options.build)
    full = [sys.executable, os.path.join(TESTS, "full.py"), "--build", options.build]
    if options.stage:
        sys.exit(subprocess.run(full + [word for name in options.stage for word in ("--stage", name)]).returncode)
    is_whole = options.all or options.full
    known = programs.load(build)
    try:
        chosen = programs.choose(known, options.names, options.suite, is_whole or options.list)
    except programs.Unknown as error:
        sys.exit(f"run: {error}")
    if options.changed is not None:
        broken = changed.choose([program for program, _ in chosen], SOURCE, build, options.changed or None)
        chosen = [(program, cases) for program, cases in chosen if program in broken]
    if options.list:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` is no error
        for program, _ in chosen:
            print(f"{program.name:32} {' '.join(sorted(program.suites))}")
        return 0
    tier = "all" if is_whole or options.names or options.suite else "gate"
    seed = GATE_SEED if tier == "gate" else int(os.environ.get("LNS_SEED", random.randrange(1 << 31)))
    patience = float(os.environ.get("LNS_TEST_PATIENCE", PATIENCE))
    base = dict(os.environ, LNS_SEED=str(seed), LNS_TEST_PATIENCE=f"{patience:g}", MALLOC_PERTURB_=str(1 + seed % 255))
    print(f"seed {seed} (LNS_SEED), patience {patience:g} (LNS_TEST_PATIENCE), {os.cpu_count()} CPUs", flush=True)

    times = record.Times(build)
    shares = plan(chosen, tier, times, programs.quarantined(SOURCE) if tier == "gate" else {})
    run = Run(len(shares))

    def run_one(share):
        return execution.run(share, build, base, patience)
    try:
        execution.run_all(shares, os.cpu_count() or 1, run_one, run.take)
        times.take(tier, run.results.items())
        flaky = run_again(run, chosen, tier, run_one, build)
    except KeyboardInterrupt:
        execution.end_running()
        sys.exit("run: interrupted")
    times.store()
    record.write_junit(build, run.results.items())
    return finish(options, full, run, flaky)


def finish(options, full, run, flaky):
    """Prints what there is to know; returns the exit code."""
    is_red = bool(options.full and subprocess.run(full).returncode)
    pairs = [(name, case) for name, cases in run.results.items() for case in cases]
    if options.times:
        for name, case in sorted(pairs, key=lambda pair: -pair[1].seconds)[:20]:
            print(f"{case.seconds:7.1f} s {name}:{case.name}")
    for outcome in ("skipped", "failed"):
        for name, case in pairs:
            if case.outcome == outcome:
                first = case.text.strip().splitlines()
                print(f"{outcome}: {name}:{case.name}{': ' + first[-1] if first else ''}")
    for name in flaky:
        print(f"flaky: {name}")
    counts = count(run.results.values())
    print(f'{counts["passed"]} passed, {counts["failed"]} failed, {counts["skipped"]} skipped')
    return 1 if is_red or counts["failed"] > 0 or counts["passed"] == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
