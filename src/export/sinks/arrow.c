/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Writes rows as Arrow streams or files, or as Parquet. pyarrow writes these formats with its own library:
 * arrow-writer.py runs in another process, python3, and gets columns over a socket. Little-endian:
 *
 *   T name n { type letter, name } …   a table begins; a name is u32 size and bytes, n is u32
 *   B rows { buffer … } …              rows (u32): Arrow's buffers of each column, each u64 size and bytes
 *   E                                  the table ends
 *   Z                                  all is sent */

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/buffer.h"
#include "src/base/json.h"
#include "src/base/memory.h"
#include "src/export/lns-arrow-generated.h"
#include "src/export/sink.h"

#define BATCH_ROWS 65536

/* A column of the rows that were not sent yet. */
typedef struct
{
  char type; /* of the message                                                                  */
  LnsBuffer valid;  /* a bit a row                                                              */
  LnsBuffer values; /* 8 bytes a row, or the offsets of texts, 4 bytes                            */
  LnsBuffer bytes;  /* of texts                                                                   */
} Column;

typedef struct
{
  const LnsExportJob *job;
  int socket;
  pid_t pid;
  LnsBuffer message;
  Column columns[LNS_SINK_MAX_COLUMNS];
  unsigned n_columns;
  uint32_t n_rows;
} Sink;

extern char **environ;

/* ---- The writer's process --------------------------------------------------------------------- */

/* Fills ERROR with what the writer answered or how it ended. */
static bool
fail (Sink *sink, LnsError *error)
{
  char answer[512];
  ssize_t n = recv (sink->socket, answer, sizeof answer - 1, 0);
  int status = 0;

  answer[n > 0 ? n : 0] = '\0';
  if (n > 0 && answer[0] == 'o')
    return lns_export_fail (sink->job, atoi (answer + 1), error);
  if (n > 0 && answer[0] == 'e')
    return lns_error_set (error, LNS_ERROR_IO, 0, "%s cannot be written: %s", sink->job->path,
                          answer + 1);
  if (sink->pid > 0)
    waitpid (sink->pid, &status, 0);
  sink->pid = 0;
  if (WIFEXITED (status) && (WEXITSTATUS (status) == 3 || WEXITSTATUS (status) == 127))
    return lns_error_set (
        error, LNS_ERROR_USAGE, 0,
        "Arrow and Parquet need pyarrow, which python3 cannot find; install it with "
        "`python3 -m pip install pyarrow`, or name another Python in LNS_PYTHON");
  return lns_error_set (error, LNS_ERROR_IO, 0,
                        "%s cannot be written: pyarrow's process ended early", sink->job->path);
}

static bool
send_message (Sink *sink, LnsError *error)
{
  const uint8_t *at = sink->message.bytes, *end = at + sink->message.size_bytes;

  if (sink->message.failed)
    lns_out_of_memory ();
  while (at < end)
    {
      ssize_t n = send (sink->socket, at, (size_t)(end - at), MSG_NOSIGNAL);
      if (n < 0 && errno != EINTR)
        return fail (sink, error);
      at += n > 0 ? n : 0;
    }
  lns_buffer_reset (&sink->message);
  return true;
}

/* Returns PATH as an absolute path, which the caller frees; NULL if the working folder is gone. */
static char *
absolute (const char *path)
{
  char *folder = path[0] != '/' ? getcwd (NULL, 0) : NULL, *whole = NULL;

  if (path[0] == '/')
    whole = lns_strdup (path);
  else if (folder != NULL)
    whole = lns_asprintf ("%s/%s", folder, path);
  free (folder);
  return whole;
}

/* Starts WORDS in the root folder. A script given by -c, and an empty entry of PYTHONPATH, have Python look for modules
 * in the working folder, which may be anybody's; only the administrator has files in the root. Python still finds what
 * the user has installed. Returns an errno, or 0. */
static int
spawn (pid_t *ret_pid, int stdin_fd, const char *const *words)
{
  posix_spawn_file_actions_t actions;

  posix_spawn_file_actions_init (&actions);
  posix_spawn_file_actions_adddup2 (&actions, stdin_fd, STDIN_FILENO);
  posix_spawn_file_actions_addchdir_np (&actions, "/");
  int code = posix_spawnp (ret_pid, words[0], &actions, NULL, (char *const *)words, environ);
  posix_spawn_file_actions_destroy (&actions);
  return code;
}

static bool
start_writer (Sink *sink, LnsError *error)
{
  const char *named = getenv ("LNS_PYTHON");
  const char *python = named != NULL && *named != '\0' ? named : "python3";
  char *command = strchr (python, '/') != NULL ? absolute (python) : lns_strdup (python);
  char *target = absolute (sink->job->temporary);
  char mode[16];
  const char *words[] = {
    command, "-c", arrow_writer_py, sink->job->type->name, mode, target, NULL
  };
  int ends[2], code;
  char ready;

  snprintf (mode, sizeof mode, "%o", (unsigned)sink->job->mode);
  if (command == NULL || target == NULL ||
      socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    {
      code = errno;
      free (command);
      free (target);
      return lns_error_set_errno (error, code, "pyarrow cannot be started");
    }
  sink->socket = ends[0];
  code = spawn (&sink->pid, ends[1], words);
  close (ends[1]);
  free (command);
  free (target);
  if (code != 0)
    sink->pid = 0;
  if (code != 0 && code != ENOENT)
    return lns_error_set_errno (error, code, "%s cannot be started", python);
  if (code == 0 && recv (sink->socket, &ready, 1, 0) == 1 && ready == 'r')
    return true;
  if (code == 0)
    return fail (sink, error);
  return lns_error_set (
      error, LNS_ERROR_USAGE, 0,
      "Arrow and Parquet need pyarrow, and “%s” to run it was not found; install python3, then "
      "`python3 -m pip install pyarrow`",
      python);
}

static bool
arrow_close (void *data, bool good, LnsError *error)
{
  Sink *sink = data;
  char answer = 0;

  if (good)
    {
      lns_buffer_append (&sink->message, "Z", 1);
      good = send_message (sink, error);
    }
  if (good && (recv (sink->socket, &answer, 1, MSG_PEEK) != 1 || answer != 'k'))
    good = fail (sink, error);
  if (sink->socket >= 0)
    close (sink->socket); /* ends a writer that waits for more                                    */
  if (sink->pid > 0)
    waitpid (sink->pid, NULL, 0);
  for (unsigned i = 0; i < LNS_SINK_MAX_COLUMNS; i++)
    {
      lns_buffer_clear (&sink->columns[i].valid);
      lns_buffer_clear (&sink->columns[i].values);
      lns_buffer_clear (&sink->columns[i].bytes);
    }
  lns_buffer_clear (&sink->message);
  free (sink);
  return good;
}

static void *
arrow_open (const LnsExportJob *job, LnsError *error)
{
  Sink *sink = lns_calloc (1, sizeof *sink);

  sink->job = job;
  sink->socket = -1;
  if (start_writer (sink, error))
    return sink;
  arrow_close (sink, false, NULL);
  return NULL;
}

/* Starts the writer and ends it before it creates a file. */
static bool
arrow_check (LnsError *error)
{
  static char nowhere[] = "";
  const LnsExportJob job = { .type = &lns_sink_arrow, .path = "the export", .temporary = nowhere };
  void *sink = arrow_open (&job, error);

  if (sink == NULL)
    return false;
  arrow_close (sink, false, NULL);
  return true;
}

/* ---- Columns ---------------------------------------------------------------------------------- */

static void
put_text (LnsBuffer *buffer, const char *text)
{
  size_t size = strlen (text);

  lns_buffer_append_int (buffer, size, 4);
  lns_buffer_append (buffer, text, size);
}

/* The offsets of texts begin with that of the first one. */
static void
clear_column (Column *column)
{
  lns_buffer_reset (&column->valid);
  lns_buffer_reset (&column->values);
  lns_buffer_reset (&column->bytes);
  if (column->type == 't' || column->type == 'b')
    lns_buffer_append_int (&column->values, 0, 4);
}

static bool
arrow_begin (void *data, const LnsTable *table, LnsError *error)
{
  Sink *sink = data;

  sink->n_columns = table->n_columns;
  sink->n_rows = 0;
  lns_buffer_append (&sink->message, "T", 1);
  put_text (&sink->message, table->name);
  lns_buffer_append_int (&sink->message, table->n_columns, 4);
  for (unsigned i = 0; i < table->n_columns; i++)
    {
      char first = table->columns[i].type[0];
      Column *column = &sink->columns[i];
      column->type = first == 'I'                                                         ? 'i'
                     : first == 'R' || first == 'N' || first == 'F'                       ? 'r'
                     : first == 'B' || strcmp (table->columns[i].name, "binaryData") == 0 ? 'b'
                                                                                          : 't';
      clear_column (column);
      lns_buffer_append (&sink->message, &column->type, 1);
      put_text (&sink->message, table->columns[i].name);
    }
  return send_message (sink, error);
}

static void
put_buffer (LnsBuffer *message, const LnsBuffer *buffer)
{
  lns_buffer_append_int (message, buffer->size_bytes, 8);
  lns_buffer_append (message, buffer->bytes, buffer->size_bytes);
  message->failed = message->failed || buffer->failed;
}

static bool
send_rows (Sink *sink, LnsError *error)
{
  lns_buffer_append (&sink->message, "B", 1);
  lns_buffer_append_int (&sink->message, sink->n_rows, 4);
  for (unsigned i = 0; i < sink->n_columns; i++)
    {
      Column *column = &sink->columns[i];
      put_buffer (&sink->message, &column->valid);
      put_buffer (&sink->message, &column->values);
      if (column->type == 't' || column->type == 'b')
        put_buffer (&sink->message, &column->bytes);
      clear_column (column);
    }
  sink->n_rows = 0;
  return send_message (sink, error);
}

/* Appends text as Arrow requires it. Bytes that are not valid UTF-8 become U+FFFD. */
static void
put_utf8 (LnsBuffer *buffer, const char *bytes, size_t size_bytes)
{
  const uint8_t *at = (const uint8_t *)bytes, *end = at + size_bytes, *unwritten = at;

  while (at < end)
    {
      size_t length = *at < 0x80 ? 1 : lns_utf8_sequence_length (at, (size_t)(end - at));
      if (length == 0)
        {
          lns_buffer_append (buffer, unwritten, (size_t)(at - unwritten));
          lns_buffer_append (buffer, "\xEF\xBF\xBD", 3);
          unwritten = at + 1;
        }
      at += length > 0 ? length : 1;
    }
  lns_buffer_append (buffer, unwritten, (size_t)(at - unwritten));
}

/* Appends VALUE. Returns false if it is NULL or of a type that the column cannot hold. */
static bool
put_value (Column *column, const LnsValue *value)
{
  uint64_t bits = 0;
  double real = value->type == LNS_VALUE_REAL ? value->real : (double)value->integer;
  char number[24];
  bool is_text = column->type == 't' || column->type == 'b', fits = value->type != LNS_VALUE_NULL;

  if (is_text && (value->type == LNS_VALUE_TEXT || value->type == LNS_VALUE_BLOB))
    {
      if (column->type == 't')
        put_utf8 (&column->bytes, value->bytes, value->size_bytes);
      else
        lns_buffer_append (&column->bytes, value->bytes, value->size_bytes);
    }
  else if (is_text && value->type == LNS_VALUE_INTEGER)
    lns_buffer_append (&column->bytes, number,
                       (size_t)snprintf (number, sizeof number, "%lld", (long long)value->integer));
  else if (value->type == LNS_VALUE_INTEGER && column->type == 'i')
    bits = (uint64_t)value->integer;
  else if (column->type == 'r' &&
           (value->type == LNS_VALUE_INTEGER || value->type == LNS_VALUE_REAL))
    memcpy (&bits, &real, sizeof bits);
  else
    fits = false;
  if (is_text)
    lns_buffer_append_int (&column->values, column->bytes.size_bytes, 4);
  else
    lns_buffer_append (&column->values, &bits, sizeof bits);
  return fits;
}

static bool
arrow_row (void *data, const LnsSinkRow *row, LnsError *error)
{
  Sink *sink = data;
  size_t size = 0;

  for (unsigned i = 0; i < sink->n_columns; i++)
    {
      Column *column = &sink->columns[i];
      if (sink->n_rows % 8 == 0)
        lns_buffer_append (&column->valid, "", 1);
      bool fits = put_value (column, &row->values[i]);
      if (!column->valid.failed)
        column->valid.bytes[sink->n_rows / 8] |= (uint8_t)(fits << sink->n_rows % 8);
      size += column->bytes.size_bytes;
    }
  return ++sink->n_rows < BATCH_ROWS && size < (1 << 26) ? true : send_rows (sink, error);
}

static bool
arrow_end (void *data, LnsError *error)
{
  Sink *sink = data;

  if (sink->n_rows > 0 && !send_rows (sink, error))
    return false;
  lns_buffer_append (&sink->message, "E", 1);
  return send_message (sink, error);
}

#define FUNCTIONS                                                                                  \
 .check = arrow_check, .open = arrow_open, .begin = arrow_begin, .row = arrow_row,                 \
 .end = arrow_end, .close = arrow_close

const LnsExportType lns_sink_arrow = { .name = "arrow", .ending = ".arrows", FUNCTIONS };

const LnsExportType lns_sink_arrowdir = {
  .name = "arrowdir", .ending = "_arwdir", .file_ending = ".arrow", FUNCTIONS
};

const LnsExportType lns_sink_parquetdir = {
  .name = "parquetdir", .ending = "_pqtdir", .file_ending = ".parquet", FUNCTIONS
};
