/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* mutate-request [MUTATIONS [SEED]]: sessions of `lanescope mcp` whose requests were broken in random ways, under sanitizers. Whatever
 * is sent, each line of output is an answer, and the last request of a session, which is whole, gets one. */

#include <jansson.h>
#include <sys/wait.h>

#include "src/base/buffer.h"
#include "src/cli/mcp/server.h"
#include "tests/fuzz/mutations.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

#define N_LINES 200 /* of a session */

static unsigned n_mutations = 2000;
static uint64_t seed = 1;

/* What clients send. */
static const char *const requests[] = {
  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-"
  "03-26\","
  "\"capabilities\":{\"roots\":{\"listChanged\":true}},\"clientInfo\":{\"name\":\"a\",\"version\":"
  "\"1\"}}}",
  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
  "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/"
  "call\",\"params\":{\"name\":\"sql\",\"arguments\":{"
  "\"report\":\"r1\",\"statement\":\"SELECT start, text FROM "
  "NVTX_EVENTS\",\"top\":5,\"seconds\":3}}}",
  "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/"
  "call\",\"params\":{\"name\":\"events\",\"arguments\":{"
  "\"report\":\"r1\",\"where\":\"duration > 1us and not name ~ 'gem+' or thread = "
  "5\",\"top\":3},\"_meta\":{"
  "\"progressToken\":3}}}",
  "[{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":"
  "\"tools/list\"}]",
  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
  "cancelled\",\"params\":{\"requestId\":2,\"reason\":\"\\u00e9\"}}",
  "{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"tools/"
  "call\",\"params\":{\"name\":\"diff\",\"arguments\":{"
  "\"a\":\"r1\",\"b\":\"r1\",\"range\":\"step\"},\"_meta\":{\"io.modelcontextprotocol/"
  "protocolVersion\":"
  "\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
  "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/"
  "call\",\"params\":{\"name\":\"why\",\"arguments\":{"
  "\"report\":\"r1\",\"time\":\"1ms/9ms\",\"top\":2}}}",
  "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"tools/"
  "call\",\"params\":{\"name\":\"findings\",\"arguments\":{"
  "\"report\":\"r1\",\"finding\":\"f1\"}}}",
  "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/"
  "call\",\"params\":{\"name\":\"stats\",\"arguments\":{"
  "\"report\":\"r1\",\"name\":\"cuda_gpu_kern_sum:base\",\"top\":2}}}",
  "{\"jsonrpc\":\"2.0\",\"id\":10,\"method\":\"tools/"
  "call\",\"params\":{\"name\":\"open\",\"arguments\":{"
  "\"path\":\"/dev/null\"}}}",
};

#define N_REQUESTS (sizeof requests / sizeof *requests)

/* What is put into them. */
static const char *const words[] = {
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "\"",
  "\\",
  "\\u0000",
  "\\ud800",
  "null",
  "true",
  "1e99",
  "-0",
  "1.5",
  "'",
  "(",
  ")",
  "%n",
  "[[[[[[[",
  "{\"a\":",
  "\"id\"",
  "\x80",
  "\xff",
  "\"method\"",
  "\t",
  "--",
  ";",
  "\\n",
  "\"top\":-1",
  "*",
  "\"r1\"",
  "f2",
  "1ns/",
  "99999999999999999999",
  "ms",
  "not ",
  " and ",
  "or ",
  "~",
  "\"arguments\":{}",
  "regexp ('",
  "||",
};

#define N_WORDS (sizeof words / sizeof *words)

static uint64_t
draw (uint64_t below)
{
  return fixture_random (&seed) % below;
}

/* Appends a request that is changed in up to four places, as a line. */
static void
append_line (LnsBuffer *out)
{
  LnsBuffer line = { 0 };
  const char *request = requests[draw (N_REQUESTS)];

  lns_buffer_append (&line, request, strlen (request));
  for (uint64_t i = draw (5); i > 0; i--)
    {
      const size_t n = line.size_bytes, at = (size_t)draw (n + 1);
      const char *word = words[draw (N_WORDS)];
      const size_t n_word = strlen (word);
      if (draw (4) == 0)
        line.size_bytes = at;
      else
        {
          lns_buffer_append (&line, word, n_word);
          memmove (line.bytes + at + n_word, line.bytes + at, n - at);
          memcpy (line.bytes + at, word, n_word);
        }
    }
  lns_buffer_append (out, line.bytes, line.size_bytes);
  lns_buffer_append (out, "\n", 1);
  lns_buffer_clear (&line);
}

/* Fills OUT with a session about the report at PATH. */
static void
make_session (LnsBuffer *out, const char *path)
{
  char line[1024];

  snprintf (line, sizeof line,
            "{\"jsonrpc\":\"2.0\",\"id\":\"open\",\"method\":\"tools/call\",\"params\":{\"name\":"
            "\"open\",\"arguments\":{\"path\":\"%s\"}}}\n",
            path);
  lns_buffer_append (out, line, strlen (line));
  for (unsigned i = 0; i < N_LINES; i++)
    append_line (out);
  snprintf (line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":\"end\",\"method\":\"ping\"}\n");
  lns_buffer_append (out, line, strlen (line));
}

/* Runs a server with IN as its input and OUT as its output. Returns its exit status. */
static int
serve (FILE *in, FILE *out)
{
  int status;
  const pid_t pid = fork ();

  LNS_CHECK (pid >= 0);
  if (pid == 0)
    {
      LnsError error = { 0 };
      dup2 (fileno (in), STDIN_FILENO);
      dup2 (fileno (out), STDOUT_FILENO);
      exit (lns_mcp_serve (&error) ? 0 : 1); /* which looks for leaks */
    }
  LNS_CHECK (waitpid (pid, &status, 0) == pid);
  return status;
}

/* Checks an answer, of which ANY is one. */
static void
check_answer (const json_t *answer, bool *ret_is_end)
{
  const json_t *result = json_object_get (answer, "result"),
               *error = json_object_get (answer, "error"), *id = json_object_get (answer, "id"),
               *content = json_object_get (result, "content");

  LNS_CHECK_STR (json_string_value (json_object_get (answer, "jsonrpc")), "2.0");
  LNS_CHECK (id != NULL && (result == NULL) != (error == NULL));
  LNS_CHECK (error == NULL || json_is_integer (json_object_get (error, "code")));
  LNS_CHECK (error == NULL || json_is_string (json_object_get (error, "message")));
  LNS_CHECK (content == NULL || json_is_boolean (json_object_get (result, "isError")));
  if (json_is_string (id) && strcmp (json_string_value (id), "end") == 0)
    *ret_is_end = true;
}

/* Checks all that was written to OUT: it ends with the answer to the last request, but for those that took longer. */
static void
check_output (FILE *out)
{
  char *line = NULL;
  size_t room = 0, i;
  bool is_end = false;
  json_t *item;

  rewind (out);
  while (getline (&line, &room, out) > 0)
    {
      json_t *answer = json_loads (line, JSON_REJECT_DUPLICATES, NULL);
      LNS_CHECK (answer != NULL);
      if (json_is_array (answer))
        json_array_foreach (answer, i, item) check_answer (item, &is_end);
      else
        check_answer (answer, &is_end);
      json_decref (answer);
    }
  LNS_CHECK (is_end);
  free (line);
}

static void
test_sessions (void)
{
  const char *source = getenv ("LNS_SOURCE_ROOT");
  char path[600];

  snprintf (path, sizeof path, "%s/data/samples/cuda-double.rep", source != NULL ? source : ".");
  for (unsigned i = 0; i < n_mutations; i += N_LINES)
    {
      LnsBuffer session = { 0 };
      FILE *in = tmpfile (), *out = tmpfile ();
      LNS_CHECK (in != NULL && out != NULL);
      make_session (&session, path);
      LNS_CHECK (fwrite (session.bytes, 1, session.size_bytes, in) == session.size_bytes);
      rewind (in);
      const int status = serve (in, out);
      if (status != 0)
        LNS_FAIL ("session %u ended with status %#x", i / N_LINES, (unsigned)status);
      check_output (out);
      lns_buffer_clear (&session);
      fclose (in);
      fclose (out);
    }
  printf ("# answered sessions of %u lines\n", n_mutations);
}

int
main (int argc, char **argv)
{
  read_mutations (argc, argv, &n_mutations, &seed);
  LNS_TEST (test_sessions);
  return lns_tap_done ();
}
