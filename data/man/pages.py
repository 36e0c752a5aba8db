# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""What the manual pages say in addition to the tables of switches.

Of each command: its description, examples (what for, and the words), the variables and files that it uses, what its
exit codes mean (0 and those that the program decides), which of Lanescope's own failures it has, and related commands."""

ENVIRONMENT = {
    "COLUMNS": "Width of the text of --help. (default: that of the terminal, at most 100; 80 elsewhere)",
    "LC_ALL, LC_CTYPE, LANG": "Messages use ASCII quotation marks and dashes where the first of these that is set does not name UTF-8.",
    "DISPLAY, WAYLAND_DISPLAY": "The display on which the viewer opens its windows.",
    "LANESCOPE_SAMPLE": "CPUs are not sampled without --sample where it is none.",
    "LANESCOPE_SESSION_NAME, LANESCOPE_CALLBACK_NAME, LANESCOPE_REPORT_PATH":
        "Set for the commands of --after-collection-start and --after-report-ready: the session, the switch, and the report that is ready. "
        "The same values are in NSYS_SESSION_NAME, NSYS_CALLBACK_NAME and NSYS_REPORT_PATH.",
    "LANESCOPE_STATS_REPORT_PATH": "Folders, separated by colons, in which --report finds the SQL files of your own reports.",
    "DEBUGINFOD_URLS": "Servers that have debug symbols, asked through the program debuginfod-find.",
    "TERM": "No progress bar is drawn where it is dumb.",
    "TMPDIR": "Folder for temporary files. (default: /tmp)",
    "XDG_CACHE_HOME": "The folder that holds the cache, below lanescope. (default: ~/.cache)",
    "XDG_RUNTIME_DIR": "The folder in which terminals find sessions, and programs the profiler. (default: /run/user/UID or /tmp)",
}

FILES = {
    "report1.rep": "The report, where --output names no other; the number is the first that is free.",
    "NAME.1.rep, NAME.2.rep, ...": "The reports of repeated capture ranges.",
    "$XDG_CACHE_HOME/lanescope/imported": "Reports made of files of other programs: the 32 used last, up to 8 GiB.",
    "$XDG_CACHE_HOME/lanescope/recovered": "Copies of damaged reports, with what could be recovered.",
    "$XDG_CACHE_HOME/lanescope/symbols": "Names of functions that were looked up before, up to 256 MiB. It may be removed at any time.",
    "$XDG_RUNTIME_DIR/lanescope-UID": "Sockets of sessions, which only their user may enter.",
}

READS = {"files": ["$XDG_CACHE_HOME/lanescope/imported", "$XDG_CACHE_HOME/lanescope/recovered"], "environment": ["XDG_CACHE_HOME", "TMPDIR"]}
ASKS = {"environment": ["XDG_RUNTIME_DIR", "TMPDIR"], "files": ["$XDG_RUNTIME_DIR/lanescope-UID"]}
RECORDS = {
    "environment": ["DEBUGINFOD_URLS", "LANESCOPE_SAMPLE", "LANESCOPE_SESSION_NAME, LANESCOPE_CALLBACK_NAME, LANESCOPE_REPORT_PATH", "TERM", "TMPDIR", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"],
    "files": ["report1.rep", "NAME.1.rep, NAME.2.rep, ...", "$XDG_CACHE_HOME/lanescope/symbols", "$XDG_RUNTIME_DIR/lanescope-UID"],
    "exit": [("CODE", "What the program returned. A signal that ended the program, or the recording, ends Lanescope too: a shell sees 128 and "
                      "its number."),],
}
ANSWER = "The code with which the session answers: 0, or 125 if what was asked for failed."

COMMANDS = {
    "lanescope": {
        "description": "Lanescope records what a program does into a report, and shows reports as timelines: kernels and copies on GPUs, calls of "
                       "CUDA, cuBLAS, cuDNN, cuSPARSE, cuSOLVER and MPI, ranges and counters of NVTX, functions of Python. It prints statistics, finds what keeps GPUs "
                       "waiting, answers SQL, and converts reports from and to the formats of other programs.",
        "examples": [("Record a program, sum up its kernels, and look at its timeline:",
                      "lanescope profile -o demo python3 train.py\nlanescope stats --report cuda_gpu_kern_sum demo.rep\nlanescope ui demo.rep"),
                     ("See which switches are about CUDA:", "lanescope --help=cuda")],
        "exit": [(0, "Success."), ("CODE", "Of profile and launch: what the program returned.")], "failures": [124, 125, 126, 127],
        "environment": READS["environment"] + ["XDG_RUNTIME_DIR"], "files": READS["files"] + ASKS["files"],
    },
    "profile": {
        "description": "Runs PROGRAM with ARGUMENTS and records it, and all processes that it starts, into a report. The program has the same "
                       "output and the same exit code as without Lanescope; Lanescope writes to the standard error, except for the tables of --stats. "
                       "The report is readable while it is written. Ctrl-C ends the recording and keeps the report.",
        "details": False,
        "examples": [("Record CUDA and NVTX, and print statistics at the end:", "lanescope profile --stats=true -o train python3 train.py"),
                     ("Record ten seconds, from one minute after the start:", "lanescope profile --delay=60 --duration=10 ./simulation"),
                     ("Record only what happens inside of the NVTX range step, a report for each of the first three:",
                      "lanescope profile -c nvtx -p step@* --capture-range-end=repeat:3 -o step python3 train.py"),
                     ("Record each rank of an MPI program into a report of its own:", "mpirun -n 4 lanescope profile -t mpi,nvtx -o rank%q{OMPI_COMM_WORLD_RANK} ./solver")],
        **RECORDS, "failures": [124, 125, 126, 127], "also": ["launch", "attach", "stats", "ui"],
    },
    "launch": {
        "description": "Runs PROGRAM in a session. Other terminals begin and end reports of it.",
        "examples": [("Run a server:", "lanescope launch --session-new=server ./server"),
                     ("Record a minute of it, from another terminal:",
                      "lanescope start --session=server -o busy\nsleep 60\nlanescope stop --session=server")],
        **RECORDS, "failures": [125, 126, 127], "also": ["start", "stop", "cancel", "shutdown", "sessions"],
    },
    "attach": {
        "description": "Records programs that run already, and all that they have started and will start: CPU samples, thread scheduling, processes and, with "
                       "--python-sampling, functions of Python. The programs are neither stopped nor changed. NVTX and CUDA need a program that was started "
                       "by `lanescope profile` or `lanescope launch`. The report ends with Ctrl-C, after --duration, or when all processes have ended to "
                       "which Lanescope attached; those that still run go on. Processes of other users need root, and how much the kernel allows is "
                       "what `lanescope status -e` says. Each thread switch costs the program some microseconds more than with profile; with --sample=none "
                       "--cpuctxsw=process-tree, it costs less.",
        "details": False,
        "examples": [("Record a process for ten seconds, and print which functions took the time:", "lanescope attach --pid=4711 --duration=10 -o busy\nlanescope stats -r sample_sum busy.rep"),
                     ("Record all workers of a server until Ctrl-C:", "lanescope attach --match='^/usr/bin/gunicorn: worker'")],
        "environment": RECORDS["environment"], "files": ["report1.rep", "$XDG_RUNTIME_DIR/lanescope-UID"],
        "exit": [(0, "The report is complete. What could not be recorded is said.")], "failures": [124, 125], "also": ["profile", "launch", "stop"],
    },
    "start": {
        "description": "Asks a session to begin a report. Without a session, begins one that waits for `lanescope launch`.",
        "examples": [("Begin a report that keeps the last ten seconds:", "lanescope start --keep=10 -o last")],
        **ASKS, "exit": [(0, ANSWER)], "also": ["launch", "stop"],
    },
    "stop": {
        "description": "Asks a session to end its report.",
        "examples": [("End the report of the only session:", "lanescope stop")], **ASKS, "exit": [(0, ANSWER)], "also": ["start", "cancel"],
    },
    "cancel": {
        "description": "Asks a session to throw its report away. A session that waits for `lanescope launch` ends.",
        "examples": [("Throw away the report of a session:", "lanescope cancel --session=server")], **ASKS, "exit": [(0, ANSWER)], "also": ["start", "stop"],
    },
    "keep": {
        "description": "Asks a session to keep the seconds around now. Its report keeps only what is asked for.",
        "examples": [("Keep five seconds before and after each command:", "lanescope profile --keep=10 --keep-on=command ./server\nlanescope keep")],
        **ASKS, "exit": [(0, ANSWER)], "also": ["profile", "stop"],
    },
    "shutdown": {
        "description": "Ends a session: its report is written, and the program gets a signal.",
        "examples": [("End a session and leave its program alone:", "lanescope shutdown --kill=none")], **ASKS, "exit": [(0, ANSWER)], "also": ["launch", "stop"],
    },
    "sessions": {
        "description": "Lists the sessions of this user.",
        "examples": [("List sessions for a script:", "lanescope sessions list --output-format=json")], **ASKS, "also": ["launch", "status"],
    },
    "status": {
        "description": "Tells what a session does. Without a session, tells for each kind of data whether this machine lets it be recorded, and what to do if not.",
        "examples": [("Check a machine before a recording:", "lanescope status"),
                     ("Check it in a script:", "lanescope status --output-format=json")], **ASKS, "also": ["sessions"],
    },
    "stats": {
        "description": "Prints tables that sum up reports or list their events. Without --report, those that suit most recordings are printed.",
        "examples": [("Sum up kernels and memory copies:", "lanescope stats -r cuda_gpu_kern_sum,cuda_gpu_mem_time_sum demo.rep"),
                     ("Write the ranges of NVTX as CSV:", "lanescope stats -r nvtx_pushpop_trace -f csv -o ranges demo.rep"),
                     ("List all reports and their arguments:", "lanescope stats --help-reports")],
        "files": READS["files"], "environment": ["LANESCOPE_STATS_REPORT_PATH"] + READS["environment"], "also": ["analyze", "sql"],
    },
    "why": {
        "description": "Says in one sentence what a program lost its time to, and lists findings with their cause, time and place. Each nanosecond in which a GPU had nothing to do has one cause; what was not recorded accuses nobody.",
        "examples": [("Say why a program was slow:", "lanescope why demo.rep"),
                     ("Show which steps were slow, and by what:", "lanescope why --steps demo.rep"),
                     ("Show what the run could not be shorter than:", "lanescope why --critical-path demo.rep"),
                     ("Fail in CI where more than 5 % of the time is lost to reading data:", "lanescope why --fail-on='io-wait>5' demo.rep")],
        "exit": [(0, "The answer was printed, whatever it says."), (3, "A limit of --fail-on was exceeded.")], **READS, "also": ["what-if", "analyze", "stats"],
    },
    "what-if": {
        "description": "Replays a run with something in it changed, and says how long it would take, with the interval in which that lies with 90 %. What waited is computed anew. Says how much of the critical path rests on what was not recorded, and gives no number where that is too much.",
        "examples": [("Say what kernels that take half as long would be worth:", "lanescope what-if demo.rep 'kernel ~ gemm: 0.5'"),
                     ("Say what another thread that loads ahead would be worth:", "lanescope what-if demo.rep 'range \"load\": other thread'"),
                     ("Make several changes, and see what each is worth alone:", "lanescope what-if demo.rep 'copy kind=HtoD: pinned' 'sync ~ Stream: none'")],
        **READS, "also": ["why", "diff"],
    },
    "diff": {
        "description": "Compares two runs of a program. Says in one sentence whether the steps of B take longer than those of A, by how much, how sure that is, and because of what; then lists what became slower or faster, is new or gone, and what else differs.",
        "examples": [("Say what a change did:", "lanescope diff before.rep after.rep"),
                     ("Fail in CI where the median step is more than 5 % slower, for sure:", "lanescope diff --fail-on='p50(step) > 5%' before.rep after.rep"),
                     ("Compare with the last runs in a folder, and keep this one there:", "lanescope diff --baseline=history --fail-on='p50(step) > 5%' run.rep"),
                     ("Write a comment for a merge request:", "lanescope diff --format=markdown before.rep after.rep")],
        "exit": [(0, "The comparison was printed, whatever it says."), (3, "A limit of --fail-on was exceeded.")], **READS, "also": ["why", "stats"],
    },
    "analyze": {
        "description": "Checks a report by rules: each finds something that keeps GPUs waiting, or that is wrong with the recording, and says what to do.",
        "examples": [("Find times longer than 5 ms in which a GPU had nothing to do:", "lanescope analyze -r gpu_gaps:gap=5 demo.rep")], **READS, "also": ["stats"],
    },
    "export": {
        "description": "Writes the tables of a report in a format that other programs read.",
        "examples": [("Write a SQLite file with the tables of an nsys export:", "lanescope export --type sqlite demo.rep"),
                     ("Write a trace for Perfetto or chrome://tracing to the standard output:", "lanescope export --type chrome -o - demo.rep")],
        **READS, "also": ["import", "sql"],
    },
    "import": {
        "description": "Makes a report of what another program recorded.",
        "examples": [("Make a report of a trace of PyTorch's profiler:", "lanescope import -o train.rep trace.json.gz")], **READS, "also": ["export"],
    },
    "sql": {
        "description": "Runs SQL statements over the tables of a report. It only reads.",
        "examples": [("Count the events of each kind:", "lanescope sql demo.rep 'SELECT eventType, count(*) FROM NVTX_EVENTS GROUP BY 1'"),
                     ("List the tables that hold rows, and the columns of one:", "lanescope sql demo.rep .tables\nlanescope sql demo.rep '.schema NVTX_EVENTS'"),
                     ("Run the statements of a file, with the names of columns:", "lanescope sql --header demo.rep < queries.sql")],
        **READS, "also": ["stats", "export"],
    },
    "info": {
        "description": "Tells what a report holds, what was lost, and what went wrong while it was recorded.",
        "examples": [("See the environment that was recorded:", "lanescope info --print=env demo.rep")], **READS, "also": ["analyze", "recover"],
    },
    "recover": {
        "description": "Builds a report from the pieces of a damaged one that are whole. The damaged report stays as it is.",
        "examples": [("Recover a report:", "lanescope recover -o whole.rep damaged.rep")], "also": ["info"],
    },
    "resolve": {
        "description": "Looks up which functions the sampled addresses of a report lie in, and adds their names to the report. profile does the same "
                       "when a report is finished.",
        "examples": [("Name the functions of a program that was stripped:", "lanescope resolve --debug-symbols=build/debug demo.rep"),
                     ("Ask a server for debug symbols:", "DEBUGINFOD_URLS=https://debuginfod.debian.net lanescope resolve demo.rep")],
        "environment": ["DEBUGINFOD_URLS", "XDG_CACHE_HOME"], "files": ["$XDG_CACHE_HOME/lanescope/symbols"], "also": ["profile", "sql"],
    },
    "mcp": {
        "description": "Serves the Model Context Protocol, revisions 2024-11-05 to 2026-07-28, one JSON message a line. An agent opens reports, asks "
                       "why the time was lost, and checks each number with the statement beside it. A page that "
                       "teaches an agent how is installed as lanescope/agents/lanescope/SKILL.md among the data of programs.",
        "examples": [("Ask it by hand for its tools:", "echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}' | lanescope mcp")],
        "environment": ["TMPDIR"], "also": ["why", "sql", "diff"],
    },
    "ui": {
        "description": "Opens reports, and files that `lanescope import` reads, in the viewer.",
        "examples": [("Open two reports, each in a window:", "lanescope ui before.rep after.rep")],
        "files": READS["files"], "environment": ["DISPLAY, WAYLAND_DISPLAY"] + READS["environment"], "also": ["import"],
    },
}
