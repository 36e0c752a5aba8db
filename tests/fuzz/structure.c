/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* structure [FILES [SEED]]: passes well-formed hostile files to everything that reads files: the
 * commands, and what the viewer does before it draws. Each runs in its own process under the
 * address and undefined-behaviour sanitizers, with at most 256 MiB of memory and 20 s of processor
 * time for a file of about 1 MiB. It may succeed or say in one line why it does not. Files are
 * identified by their seeds: `structure 1 SEED` makes one again, and LNS_KEEP=FOLDER keeps it in
 * FOLDER. */

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sanitizer/common_interface_defs.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/analysis/stats/report.h"
#include "tests/fuzz/hostile.h"
#include "tests/fuzz/mutations.h"
#include "tests/fuzz/viewer.h"
#include "tests/tap.h"

#define MAX_BYTES     ((size_t)256 << 20)
#define MAX_SECONDS   20
#define MAX_OUT_BYTES ((rlim_t)2 << 30)
#define WORDS_MAX     12
#define SAID_BYTES    65536
#define FILES         40

/* GCC comes without the header that declares these two (https://github.com/llvm/llvm-project,
 * compiler-rt/include/sanitizer/allocator_interface.h). */
int __sanitizer_install_malloc_and_free_hooks (void (*) (const volatile void *, size_t),
                                               void (*) (const volatile void *));
size_t __sanitizer_get_allocated_size (const volatile void *);

/* The program's own main (), as it was compiled for this test. */
int lanescope_main (int argc, char **argv);

/* As many of each kind as the suite has time for. */
static unsigned n_files = FILES;
static uint64_t seed = 1;
static const char *folder;
static unsigned n_failed, n_run, n_refused;

/* ---- Memory ---------------------------------------------------------------------------------- */

static _Atomic (size_t) held_bytes;

static void
allocated (const volatile void *pointer, size_t size_bytes)
{
  (void)pointer;
  if (atomic_fetch_add (&held_bytes, size_bytes) + size_bytes <= MAX_BYTES)
    return;
  fprintf (stderr, "structure: more than %zu MiB are held; the last allocation is of %zu bytes\n",
           MAX_BYTES >> 20, size_bytes);
  __sanitizer_print_stack_trace ();
  _exit (98);
}

static void
freed (const volatile void *pointer)
{
  if (pointer != NULL)
    atomic_fetch_sub (&held_bytes, __sanitizer_get_allocated_size (pointer));
}

/* What the sanitizer's options say that this test needs. */
__attribute__ ((visibility ("default"))) const char *__asan_default_options (void);
__attribute__ ((visibility ("default"))) const char *__ubsan_default_options (void);

const char *
__asan_default_options (void)
{
  return "exitcode=97:quarantine_size_mb=8:max_allocation_size_mb=512:detect_leaks=0:detect_stack_"
         "use_after_return=0";
}

const char *
__ubsan_default_options (void)
{
  return "print_stacktrace=1:exitcode=97";
}

/* ---- Running --------------------------------------------------------------------------------- */

static void
limit (int resource, rlim_t value)
{
  setrlimit (resource, &(struct rlimit){ value, value });
}

/* Makes the standard input questions of an agent about the report at PATH. */
static void
ask (const char *path)
{
  static const char *const questions[] = {
    "why\",\"arguments\":{\"report\":\"r1\"}",
    "why\",\"arguments\":{\"report\":\"r1\",\"time\":\"1us/1ms\"}",
    "findings\",\"arguments\":{\"report\":\"r1\",\"finding\":\"f1\"}",
    "steps\",\"arguments\":{\"report\":\"r1\"}",
    "stats\",\"arguments\":{\"report\":\"r1\",\"name\":\"nvtx_sum\"}",
    "sql\",\"arguments\":{\"report\":\"r1\",\"statement\":\"SELECT * FROM NVTX_EVENTS\"}",
    "events\",\"arguments\":{\"report\":\"r1\",\"where\":\"duration > 1us and not name ~ 'a'\"}",
    "diff\",\"arguments\":{\"a\":\"r1\",\"b\":\"r1\"}",
  };
  const int fd = open (folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  static const char begin[] =
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":";

  dprintf (fd, "%s\"open\",\"arguments\":{\"path\":\"%s\"}}}\n", begin, path);
  for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
    dprintf (fd, "%s\"%s}}\n", begin, questions[i]);
  lseek (fd, 0, SEEK_SET);
  dup2 (fd, STDIN_FILENO);
}

/* The process that reads: does not return. WORDS are a command line, or "viewer" or "mcp" and a path. */
static void
read_hostile (const char *words[], int said_fd)
{
  int n_words = 0, null_fd = open ("/dev/null", O_RDWR | O_CLOEXEC);
  char *own[WORDS_MAX + 4] = { NULL }; /* a program may write to its words */

  for (; words[n_words] != NULL; n_words++)
    own[n_words] = strdup (words[n_words]);
  dup2 (null_fd, STDIN_FILENO);
  dup2 (null_fd, STDOUT_FILENO);
  dup2 (said_fd, STDERR_FILENO);
  limit (RLIMIT_CPU, MAX_SECONDS);
  limit (RLIMIT_FSIZE, MAX_OUT_BYTES);
  limit (RLIMIT_CORE, 0);
  __sanitizer_install_malloc_and_free_hooks (allocated, freed);
  if (strcmp (words[0], "viewer") == 0)
    viewer_read (words[1]);
  else if (strcmp (words[0], "mcp") == 0)
    {
      ask (words[1]);
      exit (lanescope_main (2, (char *[]){ (char[]){ "lanescope" }, (char[]){ "mcp" }, NULL }));
    }
  else
    exit (lanescope_main (n_words, own));
  exit (0);
}

static void
tell (const char *what, const char *words[], uint64_t file_seed, const char *said)
{
  n_failed++;
  fprintf (stderr, "structure 1 %" PRIu64 ": %s:", file_seed, what);
  for (int i = 0; words[i] != NULL; i++)
    fprintf (stderr, " %s", words[i]);
  fprintf (stderr, "\n%.6000s\n", said);
}

/* Runs WORDS and judges how they end. Returns whether they succeeded. */
static bool
run (const char *words[], uint64_t file_seed)
{
  static char said[SAID_BYTES];
  static int said_fd = -1;
  struct stat status;
  int code;

  if (said_fd < 0)
    said_fd = open (folder, O_TMPFILE | O_RDWR | O_CLOEXEC | O_APPEND, 0600);
  if (ftruncate (said_fd, 0) != 0)
    exit (1);
  fflush (NULL);
  n_run++;
  pid_t pid = fork ();
  if (pid == 0)
    read_hostile (words, said_fd);
  while (waitpid (pid, &code, 0) < 0 && errno == EINTR)
    continue;
  ssize_t n = fstat (said_fd, &status) == 0 ? pread (said_fd, said, sizeof said - 1, 0) : 0;
  said[n > 0 ? n : 0] = '\0';
  if (WIFSIGNALED (code))
    tell (WTERMSIG (code) == SIGXCPU || WTERMSIG (code) == SIGKILL ? "took more than 20 s"
          : WTERMSIG (code) == SIGXFSZ                             ? "wrote more than 2 GiB"
                                                                   : strsignal (WTERMSIG (code)),
          words, file_seed, said);
  else if (WEXITSTATUS (code) == 97 || WEXITSTATUS (code) == 98)
    tell ("a sanitizer", words, file_seed, said);
  else if (WEXITSTATUS (code) != 0 &&
           (WEXITSTATUS (code) != 125 || strstr (said, "lanescope: error: ") == NULL))
    tell ("no reason is given", words, file_seed, said);
  n_refused += !WIFSIGNALED (code) && WEXITSTATUS (code) != 0;
  return WIFEXITED (code) && WEXITSTATUS (code) == 0;
}

/* ---- What reads ------------------------------------------------------------------------------ */

static const char *const commands[][WORDS_MAX] = {
  { "info" },
  { "analyze" },
  { "export", "--type", "sqlite", "--output", "out.sqlite", "--force-overwrite=true" },
  { "export", "--type", "jsonlines", "--output", "/dev/null" },
  { "export", "--type", "csv", "--output", "out.csv", "--force-overwrite=true" },
  { "export", "--type", "chrome", "--output", "out.json", "--force-overwrite=true" },
  { "export", "--type", "folded", "--output", "out.folded", "--force-overwrite=true" },
  { "export", "--type", "svg", "--output", "out.svg", "--force-overwrite=true" },
  { "export", "--type", "perf-script", "--output", "out.perf.txt", "--force-overwrite=true" },
  { "export", "--type", "pprof", "--output", "out.pb.gz", "--force-overwrite=true" },
  { "export", "--type", "speedscope", "--output", "out.speedscope", "--force-overwrite=true" },
  { "export", "--type", "firefox", "--output", "out.firefox", "--force-overwrite=true" },
  { "export", "--type", "folded", "--stacks", "cpu", "--output", "out.folded",
    "--force-overwrite=true" },
  { "export", "--type", "arrow", "--output", "out.arrows", "--force-overwrite=true" },
  { "export", "--type", "arrowdir", "--output", "out_arwdir", "--force-overwrite=true" },
  { "export", "--type", "parquetdir", "--output", "out_pqtdir", "--force-overwrite=true" },
  { "export", "--type", "sqlite", "--output", "out.sqlite", "--force-overwrite=true", "--times",
    "1us/2ms", "--ts-shift", "9223372036854775807" },
  { "export", "--type", "rep", "--output", "out.part.rep", "--force-overwrite=true" },
  { "export", "--type", "rep", "--output", "out.part.rep", "--force-overwrite=true", "--times",
    "1us/2ms" },
  { "export", "--type", "html", "--output", "out.html", "--force-overwrite=true" },
  { "export", "--type", "html", "--output", "out.html", "--force-overwrite=true", "--times",
    "1us/2ms" },
  { "recover", "--output", "out.rep", "--force-overwrite=true" },
  { "viewer" },
  { "mcp" },
  { "stats", "--filter-time", "1us/1ms" },
  { "stats", "--filter-nvtx", "main" },
  { "why", "--top", "0" },
  { "why", "--format", "json" },
  { "why", "--format", "table" },
  { "why", "--format", "markdown", "--filter-time", "1us/1ms" },
  { "why", "--steps", "main" },
};

static const char *const queries[] = {
  "SELECT * FROM NVTX_EVENTS WHERE start >= 9223372036854775807 OR end < -9223372036854775807 "
  "ORDER BY end",
  "SELECT * FROM NVTX_EVENTS WHERE globalTid = (SELECT max(globalTid) FROM NVTX_EVENTS) AND start "
  "> 100",
  "SELECT count(*), sum(length(value)) FROM StringIds WHERE id > 4000000000 OR value LIKE '%a%'",
  "SELECT s.value, k.* FROM CUPTI_ACTIVITY_KIND_KERNEL k LEFT JOIN StringIds s ON s.id = "
  "k.shortName "
  "JOIN CUPTI_ACTIVITY_KIND_RUNTIME r USING (correlationId) LIMIT 100000",
  "SELECT * FROM NVTX_EVENTS WHERE rowid = -1 OR rowid = 9223372036854775807",
  "SELECT max(end) - min(start), count(DISTINCT start) FROM CUPTI_ACTIVITY_KIND_RUNTIME",
  "SELECT f.*, g.* FROM LNS_FINDINGS AS f LEFT JOIN (SELECT finding, count(*), min(start), "
  "max(\"end\") FROM "
  "LNS_GAPS GROUP BY finding) AS g USING (finding)",
  "SELECT * FROM LNS_STEPS",
};

#define N_COMMANDS (sizeof commands / sizeof *commands)
#define N_QUERIES  (sizeof queries / sizeof *queries)

/* Runs the command number I, which are the fixed ones, the queries and each report of statistics, on
 * PATH. */
static void
run_number (size_t i, const char *path, uint64_t file_seed)
{
  static const char *const formats[] = { "column", "csv", "json", "htable" };
  const char *words[WORDS_MAX + 4] = { "lanescope" };
  int n = 1;

  if (i < N_COMMANDS &&
      (strcmp (commands[i][0], "viewer") == 0 || strcmp (commands[i][0], "mcp") == 0))
    {
      run ((const char *[]){ commands[i][0], path, NULL }, file_seed);
      return;
    }
  if (i < N_COMMANDS)
    for (int k = 0; k < WORDS_MAX && commands[i][k] != NULL; k++)
      words[n++] = commands[i][k];
  else if (i < N_COMMANDS + N_QUERIES)
    words[n++] = "sql";
  else
    {
      words[n++] = "stats";
      words[n++] = "--report";
      words[n++] = lns_stats_report_at (i - N_COMMANDS - N_QUERIES)->name;
      words[n++] = "--format";
      words[n++] = formats[i % 4];
    }
  words[n++] = path;
  if (i >= N_COMMANDS && i < N_COMMANDS + N_QUERIES)
    words[n++] = queries[i - N_COMMANDS];
  run (words, file_seed);
}

/* How many command lines each file is given, of all there are. */
static size_t n_lines = 3;

static void
read_all (const char *path, uint64_t file_seed)
{
  size_t n_all = N_COMMANDS + N_QUERIES;

  while (lns_stats_report_at (n_all - N_COMMANDS - N_QUERIES) != NULL)
    n_all++;
  for (size_t i = 0; i < n_all; i++)
    if (hostile_draw (n_all) < n_lines)
      run_number (i, path, file_seed);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static void
report_file (uint64_t file_seed)
{
  hostile_seed (file_seed);
  hostile_report ("hostile.rep");
  if (!hostile_one_in (4))
    hostile_change_report ("hostile.rep");
  read_all ("hostile.rep", file_seed);
}

/* What is imported is read as a report. */
static void
foreign_file (const char *path, void (*make) (const char *), uint64_t file_seed)
{
  hostile_seed (file_seed);
  make (path);
  if (run ((const char *[]){ "lanescope", "import", "-o", "imported.rep", "--force-overwrite=true",
                             path, NULL },
           file_seed))
    read_all ("imported.rep", file_seed);
}

static void
export_file (uint64_t file_seed)
{
  foreign_file ("hostile.sqlite", hostile_export, file_seed);
}

static void
trace_file (uint64_t file_seed)
{
  foreign_file ("hostile.json", hostile_trace, file_seed);
}

static void
try_files (void (*try) (uint64_t file_seed))
{
  n_failed = n_run = n_refused = 0;
  for (unsigned i = 0; i < n_files; i++)
    try (seed + i);
  printf ("# %u files, %u runs, %u refused\n", n_files, n_run, n_refused);
  LNS_CHECK (n_failed == 0);
  /* If all were refused, nothing would be tried behind the first check. */
  LNS_CHECK (n_files < FILES || n_refused < n_run / 2);
}

static void
test_reports (void)
{
  try_files (report_file);
}

static void
test_exports (void)
{
  try_files (export_file);
}

static void
test_traces (void)
{
  try_files (trace_file);
}

/* Plays python3 with pyarrow for the sinks of Arrow: takes what is sent and says that it is written. */
static int
play_python (const char *target)
{
  char bytes[65536];
  ssize_t n;

  close (open (target, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (send (STDIN_FILENO, "r", 1, 0) != 1)
    return 1;
  while ((n = recv (STDIN_FILENO, bytes, sizeof bytes, 0)) > 0)
    if (bytes[n - 1] == 'Z' && send (STDIN_FILENO, "k", 1, MSG_NOSIGNAL) != 1)
      return 1;
  return 0;
}

static int
remove_entry (const char *path, const struct stat *status, int type, struct FTW *place)
{
  (void)status, (void)type, (void)place;
  return remove (path);
}

int
main (int argc, char **argv)
{
  if (argc > 2 && strcmp (argv[1], "-c") == 0)
    return play_python (argv[argc - 1]);
  read_mutations (argc, argv, &n_files, &seed);
  if (getenv ("LNS_MUTATIONS") != NULL || argc > 1)
    n_lines = SIZE_MAX;
  char made[] = "/tmp/lns-structure-XXXXXX";
  folder = getenv ("LNS_KEEP");
  if (folder == NULL)
    folder = mkdtemp (made);
  if (folder == NULL || chdir (folder) != 0)
    return 1;
  setenv ("LNS_PYTHON", "/proc/self/exe", 1);
  setenv ("XDG_CACHE_HOME", folder, 1);
  setenv ("TMPDIR", folder, 1);
  LNS_TEST (test_reports);
  LNS_TEST (test_exports);
  LNS_TEST (test_traces);
  if (getenv ("LNS_KEEP") == NULL)
    nftw (folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
  return lns_tap_done ();
}
