/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "src/tables/enums.h"
#include "src/tables/event-tables-private.h"
#include "src/store/format/definitions.h"

/* Columns and their order are those of public exports of schema 3.25, which adds to 3.24 only at the
 * end: programs index `SELECT *` by position. NVTX_EVENTS ends with eventId, which later schemas have. */
#define INTEGER(name)                                                                              \
 {                                                                                                 \
  name, "INTEGER", LNS_COLUMN_PLAIN                                                                \
 }
#define INTEGER_NOT_NULL(name)                                                                     \
 {                                                                                                 \
  name, "INTEGER", LNS_COLUMN_NOT_NULL                                                             \
 }
#define KEY(name)                                                                                  \
 {                                                                                                 \
  name, "INTEGER", LNS_COLUMN_KEY                                                                  \
 }
#define REAL(name)                                                                                 \
 {                                                                                                 \
  name, "REAL", LNS_COLUMN_PLAIN                                                                   \
 }
#define TEXT(name)                                                                                 \
 {                                                                                                 \
  name, "TEXT", LNS_COLUMN_PLAIN                                                                   \
 }
#define TEXT_NOT_NULL(name)                                                                        \
 {                                                                                                 \
  name, "TEXT", LNS_COLUMN_NOT_NULL                                                                \
 }

static const LnsTableColumn StringIds[] = {
  KEY ("id"),
  TEXT_NOT_NULL ("value"),
};

static const LnsTableColumn ThreadNames[] = {
  INTEGER_NOT_NULL ("nameId"),
  INTEGER ("priority"),
  INTEGER ("globalTid"),
};

static const LnsTableColumn ProcessStreams[] = {
  INTEGER_NOT_NULL ("globalPid"),
  INTEGER_NOT_NULL ("filenameId"),
  INTEGER_NOT_NULL ("contentId"),
};

static const LnsTableColumn PROCESSES[] = {
  INTEGER ("globalPid"),
  INTEGER ("pid"),
  TEXT ("name"),
};

static const LnsTableColumn NVTX_EVENTS[] = {
  INTEGER_NOT_NULL ("start"),
  INTEGER ("end"),
  INTEGER_NOT_NULL ("eventType"),
  INTEGER ("rangeId"),
  INTEGER ("category"),
  INTEGER ("color"),
  TEXT ("text"),
  INTEGER ("globalTid"),
  INTEGER ("endGlobalTid"),
  INTEGER ("textId"),
  INTEGER ("domainId"),
  INTEGER ("uint64Value"),
  INTEGER ("int64Value"),
  REAL ("doubleValue"),
  INTEGER ("uint32Value"),
  INTEGER ("int32Value"),
  REAL ("floatValue"),
  INTEGER ("jsonTextId"),
  TEXT ("jsonText"),
  TEXT ("binaryData"),
  KEY ("eventId"),
};

static const LnsTableColumn NVTX_PAYLOAD_SCHEMAS[] = {
  INTEGER ("domainId"), INTEGER ("schemaId"),   TEXT ("name"),           INTEGER ("type"),
  INTEGER ("flags"),    INTEGER ("numEntries"), INTEGER ("payloadSize"), INTEGER ("alignTo"),
};

static const LnsTableColumn NVTX_PAYLOAD_SCHEMA_ENTRIES[] = {
  INTEGER_NOT_NULL ("domainId"),
  INTEGER_NOT_NULL ("schemaId"),
  INTEGER_NOT_NULL ("idx"),
  INTEGER ("flags"),
  INTEGER ("type"),
  TEXT ("name"),
  TEXT ("description"),
  INTEGER ("arrayOrUnionDetail"),
  INTEGER ("offset"),
};

static const LnsTableColumn DIAGNOSTIC_EVENT[] = {
  INTEGER_NOT_NULL ("timestamp"), INTEGER_NOT_NULL ("timestampType"),
  INTEGER_NOT_NULL ("source"),    INTEGER_NOT_NULL ("severity"),
  TEXT_NOT_NULL ("text"),         INTEGER ("globalPid"),
};

static const LnsTableColumn ANALYSIS_DETAILS[] = {
  INTEGER_NOT_NULL ("globalVid"),
  INTEGER_NOT_NULL ("duration"),
  INTEGER_NOT_NULL ("startTime"),
  INTEGER_NOT_NULL ("stopTime"),
};

static const LnsTableColumn ANALYSIS_FILE[] = {
  KEY ("id"),
  TEXT ("filename"),
  INTEGER ("contentId"),
  INTEGER_NOT_NULL ("globalPid"),
};

static const LnsTableColumn TARGET_INFO_SESSION_START_TIME[] = {
  INTEGER ("utcEpochNs"),
  TEXT ("utcTime"),
  TEXT ("localTime"),
  INTEGER ("systemClockNs"),
};

static const LnsTableColumn TARGET_INFO_SYSTEM_ENV[] = {
  INTEGER ("globalVid"),         TEXT_NOT_NULL ("devStateName"), TEXT_NOT_NULL ("name"),
  INTEGER_NOT_NULL ("nameEnum"), TEXT_NOT_NULL ("value"),
};

static const LnsTableColumn META_DATA_CAPTURE[] = {
  TEXT_NOT_NULL ("name"),
  TEXT ("value"),
};

static const LnsTableColumn META_DATA_EXPORT[] = {
  TEXT_NOT_NULL ("name"),
  TEXT ("value"),
};

static const LnsTableColumn NVTX_PAYLOAD_ENUMS[] = {
  INTEGER ("domainId"),   INTEGER ("schemaId"), TEXT ("name"),
  INTEGER ("numEntries"), INTEGER ("size"),
};

static const LnsTableColumn NVTX_PAYLOAD_ENUM_ENTRIES[] = {
  INTEGER_NOT_NULL ("domainId"),
  INTEGER_NOT_NULL ("schemaId"),
  INTEGER_NOT_NULL ("idx"),
  TEXT ("name"),
  INTEGER ("value"),
  INTEGER ("isFlag"),
};

static const LnsTableColumn LNS_COUNTERS[] = {
  INTEGER_NOT_NULL ("timestamp"),
  INTEGER_NOT_NULL ("nameId"),
  TEXT_NOT_NULL ("name"),
  { "value", "NUMERIC", LNS_COLUMN_PLAIN },
  TEXT ("unit"),
  INTEGER ("globalPid"),
  INTEGER ("domainId"),
  INTEGER ("counterId"),
};

static const LnsTableColumn LNS_LOSSES[] = {
  INTEGER ("start"),           INTEGER ("end"),
  INTEGER ("globalPid"),       INTEGER ("globalTid"),
  INTEGER_NOT_NULL ("pushes"), INTEGER_NOT_NULL ("pops"),
  INTEGER_NOT_NULL ("marks"),  INTEGER_NOT_NULL ("starts"),
  INTEGER_NOT_NULL ("ends"),   INTEGER_NOT_NULL ("others"),
  INTEGER_NOT_NULL ("bytes"),
};

static const LnsTableColumn LNS_NVTX_RESOURCES[] = {
  INTEGER ("start"),
  INTEGER ("end"),
  INTEGER ("globalPid"),
  INTEGER_NOT_NULL ("domainId"),
  INTEGER_NOT_NULL ("identifierType"),
  TEXT_NOT_NULL ("identifierTypeName"),
  INTEGER_NOT_NULL ("identifier"),
  INTEGER_NOT_NULL ("textId"),
  TEXT_NOT_NULL ("text"),
};

static const LnsTableColumn enum_columns[] = { KEY ("id"), TEXT ("name"), TEXT ("label") };

#define TABLE(name, source)                                                                        \
 {                                                                                                 \
#  name, LNS_ROWS_##source, sizeof(name) / sizeof name[0], name                                    \
 }
#define TABLE_OF(name, source, kinds)                                                              \
 {                                                                                                 \
#  name, LNS_ROWS_##source, sizeof(name) / sizeof name[0], name, kinds                             \
 }
#define NVTX_KINDS                                                                                 \
 (1u << LNS_LANE_NVTX_PUSH_POP | 1u << LNS_LANE_NVTX_START_END | 1u << LNS_LANE_NVTX_MARK)

static const LnsTable known[] = {
  TABLE (StringIds, STRINGS),
  TABLE (ThreadNames, DEFINITIONS),
  TABLE (ProcessStreams, NONE),
  TABLE (PROCESSES, DEFINITIONS),
  TABLE_OF (NVTX_EVENTS, NVTX, NVTX_KINDS),
  TABLE (NVTX_PAYLOAD_SCHEMAS, DEFINITIONS),
  TABLE (NVTX_PAYLOAD_SCHEMA_ENTRIES, DEFINITIONS),
  TABLE (NVTX_PAYLOAD_ENUMS, DEFINITIONS),
  TABLE (NVTX_PAYLOAD_ENUM_ENTRIES, DEFINITIONS),
  TABLE (DIAGNOSTIC_EVENT, DEFINITIONS),
  TABLE (ANALYSIS_DETAILS, DEFINITIONS),
  TABLE (ANALYSIS_FILE, NONE),
  TABLE (TARGET_INFO_SESSION_START_TIME, DEFINITIONS),
  TABLE (TARGET_INFO_SYSTEM_ENV, DEFINITIONS),
  TABLE (META_DATA_CAPTURE, DEFINITIONS),
  TABLE (META_DATA_EXPORT, DEFINITIONS),
  { "LNS_COUNTERS", LNS_ROWS_COUNTERS, sizeof LNS_COUNTERS / sizeof LNS_COUNTERS[0], LNS_COUNTERS,
    1u << LNS_LANE_COUNTER, 1u << LNS_TRACK_COUNTER },
  TABLE (LNS_LOSSES, DEFINITIONS),
  TABLE (LNS_NVTX_RESOURCES, DEFINITIONS),
};

#define N_KNOWN (sizeof known / sizeof known[0])

static LnsTable all[N_KNOWN + LNS_N_CUDA_TABLES + LNS_N_SYSTEM_TABLES + LNS_N_ENUMS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
make_all (void)
{
  LnsTable *at = mempcpy (all, known, sizeof known);

  at = mempcpy (at, _lns_cuda_tables, sizeof _lns_cuda_tables);
  at = mempcpy (at, _lns_system_tables, sizeof _lns_system_tables);
  for (unsigned i = 0; i < LNS_N_ENUMS; i++)
    *at++ = (LnsTable){ lns_enums[i].name, LNS_ROWS_ENUM, 3, enum_columns };
}

const LnsTable *
lns_table_all (unsigned *ret_n)
{
  pthread_once (&once, make_all);
  *ret_n = (unsigned)(sizeof all / sizeof all[0]);
  return all;
}

const LnsTable *
lns_table_find (const char *name)
{
  unsigned n;
  const LnsTable *tables = lns_table_all (&n);

  for (unsigned i = 0; i < n; i++)
    if (strcasecmp (tables[i].name, name) == 0)
      return &tables[i];
  return NULL;
}

static bool
is_word (const char *name)
{
  for (; *name != '\0'; name++)
    if (!isalnum ((unsigned char)*name) && *name != '_')
      return false;
  return true;
}

static void
write_name (FILE *stream, const char *name)
{
  fputc ('"', stream);
  for (; *name != '\0'; name++)
    {
      if (*name == '"')
        fputc ('"', stream);
      fputc (*name, stream);
    }
  fputc ('"', stream);
}

char *
lns_table_sql (const LnsTable *table, const char *schema)
{
  static const char *const rules[] = { "", " NOT NULL", " NOT NULL PRIMARY KEY" };
  char *sql = NULL;
  size_t size;
  FILE *stream = open_memstream (&sql, &size);

  if (stream == NULL)
    return NULL;
  fprintf (stream, "CREATE TABLE %s%s", schema ? schema : "", schema ? "." : "");
  if (is_word (table->name))
    fputs (table->name, stream);
  else
    write_name (stream, table->name);
  for (unsigned i = 0; i < table->n_columns; i++)
    {
      fputs (i > 0 ? ", " : " (", stream);
      write_name (stream, table->columns[i].name);
      fprintf (stream, " %s%s", table->columns[i].type, rules[table->columns[i].rule]);
    }
  fputs (")", stream);
  return fclose (stream) == 0 ? sql : NULL;
}
