/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/wire/cupti-topology.h"

#include <string.h>

/* Takes the ports of one end of a link, and leaves their memory to be freed. */
static void
take_allocated (uint32_t *ports, uint32_t n, void **leftovers, int16_t *ret_ports)
{
  for (uint32_t i = 0; i < n && i < LNS_WIRE_LINK_PORTS; i++)
    ret_ports[i] = ports[i] <= INT8_MAX ? (int16_t)ports[i] : LNS_WIRE_LINK_NO_PORT;
  /* The list of leftovers goes through them. A single port, which has no room for a pointer, stays allocated: it comes once. */
  if (n * sizeof *ports < sizeof *leftovers)
    return;
  memcpy (ports, leftovers, sizeof *leftovers);
  *leftovers = ports;
}

static bool
take_link (const void *from, size_t n_bytes, void **leftovers, LnsWireCudaTopologyBytes *ret_record)
{
  union
  {
    LnsCuptiLink known;
    LnsCuptiLink3 third;
    LnsCuptiLink4 fourth;
    LnsCuptiLink5 fifth;
  } link;
  LnsWireCudaLink *to = &ret_record->link;
  if (!lns_cupti_knows_topology (LNS_CUPTI_NVLINK, n_bytes))
    return false;
  memcpy (&link, from, n_bytes);
  *to = (LnsWireCudaLink){ .version = link.known.version,
                           .types = { (uint8_t)link.known.types[0], (uint8_t)link.known.types[1] },
                           .flags = link.known.flags,
                           .n_links = link.known.n_links };
  memcpy (to->ids, link.known.ids, sizeof to->ids);
  memset (to->ports, 0xff, sizeof to->ports);
  const bool is_third = n_bytes == sizeof link.third, is_fourth = n_bytes == sizeof link.fourth;
  const uint32_t n_max = is_third ? 16 : LNS_WIRE_LINK_PORTS;
  to->bandwidth = is_third    ? link.third.bandwidth
                  : is_fourth ? link.fourth.bandwidth
                              : link.fifth.bandwidth;
  to->is_switched = is_third    ? link.third.is_switched
                    : is_fourth ? link.fourth.is_switched
                                : link.fifth.is_switched;
  for (int end = 0; end < 2; end++)
    {
      if (to->types[end] != LNS_WIRE_LINK_GPU)
        continue; /* the header says to ignore its ports */
      const int8_t *ports = is_third ? link.third.ports[end] : link.fourth.ports[end];
      if (!is_third && !is_fourth && leftovers != NULL && link.fifth.ports[end] != NULL)
        take_allocated (link.fifth.ports[end], to->n_links, leftovers, to->ports[end]);
      for (uint32_t i = 0; (is_third || is_fourth) && i < to->n_links && i < n_max; i++)
        to->ports[end][i] = ports[i];
    }
  return true;
}

static bool
take_pcie (const void *from, size_t n_bytes, LnsWireCudaTopologyBytes *ret_record)
{
  CUpti_ActivityPcie pcie;
  LnsWireCudaPcie *to = &ret_record->pcie;
  if (!lns_cupti_knows_topology (LNS_CUPTI_PCIE, n_bytes))
    return false;
  memcpy (&pcie, from, sizeof pcie);
  *to = (LnsWireCudaPcie){ .is_bridge = pcie.type == CUPTI_PCIE_DEVICE_TYPE_BRIDGE,
                           .id = pcie.id.bridgeId,
                           .domain = pcie.domain,
                           .generation = pcie.pcieGeneration,
                           .rate = pcie.linkRate,
                           .width = pcie.linkWidth,
                           .upstream_bus = pcie.upstreamBus };
  if (!to->is_bridge)
    {
      memcpy (to->uuid, pcie.attr.gpuAttr.uuidDev.bytes, sizeof to->uuid);
      return true;
    }
  to->secondary_bus = pcie.attr.bridgeAttr.secondaryBus;
  to->vendor = pcie.attr.bridgeAttr.vendorId;
  to->device = pcie.attr.bridgeAttr.deviceId;
  return true;
}

bool
lns_wire_cupti_topology (const void *from,
                         size_t n_bytes,
                         void **leftovers,
                         LnsWireCudaTopologyBytes *ret_record)
{
  uint32_t kind;
  memcpy (&kind, from, sizeof kind);
  *ret_record = (LnsWireCudaTopologyBytes){ .head.type = LNS_WIRE_CUDA_TOPOLOGY,
                                            .is_link = kind == LNS_CUPTI_NVLINK };
  return kind == LNS_CUPTI_NVLINK ? take_link (from, n_bytes, leftovers, ret_record)
                                  : take_pcie (from, n_bytes, ret_record);
}
