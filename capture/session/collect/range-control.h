/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Capture ranges while they are recorded: all processes record while a range is open in any of them, and once a
 * range has ended, the recorder is told when its last records are here. Where reports begin and end is the
 * recorder's part (record/ranges.h). Used by the collector's thread, unless a function says otherwise. */

#pragma once

#include "capture/session/collect/peers.h"
#include "capture/session/collect/watches.h"

/* The end of a range whose records are not known to be all here. */
typedef struct
{
  uint32_t serial;
  uint32_t process; /* whose range it is */
  uint64_t ticks;   /* what CUPTI holds since then or longer may belong to the range */
  int64_t until_ns; /* CLOCK_MONOTONIC: it is not waited for any longer */
  bool is_asked;    /* the process listens */
  bool is_of_all; /* no process is in a range any more: all of them may have records of this one */
} LnsFlush;

typedef struct
{
  LnsPeers *peers;
  const LnsWatches *watches;
  unsigned n_in_range; /* processes in a range; under the lock of the peers */
  uint32_t flush_serial;
  int64_t now_ns;               /* of the last tick */
  LNS_ARRAY (LnsFlush) flushes; /* the oldest first */
} LnsRangeControl;

/* Has all processes, and those to come, look for the range of ASKED, in place of any before. Any thread. */
void lns_range_control_set (LnsRangeControl *control, const LnsWireOptions *asked);

/* Does what is to be done at each beginning and end of a range that PEER has told of. */
void lns_range_control_follow (LnsRangeControl *control, LnsPeer *peer);

/* PEER has handed over what it had when it was sent the command SERIAL. */
void lns_range_control_flushed (LnsPeer *peer, uint32_t serial);

/* Follows all peers, and tells of ends of ranges for which all have handed over what they had, or take too long
 * at NOW_NS. */
void lns_range_control_tick (LnsRangeControl *control, int64_t now_ns);
