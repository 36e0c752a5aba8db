/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Which context each device's compute engine works for. It begins with an operation of the context, and ends before one of
 * another context, or when the client collects everything. With LNS_DOUBLE_NEIGHBOUR, the engine worked for a context of
 * that process just before it first works for this one. */

#include "tests/double/cupti/cupti.h"

#include <string.h>

#define MAX_DEVICES  16
#define NEIGHBOUR    1000 /* its context */
#define NEIGHBOUR_NS 5000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct
{
  uint32_t context; /* 0: none */
  int64_t end_ns;   /* of its last operation */
} engines[MAX_DEVICES];

static void
write_switch (uint32_t context, bool is_end, int64_t time_ns)
{
  const LnsCuptiSwitch record = { .kind = LNS_CUPTI_SWITCH,
                                  .context = context,
                                  .timestamp = _lns_cupti_time (time_ns, true),
                                  .operation = is_end ? 2 : 1 };
  _lns_cupti_write (&record, true);
}

static void
write_neighbour (uint32_t device, int64_t start_ns)
{
  const long pid = lns_gpu_option ("LNS_DOUBLE_NEIGHBOUR", 0);
  if (pid == 0)
    return;
  LnsCuptiContext context = { .known = { .kind = CUPTI_ACTIVITY_KIND_CONTEXT,
                                         .contextId = NEIGHBOUR + device,
                                         .deviceId = device },
                              .pid = (uint64_t)pid };
  if (_lns_cupti_is_enabled (CUPTI_ACTIVITY_KIND_CONTEXT))
    _lns_cupti_write (&context, true);
  write_switch (NEIGHBOUR + device, false, start_ns - NEIGHBOUR_NS);
  write_switch (NEIGHBOUR + device, true, start_ns);
}

void
_lns_cupti_follow_switches (uint32_t device, uint32_t context, int64_t start_ns, int64_t end_ns)
{
  if (!_lns_cupti_is_enabled (LNS_CUPTI_SWITCH) || device >= MAX_DEVICES)
    return;
  pthread_mutex_lock (&lock);
  const uint32_t before = engines[device].context;
  const int64_t left_ns = engines[device].end_ns;
  /* Operations of two contexts may overlap on the double, which has more than one engine. */
  const int64_t at_ns = before != context && before != 0 && start_ns < left_ns ? left_ns : start_ns;
  engines[device].context = context;
  if (end_ns > left_ns)
    engines[device].end_ns = end_ns;
  pthread_mutex_unlock (&lock);
  if (before == context)
    return;
  if (before != 0)
    write_switch (before, true, left_ns);
  else
    write_neighbour (device, at_ns);
  write_switch (context, false, at_ns);
}

void
_lns_cupti_end_switches (void)
{
  for (uint32_t device = 0; device < MAX_DEVICES; device++)
    {
      pthread_mutex_lock (&lock);
      const uint32_t context = engines[device].context;
      const int64_t left_ns = engines[device].end_ns;
      engines[device].context = 0;
      pthread_mutex_unlock (&lock);
      if (context != 0)
        write_switch (context, true, left_ns);
    }
}
