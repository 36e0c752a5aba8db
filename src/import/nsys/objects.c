/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Processes, threads, domains and what is of a GPU: each is defined when the first row needs it, and
 * defined anew when a table tells more about it. */

#include <stdlib.h>
#include <string.h>

#include "src/import/nsys/import-private.h"

/* Room for one more item in *LIST, which has N. Where memory runs out the last item is taken again. */
static void *
next_item (void *list_at, uint32_t n, size_t item_bytes)
{
  char **list = list_at;

  if ((n & (n - 1)) == 0)
    {
      char *grown = reallocarray (*list, n == 0 ? 1 : 2 * (size_t)n, item_bytes);
      if (grown == NULL)
        return n > 0 ? *list + (n - 1) * item_bytes : NULL;
      *list = grown;
    }
  return *list + n * item_bytes;
}

/* Puts ITEM behind the N of *LIST; its place, or LNS_ID_NONE where memory ran out. */
static bool
add_item (void *list_at, uint32_t n, const void *item, size_t item_bytes)
{
  void *place = next_item (list_at, n, item_bytes);

  if (place != NULL)
    memcpy (place, item, item_bytes);
  return place != NULL;
}

uint32_t
_lns_import_process (LnsImport *import, int64_t global_id)
{
  const uint64_t key = (uint64_t)global_id >> 24;
  uint32_t id = lns_string_table_intern (import->processes, &key, sizeof key, import->n_processes);

  if (id < import->n_processes)
    return id;
  const LnsProcess process = { .pid = (int32_t)(key & 0xFFFFFF),
                               .target_pid = (int32_t)(key & 0xFFFFFF),
                               .parent = LNS_ID_NONE,
                               .start_ns = LNS_TIME_UNKNOWN,
                               .end_ns = LNS_TIME_UNKNOWN,
                               .exit_code = -1,
                               .machine = (uint32_t)(key >> 24) };
  if (add_item (&import->process_list, import->n_processes, &process, sizeof process))
    import->n_processes++;
  return lns_writer_add_process (import->writer, &process);
}

uint32_t
_lns_import_thread (LnsImport *import, int64_t global_tid)
{
  if (global_tid == import->last_thread_key && import->n_threads > 0)
    return import->last_thread;
  uint32_t id =
      lns_string_table_intern (import->threads, &global_tid, sizeof global_tid, import->n_threads);

  if (id == import->n_threads)
    {
      const LnsThread thread = { .process = _lns_import_process (import, global_tid),
                                 .tid = (int32_t)(global_tid & 0xFFFFFF),
                                 .target_tid = (int32_t)(global_tid & 0xFFFFFF),
                                 .start_ns = LNS_TIME_UNKNOWN,
                                 .end_ns = LNS_TIME_UNKNOWN };
      if (add_item (&import->thread_list, import->n_threads, &thread, sizeof thread))
        import->n_threads++;
      lns_writer_add_thread (import->writer, &thread);
    }
  import->last_thread_key = global_tid;
  import->last_thread = id;
  return id;
}

uint32_t
_lns_import_domain (LnsImport *import, uint32_t process, int64_t number)
{
  const struct
  {
    uint64_t process;
    int64_t number;
  } key = { process, number };
  uint32_t id = lns_string_table_intern (import->domains, &key, sizeof key, import->n_domains);

  if (id < import->n_domains)
    return id;
  const LnsDomain domain = { .process = process,
                             .number = (uint32_t)number,
                             .created_ns = LNS_TIME_UNKNOWN,
                             .destroyed_ns = LNS_TIME_UNKNOWN,
                             .thread = LNS_ID_NONE };
  if (add_item (&import->domain_list, import->n_domains, &domain, sizeof domain))
    import->n_domains++;
  return lns_writer_add_domain (import->writer, &domain);
}

/* The GPU with CUDA's NUMBER, as PROCESS sees it. */
static LnsCudaDevice
describe_gpu (const LnsImport *import, uint32_t process, int64_t number)
{
  LnsCudaDevice device = { 0 };

  for (uint32_t i = 0; i < import->n_gpus; i++)
    if (import->gpu_list[i].number == number)
      {
        device = import->gpu_list[i].device;
        break;
      }
  device.process = process;
  device.number = (uint32_t)number;
  return device;
}

uint32_t
_lns_import_device (LnsImport *import, uint32_t process, int64_t number)
{
  const uint64_t key = (uint64_t)process << 32 | (uint32_t)number;
  uint32_t id = lns_string_table_intern (import->devices, &key, sizeof key, import->n_devices);

  if (id < import->n_devices)
    return id;
  const LnsCudaDevice device = describe_gpu (import, process, number);
  if (add_item (&import->device_list, import->n_devices, &device, sizeof device))
    import->n_devices++;
  return lns_writer_add_device (import->writer, &device);
}

uint32_t
_lns_import_context (LnsImport *import, uint32_t process, uint32_t device, int64_t number)
{
  /* Without the device: files have rows of one context under several.                            */
  const uint64_t key = (uint64_t)process << 32 | (uint32_t)number;
  uint32_t id = lns_string_table_intern (import->contexts, &key, sizeof key, import->n_contexts);

  if (id < import->n_contexts)
    return id;
  const LnsCudaContext context = { .device = device, .number = (uint32_t)number };
  if (add_item (&import->context_list, import->n_contexts, &context, sizeof context))
    import->n_contexts++;
  return lns_writer_add_context (import->writer, &context);
}

uint32_t
_lns_import_context_device (const LnsImport *import,
                            uint32_t process,
                            int64_t number,
                            uint32_t otherwise)
{
  const uint64_t key = (uint64_t)process << 32 | (uint32_t)number;
  const uint32_t id = lns_string_table_find (import->contexts, &key, sizeof key, LNS_ID_NONE);

  return id < import->n_contexts ? import->context_list[id].device : otherwise;
}

uint32_t
_lns_import_stream (LnsImport *import, uint32_t context, int64_t number)
{
  const uint64_t key = (uint64_t)context << 32 | (uint32_t)number;
  uint32_t id = lns_string_table_intern (import->streams, &key, sizeof key, import->n_streams);

  if (id < import->n_streams)
    return id;
  const LnsCudaStream stream = { .context = context, .number = (uint32_t)number };
  if (add_item (&import->stream_list, import->n_streams, &stream, sizeof stream))
    import->n_streams++;
  return lns_writer_add_stream (import->writer, &stream);
}

uint32_t
_lns_import_launch (LnsImport *import, const LnsCudaLaunch *launch)
{
  uint32_t id =
      lns_string_table_intern (import->launches, launch, sizeof *launch, import->n_launches);

  if (id < import->n_launches)
    return id;
  import->n_launches++;
  return lns_writer_add_launch (import->writer, launch);
}
