/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Plays call chains that the program itself finds into the decoder, beside calls of CUDA and mappings of code. */

#include "capture/wire/call-chains.h"
#include "capture/wire/os-layout.h"
#include "capture/wire/python-layout.h"
#include "tests/unit/decoder-cuda-fixture.h"

#define CODE 0x10000u

/* Adds a mapping of 4 KiB of code from START on. */
static void
add_code (uint64_t start, const char *file)
{
  struct
  {
    LnsWireCodeBytes code;
    char file[64];
  } record = { .code = { .head = { .type = LNS_WIRE_CODE },
                         .n_path_bytes = (uint32_t)strlen (file),
                         .start = start,
                         .end = start + 4096 } };
  strcpy (record.file, file);
  add_cut (&record, sizeof record, sizeof record.code + strlen (file));
}

/* Adds the chain of N addresses as the stream's STRING. */
static void
add_chain (uint32_t string, const uint64_t *addresses, size_t n)
{
  struct
  {
    LnsWireTextBytes text;
    uint64_t addresses[8];
  } record = { .text = { .head = { .type = LNS_WIRE_STRING, .string = string },
                         .n_text_bytes = (uint32_t)(n * sizeof *addresses) } };
  memcpy (record.addresses, addresses, n * sizeof *addresses);
  add_cut (&record, sizeof record, sizeof record.text + n * sizeof *addresses);
}

static void
add_callers (int64_t at_ns, uint8_t flags, uint32_t correlation, uint32_t string)
{
  const LnsWireHead head = lns_wire_chain (AT (at_ns), flags, correlation, string);
  memcpy (text.bytes + text.n_bytes, &head, sizeof head);
  text.n_bytes += sizeof head;
}

/* The symbols of the chain of EVENT, a call, joined by " < ". */
static const char *
chain_text_of (const LnsEvent *event, LnsLaneKind kind)
{
  static char joined[512];
  const LnsCallNode *nodes = lns_report_call_nodes (report, NULL);
  const LnsStackFrame *frames = lns_report_frames (report, NULL);
  uint64_t chain = column (event, kind, LNS_COLUMN_CALL_CHAIN);
  joined[0] = '\0';
  for (uint32_t node = (uint32_t)(chain - 1); chain != 0 && node != LNS_ID_NONE;
       node = nodes[node].parent)
    {
      strcat (joined, joined[0] != '\0' ? " < " : "");
      strcat (joined, lns_report_string (report, frames[nodes[node].frame].symbol, NULL));
    }
  return joined;
}

static const char *
chain_text (const LnsEvent *event)
{
  return chain_text_of (event, LNS_LANE_CUDA_API);
}

static void
add_call (int64_t start_ns, uint32_t correlation)
{
  LnsWireCudaApiBytes call = call_at (start_ns, correlation, 0);
  ADD (call);
}

static const uint64_t addresses[] = { CODE + 0x11, CODE + 0x22, 2 * CODE + 0x33 };

/* A call has the callers of its number, of the runtime's calls or of the driver's, whichever comes first. */
static void
a_call_has_its_callers (void)
{
  LnsEvent events[4];
  begin ();
  add_code (CODE, "/lib/a.so");
  add_code (2 * CODE, "/lib/libc.so.6");
  add_call (10, 0x10001);
  add_chain (1, addresses, 3);
  add_callers (12, LNS_WIRE_CHAIN_RUNTIME, 0x10001, 1);
  add_callers (22, LNS_WIRE_CHAIN_RUNTIME | LNS_WIRE_CHAIN_CUT, 0x10002, 1);
  add_callers (32, 0, 0x10003, 1); /* of the driver's call with that number */
  add_call (20, 0x10002);
  add_call (30, 0x10003);
  play ();
  lns_decoder_write_held (decoder);
  finish ();
  LNS_CHECK_INT (events_of (LNS_LANE_CUDA_API, events, 4), 3);
  LNS_CHECK_STR (chain_text (&events[0]), "a.so+0x10 < a.so+0x21 < libc.so.6+0x32");
  LNS_CHECK_STR (chain_text (&events[2]), "");
  LNS_CHECK (lns_decoder_unrecorded (decoder, 0) == NULL);
  end ();
}

/* Callers are those that are in code, up to the first that is not; the recorder's own are none of the program's. */
static void
a_chain_ends_where_code_ends (void)
{
  static const uint64_t broken[] = { 3 * CODE + 1, CODE + 0x11, 77, 2 * CODE };
  LnsEvent events[2];
  begin ();
  add_code (CODE, "/lib/a.so");
  add_code (3 * CODE, "/lib/libcupti.so.13");
  add_chain (1, broken, 4);
  add_callers (12, LNS_WIRE_CHAIN_RUNTIME, 1, 1);
  add_call (10, 1);
  play ();
  lns_decoder_write_held (decoder);
  finish ();
  LNS_CHECK_INT (events_of (LNS_LANE_CUDA_API, events, 2), 1);
  LNS_CHECK_STR (chain_text (&events[0]), "a.so+0x10 < [callers not recorded]");
  end ();
}

/* The same addresses are in another library once that is mapped in the place of the first. */
static void
code_may_be_replaced (void)
{
  LnsEvent events[3];
  begin ();
  add_code (CODE, "/lib/a.so");
  add_chain (1, addresses, 2);
  add_callers (12, LNS_WIRE_CHAIN_RUNTIME, 1, 1);
  add_call (10, 1);
  play ();
  add_code (CODE, "/lib/b.so");
  add_callers (22, LNS_WIRE_CHAIN_RUNTIME, 2, 1);
  add_call (20, 2);
  play ();
  lns_decoder_write_held (decoder);
  finish ();
  LNS_CHECK_INT (events_of (LNS_LANE_CUDA_API, events, 3), 2);
  LNS_CHECK_STR (chain_text (&events[0]), "a.so+0x10 < a.so+0x21 < [callers not recorded]");
  LNS_CHECK_STR (chain_text (&events[1]), "b.so+0x10 < b.so+0x21 < [callers not recorded]");
  end ();
}

/* A call in the next report has its callers there, from a chain that was told of before. */
static void
each_report_has_its_own_chains (void)
{
  LnsEvent events[2];
  begin ();
  add_code (CODE, "/lib/a.so");
  add_chain (1, addresses, 2);
  add_callers (12, LNS_WIRE_CHAIN_RUNTIME, 1, 1);
  add_call (10, 1);
  play ();
  end_range (300);
  begin_next (500);
  add_callers (612, LNS_WIRE_CHAIN_RUNTIME, 2, 1);
  add_call (610, 2);
  play ();
  lns_decoder_write_held (decoder);
  finish ();
  LNS_CHECK_INT (events_of (LNS_LANE_CUDA_API, events, 2), 1);
  LNS_CHECK_STR (chain_text (&events[0]), "a.so+0x10 < a.so+0x21 < [callers not recorded]");
  end ();
}

/* A process that was killed before anyone knew where its code lay. */
static void
unknown_code_is_told_once (void)
{
  LnsEvent event;
  begin ();
  add_chain (1, addresses, 2);
  for (uint32_t i = 1; i < 4; i++)
    {
      add_callers (12, LNS_WIRE_CHAIN_RUNTIME, i, 1);
      add_call (10 + i, i);
    }
  play ();
  lns_decoder_write_held (decoder);
  finish ();
  LNS_CHECK_INT (events_of (LNS_LANE_CUDA_API, &event, 1), 3);
  LNS_CHECK_STR (chain_text (&event), "");
  const LnsUnrecorded *told = lns_decoder_unrecorded (decoder, 0);
  LNS_CHECK (told != NULL && strcmp (told->code, "LNS-CUDA-031") == 0 &&
             lns_decoder_unrecorded (decoder, 1) == NULL);
  end ();
}

static void
add_os_call (int64_t start_ns)
{
  LnsWireOsCallBytes call = {
    .head = { .ticks = AT (start_ns), .type = LNS_WIRE_OS_CALL, .domain = LNS_OS_nanosleep },
    .n_bytes = sizeof call,
    .end_ticks = AT (start_ns + 5),
  };
  ADD (call);
}

/* A call of the C library has the callers that come just before it, as many as are wanted. */
static void
a_call_of_the_c_library_has_its_callers (void)
{
  LnsEvent events[4];
  begin ();
  add_code (CODE, "/lib/a.so");
  add_code (2 * CODE, "/lib/libc.so.6");
  record_thread (&text, AT (1), 10, 1, "thread");
  add_chain (1, addresses, 3);
  add_chain (2, addresses, 3);
  add_callers (10, LNS_WIRE_CHAIN_OS, 24, 1);
  add_os_call (10);
  add_callers (15, LNS_WIRE_CHAIN_OS, 24, 1); /* its call found no room */
  add_os_call (20);
  add_callers (30, LNS_WIRE_CHAIN_OS, 1, 2);
  add_os_call (30);
  play ();
  lns_decoder_write_held (decoder);
  finish ();
  LNS_CHECK_INT (events_of (LNS_LANE_OS_CALL, events, 4), 3);
  LNS_CHECK_STR (chain_text_of (&events[0], LNS_LANE_OS_CALL),
                 "a.so+0x10 < a.so+0x21 < libc.so.6+0x32");
  LNS_CHECK_STR (chain_text_of (&events[1], LNS_LANE_OS_CALL), "");
  LNS_CHECK_STR (chain_text_of (&events[2], LNS_LANE_OS_CALL),
                 "a.so+0x10 < [callers not recorded]");
  LNS_CHECK (lns_decoder_unrecorded (decoder, 0) == NULL);
  end ();
  begin ();
  record_thread (&text, AT (1), 10, 1, "thread");
  add_chain (1, addresses, 3);
  add_callers (10, LNS_WIRE_CHAIN_OS, 24, 1);
  add_os_call (10);
  play ();
  lns_decoder_write_held (decoder);
  finish ();
  LNS_CHECK_INT (events_of (LNS_LANE_OS_CALL, events, 4), 1);
  LNS_CHECK_STR (chain_text_of (&events[0], LNS_LANE_OS_CALL), "");
  const LnsUnrecorded *told = lns_decoder_unrecorded (decoder, 0);
  LNS_CHECK (told != NULL && strcmp (told->code, "LNS-OSRT-006") == 0);
  end ();
}

/* The words of a stack come from the program, which may write what it likes. */
static void
hostile_stacks_do_no_harm (void)
{
  uint64_t state = 1;
  begin ();
  add_code (CODE, "/lib/a.so");
  for (uint32_t i = 1; i <= 200; i++)
    {
      uint64_t words[8];
      for (int word = 0; word < 8; word++)
        {
          static const uint64_t places[] = { 1,      2,      3,      2048,   2049,   0x3006,
                                             0x3007, 0x3010, 0x3021, 0x3022, 0x3f00, 0x3f01,
                                             0x3f02, 0x4000, 0xffff, 0 };
          state = state * UINT64_C (6364136223846793005) + 1442695040888963407u;
          const uint64_t value = state >> 20 & 1 ? CODE + (state >> 30 & 4095) : state >> 16;
          words[word] = lns_wire_stack_word (places[state >> 60], value);
        }
      add_chain (i, words, 1 + i % 8);
      add_callers (10 * i + 2, LNS_WIRE_CHAIN_RUNTIME | LNS_WIRE_CHAIN_STACK, i, i);
      add_call (10 * i, i);
      play ();
    }
  lns_decoder_write_held (decoder);
  finish ();
  LnsEvent event;
  LNS_CHECK_INT (events_of (LNS_LANE_CUDA_API, &event, 1), 200);
  end ();
}

/* A stream may name what is no chain, and a definition may be too short. */
static void
damaged_records_do_no_harm (void)
{
  LnsEvent event;
  LnsWireCodeBytes code = {
    .head = { .type = LNS_WIRE_CODE }, .n_path_bytes = 4000, .start = CODE, .end = CODE + 4096
  };
  begin ();
  ADD (code);
  code.n_path_bytes = 0;
  code.end = code.start;
  ADD (code);
  add_chain (1, addresses, 0);
  add_callers (12, LNS_WIRE_CHAIN_RUNTIME, 1, 1);
  add_callers (12, LNS_WIRE_CHAIN_RUNTIME, 1, 4095);
  add_callers (12, LNS_WIRE_CHAIN_RUNTIME, 1, 0xffff);
  add_call (10, 1);
  play ();
  lns_decoder_write_held (decoder);
  finish ();
  LNS_CHECK_INT (events_of (LNS_LANE_CUDA_API, &event, 1), 1);
  LNS_CHECK_STR (chain_text (&event), "");
  end ();
}

/* Adds the function NUMBER, whose first line is 10. Its table of lines has one step: from byte 4 on, line 11 (co_lnotab). */
static void
add_function (uint32_t number, const char *name, const char *file)
{
  static const uint8_t lines[] = { 4, 1 };
  struct
  {
    LnsWirePythonCodeBytes code;
    char text[64];
  } record = { .code = { .head = { .type = LNS_WIRE_PYTHON_CODE },
                         .number = number,
                         .first_line = 10,
                         .n_line_bytes = sizeof lines,
                         .n_name = (uint16_t)strlen (name),
                         .n_file = (uint16_t)strlen (file),
                         .name_kind = 1,
                         .file_kind = 1,
                         .has_lines = true,
                         .line_format = LNS_PYTHON_LINES_DELTAS } };
  const size_t n_text = strlen (name) + strlen (file);
  strcat (strcpy (record.text, name), file);
  memcpy (record.text + n_text, lines, sizeof lines);
  add_cut (&record, sizeof record, sizeof record.code + n_text + sizeof lines);
}

/* The lines of the frames of Python in the chain of EVENT. */
static const char *
lines_text (const LnsEvent *event)
{
  static char joined[128];
  const LnsCallNode *nodes = lns_report_call_nodes (report, NULL);
  const LnsStackFrame *frames = lns_report_frames (report, NULL);
  uint64_t chain = column (event, LNS_LANE_CUDA_API, LNS_COLUMN_CALL_CHAIN);
  size_t n = 0;
  joined[0] = '\0';
  for (uint32_t node = (uint32_t)(chain - 1); chain != 0 && node != LNS_ID_NONE;
       node = nodes[node].parent)
    if (frames[nodes[node].frame].file != 0)
      n += (size_t)snprintf (joined + n, sizeof joined - n, "%u ", frames[nodes[node].frame].line);
  return joined;
}

/* Python functions stand in place of the interpreter that runs them. */
static void
python_functions_come_behind_addresses (void)
{
  const uint64_t whole[] = { CODE + 0x11, lns_wire_chain_python (1, 2),
                             lns_wire_chain_python (2, 6) },
                 gap[] = { CODE + 0x11, lns_wire_chain_python (0, 0),
                           lns_wire_chain_python (1, 6) },
                 unknown[] = { lns_wire_chain_python (1, 2), lns_wire_chain_python (7, 2),
                               lns_wire_chain_python (2, 2) };
  LnsEvent events[4];
  begin ();
  add_code (CODE, "/lib/a.so");
  add_function (1, "inner", "a.py");
  add_function (2,
                "\xe4u\xdf"
                "er",
                "a.py");
  add_chain (1, whole, 3);
  add_chain (2, gap, 3);
  add_chain (3, unknown, 3);
  add_callers (12, LNS_WIRE_CHAIN_RUNTIME, 1, 1);
  add_callers (22, LNS_WIRE_CHAIN_RUNTIME | LNS_WIRE_CHAIN_CUT, 2, 2);
  add_callers (32, LNS_WIRE_CHAIN_RUNTIME, 3, 3);
  add_call (10, 1);
  add_call (20, 2);
  add_call (30, 3);
  play ();
  lns_decoder_write_held (decoder);
  finish ();
  LNS_CHECK_INT (events_of (LNS_LANE_CUDA_API, events, 4), 3);
  LNS_CHECK_STR (chain_text (&events[0]), "a.so+0x10 < inner < äußer");
  LNS_CHECK_STR (lines_text (&events[0]), "10 11 ");
  LNS_CHECK_STR (chain_text (&events[1]),
                 "a.so+0x10 < [callers not recorded] < inner < [callers not recorded]");
  LNS_CHECK_STR (lines_text (&events[1]), "11 ");
  LNS_CHECK_STR (chain_text (&events[2]), "inner < [callers not recorded] < äußer");
  LNS_CHECK (lns_decoder_unrecorded (decoder, 0) == NULL);
  end ();
}

/* A function that says more than its record has is none. */
static void
damaged_functions_do_no_harm (void)
{
  const uint64_t chain[] = { CODE + 0x11, lns_wire_chain_python (1, 2) };
  LnsWirePythonCodeBytes code = { .head = { .type = LNS_WIRE_PYTHON_CODE },
                                  .number = 1,
                                  .n_name = UINT16_MAX,
                                  .name_kind = 4,
                                  .file_kind = 1 };
  LnsEvent event;
  begin ();
  add_code (CODE, "/lib/a.so");
  ADD (code);
  code.n_name = 0;
  code.n_line_bytes = UINT32_MAX;
  ADD (code);
  code.n_line_bytes = 0;
  code.name_kind = 3;
  ADD (code);
  code.name_kind = 1;
  code.line_format = 9;
  ADD (code);
  add_chain (1, chain, 2);
  add_callers (12, LNS_WIRE_CHAIN_RUNTIME, 1, 1);
  add_call (10, 1);
  play ();
  lns_decoder_write_held (decoder);
  finish ();
  LNS_CHECK_INT (events_of (LNS_LANE_CUDA_API, &event, 1), 1);
  LNS_CHECK_STR (chain_text (&event), "a.so+0x10 < [callers not recorded]");
  end ();
}

int
main (void)
{
  LNS_TEST (a_call_has_its_callers);
  LNS_TEST (a_chain_ends_where_code_ends);
  LNS_TEST (code_may_be_replaced);
  LNS_TEST (each_report_has_its_own_chains);
  LNS_TEST (unknown_code_is_told_once);
  LNS_TEST (a_call_of_the_c_library_has_its_callers);
  LNS_TEST (hostile_stacks_do_no_harm);
  LNS_TEST (damaged_records_do_no_harm);
  LNS_TEST (python_functions_come_behind_addresses);
  LNS_TEST (damaged_functions_do_no_harm);
  return lns_tap_done ();
}
