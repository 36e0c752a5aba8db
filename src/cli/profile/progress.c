/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* --progress-fd: one JSON object on each line, for the viewer and for scripts. If the reader goes away, the run goes
 * on. */

#include "src/cli/profile/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lns-config.h"
#include "src/base/json.h"
#include "src/base/terminal.h"
#include "src/cli/reports/report.h"

/* A line in the making. */
typedef struct
{
  FILE *stream;
  char *text;
  size_t n_bytes;
} Line;

/* Begins a line. False if nobody wants it. */
static bool
begin (const LnsProfile *profile, Line *line, const char *type)
{
  if (profile->progress_fd < 0)
    return false;
  /* A program is being recorded, which a lack of memory must not end: the line is left out. */
  line->stream = open_memstream (&line->text, &line->n_bytes);
  if (line->stream == NULL)
    return false;
  fprintf (line->stream, "{\"type\":\"%s\"", type);
  return true;
}

static void
add_text (Line *line, const char *key, const char *text)
{
  fprintf (line->stream, ",\"%s\":", key);
  lns_json_write_string (line->stream, text, strlen (text));
}

/* Adds PATH, and unless it is ASCII also its bytes in hexadecimal: JSON cannot hold a path that is not UTF-8. */
static void
add_path (Line *line, const char *key, const char *path)
{
  add_text (line, key, path);
  bool is_plain = true;
  for (const char *at = path; *at != '\0'; at++)
    is_plain = is_plain && (unsigned char)*at < 0x80;
  if (is_plain)
    return;
  fprintf (line->stream, ",\"%s_hex\":\"", key);
  for (const char *at = path; *at != '\0'; at++)
    fprintf (line->stream, "%02x", (unsigned char)*at);
  fputc ('"', line->stream);
}

static void
send (LnsProfile *profile, Line *line)
{
  fputs ("}\n", line->stream);
  if (fclose (line->stream) == 0 &&
      lns_write_all (profile->progress_fd, line->text, line->n_bytes) != 0)
    profile->progress_fd = -1;
  free (line->text);
}

void
lns_progress_hello (LnsProfile *profile)
{
  Line line;
  if (!begin (profile, &line, "hello"))
    return;
  add_text (&line, "version", LNS_VERSION);
  fprintf (line.stream, ",\"pid\":%d", (int)getpid ());
  if (profile->path != NULL)
    add_path (&line, "report", profile->path);
  send (profile, &line);
}

void
lns_progress_started (LnsProfile *profile)
{
  Line line;
  if (!begin (profile, &line, "started"))
    return;
  fprintf (line.stream, ",\"pid\":%d", (int)profile->pid);
  send (profile, &line);
}

void
lns_progress_tick (LnsProfile *profile)
{
  Line line;
  if (!begin (profile, &line, "tick"))
    return;
  LnsRecorderCounters events = lns_recorder_counters (lns_session_recorder (profile->session));
  LnsCollectorCounters processes = lns_peers_counters (lns_session_peers (profile->session));
  fprintf (line.stream,
           ",\"elapsed_ns\":%" PRId64 ",\"bytes\":%" PRIu64 ",\"events\":%" PRIu64
           ",\"dropped\":%" PRIu64 ",\"processes\":%" PRIu64,
           lns_session_now_ns (profile->session), events.n_bytes, events.n_events, processes.n_lost,
           processes.n_processes);
  send (profile, &line);
}

void
lns_progress_range (LnsProfile *profile, const char *what)
{
  Line line;
  if (!begin (profile, &line, "range"))
    return;
  add_text (&line, "what", what);
  fprintf (line.stream, ",\"elapsed_ns\":%" PRId64, lns_session_now_ns (profile->session));
  send (profile, &line);
}

void
lns_progress_diagnostic (LnsProfile *profile,
                         const char *code,
                         LnsSeverity severity,
                         const char *text)
{
  Line line;
  if (!begin (profile, &line, "diagnostic"))
    return;
  add_text (&line, "code", code);
  add_text (&line, "severity", lns_cli_severity (severity));
  add_text (&line, "text", text);
  send (profile, &line);
}

void
lns_progress_generated (LnsProfile *profile, const char *path, const LnsReportResult *result)
{
  Line line;
  if (!begin (profile, &line, "generated"))
    return;
  add_path (&line, "path", path);
  fprintf (line.stream, ",\"events\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"bytes\":%" PRIu64,
           result->n_events, result->n_lost, result->n_bytes);
  send (profile, &line);
}

void
lns_progress_finished (LnsProfile *profile, const LnsReportResult *result, double lag_ms)
{
  Line line;
  if (!begin (profile, &line, "finished"))
    return;
  fprintf (line.stream,
           ",\"exit\":%d,\"signal\":%d,\"events\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"lag_ms\":",
           profile->exit_code, profile->exit_signal, result->n_events, result->n_lost);
  lns_json_write_double (line.stream, lag_ms);
  fputs (",\"drain_ms\":", line.stream);
  lns_json_write_double (line.stream, result->drain_ms);
  fputs (",\"commit_ms\":", line.stream);
  lns_json_write_double (line.stream, result->commit_ms);
  send (profile, &line);
}

void
lns_progress_error (LnsProfile *profile, const char *code, const char *text)
{
  Line line;
  if (!begin (profile, &line, "error"))
    return;
  add_text (&line, "code", code);
  add_text (&line, "text", text);
  send (profile, &line);
}
