/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What NCCL and its profiler plug-in agree on: versions 5 and 6 of the interface, of NCCL 2.28 and later, which lay out alike
 * what is read here. Source: NCCL's documentation of the plug-in (ext-profiler/README.md) and its headers profiler_v5.h and
 * profiler_v6.h. */

#pragma once

#include <stddef.h>
#include <stdint.h>

/* States of an LNS_WIRE_NCCL_PROXY_STEP. */
enum
{
  LNS_NCCL_STEP_SEND_GPU_WAIT = 8,
  LNS_NCCL_STEP_SEND_WAIT = 9,
  LNS_NCCL_STEP_RECV_WAIT = 10,
  LNS_NCCL_STEP_RECV_FLUSH_WAIT = 11,
  LNS_NCCL_STEP_RECV_GPU_WAIT = 12,
  LNS_NCCL_STEP_SEND_PEER_WAIT = 20,
};

/* What begins. Texts are terminated, static, and may be null. */
typedef struct
{
  uint64_t type; /* LNS_WIRE_NCCL_…: one bit */
  void *parent;  /* what start_event () gave for the event that this one is part of */
  int rank;
  union
  {
    struct
    {
      const char *function; /* "AllReduce" */
      size_t n_elements;
      const char *datatype; /* "ncclFloat32" */
      int root;
      void *stream;
    } collective_api;
    struct
    {
      const char *function; /* "Send" */
      size_t n_elements;
      const char *datatype;
      void *stream;
    } p2p_api;
    struct
    {
      uint64_t sequence; /* number of the operation in its communicator */
      const char *function;
      const void *send_buffer;
      void *receive_buffer;
      size_t n_elements;
      int root;
      const char *datatype;
      uint8_t n_channels, n_warps;
      const char *algorithm, *protocol; /* "RING", "SIMPLE" */
    } collective;
    struct
    {
      const char *function;
      void *buffer;
      const char *datatype;
      size_t n_elements;
      int peer; /* rank */
      uint8_t n_channels;
    } p2p;
    struct
    {
      int pid;
      uint8_t channel;
      int peer, n_steps, chunk_bytes, is_send;
    } proxy_op;
    struct
    {
      int step;
    } proxy_step;
    struct
    {
      uint64_t sequence;
      const char *function;
      const void *send_buffer;
      void *receive_buffer;
      size_t n_elements;
      int root;
      const char *datatype;
    } ce_collective;
    struct
    {
      _Bool is_complete;
      int n_ranks;
    } ce_sync;
    struct
    {
      int n_copies;
      size_t n_bytes;
    } ce_batch;
  };
} LnsNcclEvent;

/* The plug-in. All functions return 0; another result of init () turns it off. */
typedef struct
{
  const char *name;
  int (*init) (void **ret_context,
               uint64_t communicator,
               int *ret_mask,
               const char *name,
               int n_nodes,
               int n_ranks,
               int rank,
               void *log);
  int (*start_event) (void *context, void **ret_handle, const LnsNcclEvent *event);
  int (*stop_event) (void *handle);
  int (*record_state) (void *handle, int state, const void *arguments);
  int (*finalize) (void *context);
} LnsNcclProfiler;
