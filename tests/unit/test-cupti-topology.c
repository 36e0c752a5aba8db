/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests how CUPTI's records of NVLink and PCIe become wire records, in every CUPTI version. */

#include "capture/wire/cupti-topology.h"
#include "tests/unit/cupti-fixture.h"

#include <stdlib.h>

static LnsCuptiLink
link_of (uint32_t first, uint32_t second)
{
  LnsCuptiLink link = {
    .kind = LNS_CUPTI_NVLINK, .version = 3, .types = { first, second }, .flags = 10, .n_links = 2
  };
  memset (link.ids[0], 0xa0, sizeof link.ids[0]);
  memset (link.ids[1], 0xb0, sizeof link.ids[1]);
  return link;
}

static void
check_link (const LnsWireCudaTopologyBytes *wire, bool has_ports)
{
  const LnsWireCudaLink *link = &wire->link;
  LNS_CHECK (wire->is_link && link->version == 3 && link->flags == 10 && link->n_links == 2);
  LNS_CHECK (link->types[0] == LNS_WIRE_LINK_GPU && link->types[1] == LNS_WIRE_LINK_GPU);
  LNS_CHECK (link->ids[0][15] == 0xa0 && link->ids[1][15] == 0xb0);
  LNS_CHECK (link->bandwidth == 50000000 && link->is_switched == 1);
  for (int end = 0; end < 2; end++)
    {
      LNS_CHECK_INT (link->ports[end][0], has_ports ? 4 + end : LNS_WIRE_LINK_NO_PORT);
      LNS_CHECK_INT (link->ports[end][1], has_ports ? 17 : LNS_WIRE_LINK_NO_PORT);
      LNS_CHECK_INT (link->ports[end][2], LNS_WIRE_LINK_NO_PORT);
    }
}

/* The fields behind the number of links lie elsewhere in each generation. */
static void
test_links (void)
{
  LnsCuptiLink3 third = { .link = link_of (LNS_WIRE_LINK_GPU, LNS_WIRE_LINK_GPU),
                          .ports = { { 4, 17 }, { 5, 17 } },
                          .bandwidth = 50000000,
                          .is_switched = 1 };
  LnsCuptiLink4 fourth = {
    .link = third.link, .ports = { { 4, 17 }, { 5, 17 } }, .bandwidth = 50000000, .is_switched = 1
  };
  const size_t n_wire = sizeof (LnsWireCudaTopologyBytes);
  check_link (compact_one (&third, sizeof third, LNS_WIRE_CUDA_TOPOLOGY, n_wire), true);
  check_link (compact_one (&fourth, sizeof fourth, LNS_WIRE_CUDA_TOPOLOGY, n_wire), true);
}

/* CUPTI allocates the ports since 13.2, and who gets the record frees them. */
static void
test_allocated_ports (void)
{
  LnsCuptiLink5 fifth = { .link = link_of (LNS_WIRE_LINK_GPU, LNS_WIRE_LINK_GPU),
                          .bandwidth = 50000000,
                          .is_switched = 1 };
  LnsWireCudaTopologyBytes wire;
  void *leftovers = NULL;
  unsigned n_freed = 0;
  for (uint32_t end = 0; end < 2; end++)
    {
      fifth.ports[end] = malloc (2 * sizeof *fifth.ports[end]);
      fifth.ports[end][0] = 4 + end;
      fifth.ports[end][1] = 17;
    }
  /* The buffer of a process that is gone: its pointers are worth nothing. */
  LNS_CHECK (lns_wire_cupti_topology (&fifth, sizeof fifth, NULL, &wire));
  check_link (&wire, false);
  LNS_CHECK (lns_wire_cupti_topology (&fifth, sizeof fifth, &leftovers, &wire));
  check_link (&wire, true);
  for (void *next; leftovers != NULL; leftovers = next, n_freed++)
    {
      memcpy (&next, leftovers, sizeof next);
      free (leftovers);
    }
  LNS_CHECK_INT (n_freed, 2);
}

static void
test_links_to_processors (void)
{
  LnsCuptiLink5 link = { .link = link_of (LNS_WIRE_LINK_GPU, LNS_WIRE_LINK_NPU), .bandwidth = 7 };
  LnsWireCudaTopologyBytes wire;
  void *leftovers = NULL;
  link.ports[1] = (void *)1; /* to be ignored */
  LNS_CHECK (lns_wire_cupti_topology (&link, sizeof link, &leftovers, &wire));
  LNS_CHECK (leftovers == NULL && wire.link.types[1] == LNS_WIRE_LINK_NPU);
  LNS_CHECK_INT (wire.link.ports[1][0], LNS_WIRE_LINK_NO_PORT);
}

static void
test_pcie (void)
{
  CUpti_ActivityPcie gpu = { .kind = CUPTI_ACTIVITY_KIND_PCIE,
                             .type = CUPTI_PCIE_DEVICE_TYPE_GPU,
                             .id.devId = 3,
                             .domain = 1,
                             .pcieGeneration = 5,
                             .linkRate = 32,
                             .linkWidth = 16,
                             .upstreamBus = 0x3a };
  memset (gpu.attr.gpuAttr.uuidDev.bytes, 0xc0, sizeof gpu.attr.gpuAttr.uuidDev.bytes);
  const LnsWireCudaTopologyBytes *wire =
      compact_one (&gpu, sizeof gpu, LNS_WIRE_CUDA_TOPOLOGY, sizeof *wire);
  const LnsWireCudaPcie *pcie = &wire->pcie;
  LNS_CHECK (!wire->is_link && !pcie->is_bridge && pcie->id == 3 && pcie->domain == 1);
  LNS_CHECK (pcie->generation == 5 && pcie->rate == 32 && pcie->width == 16);
  LNS_CHECK (pcie->upstream_bus == 0x3a && pcie->uuid[15] == 0xc0 && pcie->vendor == 0);
  CUpti_ActivityPcie bridge = {
    .kind = CUPTI_ACTIVITY_KIND_PCIE,
    .type = CUPTI_PCIE_DEVICE_TYPE_BRIDGE,
    .id.bridgeId = 9,
    .attr.bridgeAttr = { .secondaryBus = 0x3a, .deviceId = 0xc030, .vendorId = 0x1000 }
  };
  wire = compact_one (&bridge, sizeof bridge, LNS_WIRE_CUDA_TOPOLOGY, sizeof *wire);
  pcie = &wire->pcie;
  LNS_CHECK (pcie->is_bridge && pcie->id == 9 && pcie->secondary_bus == 0x3a);
  LNS_CHECK (pcie->vendor == 0x1000 && pcie->device == 0xc030 && pcie->uuid[0] == 0);
}

/* A version whose record has another size has other fields: nothing is made of it. */
static void
test_other_sizes (void)
{
  uint8_t bytes[144] = { 0 };
  const uint32_t kind = LNS_CUPTI_NVLINK;
  LnsWireCudaTopologyBytes wire;
  memcpy (bytes, &kind, sizeof kind);
  LNS_CHECK (!lns_wire_cupti_topology (bytes, sizeof bytes, NULL, &wire));
  LNS_CHECK (!lns_wire_cupti_topology (bytes, 96, NULL, &wire));
  begin ();
  add (bytes, sizeof bytes);
  compact ();
  LNS_CHECK (test.counts.n_compacted == 0 && test.n_bytes == 0);
}

int
main (void)
{
  LNS_TEST (test_links);
  LNS_TEST (test_allocated_ports);
  LNS_TEST (test_links_to_processors);
  LNS_TEST (test_pcie);
  LNS_TEST (test_other_sizes);
  return lns_tap_done ();
}
