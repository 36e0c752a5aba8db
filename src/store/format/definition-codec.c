/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/store/format/definition-codec.h"

#include <string.h>

#define FIELDS_MAX 32
#define HEAD_BYTES 7 /* of a record: kind, id, length of the fields */

typedef struct
{
  size_t size_bytes;
  LnsDefinitionField fields[FIELDS_MAX + 1]; /* a tag of 0 ends them */
} Layout;

#define ANY_FIELD(tag, type, Type, member, kind)                                                   \
 {                                                                                                 \
  tag, LNS_FIELD_##type, kind, offsetof (Type, member)                                             \
 }
#define U32(tag, Type, member)         ANY_FIELD (tag, U32, Type, member, 0)
#define I32(tag, Type, member)         ANY_FIELD (tag, I32, Type, member, 0)
#define U64(tag, Type, member)         ANY_FIELD (tag, U64, Type, member, 0)
#define I64(tag, Type, member)         ANY_FIELD (tag, I64, Type, member, 0)
#define TIME(tag, Type, member)        ANY_FIELD (tag, TIME, Type, member, 0)
#define STRING(tag, Type, member)      ANY_FIELD (tag, STRING, Type, member, 0)
#define LINK(tag, Type, member, kind)  ANY_FIELD (tag, LINK, Type, member, LNS_DEFINITION_##kind)
#define OWNER(tag, Type, member, kind) ANY_FIELD (tag, OWNER, Type, member, LNS_DEFINITION_##kind)
#define XYZ(tag, Type, member)                                                                     \
 U32 (tag, Type, member[0]), U32 (tag + 1, Type, member[1]), U32 (tag + 2, Type, member[2])

/* Tags never change their meaning; new fields get new tags. */
static const Layout layouts[LNS_N_DEFINITION_KINDS] = {
  [LNS_DEFINITION_PROCESS] = { sizeof (LnsProcess),
                               { I32 (1, LnsProcess, pid), I32 (2, LnsProcess, target_pid),
                                 LINK (3, LnsProcess, parent, PROCESS),
                                 STRING (4, LnsProcess, name), STRING (5, LnsProcess, command_line),
                                 STRING (6, LnsProcess, executable), TIME (7, LnsProcess, start_ns),
                                 TIME (8, LnsProcess, end_ns), I32 (9, LnsProcess, exit_code),
                                 U32 (10, LnsProcess, machine), U32 (11, LnsProcess, is_listed),
                                 U32 (12, LnsProcess, exit_signal),
                                 U32 (13, LnsProcess, mpi_rank) } },
  [LNS_DEFINITION_THREAD] = { sizeof (LnsThread),
                              { OWNER (1, LnsThread, process, PROCESS), I32 (2, LnsThread, tid),
                                I32 (3, LnsThread, target_tid), STRING (4, LnsThread, name),
                                TIME (5, LnsThread, start_ns), TIME (6, LnsThread, end_ns),
                                U32 (7, LnsThread, is_named), I32 (8, LnsThread, priority),
                                U32 (9, LnsThread, listed) } },
  [LNS_DEFINITION_DOMAIN] = { sizeof (LnsDomain),
                              { OWNER (1, LnsDomain, process, PROCESS), U64 (2, LnsDomain, number),
                                STRING (3, LnsDomain, name), TIME (4, LnsDomain, created_ns),
                                TIME (5, LnsDomain, destroyed_ns),
                                LINK (6, LnsDomain, thread, THREAD) } },
  [LNS_DEFINITION_CATEGORY] = { sizeof (LnsCategory),
                                { OWNER (1, LnsCategory, domain, DOMAIN),
                                  U32 (2, LnsCategory, category), STRING (3, LnsCategory, name) } },
  [LNS_DEFINITION_SCHEMA] = { sizeof (LnsSchema),
                              { OWNER (1, LnsSchema, domain, DOMAIN), U64 (2, LnsSchema, schema_id),
                                STRING (3, LnsSchema, name), U32 (4, LnsSchema, type),
                                U32 (5, LnsSchema, flags), U32 (6, LnsSchema, size_bytes),
                                U32 (7, LnsSchema, align_bytes), U32 (8, LnsSchema, is_enum) } },
  [LNS_DEFINITION_SCHEMA_ENTRY] = { sizeof (LnsSchemaEntry),
                                    { OWNER (1, LnsSchemaEntry, schema, SCHEMA),
                                      U32 (2, LnsSchemaEntry, position),
                                      STRING (3, LnsSchemaEntry, name),
                                      STRING (4, LnsSchemaEntry, description),
                                      U32 (5, LnsSchemaEntry, flags), U64 (6, LnsSchemaEntry, type),
                                      U64 (7, LnsSchemaEntry, offset_bytes),
                                      U64 (8, LnsSchemaEntry, array_or_union_detail) } },
  [LNS_DEFINITION_TRACK] = { sizeof (LnsTrack),
                             { I32 (1, LnsTrack, kind), LINK (2, LnsTrack, process, PROCESS),
                               LINK (3, LnsTrack, thread, THREAD),
                               LINK (4, LnsTrack, domain, DOMAIN), STRING (5, LnsTrack, name),
                               U32 (6, LnsTrack, value_type), STRING (7, LnsTrack, unit),
                               U64 (8, LnsTrack, number), LINK (9, LnsTrack, device, DEVICE),
                               LINK (10, LnsTrack, stream, STREAM), U32 (11, LnsTrack, metric) } },
  [LNS_DEFINITION_LANE] = { sizeof (LnsLane),
                            { OWNER (1, LnsLane, track, TRACK), U32 (2, LnsLane, ordinal),
                              I32 (3, LnsLane, kind) } },
  [LNS_DEFINITION_DIAGNOSTIC] = { sizeof (LnsDiagnostic),
                                  { STRING (1, LnsDiagnostic, code),
                                    I32 (2, LnsDiagnostic, severity),
                                    TIME (3, LnsDiagnostic, time_ns),
                                    LINK (4, LnsDiagnostic, process, PROCESS),
                                    STRING (5, LnsDiagnostic, text) } },
  [LNS_DEFINITION_LOSS] = { sizeof (LnsLoss),
                            { LINK (1, LnsLoss, process, PROCESS),
                              LINK (2, LnsLoss, thread, THREAD), TIME (3, LnsLoss, first_ns),
                              TIME (4, LnsLoss, last_ns), U64 (5, LnsLoss, pushes),
                              U64 (6, LnsLoss, pops), U64 (7, LnsLoss, marks),
                              U64 (8, LnsLoss, starts), U64 (9, LnsLoss, ends),
                              U64 (10, LnsLoss, others), U64 (11, LnsLoss, bytes) } },
  [LNS_DEFINITION_META] = { sizeof (LnsMetaDefinition),
                            { U32 (1, LnsMetaDefinition, key),
                              U32 (2, LnsMetaDefinition, value) } },
  [LNS_DEFINITION_RESOURCE] = { sizeof (LnsResource),
                                { OWNER (1, LnsResource, domain, DOMAIN),
                                  U32 (2, LnsResource, type), U64 (3, LnsResource, identifier),
                                  STRING (4, LnsResource, name), TIME (5, LnsResource, created_ns),
                                  TIME (6, LnsResource, destroyed_ns) } },
  [LNS_DEFINITION_DEVICE] = { sizeof (LnsCudaDevice),
                              { OWNER (1, LnsCudaDevice, process, PROCESS),
                                U32 (2, LnsCudaDevice, number),
                                STRING (3, LnsCudaDevice, name),
                                STRING (4, LnsCudaDevice, bus),
                                STRING (5, LnsCudaDevice, uuid),
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
                                XYZ (24, LnsCudaDevice, max_block),
                                XYZ (27, LnsCudaDevice, max_grid) } },
  [LNS_DEFINITION_CONTEXT] = { sizeof (LnsCudaContext),
                               { OWNER (1, LnsCudaContext, device, DEVICE),
                                 U32 (2, LnsCudaContext, number),
                                 U32 (3, LnsCudaContext, null_stream),
                                 U32 (4, LnsCudaContext, parent), U32 (5, LnsCudaContext, is_green),
                                 U32 (6, LnsCudaContext, n_multiprocessors),
                                 STRING (7, LnsCudaContext, name) } },
  [LNS_DEFINITION_STREAM] = { sizeof (LnsCudaStream),
                              { OWNER (1, LnsCudaStream, context, CONTEXT),
                                U32 (2, LnsCudaStream, number), I32 (3, LnsCudaStream, priority),
                                U32 (4, LnsCudaStream, flags), STRING (5, LnsCudaStream, name) } },
  [LNS_DEFINITION_LAUNCH] = { sizeof (LnsCudaLaunch),
                              { STRING (1, LnsCudaLaunch, short_name),
                                STRING (2, LnsCudaLaunch, mangled_name),
                                XYZ (3, LnsCudaLaunch, grid), XYZ (6, LnsCudaLaunch, block),
                                XYZ (9, LnsCudaLaunch, cluster), U32 (12, LnsCudaLaunch, registers),
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
                                  { STRING (1, LnsKeptTable, name),
                                    STRING (2, LnsKeptTable, columns),
                                    U32 (3, LnsKeptTable, is_remainder) } },
  [LNS_DEFINITION_KEPT_ROWS] = { sizeof (LnsKeptRows),
                                 { OWNER (1, LnsKeptRows, table, KEPT_TABLE),
                                   STRING (2, LnsKeptRows, rows), U32 (3, LnsKeptRows, n_rows),
                                   I64 (4, LnsKeptRows, min), I64 (5, LnsKeptRows, max) } },
  [LNS_DEFINITION_MODULE] = { sizeof (LnsModule),
                              { OWNER (1, LnsModule, process, PROCESS), U32 (2, LnsModule, kind),
                                STRING (3, LnsModule, path), STRING (4, LnsModule, build_id),
                                U64 (5, LnsModule, start), U64 (6, LnsModule, end),
                                U64 (7, LnsModule, file_offset), TIME (8, LnsModule, mapped_ns) } },
  [LNS_DEFINITION_FRAME] = { sizeof (LnsStackFrame),
                             { LINK (1, LnsStackFrame, module, MODULE),
                               U64 (2, LnsStackFrame, offset), STRING (3, LnsStackFrame, symbol),
                               U32 (4, LnsStackFrame, is_resolved), U32 (5, LnsStackFrame, source),
                               STRING (6, LnsStackFrame, file), U32 (7, LnsStackFrame, line),
                               U32 (8, LnsStackFrame, innermost),
                               U32 (9, LnsStackFrame, inlined_in) } },
  [LNS_DEFINITION_CALL_NODE] = { sizeof (LnsCallNode),
                                 { LINK (1, LnsCallNode, parent, CALL_NODE),
                                   OWNER (2, LnsCallNode, frame, FRAME) } },
  [LNS_DEFINITION_OMISSION] = { sizeof (LnsOmission),
                                { TIME (1, LnsOmission, start_ns),
                                  TIME (2, LnsOmission, end_ns) } },
};

size_t
lns_definition_size (LnsDefinitionKind kind)
{
  return (unsigned)kind < LNS_N_DEFINITION_KINDS ? layouts[kind].size_bytes : 0;
}

const LnsDefinitionField *
lns_definition_fields (LnsDefinitionKind kind)
{
  return layouts[kind].fields;
}

/* Maps signed values to unsigned ones, so that those near 0 stay small: 0, −1, 1, −2, … */
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

/* Moves a time that no event can have to the nearest one that events can have. */
static int64_t
bounded_time (int64_t time_ns)
{
  if (time_ns == LNS_TIME_UNKNOWN)
    return time_ns;
  return time_ns < LNS_TIME_MIN ? LNS_TIME_MIN : time_ns > LNS_TIME_MAX ? LNS_TIME_MAX : time_ns;
}

static bool
is_wide (const LnsDefinitionField *field)
{
  return field->type == LNS_FIELD_U64 || field->type == LNS_FIELD_I64 ||
         field->type == LNS_FIELD_TIME;
}

static bool
is_signed (const LnsDefinitionField *field)
{
  return field->type == LNS_FIELD_I32 || field->type == LNS_FIELD_I64 ||
         field->type == LNS_FIELD_TIME;
}

static uint64_t
get_field (const void *definition, const LnsDefinitionField *field)
{
  const char *at = (const char *)definition + field->offset;
  uint32_t narrow;
  uint64_t value;
  memcpy (&narrow, at, sizeof narrow);
  if (is_wide (field))
    memcpy (&value, at, sizeof value);
  else
    value = field->type == LNS_FIELD_I32 ? (uint64_t)(int32_t)narrow : narrow;
  if (field->type == LNS_FIELD_TIME)
    value = (uint64_t)bounded_time ((int64_t)value);
  return is_signed (field) ? fold_sign ((int64_t)value) : value;
}

static void
set_field (void *definition, const LnsDefinitionField *field, uint64_t value)
{
  char *at = (char *)definition + field->offset;
  if (is_signed (field))
    value = (uint64_t)unfold_sign (value);
  if (field->type == LNS_FIELD_TIME)
    value = (uint64_t)bounded_time ((int64_t)value);
  uint32_t narrow = (uint32_t)value;
  if (is_wide (field))
    memcpy (at, &value, sizeof value);
  else
    memcpy (at, &narrow, sizeof narrow);
}

void
lns_definition_encode (LnsBuffer *out, LnsDefinitionKind kind, uint32_t id, const void *definition)
{
  const size_t head_at = out->size_bytes;
  lns_buffer_append_int (out, kind, 1);
  lns_buffer_append_int (out, id, 4);
  lns_buffer_append_int (out, 0, 2);
  for (const LnsDefinitionField *field = layouts[kind].fields; field->tag != 0; field++)
    {
      uint64_t value = get_field (definition, field);
      if (value == 0)
        continue;
      lns_buffer_append_int (out, field->tag, 1);
      lns_buffer_append_varint (out, value);
    }
  lns_buffer_set_int (out, head_at + 5, out->size_bytes - head_at - HEAD_BYTES, 2);
}

bool
lns_definition_decode (const uint8_t **bytes,
                       size_t *size_bytes,
                       LnsDefinitionKind *ret_kind,
                       uint32_t *ret_id,
                       LnsDefinition *ret_definition)
{
  if (*size_bytes < HEAD_BYTES)
    return false;
  const uint8_t *head = *bytes;
  const size_t fields_bytes = lns_load_int (head + 5, 2);
  if (fields_bytes > *size_bytes - HEAD_BYTES)
    return false;
  *ret_kind = (LnsDefinitionKind)head[0];
  *ret_id = (uint32_t)lns_load_int (head + 1, 4);
  memset (ret_definition, 0, sizeof *ret_definition);
  *bytes += HEAD_BYTES + fields_bytes;
  *size_bytes -= HEAD_BYTES + fields_bytes;

  for (const uint8_t *at = head + HEAD_BYTES; at < *bytes;)
    {
      uint8_t tag = *at++;
      uint64_t value;
      if (!lns_take_varint (&at, *bytes, &value))
        return false;
      if (lns_definition_size (*ret_kind) == 0)
        continue;
      for (const LnsDefinitionField *field = layouts[*ret_kind].fields; field->tag != 0; field++)
        if (field->tag == tag)
          set_field (ret_definition, field, value);
    }
  return true;
}
