/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Keeps how the GPUs of the machine are connected as tables of each report: LNS_NVLINKS and LNS_PCIE. All processes say the same
 * of the machine, as far as they see its GPUs, so each link is kept once. */

#include "capture/session/decode/core/source.h"
#include "capture/wire/cuda-layout.h"
#include "src/base/array.h"
#include "src/store/write/kept-table.h"

#include <stdio.h>
#include <string.h>

/* Links and places of a machine, at most: a process could make up any number of them. */
#define MOST 4096u

typedef struct
{
  LNS_ARRAY (LnsWireCudaLink) links;
  LNS_ARRAY (LnsWireCudaPcie) places;
  LnsKeptTableMaker *link_table, *place_table; /* of this report, or NULL */
} Session;

static Session *
session_of (const LnsDecoder *decoder)
{
  return decoder->state[LNS_SOURCE_TOPOLOGY];
}

#define NOTHING                                                                                    \
 (LnsKeptValue) { .type = LNS_KEPT_NULL }
#define INTEGER(value)                                                                             \
 (LnsKeptValue) { .type = LNS_KEPT_INTEGER, .integer = (int64_t)(value) }
#define TEXT(value)                                                                                \
 (LnsKeptValue) { .type = LNS_KEPT_TEXT, .size_bytes = strlen (value), .bytes = (value) }

#define UUID_ROOM 64

/* As TARGET_INFO_GPU has it. */
static const char *
write_uuid (const uint8_t uuid[16], char ret_text[UUID_ROOM])
{
  size_t n = 0;
  for (int i = 0; i < 16; i++)
    n += (size_t)snprintf (ret_text + n, UUID_ROOM - n,
                           i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", uuid[i]);
  return ret_text;
}

#define PORTS_ROOM (8 * LNS_WIRE_LINK_PORTS)

/* "0,1,5": the ports at END; "" if none is known. */
static const char *
write_ports (const LnsWireCudaLink *link, int end, char ret_text[PORTS_ROOM])
{
  size_t n = 0;
  ret_text[0] = '\0';
  for (uint32_t i = 0; i < link->n_links && i < LNS_WIRE_LINK_PORTS; i++)
    if (link->ports[end][i] >= 0)
      n += (size_t)snprintf (ret_text + n, PORTS_ROOM - n, n > 0 ? ",%d" : "%d",
                             link->ports[end][i]);
  return ret_text;
}

/* Fills the two VALUES of the device at END. */
static void
write_end (const LnsWireCudaLink *link, int end, char text[UUID_ROOM], LnsKeptValue *values)
{
  uint32_t index;
  memcpy (&index, link->ids[end], sizeof index);
  values[0] =
      link->types[end] == LNS_WIRE_LINK_GPU ? TEXT (write_uuid (link->ids[end], text)) : NOTHING;
  values[1] = link->types[end] == LNS_WIRE_LINK_NPU ? INTEGER (index) : NOTHING;
}

static void
write_link (LnsDecoder *decoder, const LnsWireCudaLink *link)
{
  static const LnsKeptColumn columns[] = {
    { "uuid", "TEXT", false },
    { "npu", "INTEGER", false },
    { "peerUuid", "TEXT", false },
    { "peerNpu", "INTEGER", false },
    { "version", "INTEGER", true },
    { "links", "INTEGER", true },
    { "bandwidthKBps", "INTEGER", true },
    { "isSwitched", "INTEGER", true },
    { "ports", "TEXT", false },
    { "peerPorts", "TEXT", false },
    { "flags", "INTEGER", true },
  };
  LnsKeptTableMaker **table = &session_of (decoder)->link_table;
  LnsKeptValue values[sizeof columns / sizeof *columns];
  char uuids[2][UUID_ROOM], ports[2][PORTS_ROOM];
  if (*table == NULL)
    *table = lns_kept_table_maker_new (decoder->writer, "LNS_NVLINKS", columns,
                                       sizeof columns / sizeof *columns, false);
  if (*table == NULL)
    {
      decoder->counters.n_refused++;
      return;
    }
  for (int end = 0; end < 2; end++)
    {
      const char *text = write_ports (link, end, ports[end]);
      write_end (link, end, uuids[end], &values[2 * end]);
      values[8 + end] = text[0] != '\0' ? TEXT (text) : NOTHING;
    }
  values[4] = INTEGER (link->version);
  values[5] = INTEGER (link->n_links);
  values[6] = INTEGER (link->bandwidth);
  values[7] = INTEGER (link->is_switched != 0);
  values[10] = INTEGER (link->flags);
  lns_kept_table_maker_add (*table, values);
  lns_kept_table_maker_flush (*table);
}

static void
write_place (LnsDecoder *decoder, const LnsWireCudaPcie *place)
{
  static const LnsKeptColumn columns[] = {
    { "uuid", "TEXT", false },
    { "bridge", "INTEGER", false },
    { "domain", "INTEGER", true },
    { "upstreamBus", "INTEGER", true },
    { "secondaryBus", "INTEGER", false },
    { "generation", "INTEGER", true },
    { "rateGTps", "INTEGER", true },
    { "width", "INTEGER", true },
    { "vendorId", "INTEGER", false },
    { "deviceId", "INTEGER", false },
  };
  LnsKeptTableMaker **table = &session_of (decoder)->place_table;
  char uuid[UUID_ROOM];
  if (*table == NULL)
    *table = lns_kept_table_maker_new (decoder->writer, "LNS_PCIE", columns,
                                       sizeof columns / sizeof *columns, false);
  if (*table == NULL)
    {
      decoder->counters.n_refused++;
      return;
    }
  const bool is_bridge = place->is_bridge != 0;
  const LnsKeptValue values[] = {
    is_bridge ? NOTHING : TEXT (write_uuid (place->uuid, uuid)),
    is_bridge ? INTEGER (place->id) : NOTHING,
    INTEGER (place->domain),
    INTEGER (place->upstream_bus),
    is_bridge ? INTEGER (place->secondary_bus) : NOTHING,
    INTEGER (place->generation),
    INTEGER (place->rate),
    INTEGER (place->width),
    is_bridge ? INTEGER (place->vendor) : NOTHING,
    is_bridge ? INTEGER (place->device) : NOTHING,
  };
  _Static_assert(sizeof values / sizeof *values == sizeof columns / sizeof *columns,
                 "a value each");
  lns_kept_table_maker_add (*table, values);
  lns_kept_table_maker_flush (*table);
}

static void
play (LnsDecoder *decoder, LnsStream *stream, const LnsWireRecord *record)
{
  Session *session = session_of (decoder);
  LnsWireCudaTopologyBytes said;
  (void)stream;
  _lns_record_take (record, &said, sizeof said);
  size_t i = 0;
  if (said.is_link)
    {
      while (i < session->links.n &&
             memcmp (&session->links.items[i], &said.link, sizeof said.link) != 0)
        i++;
      LnsWireCudaLink *link =
          i == session->links.n && i < MOST ? lns_array_try_add (&session->links) : NULL;
      if (link == NULL)
        return;
      *link = said.link;
      if (decoder->writer != NULL)
        write_link (decoder, link);
      return;
    }
  if (!said.pcie.is_bridge)
    said.pcie.id = 0; /* its number differs by process */
  while (i < session->places.n &&
         memcmp (&session->places.items[i], &said.pcie, sizeof said.pcie) != 0)
    i++;
  LnsWireCudaPcie *place =
      i == session->places.n && i < MOST ? lns_array_try_add (&session->places) : NULL;
  if (place == NULL)
    return;
  *place = said.pcie;
  if (decoder->writer != NULL)
    write_place (decoder, place);
}

static void
begin_report (LnsDecoder *decoder)
{
  const Session *session = session_of (decoder);
  for (size_t i = 0; i < session->links.n; i++)
    write_link (decoder, &session->links.items[i]);
  for (size_t i = 0; i < session->places.n; i++)
    write_place (decoder, &session->places.items[i]);
}

static void
stop_report (LnsDecoder *decoder)
{
  Session *session = session_of (decoder);
  lns_kept_table_maker_free (session->link_table);
  lns_kept_table_maker_free (session->place_table);
  session->link_table = session->place_table = NULL;
}

static void
free_session (LnsDecoder *decoder)
{
  stop_report (decoder);
  lns_array_clear (&session_of (decoder)->links);
  lns_array_clear (&session_of (decoder)->places);
}

const LnsDecoderOps _lns_topology_ops = {
  .types = { { LNS_WIRE_CUDA_TOPOLOGY, LNS_WIRE_CUDA_TOPOLOGY } },
  .session_bytes = sizeof (Session),
  .play = play,
  .begin_report = begin_report,
  .stop_report = stop_report,
  .free_session = free_session,
};
