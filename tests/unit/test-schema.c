/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests tables, cursors and typed payloads. tests/golden/test_sql.py compares rows and constraints
 * with a plain copy, through SQL. */

#include "src/base/call-text.h"
#include "src/base/json.h"
#include "src/tables/enums.h"
#include "src/tables/payload-types.h"
#include "src/tables/payload.h"
#include "src/tables/row-cursor.h"
#include "tests/tap.h"
#include "tests/unit/report-fixture.h"

static char text[65536];

/* What WRITE writes, as text. */
#define TEXT_OF(stream, ...)                                                                       \
 ({                                                                                                \
 FILE *stream = fmemopen (text, sizeof text, "w");                                                 \
 __VA_ARGS__;                                                                                      \
 fclose (stream);                                                                                  \
 text;                                                                                             \
 })

static void
test_json_strings (void)
{
#define STRING(bytes) TEXT_OF (stream, lns_json_write_string (stream, bytes, sizeof (bytes) - 1))
  LNS_CHECK_STR (STRING ("a\"b\\c"), "\"a\\\"b\\\\c\"");
  LNS_CHECK_STR (STRING ("\n\t\x01\x7f"), "\"\\u000a\\u0009\\u0001\\u007f\"");
  LNS_CHECK_STR (STRING ("gr\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80"),
                 "\"gr\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80\"");
  /* Cut, overlong, a surrogate, too large, a stray continuation. */
  LNS_CHECK_STR (STRING ("\xe2\x82"), "\"\\ufffd\\ufffd\"");
  LNS_CHECK_STR (STRING ("\xc0\xaf|\xe0\x80\x80"), "\"\\ufffd\\ufffd|\\ufffd\\ufffd\\ufffd\"");
  LNS_CHECK_STR (STRING ("\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\"");
  LNS_CHECK_STR (STRING ("\xf4\x90\x80\x80\x80"), "\"\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\"");
}

static void
test_json_numbers (void)
{
  double third = 1.0 / 3;
  char escape[LNS_JSON_ESCAPE_SIZE];
  LNS_CHECK (lns_json_plain_length ((const uint8_t *)"a\xC3\xA9\xC3", 4) == 3);
  LNS_CHECK (lns_json_plain_length ((const uint8_t *)"\"", 1) == 0);
  LNS_CHECK (lns_json_plain_length ((const uint8_t *)"plain", 5) == 5);
  LNS_CHECK_STR (lns_json_escape ('"', escape), "\\\"");
  LNS_CHECK_STR (lns_json_escape (0x1F, escape), "\\u001f");
  LNS_CHECK_STR (lns_json_escape (0xC3, escape), "\\ufffd");
  LNS_CHECK (strtod (TEXT_OF (stream, lns_json_write_double (stream, third)), NULL) == third);
  LNS_CHECK_STR (TEXT_OF (stream, lns_json_write_double (stream, __builtin_inf ())), "null");
  LNS_CHECK_STR (TEXT_OF (stream, lns_json_write_double (stream, __builtin_nan (""))), "null");
}

static void
test_tables_have_names_and_columns (void)
{
  unsigned n;
  const LnsTable *tables = lns_table_all (&n);

  LNS_CHECK (n > 80);
  for (unsigned i = 0; i < n; i++)
    {
      LNS_CHECK (lns_table_find (tables[i].name) == &tables[i]);
      LNS_CHECK (tables[i].n_columns > 0 && tables[i].n_columns < 64);
    }
  LNS_CHECK (lns_table_find ("nvtx_events") == lns_table_find ("NVTX_EVENTS"));
  LNS_CHECK (lns_table_find ("NVTX_EVENT") == NULL);
  LNS_CHECK_INT (lns_table_find ("NVTX_EVENTS")->n_columns, LNS_NVTX_N_COLUMNS);
  LNS_CHECK_INT (lns_table_find ("LNS_COUNTERS")->n_columns, LNS_COUNTERS_N_COLUMNS);
  LNS_CHECK_STR (lns_enums[0].name, "ENUM_CUDA_DEV_MEM_EVENT_OPER");
  LNS_CHECK_STR (lns_enum_label ("enum_cuda_memcpy_oper", 1), "Host-to-Device");
  LNS_CHECK (lns_enum_label ("ENUM_CUDA_MEMCPY_OPER", 99) == NULL);
  for (int64_t kind = 0; kind < lns_enum_find ("ENUM_CUDA_MEMCPY_OPER")->n_values; kind++)
    {
      char name[64];
      snprintf (name, sizeof name, "[CUDA memcpy %s]",
                lns_enum_label ("ENUM_CUDA_MEMCPY_OPER", kind));
      LNS_CHECK_STR (lns_call_text_copy ((uint64_t)kind), name);
    }
  LNS_CHECK_STR (lns_call_text_copy (99), "[CUDA memcpy Unknown]");
  LNS_CHECK (lns_enum_label ("ENUM_CUDA", 1) == NULL);
}

static void
test_table_sql (void)
{
  char *sql = lns_table_sql (lns_table_find ("StringIds"), "temp");
  LNS_CHECK_STR (
      sql,
      "CREATE TABLE temp.StringIds (\"id\" INTEGER NOT NULL PRIMARY KEY, \"value\" TEXT NOT NULL)");
  free (sql);
  sql = lns_table_sql (lns_table_find ("PROCESSES"), NULL);
  LNS_CHECK_STR (sql,
                 "CREATE TABLE PROCESSES (\"globalPid\" INTEGER, \"pid\" INTEGER, \"name\" TEXT, "
                 "\"parentGlobalPid\" INTEGER, \"commandLine\" TEXT, \"exitCode\" INTEGER, "
                 "\"exitSignal\" INTEGER)");
  free (sql);
}

static void
test_payload_types (void)
{
  LNS_CHECK_INT (lns_payload_type_info (0).reading, LNS_READ_NONE);
  LNS_CHECK_INT (lns_payload_type_info (UINT64_MAX).reading, LNS_READ_NONE);
  LNS_CHECK_INT (lns_payload_type_info (18).size_bytes, 8);
  LNS_CHECK_INT (lns_payload_type_info (11).reading, LNS_READ_SIGNED);
  LNS_CHECK_STR (lns_payload_type_name (LNS_PAYLOAD_TYPED), "typed");
  LNS_CHECK_STR (lns_payload_type_name (99), "unknown");
}

/* ---- Payloads ----------------------------------------------------------------------------- */

#define FIXED (1u << 4)

static uint32_t
add_schema (LnsWriter *writer,
            uint64_t id,
            uint32_t type,
            uint32_t size,
            const LnsSchemaEntry *entries,
            unsigned n)
{
  LnsSchema schema = { .domain = 0, .schema_id = id, .type = type, .size_bytes = size };
  uint32_t index = lns_writer_add_schema (writer, &schema);
  char name[16];

  for (unsigned i = 0; i < n; i++)
    {
      LnsSchemaEntry entry = entries[i];
      entry.schema = index;
      entry.position = i;
      snprintf (name, sizeof name, "%c", 'a' + (char)i);
      entry.name = lns_writer_string (writer, name, 1);
      lns_writer_add_schema_entry (writer, &entry);
    }
  return index;
}

/* The JSON, or text, of PAYLOAD's SIZE bytes as one part of SCHEMA_ID. */
static const char *
decode (
    LnsPayloadDecoder *decoder, uint64_t schema_id, const void *payload, uint32_t size, bool json)
{
  static uint8_t bytes[4096];

  memcpy (bytes, &schema_id, 8);
  memcpy (bytes + 8, &size, 4);
  memcpy (bytes + 12, payload, size);
  return TEXT_OF (stream,
                  lns_payload_write (decoder, json ? LNS_PAYLOAD_AS_JSON : LNS_PAYLOAD_AS_TEXT, 0,
                                     bytes, 12 + size, stream));
}

static LnsReport *
report_with_schemas (void)
{
  LnsWriter *writer = fixture_writer (fixture_path ("payloads.rep"));
  /* Offsets that nobody gave follow from alignment: 1 byte, then at 4, then at 8. */
  add_schema (writer, 1 << 24, 1, 16,
              (LnsSchemaEntry[]){ { .type = 12 }, { .type = 15 }, { .type = 17 } }, 3);
  add_schema (writer, (1 << 24) + 1, LNS_PAYLOAD_SCHEMA_UNION, 4,
              (LnsSchemaEntry[]){ { .type = 15 }, { .type = 19 } }, 2);
  add_schema (writer, (1 << 24) + 2, 1, 8,
              (LnsSchemaEntry[]){ { .type = 100 }, { .type = (1 << 24) + 1, .offset_bytes = 4 } },
              2);
  add_schema (
      writer, (1 << 24) + 3, 1, 12,
      (LnsSchemaEntry[]){ { .type = 16 }, { .type = 13, .flags = 3u << 4, .offset_bytes = 4 } }, 2);
  add_schema (writer, (1 << 24) + 4, 1, 1,
              (LnsSchemaEntry[]){
                  { .type = (1 << 24) + 4, .flags = FIXED, .array_or_union_detail = 4096 } },
              1);
  add_schema (
      writer, (1 << 24) + 5, 1, 20,
      (LnsSchemaEntry[]){ { .type = 42 },
                          { .type = 50, .offset_bytes = 2 },
                          { .type = 69, .offset_bytes = 4 },
                          { .type = 23, .offset_bytes = 8, .flags = LNS_PAYLOAD_ENTRY_POINTER },
                          { .type = 1, .offset_bytes = 16, .flags = 2u << 4 } },
      5);
  add_schema (writer, (1 << 24) + 6, 1, 16, (LnsSchemaEntry[]){ { .type = 1 << 24 } }, 1);
  add_schema (writer, (1 << 24) + 7, LNS_PAYLOAD_SCHEMA_UNION_TAGGED, 8,
              (LnsSchemaEntry[]){ { .type = 100 },
                                  { .type = 15, .offset_bytes = 4 },
                                  { .type = 19, .offset_bytes = 4 } },
              3);
  fixture_finish (writer, 100);
  return fixture_open (fixture_path ("payloads.rep"), NULL);
}

static void
test_payloads_are_decoded (void)
{
  LnsReport *report = report_with_schemas ();
  LnsPayloadDecoder *decoder = lns_payload_decoder_new (report);
  const struct
  {
    uint8_t a;
    int32_t b;
    int64_t c;
  } aligned = { 255, -2, -3 };
  const uint32_t chosen[] = { 1, 0x40490FDB }, other[] = { 0, 7 };
  const struct __attribute__ ((packed))
  {
    uint32_t n;
    int16_t values[4];
  } counted = { 3, { -1, 2, -3, 4 } };
  const uint8_t odd[20] = { 0x00, 0x3C, 0xC0, 0x3F, 0x44, 0x33, 0x22, 0x11, 0xEF, 0xBE,
                            0,    0,    0,    0,    0,    0,    'h',  'i',  0,    'x' };

  LNS_CHECK_STR (decode (decoder, 1 << 24, &aligned, 16, true), "{\"a\":255,\"b\":-2,\"c\":-3}");
  LNS_CHECK_STR (decode (decoder, 1 << 24, &aligned, 16, false), "a: 255\nb: -2\nc: -3");
  LNS_CHECK_STR (decode (decoder, (1 << 24) + 2, chosen, 8, true),
                 "{\"a\":1,\"b\":{\"b\":3.14159274}}");
  LNS_CHECK_STR (decode (decoder, (1 << 24) + 2, other, 8, true), "{\"a\":0,\"b\":{\"a\":7}}");
  /* The union's first entry says which of those behind it is there. */
  LNS_CHECK_STR (decode (decoder, (1 << 24) + 7, chosen, 8, true), "{\"c\":3.14159274}");
  LNS_CHECK_STR (decode (decoder, (1 << 24) + 7, other, 8, true), "{\"b\":7}");
  LNS_CHECK_STR (decode (decoder, (1 << 24) + 3, &counted, 12, true), "{\"a\":3,\"b\":[-1,2,-3]}");
  LNS_CHECK_STR (decode (decoder, (1 << 24) + 5, odd, 20, true),
                 "{\"a\":1,\"b\":1.5,\"c\":\"#11223344\",\"d\":\"0xbeef\",\"e\":\"hi\"}");
  LNS_CHECK_STR (decode (decoder, (1 << 24) + 6, &aligned, 16, false),
                 "a: \n  a: 255\n  b: -2\n  c: -3");
  LNS_CHECK_STR (decode (decoder, 18, &(uint64_t){ 77 }, 8, true), "77");
  LNS_CHECK_STR (decode (decoder, 76, "text", 4, true), "\"text\"");
  LNS_CHECK_STR (decode (decoder, 12345678, "\x01\xab", 2, true), "\"01ab\"");
  lns_payload_decoder_free (decoder);
  lns_report_close (report);
}

static void
test_hostile_payloads_end (void)
{
  LnsReport *report = report_with_schemas ();
  LnsPayloadDecoder *decoder = lns_payload_decoder_new (report);
  static const uint8_t zeros[4000];
  uint8_t length_lies[20] = { 0 };

  /* An array of 4,096 of itself, nested: cut by depth and by the number of values. */
  LNS_CHECK (strlen (decode (decoder, (1 << 24) + 4, zeros, 4000, true)) < sizeof text);
  for (uint32_t size = 0; size < 16; size++)
    {
      LNS_CHECK (decode (decoder, 1 << 24, zeros, size, true)[0] == '{');
      decode (decoder, (1 << 24) + 5, zeros, size, false);
    }
  /* A part that says it is longer than the payload. */
  length_lies[8] = 200;
  LNS_CHECK_STR (TEXT_OF (stream, lns_payload_write (decoder, LNS_PAYLOAD_AS_JSON, 0, length_lies,
                                                     14, stream)),
                 "\"0000\"");
  LNS_CHECK_STR (TEXT_OF (stream, lns_payload_write (decoder, LNS_PAYLOAD_AS_JSON, LNS_ID_NONE,
                                                     length_lies, 5, stream)),
                 "[]");
  lns_payload_decoder_free (decoder);
  lns_report_close (report);
}

static void
test_binary_payloads (void)
{
  LnsReport *report = report_with_schemas ();
  LnsPayloadDecoder *decoder = lns_payload_decoder_new (report);
  const uint8_t payload[] = { 5, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 'x', 'y' };
  const uint64_t header[] = { 0, 5, 2, 32 };

  TEXT_OF (stream,
           lns_payload_write (decoder, LNS_PAYLOAD_AS_BINARY, 0, payload, sizeof payload, stream));
  LNS_CHECK (memcmp (text, header, sizeof header) == 0 && memcmp (text + 32, "xy", 2) == 0);
  lns_payload_decoder_free (decoder);
  lns_report_close (report);
}

/* ---- Rows --------------------------------------------------------------------------------- */

static void
test_columns_that_constraints_can_use (void)
{
  const LnsTable *nvtx = lns_table_find ("NVTX_EVENTS");
  const char *path = fixture_path ("empty.rep");
  bool only_equal;

  fixture_finish (fixture_writer (path), 0);
  LnsReport *report = fixture_open (path, NULL);
  LnsTables *tables = lns_tables_new (report, NULL);
  LNS_CHECK (lns_row_cursor_can_use (tables, nvtx, -1, &only_equal) && !only_equal);
  LNS_CHECK (lns_row_cursor_can_use (tables, nvtx, LNS_NVTX_START, &only_equal) && !only_equal);
  LNS_CHECK (lns_row_cursor_can_use (tables, nvtx, LNS_NVTX_GLOBAL_TID, &only_equal) && only_equal);
  LNS_CHECK (!lns_row_cursor_can_use (tables, nvtx, LNS_NVTX_TEXT, &only_equal));
  LNS_CHECK (lns_row_cursor_can_use (tables, lns_table_find ("ThreadNames"), 2, &only_equal) &&
             !only_equal);
  LNS_CHECK (!lns_row_cursor_can_use (tables, lns_table_find ("PROCESSES"), 2, &only_equal));
  lns_tables_free (tables);
  lns_report_close (report);
}

/* Three lanes of random events; the rows of a time window are found, with and without order. */
static void
test_windows_of_rows (void)
{
  const char *path = fixture_path ("rows.rep");
  LnsWriter *writer = fixture_writer (path);
  LnsExpectedLane lanes[3];

  for (unsigned i = 0; i < 3; i++)
    {
      uint32_t lane = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
      lanes[i] = fixture_events ((LnsShape)i, 20000, 0, i + 1);
      for (uint32_t e = 0; e < lanes[i].n; e++)
        lns_writer_append (writer, lane, &lanes[i].events[e]);
    }
  fixture_finish (writer, INT64_C (1) << 50);
  LnsReport *report = fixture_open (path, NULL);
  LnsTables *tables = lns_tables_new (report, NULL);
  const LnsTable *nvtx = lns_table_find ("NVTX_EVENTS");
  LnsRowCursor *cursor = lns_row_cursor_new (tables, nvtx);
  int64_t middle = lanes[0].events[10000].start_ns;
  LnsRowConstraint window = { LNS_NVTX_START, middle, middle + 100000 };
  uint64_t n_expected = 0, sum_expected = 0;

  LNS_CHECK (lns_tables_report (tables) == report);
  LNS_CHECK (lns_tables_n_rows (tables, nvtx) >= 60000);
  for (unsigned i = 0; i < 3; i++)
    for (uint32_t e = 0; e < lanes[i].n; e++)
      if (lanes[i].events[e].start_ns >= window.min && lanes[i].events[e].start_ns <= window.max)
        {
          n_expected++;
          sum_expected += (uint64_t)lanes[i].events[e].start_ns;
        }
  for (int by_start = 0; by_start < 2; by_start++)
    {
      uint64_t n = 0, sum = 0;
      int64_t last = INT64_MIN, last_rowid = 0;
      bool row;
      LNS_CHECK (lns_row_cursor_start (cursor, &window, 1, by_start, NULL));
      while (lns_row_cursor_next (cursor, &row, NULL) && row)
        {
          int64_t start = lns_row_cursor_value (cursor, LNS_NVTX_START).integer;
          n++;
          sum += (uint64_t)start;
          LNS_CHECK (lns_row_cursor_lane (cursor) < 3);
          LNS_CHECK_INT (lns_row_cursor_value (cursor, LNS_NVTX_EVENT_ID).integer,
                         lns_row_cursor_rowid (cursor));
          LNS_CHECK (by_start ? start >= last : lns_row_cursor_rowid (cursor) > last_rowid);
          last = start;
          last_rowid = lns_row_cursor_rowid (cursor);
        }
      LNS_CHECK_INT (n, n_expected);
      LNS_CHECK_INT (sum, sum_expected);
    }
  /* A window reads a few chunks, not the lanes. */
  LNS_CHECK (lns_report_counters (report).chunks_decoded < 40);
  lns_row_cursor_free (cursor);
  lns_tables_free (tables);
  lns_report_close (report);
  for (unsigned i = 0; i < 3; i++)
    free (lanes[i].events);
}

/* Also where a payload has the bytes of a text, and came first. */
static void
test_strings_are_found (void)
{
  const char *path = fixture_path ("strings.rep");
  LnsWriter *writer = fixture_writer (path);
  uint32_t lane = fixture_lane (writer, LNS_LANE_NVTX_PUSH_POP);
  LnsEvent event = { .start_ns = 1 };
  uint32_t id;

  event.extra[lns_lane_kind_extra (LNS_LANE_NVTX_PUSH_POP, LNS_COLUMN_PAYLOAD_TYPE)] =
      LNS_PAYLOAD_TYPED;
  event.extra[lns_lane_kind_extra (LNS_LANE_NVTX_PUSH_POP, LNS_COLUMN_PAYLOAD)] =
      lns_writer_bytes (writer, "twin", 4);
  uint32_t twin = lns_writer_string (writer, "twin", 4),
           nul = lns_writer_string (writer, "a\0b", 3);
  event.name = twin;
  lns_writer_append (writer, lane, &event);
  fixture_finish (writer, 10);
  LnsReport *report = fixture_open (path, NULL);
  LnsTables *tables = lns_tables_new (report, NULL);
  LNS_CHECK (lns_tables_find_string (tables, "twin", 4, &id, NULL));
  LNS_CHECK_INT (id, twin);
  LNS_CHECK (lns_tables_find_string (tables, "a\0b", 3, &id, NULL));
  LNS_CHECK_INT (id, nul);
  LNS_CHECK (lns_tables_find_string (tables, "", 0, &id, NULL));
  LNS_CHECK_INT (id, 0);
  LNS_CHECK (lns_tables_find_string (tables, "twins", 5, &id, NULL));
  LNS_CHECK_INT (id, LNS_ID_NONE);
  lns_tables_free (tables);
  lns_report_close (report);
}

static void
test_ids_are_packed (void)
{
  const char *path = fixture_path ("ids.rep");
  LnsWriter *writer = fixture_writer (path);
  LnsProcess process = { .pid = 0x123456, .parent = LNS_ID_NONE };
  LnsThread thread = { .target_tid = 0x654321 };

  thread.process = lns_writer_add_process (writer, &process);
  uint32_t id = lns_writer_add_thread (writer, &thread);
  fixture_finish (writer, 1);
  LnsReport *report = fixture_open (path, NULL);
  LnsTables *tables = lns_tables_new (report, NULL);
  LNS_CHECK_INT (lns_tables_global_pid (tables, thread.process), INT64_C (0x123456000000));
  LNS_CHECK_INT (lns_tables_global_tid (tables, id), INT64_C (0x123456654321));
  LNS_CHECK_INT (lns_tables_global_tid (tables, LNS_ID_NONE), 0);
  LNS_CHECK_INT (lns_tables_global_pid (tables, 99), 0);
  lns_tables_free (tables);
  lns_report_close (report);
}

int
main (void)
{
  LNS_TEST (test_json_strings);
  LNS_TEST (test_json_numbers);
  LNS_TEST (test_tables_have_names_and_columns);
  LNS_TEST (test_table_sql);
  LNS_TEST (test_payload_types);
  LNS_TEST (test_payloads_are_decoded);
  LNS_TEST (test_hostile_payloads_end);
  LNS_TEST (test_binary_payloads);
  LNS_TEST (test_columns_that_constraints_can_use);
  LNS_TEST (test_windows_of_rows);
  LNS_TEST (test_strings_are_found);
  LNS_TEST (test_ids_are_packed);
  return lns_tap_done ();
}
