/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Runs tests/programs/calls, which includes NVIDIA's headers, with the injected library, and
 * checks each of its calls, including the values of typed payloads and counters. */

#include "tests/tap.h"
#include "tests/unit/mini-session.h"

#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtMem.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The program names CUDA's objects where there are CUDA's headers. */
#if __has_include(<cuda.h>)
# define HAVE_CUDA_H 1
#else
# define HAVE_CUDA_H 0
#endif

static int
execute_calls (void)
{
  char path[4096];
  snprintf (path, sizeof path, "%s/tests/programs/calls", getenv ("LNS_BUILD_ROOT"));
  FILE *output = freopen ("/dev/null", "w", stdout);
  execl (path, path, (char *)NULL);
  return output == NULL ? 1 : 2;
}

/* Copies of what the records held, since those are gone when the session has ended. */
static struct
{
  int n_schemas, n_enums, n_counters, n_resources, n_categories, n_threads, n_samples;
  int n_blobs, n_domains, n_named_objects, n_unrecorded, n_deferred_schemas;
  uint64_t device, schema, phase, memory, loss;
} seen;

static bool
is (LnsWireText text, const char *expected)
{
  return text.n_bytes == strlen (expected) && memcmp (text.bytes, expected, text.n_bytes) == 0;
}

static void
take_schema (LnsWireSchema schema)
{
  static const char *const names[] = { "step", "loss", "phase" };
  static const uint64_t types[] = { 15, 19 };
  LnsWireSchemaEntry entry;
  if (!is (schema.name, "training step")) /* of deferred events */
    {
      LNS_CHECK (lns_wire_schema_entry_next (&schema.entries, &entry));
      LNS_CHECK (is (entry.name, "begin") && entry.said.flags == (2 << 10 | 1 << 12));
      LNS_CHECK (entry.said.time_domain != 0);
      seen.n_deferred_schemas++;
      return;
    }
  int n = 0;
  for (; lns_wire_schema_entry_next (&schema.entries, &entry); n++)
    {
      LNS_CHECK (n < 3 && is (entry.name, names[n]));
      LNS_CHECK_INT (entry.said.type, n < 2 ? types[n] : seen.phase);
      LNS_CHECK_INT (entry.said.offset_bytes, 4 * n);
      LNS_CHECK (is (entry.description, n == 1 ? "of the batch" : ""));
    }
  LNS_CHECK_INT (n, 3);
  LNS_CHECK_INT (schema.said.static_bytes, 12);
  seen.schema = schema.said.id;
  seen.n_schemas++;
}

static void
take_enum (LnsWireEnum enumeration)
{
  LnsWireEnumEntry entry;
  LNS_CHECK (is (enumeration.name, "phase"));
  LNS_CHECK_INT (enumeration.said.value_bytes, 1);
  LNS_CHECK (lns_wire_enum_entry_next (&enumeration.entries, &entry));
  LNS_CHECK (is (entry.name, "train") && entry.said.value == 1 && !entry.said.is_flag);
  LNS_CHECK (lns_wire_enum_entry_next (&enumeration.entries, &entry));
  LNS_CHECK (is (entry.name, "evaluate") && entry.said.value == 2 && entry.said.is_flag);
  LNS_CHECK (!lns_wire_enum_entry_next (&enumeration.entries, &entry));
  seen.phase = enumeration.said.id;
  seen.n_enums++;
}

static void
take_counter (LnsWireCounter counter)
{
  if (is (counter.name, "memory"))
    {
      LNS_CHECK (is (counter.unit, "MiB"));
      LNS_CHECK_INT (counter.said.schema, 17);
      seen.memory = counter.said.id;
    }
  else
    {
      LNS_CHECK (is (counter.name, "loss"));
      LNS_CHECK_INT (counter.said.id, (1 << 24) + 1);
      seen.loss = counter.said.id;
    }
  seen.n_counters++;
}

static void
take_resource (const LnsWireResource *resource)
{
  switch (resource->said.identifier_type)
    {
    case 0x10001:
      LNS_CHECK (is (resource->name, "a resource"));
      seen.n_resources++;
      break;
    case 0x10002:
      LNS_CHECK (resource->said.head.string & LNS_WIRE_STRING_REGISTERED &&
                 resource->said.identifier == 77);
      seen.n_resources++;
      break;
    case 0x40001: /* both names of one thing: its handle is the same */
      LNS_CHECK (seen.device == 0 || seen.device == resource->said.handle);
      LNS_CHECK (is (resource->name, seen.device == 0 ? "first name of the device" : "the device"));
      seen.device = resource->said.handle;
      seen.n_named_objects++;
      break;
    default:
      LNS_CHECK_INT (resource->said.identifier_type, 0x40003);
      LNS_CHECK_INT (resource->said.identifier, 0x1234);
      LNS_CHECK (is (resource->name, "Stream \xc3\xbc"));
      seen.n_named_objects++;
    }
}

static void
take_sample (const LnsWireSample *sample)
{
  int64_t value;
  double number;
  switch ((LnsWireSampleKind)sample->said.kind)
    {
    case LNS_WIRE_SAMPLE_INT64:
      memcpy (&value, sample->data.bytes, sizeof value);
      LNS_CHECK_INT (value, -42);
      break;
    case LNS_WIRE_SAMPLE_FLOAT64:
      memcpy (&number, sample->data.bytes, sizeof number);
      LNS_CHECK (number == 0.125);
      LNS_CHECK_INT (sample->said.counter, seen.loss);
      break;
    case LNS_WIRE_SAMPLE_DATA:
      memcpy (&value, sample->data.bytes, sizeof value);
      LNS_CHECK_INT (sample->data.n_bytes, 8);
      LNS_CHECK_INT (value, 43);
      break;
    case LNS_WIRE_SAMPLE_NO_VALUE:
      break;
    }
  seen.n_samples++;
}

static void
take_batch (const LnsWireBatch *batch)
{
  int64_t values[3], times[3];
  LNS_CHECK_INT (batch->said.counter, seen.memory);
  LNS_CHECK_INT (batch->data.n_bytes, sizeof values);
  LNS_CHECK_INT (batch->times.n_bytes, sizeof times);
  memcpy (values, batch->data.bytes, sizeof values);
  memcpy (times, batch->times.bytes, sizeof times);
  LNS_CHECK (values[0] == 1 && values[2] == 3 && times[0] == 10 && times[2] == 30);
  seen.n_samples++;
}

static void
take_blobs (LnsWireList blobs)
{
  LnsWireBlob blob;
  while (lns_wire_blob_next (&blobs, &blob))
    {
      if (blob.data.n_bytes == 0)
        {
          /* A payload whose length neither its caller nor its type tells. */
          LNS_CHECK_INT (blob.said.schema, seen.schema);
          seen.n_blobs++;
          continue;
        }
      if (blob.said.schema == 76)
        LNS_CHECK (strcmp ((const char *)blob.data.bytes, "of unknown length") == 0);
      else
        {
          struct
          {
            int32_t step;
            float loss;
            uint8_t phase;
          } payload;
          LNS_CHECK_INT (blob.said.schema, seen.schema);
          LNS_CHECK_INT (blob.data.n_bytes, sizeof payload);
          memcpy (&payload, blob.data.bytes, sizeof payload);
          LNS_CHECK (payload.step == 12 && payload.loss == 0.5f && payload.phase == 1);
        }
      seen.n_blobs++;
    }
}

static void
take_name (const LnsWireRecord *record)
{
  const LnsWireNamed *named = &record->named;
  if (record->type == LNS_WIRE_THREAD_NAME)
    {
      LNS_CHECK (is (named->text, named->id == 4711 ? "another thread" : "the main thread"));
      seen.n_threads++;
    }
  else if (record->domain == 0)
    LNS_CHECK (is (named->text, named->id == 3 ? "third category"
                                               : "vierte \xc3\x9c"
                                                 "bung"));
  else
    LNS_CHECK (
        is (named->text, record->domain == 1 ? "third of the domain" : "third of the wide one"));
  seen.n_categories += record->type == LNS_WIRE_CATEGORY;
}

static void
look (MiniSession *session, MiniProcess *process, MiniStream *stream, const LnsWireRecord *record)
{
  switch (record->type)
    {
    case LNS_WIRE_SCHEMA:
      take_schema (record->schema);
      break;
    case LNS_WIRE_ENUM:
      take_enum (record->enumeration);
      break;
    case LNS_WIRE_COUNTER:
      take_counter (record->counter);
      break;
    case LNS_WIRE_RESOURCE:
      take_resource (&record->resource);
      break;
    case LNS_WIRE_UNRECORDED:
      LNS_CHECK (is (record->named.text, "NVTX's events of locks") ||
                 is (record->named.text, "timers and synchronisation points of its own in NVTX"));
      seen.n_unrecorded++;
      break;
    case LNS_WIRE_CATEGORY:
    case LNS_WIRE_THREAD_NAME:
      take_name (record);
      break;
    case LNS_WIRE_SAMPLE:
      take_sample (&record->sample);
      break;
    case LNS_WIRE_SAMPLE_BATCH:
      take_batch (&record->batch);
      break;
    case LNS_WIRE_PUSH:
    case LNS_WIRE_POP:
    case LNS_WIRE_MARK:
    case LNS_WIRE_START:
    case LNS_WIRE_END:
      take_blobs (record->event.blobs);
      break;
    default:
      break;
    }
}

static bool
has_event (const MiniSession *session, LnsWireType type, const char *name, const char *domain)
{
  for (size_t i = 0; i < session->n_events; i++)
    {
      const MiniEvent *event = &session->events[i];
      const char *its_domain =
          event->domain == 0 ? "" : session->processes[0].domains[event->domain];
      if (event->type == type && event->name != NULL && strcmp (event->name, name) == 0 &&
          strcmp (its_domain, domain) == 0)
        return true;
    }
  return false;
}

static void
test_every_call (void)
{
  MiniOptions options = { .keep_events = true, .on_record = look };
  MiniSession *session = mini_session_run (&options, execute_calls);
  LNS_CHECK_INT (session->exit_status, 0);
  LNS_CHECK_INT (session->n_processes, 1);
  LNS_CHECK_INT (session->n_bad_records + session->n_wrong_times + session->n_wrong_depths +
                     session->n_unknown_names,
                 0);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_PUSH), 5);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_POP), 5);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_MARK), 6);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_START), 5);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_END), 5);
  LNS_CHECK_INT (seen.n_samples, 5);
  LNS_CHECK_INT (seen.n_schemas, 1);
  LNS_CHECK_INT (seen.n_deferred_schemas, 4);
  LNS_CHECK_INT (seen.n_enums, 1);
  LNS_CHECK_INT (seen.n_counters, 2);
  LNS_CHECK_INT (seen.n_resources, 2);
  LNS_CHECK_INT (seen.n_named_objects, HAVE_CUDA_H ? 3 : 0);
  LNS_CHECK_INT (seen.n_unrecorded, 2);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_DEFERRED), 4);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_TIME_DOMAIN), 1);
  LNS_CHECK_INT (seen.n_categories, 4);
  LNS_CHECK_INT (seen.n_threads, 2);
  LNS_CHECK_INT (seen.n_blobs, 9);
  LNS_CHECK (has_event (session, LNS_WIRE_MARK, "by attributes", ""));
  LNS_CHECK (has_event (session, LNS_WIRE_MARK, "wide mark \xe2\x82\xac", ""));
  LNS_CHECK (has_event (session, LNS_WIRE_START, "wide start", ""));
  LNS_CHECK (has_event (session, LNS_WIRE_PUSH, "wide push", ""));
  LNS_CHECK (has_event (session, LNS_WIRE_PUSH, "registered", "narrow domain"));
  LNS_CHECK (has_event (session, LNS_WIRE_START, "registered wide", "wide domain"));
  LNS_CHECK (has_event (session, LNS_WIRE_MARK, "with a typed payload", "typed"));
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_DOMAIN), 3);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_DOMAIN_END), 1);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_RESOURCE_END), 1);
  mini_session_free (session);
}

/* --- The first call. -------------------------------------------------------------------------- */

/* The one socket that this process has beyond those that it was started with, or -1. */
static int
find_socket (const bool before[1024])
{
  struct stat status;
  for (int fd = 3; fd < 1024; fd++)
    if (!before[fd] && fstat (fd, &status) == 0 && S_ISSOCK (status.st_mode))
      return fd;
  return -1;
}

static void *
mark_first (void *name)
{
  nvtxMarkA (name);
  return NULL;
}

/* The child comes while another thread, in the first NVTX call of all, waits for the session's answer. */
static int
fork_in_first_call (void)
{
  bool before[1024];
  pthread_t thread;
  alarm (
      (unsigned)(60 * lns_tap_patience ())); /* all of it hangs for ever where something is wrong */
  for (int fd = 0; fd < 1024; fd++)
    before[fd] = fcntl (fd, F_GETFD) >= 0;
  pthread_create (&thread, NULL, mark_first, (void *)"parent");
  while (find_socket (before) < 0)
    sched_yield ();
  pid_t pid = fork ();
  if (pid == 0)
    {
      alarm ((unsigned)(60 * lns_tap_patience ()));
      nvtxMarkA ("child");
      _exit (0);
    }
  int status = 1;
  waitpid (pid, &status, 0);
  pthread_join (thread, NULL);
  nvtxMarkA ("parent");
  return status;
}

static void
test_fork_in_first_call (void)
{
  MiniOptions options = { .keep_events = true, .answer_after_ms = 200 };
  MiniSession *session = mini_session_run (&options, fork_in_first_call);
  LNS_CHECK_INT (session->exit_status, 0);
  LNS_CHECK_INT (session->n_processes, 2);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_MARK), 3);
  LNS_CHECK (has_event (session, LNS_WIRE_MARK, "parent", ""));
  LNS_CHECK (has_event (session, LNS_WIRE_MARK, "child", ""));
  mini_session_free (session);
}

/* What cannot be recorded is told by the first call of its kind, also where there is no other. */
static int
register_heap (void)
{
  nvtxInitialize (NULL);
  return nvtxMemHeapRegister (NULL, NULL) == NULL ? 0 : 1;
}

static void
note_missing (MiniSession *session,
              MiniProcess *process,
              MiniStream *stream,
              const LnsWireRecord *record)
{
  if (record->type == LNS_WIRE_UNRECORDED)
    seen.n_unrecorded += is (record->named.text, "NVTX's memory extension");
}

static void
test_memory_extension_is_told (void)
{
  MiniOptions options = { .on_record = note_missing };
  seen.n_unrecorded = 0;
  MiniSession *session = mini_session_run (&options, register_heap);
  LNS_CHECK_INT (session->exit_status, 0);
  LNS_CHECK_INT (session->n_processes, 1);
  LNS_CHECK_INT (seen.n_unrecorded, 1);
  mini_session_free (session);
}

int
main (void)
{
  LNS_TEST (test_every_call);
  LNS_TEST (test_fork_in_first_call);
  LNS_TEST (test_memory_extension_is_told);
  return lns_tap_done ();
}
