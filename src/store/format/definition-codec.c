/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/format/definition-codec.h"

#include <string.h>

typedef enum
{
  FIELD_U32,
  FIELD_I32, /* enums too                                                                      */
  FIELD_U64,
  FIELD_I64,
  FIELD_TIME /* an int64 of the report's clock, or LNS_TIME_UNKNOWN                             */
} FieldType;

#define FIELDS_MAX 32

typedef struct
{
  uint8_t tag; /* 1–255; 0 ends the list                                                         */
  FieldType type;
  uint16_t offset;
} Field;

typedef struct
{
  size_t size_bytes;
  Field fields[FIELDS_MAX + 1];
} Layout;

#define U32(tag, Type, member)                                                                     \
 {                                                                                                 \
  tag, FIELD_U32, offsetof (Type, member)                                                          \
 }
#define I32(tag, Type, member)                                                                     \
 {                                                                                                 \
  tag, FIELD_I32, offsetof (Type, member)                                                          \
 }
#define U64(tag, Type, member)                                                                     \
 {                                                                                                 \
  tag, FIELD_U64, offsetof (Type, member)                                                          \
 }
#define I64(tag, Type, member)                                                                     \
 {                                                                                                 \
  tag, FIELD_I64, offsetof (Type, member)                                                          \
 }
#define TIME(tag, Type, member)                                                                    \
 {                                                                                                 \
  tag, FIELD_TIME, offsetof (Type, member)                                                         \
 }

/* Tags never change their meaning; new fields get new tags. */
static const Layout layouts[LNS_N_DEFINITION_KINDS] = {
  [LNS_DEFINITION_PROCESS] = { sizeof (LnsProcess),
                               { I32 (1, LnsProcess, pid), I32 (2, LnsProcess, target_pid),
                                 U32 (3, LnsProcess, parent), U32 (4, LnsProcess, name),
                                 U32 (5, LnsProcess, command_line), U32 (6, LnsProcess, executable),
                                 TIME (7, LnsProcess, start_ns), TIME (8, LnsProcess, end_ns),
                                 I32 (9, LnsProcess, exit_code), U32 (10, LnsProcess, machine),
                                 U32 (11, LnsProcess, is_listed), U32 (12, LnsProcess, exit_signal),
                                 U32 (13, LnsProcess, mpi_rank) } },
  [LNS_DEFINITION_THREAD] = { sizeof (LnsThread),
                              { U32 (1, LnsThread, process), I32 (2, LnsThread, tid),
                                I32 (3, LnsThread, target_tid), U32 (4, LnsThread, name),
                                TIME (5, LnsThread, start_ns), TIME (6, LnsThread, end_ns),
                                U32 (7, LnsThread, is_named), I32 (8, LnsThread, priority),
                                U32 (9, LnsThread, listed) } },
  [LNS_DEFINITION_DOMAIN] = { sizeof (LnsDomain),
                              { U32 (1, LnsDomain, process), U32 (2, LnsDomain, number),
                                U32 (3, LnsDomain, name), TIME (4, LnsDomain, created_ns),
                                TIME (5, LnsDomain, destroyed_ns), U32 (6, LnsDomain, thread) } },
  [LNS_DEFINITION_CATEGORY] = { sizeof (LnsCategory),
                                { U32 (1, LnsCategory, domain), U32 (2, LnsCategory, category),
                                  U32 (3, LnsCategory, name) } },
  [LNS_DEFINITION_SCHEMA] = { sizeof (LnsSchema),
                              { U32 (1, LnsSchema, domain), U64 (2, LnsSchema, schema_id),
                                U32 (3, LnsSchema, name), U32 (4, LnsSchema, type),
                                U32 (5, LnsSchema, flags), U32 (6, LnsSchema, size_bytes),
                                U32 (7, LnsSchema, align_bytes), U32 (8, LnsSchema, is_enum) } },
  [LNS_DEFINITION_SCHEMA_ENTRY] = { sizeof (LnsSchemaEntry),
                                    { U32 (1, LnsSchemaEntry, schema),
                                      U32 (2, LnsSchemaEntry, position),
                                      U32 (3, LnsSchemaEntry, name),
                                      U32 (4, LnsSchemaEntry, description),
                                      U32 (5, LnsSchemaEntry, flags), U64 (6, LnsSchemaEntry, type),
                                      U64 (7, LnsSchemaEntry, offset_bytes),
                                      U64 (8, LnsSchemaEntry, array_or_union_detail) } },
  [LNS_DEFINITION_TRACK] = { sizeof (LnsTrack),
                             { I32 (1, LnsTrack, kind), U32 (2, LnsTrack, process),
                               U32 (3, LnsTrack, thread), U32 (4, LnsTrack, domain),
                               U32 (5, LnsTrack, name), U32 (6, LnsTrack, value_type),
                               U32 (7, LnsTrack, unit), U64 (8, LnsTrack, number),
                               U32 (9, LnsTrack, device), U32 (10, LnsTrack, stream),
                               U32 (11, LnsTrack, metric) } },
  [LNS_DEFINITION_LANE] = { sizeof (LnsLane),
                            { U32 (1, LnsLane, track), U32 (2, LnsLane, ordinal),
                              I32 (3, LnsLane, kind) } },
  [LNS_DEFINITION_DIAGNOSTIC] = { sizeof (LnsDiagnostic),
                                  { U32 (1, LnsDiagnostic, code), I32 (2, LnsDiagnostic, severity),
                                    TIME (3, LnsDiagnostic, time_ns),
                                    U32 (4, LnsDiagnostic, process),
                                    U32 (5, LnsDiagnostic, text) } },
  [LNS_DEFINITION_LOSS] = { sizeof (LnsLoss),
                            { U32 (1, LnsLoss, process), U32 (2, LnsLoss, thread),
                              TIME (3, LnsLoss, first_ns), TIME (4, LnsLoss, last_ns),
                              U64 (5, LnsLoss, pushes), U64 (6, LnsLoss, pops),
                              U64 (7, LnsLoss, marks), U64 (8, LnsLoss, starts),
                              U64 (9, LnsLoss, ends), U64 (10, LnsLoss, others),
                              U64 (11, LnsLoss, bytes) } },
  [LNS_DEFINITION_META] = { sizeof (LnsMetaDefinition),
                            { U32 (1, LnsMetaDefinition, key),
                              U32 (2, LnsMetaDefinition, value) } },
  [LNS_DEFINITION_RESOURCE] = { sizeof (LnsResource),
                                { U32 (1, LnsResource, domain), U32 (2, LnsResource, type),
                                  U64 (3, LnsResource, identifier), U32 (4, LnsResource, name),
                                  TIME (5, LnsResource, created_ns),
                                  TIME (6, LnsResource, destroyed_ns) } },
  [LNS_DEFINITION_DEVICE] = { sizeof (LnsCudaDevice),
                              { U32 (1, LnsCudaDevice, process),
                                U32 (2, LnsCudaDevice, number),
                                U32 (3, LnsCudaDevice, name),
                                U32 (4, LnsCudaDevice, bus),
                                U32 (5, LnsCudaDevice, uuid),
                                U32 (6, LnsCudaDevice, compute_major),
                                U32 (7, LnsCudaDevice, compute_minor),
                                U32 (8, LnsCudaDevice, n_multiprocessors),
                                U64 (9, LnsCudaDevice, memory_bytes),
                                U64 (10, LnsCudaDevice, memory_bandwidth),
                                U64 (11, LnsCudaDevice, constant_bytes),
                                U64 (12, LnsCudaDevice, l2_bytes),
                                U32 (13, LnsCudaDevice, core_clock),
                                U32 (14, LnsCudaDevice, n_copy_engines),
                                U32 (15, LnsCudaDevice, threads_per_warp),
                                U32 (16, LnsCudaDevice, max_ipc),
                                U32 (17, LnsCudaDevice, max_warps_per_sm),
                                U32 (18, LnsCudaDevice, max_blocks_per_sm),
                                U32 (19, LnsCudaDevice, max_registers_per_block),
                                U32 (20, LnsCudaDevice, max_registers_per_sm),
                                U32 (21, LnsCudaDevice, max_shared_per_block),
                                U32 (22, LnsCudaDevice, max_shared_per_sm),
                                U32 (23, LnsCudaDevice, max_threads_per_block),
                                U32 (24, LnsCudaDevice, max_block[0]),
                                U32 (25, LnsCudaDevice, max_block[1]),
                                U32 (26, LnsCudaDevice, max_block[2]),
                                U32 (27, LnsCudaDevice, max_grid[0]),
                                U32 (28, LnsCudaDevice, max_grid[1]),
                                U32 (29, LnsCudaDevice, max_grid[2]) } },
  [LNS_DEFINITION_CONTEXT] = { sizeof (LnsCudaContext),
                               { U32 (1, LnsCudaContext, device), U32 (2, LnsCudaContext, number),
                                 U32 (3, LnsCudaContext, null_stream),
                                 U32 (4, LnsCudaContext, parent), U32 (5, LnsCudaContext, is_green),
                                 U32 (6, LnsCudaContext, n_multiprocessors),
                                 U32 (7, LnsCudaContext, name) } },
  [LNS_DEFINITION_STREAM] = { sizeof (LnsCudaStream),
                              { U32 (1, LnsCudaStream, context), U32 (2, LnsCudaStream, number),
                                I32 (3, LnsCudaStream, priority), U32 (4, LnsCudaStream, flags),
                                U32 (5, LnsCudaStream, name) } },
  [LNS_DEFINITION_LAUNCH] = { sizeof (LnsCudaLaunch),
                              { U32 (1, LnsCudaLaunch, short_name),
                                U32 (2, LnsCudaLaunch, mangled_name),
                                U32 (3, LnsCudaLaunch, grid[0]),
                                U32 (4, LnsCudaLaunch, grid[1]),
                                U32 (5, LnsCudaLaunch, grid[2]),
                                U32 (6, LnsCudaLaunch, block[0]),
                                U32 (7, LnsCudaLaunch, block[1]),
                                U32 (8, LnsCudaLaunch, block[2]),
                                U32 (9, LnsCudaLaunch, cluster[0]),
                                U32 (10, LnsCudaLaunch, cluster[1]),
                                U32 (11, LnsCudaLaunch, cluster[2]),
                                U32 (12, LnsCudaLaunch, registers),
                                U32 (13, LnsCudaLaunch, static_shared_bytes),
                                U32 (14, LnsCudaLaunch, dynamic_shared_bytes),
                                U32 (15, LnsCudaLaunch, shared_executed_bytes),
                                U32 (16, LnsCudaLaunch, local_bytes),
                                U64 (17, LnsCudaLaunch, local_total_bytes),
                                U32 (18, LnsCudaLaunch, launch_type),
                                U32 (19, LnsCudaLaunch, cache_config),
                                U32 (20, LnsCudaLaunch, shared_config),
                                U32 (21, LnsCudaLaunch, shared_carveout),
                                U32 (22, LnsCudaLaunch, cluster_policy),
                                U32 (23, LnsCudaLaunch, max_potential_cluster),
                                U32 (24, LnsCudaLaunch, max_active_clusters) } },
  [LNS_DEFINITION_KEPT_TABLE] = { sizeof (LnsKeptTable),
                                  { U32 (1, LnsKeptTable, name), U32 (2, LnsKeptTable, columns),
                                    U32 (3, LnsKeptTable, is_remainder) } },
  [LNS_DEFINITION_KEPT_ROWS] = { sizeof (LnsKeptRows),
                                 { U32 (1, LnsKeptRows, table), U32 (2, LnsKeptRows, rows),
                                   U32 (3, LnsKeptRows, n_rows), I64 (4, LnsKeptRows, min),
                                   I64 (5, LnsKeptRows, max) } },
};

size_t
lns_definition_size (LnsDefinitionKind kind)
{
  return (unsigned)kind < LNS_N_DEFINITION_KINDS ? layouts[kind].size_bytes : 0;
}

/* Signed values as unsigned ones, small where they are near 0: 0, −1, 1, −2, … */
static uint64_t
fold_sign (int64_t value)
{
  return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static int64_t
unfold_sign (uint64_t value)
{
  return (int64_t)(value >> 1 ^ -(value & 1));
}

/* A time that no event can have becomes the nearest one. */
static int64_t
bounded_time (int64_t time_ns)
{
  if (time_ns == LNS_TIME_UNKNOWN)
    return time_ns;
  return time_ns < LNS_TIME_MIN ? LNS_TIME_MIN : time_ns > LNS_TIME_MAX ? LNS_TIME_MAX : time_ns;
}

static uint64_t
get_field (const void *definition, const Field *field)
{
  const char *at = (const char *)definition + field->offset;
  uint32_t narrow;
  uint64_t wide;
  memcpy (&narrow, at, sizeof narrow);
  switch (field->type)
    {
    case FIELD_U32:
      return narrow;
    case FIELD_I32:
      return fold_sign ((int32_t)narrow);
    case FIELD_U64:
      memcpy (&wide, at, sizeof wide);
      return wide;
    case FIELD_I64:
      memcpy (&wide, at, sizeof wide);
      return fold_sign ((int64_t)wide);
    case FIELD_TIME:
      memcpy (&wide, at, sizeof wide);
      return fold_sign (bounded_time ((int64_t)wide));
    }
  return 0;
}

static void
set_field (void *definition, const Field *field, uint64_t value)
{
  char *at = (char *)definition + field->offset;
  if (field->type != FIELD_U32 && field->type != FIELD_U64)
    value = (uint64_t)unfold_sign (value);
  if (field->type == FIELD_TIME)
    value = (uint64_t)bounded_time ((int64_t)value);
  uint32_t narrow = (uint32_t)value;
  if (field->type == FIELD_U32 || field->type == FIELD_I32)
    memcpy (at, &narrow, sizeof narrow);
  else
    memcpy (at, &value, sizeof value);
}

/* LEB128: seven bits a byte, the lowest first, the top bit set on all but the last. */
static size_t
put_varint (uint8_t *bytes, uint64_t value)
{
  size_t n = 0;
  for (; value >= 0x80; value >>= 7)
    bytes[n++] = (uint8_t)(value | 0x80);
  bytes[n++] = (uint8_t)value;
  return n;
}

static bool
take_varint (const uint8_t **bytes, const uint8_t *end, uint64_t *ret_value)
{
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && *bytes < end; shift += 7)
    {
      uint8_t byte = *(*bytes)++;
      value |= (uint64_t)(byte & 0x7F) << shift;
      if (byte < 0x80)
        {
          *ret_value = value;
          return true;
        }
    }
  return false;
}

void
lns_definition_encode (LnsBuffer *out, LnsDefinitionKind kind, uint32_t id, const void *definition)
{
  uint8_t fields[FIELDS_MAX * 11];
  size_t size_bytes = 0;
  for (const Field *field = layouts[kind].fields; field->tag != 0; field++)
    {
      uint64_t value = get_field (definition, field);
      if (value == 0)
        continue;
      fields[size_bytes++] = field->tag;
      size_bytes += put_varint (fields + size_bytes, value);
    }
  lns_buffer_append_int (out, kind, 1);
  lns_buffer_append_int (out, id, 4);
  lns_buffer_append_int (out, size_bytes, 2);
  lns_buffer_append (out, fields, size_bytes);
}

bool
lns_definition_decode (const uint8_t **bytes,
                       size_t *size_bytes,
                       LnsDefinitionKind *ret_kind,
                       uint32_t *ret_id,
                       LnsDefinition *ret_definition)
{
  if (*size_bytes < 7)
    return false;
  const uint8_t *head = *bytes;
  size_t fields_bytes = head[5] | (size_t)head[6] << 8;
  if (fields_bytes > *size_bytes - 7)
    return false;
  *ret_kind = (LnsDefinitionKind)head[0];
  *ret_id = head[1] | (uint32_t)head[2] << 8 | (uint32_t)head[3] << 16 | (uint32_t)head[4] << 24;
  memset (ret_definition, 0, sizeof *ret_definition);
  *bytes += 7 + fields_bytes;
  *size_bytes -= 7 + fields_bytes;

  for (const uint8_t *at = head + 7; at < *bytes;)
    {
      uint8_t tag = *at++;
      uint64_t value;
      if (!take_varint (&at, *bytes, &value))
        return false;
      if (lns_definition_size (*ret_kind) == 0)
        continue;
      for (const Field *field = layouts[*ret_kind].fields; field->tag != 0; field++)
        if (field->tag == tag)
          set_field (ret_definition, field, value);
    }
  return true;
}
