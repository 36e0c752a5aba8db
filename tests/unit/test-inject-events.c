/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests the record that each NVTX call becomes. */

#include "tests/tap.h"
#include "tests/unit/mini-session.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPECT(condition)                                                                          \
 do                                                                                                \
  {                                                                                                \
   if (!(condition))                                                                               \
    {                                                                                              \
     fprintf (stderr, "# %s:%d: %s is false\n", __FILE__, __LINE__, #condition);                   \
     return 1;                                                                                     \
    }                                                                                              \
  }                                                                                                \
 while (0)

static MiniSession *
run (int (*target) (void))
{
  MiniOptions options = { .keep_events = true };
  MiniSession *session = mini_session_run (&options, target);
  LNS_CHECK (WIFEXITED (session->exit_status));
  LNS_CHECK_INT (WEXITSTATUS (session->exit_status), 0);
  LNS_CHECK_INT (session->n_bad_records, 0);
  LNS_CHECK_INT (session->n_wrong_times, 0);
  LNS_CHECK_INT (session->n_wrong_depths, 0);
  LNS_CHECK_INT (session->n_unknown_names, 0);
  LNS_CHECK_INT (mini_session_lost_all (session), 0);
  return session;
}

static int
push_and_pop (void)
{
  nvtx_start ();
  errno = 4711;
  EXPECT (nvtx_push ("outer") == 0);
  EXPECT (nvtx_push ("inner") == 1);
  EXPECT (nvtx_pop () == 1);
  EXPECT (nvtx_push (NULL) == 1);
  EXPECT (nvtx_push ("") == 2);
  EXPECT (nvtx_pop () == 2);
  EXPECT (nvtx_pop () == 1);
  EXPECT (nvtx_pop () == 0);
  EXPECT (nvtx_pop () < 0);
  EXPECT (nvtx_push ("unclosed") == 0);
  nvtx_mark ("mark");
  EXPECT (errno == 4711);
  return 0;
}

static void
test_push_and_pop (void)
{
  MiniSession *session = run (push_and_pop);
  static const struct
  {
    LnsWireType type;
    uint32_t depth;
    const char *name;
  } expected[] = {
    { LNS_WIRE_PUSH, 0, "outer" },   { LNS_WIRE_PUSH, 1, "inner" },
    { LNS_WIRE_POP, 1, NULL },       { LNS_WIRE_PUSH, 1, NULL },
    { LNS_WIRE_PUSH, 2, "" },        { LNS_WIRE_POP, 2, NULL },
    { LNS_WIRE_POP, 1, NULL },       { LNS_WIRE_POP, 0, NULL },
    { LNS_WIRE_POP_EMPTY, 0, NULL }, { LNS_WIRE_PUSH, 0, "unclosed" },
    { LNS_WIRE_MARK, 0, "mark" },
  };
  size_t n = sizeof expected / sizeof *expected;
  LNS_CHECK_INT (session->n_events, n);
  for (size_t i = 0; i < n; i++)
    {
      LNS_CHECK_INT (session->events[i].type, expected[i].type);
      LNS_CHECK_INT (session->events[i].depth, expected[i].depth);
      if (expected[i].name != NULL)
        LNS_CHECK_STR (session->events[i].name, expected[i].name);
      else
        LNS_CHECK (session->events[i].name == NULL);
    }
  LNS_CHECK_INT (session->processes[0].n_type[LNS_WIRE_THREAD], 1);
  mini_session_free (session);
}

/* The buffer is the same, its text is not; later the text is the same and the buffer is not. */
static int
names_in_buffers (void)
{
  nvtx_start ();
  char buffer[64], other[64];
  for (int i = 0; i < 1000; i++)
    {
      snprintf (buffer, sizeof buffer, "step %d%s", i % 100, i % 3 ? "" : " of the long kind here");
      nvtx_push (buffer);
      strcpy (other, buffer);
      nvtx_mark (other);
      nvtx_pop ();
    }
  return 0;
}

static void
test_names_in_buffers (void)
{
  MiniSession *session = run (names_in_buffers);
  LNS_CHECK_INT (session->n_events, 3000);
  for (int i = 0; i < 1000; i++)
    {
      char expected[64];
      snprintf (expected, sizeof expected, "step %d%s", i % 100,
                i % 3 ? "" : " of the long kind here");
      LNS_CHECK_STR (session->events[3 * i].name, expected);
      LNS_CHECK_STR (session->events[3 * i + 1].name, expected);
    }
  /* Told once each: 100 numbers, both endings of each. */
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_STRING), 300 - 100);
  mini_session_free (session);
}

/* A string that ends at the very end of mapped memory, first long, then shorter. */
static int
names_at_a_page_end (void)
{
  nvtx_start ();
  char *pages = mmap (NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT (pages != MAP_FAILED && mprotect (pages + 4096, 4096, PROT_NONE) == 0);
  for (int n = 1; n < 40; n++)
    {
      char *name = pages + 4096 - n - 1;
      memset (name, 'a', (size_t)n);
      name[n] = '\0';
      nvtx_mark (name);
      name[n / 2] = '\0';
      nvtx_mark (name);
    }
  return 0;
}

/* A string that was on two pages and is shorter now, where the second one is gone: what was told of that
 * address is longer than what may be read there. */
static int
names_that_lost_a_page (void)
{
  nvtx_start ();
  char *pages = mmap (NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT (pages != MAP_FAILED);
  for (int n = 1; n < 40; n++)
    {
      char *name = pages + 4096 - n - 1;
      EXPECT (mprotect (pages, 8192, PROT_READ | PROT_WRITE) == 0);
      memset (name, 'a', 60);
      name[60] = '\0';
      nvtx_push (name);
      nvtx_pop ();
      name[n] = '\0';
      EXPECT (mprotect (pages + 4096, 4096, PROT_NONE) == 0);
      nvtx_push (name);
      nvtx_pop ();
    }
  return 0;
}

static void
test_names_that_lost_a_page (void)
{
  MiniSession *session = run (names_that_lost_a_page);
  LNS_CHECK_INT (session->n_events, 4 * 39);
  for (size_t n = 1; n < 40; n++)
    {
      LNS_CHECK_INT (strlen (session->events[4 * n - 4].name), 60);
      LNS_CHECK_INT (strlen (session->events[4 * n - 2].name), n);
    }
  mini_session_free (session);
}

static void
test_names_at_a_page_end (void)
{
  MiniSession *session = run (names_at_a_page_end);
  LNS_CHECK_INT (session->n_events, 78);
  for (size_t n = 1; n < 40; n++)
    {
      LNS_CHECK_INT (strlen (session->events[2 * n - 2].name), n);
      LNS_CHECK_INT (strlen (session->events[2 * n - 1].name), n / 2);
    }
  mini_session_free (session);
}

#define LONG_NAME_BYTES 66000

static int
long_and_odd_names (void)
{
  nvtx_start ();
  static char name[LONG_NAME_BYTES + 1], huge[(2 << 20) + 1];
  for (int i = 0; i < LONG_NAME_BYTES; i++)
    name[i] = (char)('A' + i % 23);
  memset (huge, 'h', sizeof huge - 1);
  nvtx_push (name);
  nvtx_push (name);
  nvtx_mark ("quote ' \" \n newline \x01 \xff\xfe invalid \xf0\x9f\x98\x80");
  nvtx_mark (huge);
  static wchar_t wide[70001];
  for (int i = 0; i < 70000; i++)
    wide[i] = i % 2 ? 0x20ac : L'w';
  NVTX_CALL (core, LNS_NVTX_CORE_MARK_W, void, (const wchar_t *)) (wide);
  NVTX_CALL (core, LNS_NVTX_CORE_RANGE_PUSH_W, int, (const wchar_t *))
  (L"gr\u00fc\u00dfe \U0001f600");
  const wchar_t odd[] = { 'x', (wchar_t)0xd800, (wchar_t)0x110000, 0x7ff, 0x800, 0 };
  NVTX_CALL (core, LNS_NVTX_CORE_MARK_W, void, (const wchar_t *)) (odd);
  return 0;
}

static void
test_long_and_odd_names (void)
{
  MiniSession *session = run (long_and_odd_names);
  LNS_CHECK_INT (session->n_events, 7);
  for (int k = 0; k < 2; k++)
    {
      LNS_CHECK_INT (session->events[k].n_name_bytes, LONG_NAME_BYTES);
      for (int i = 0; i < LONG_NAME_BYTES; i++)
        LNS_CHECK_INT (session->events[k].name[i], 'A' + i % 23);
    }
  LNS_CHECK_STR (session->events[2].name,
                 "quote ' \" \n newline \x01 \xff\xfe invalid \xf0\x9f\x98\x80");
  /* Two megabytes are cut to what a record takes. */
  LNS_CHECK (session->events[3].n_name_bytes > LNS_WIRE_RECORD_MAX_BYTES - 100);
  LNS_CHECK_INT (session->events[3].name[session->events[3].n_name_bytes - 1], 'h');
  LNS_CHECK_INT (session->events[4].n_name_bytes, 35000 * 4);
  LNS_CHECK (memcmp (session->events[4].name + 139996, "w\xe2\x82\xac", 4) == 0);
  LNS_CHECK_STR (session->events[5].name, "gr\xc3\xbc\xc3\x9f"
                                          "e \xf0\x9f\x98\x80");
  LNS_CHECK_STR (session->events[6].name, "x\xed\xa0\x80\xef\xbf\xbd\xdf\xbf\xe0\xa0\x80");
  mini_session_free (session);
}

enum
{
  N_DISTINCT = 1000000
};

static int
a_million_names (void)
{
  nvtx_start ();
  char name[32];
  for (int i = 0; i < N_DISTINCT; i++)
    {
      snprintf (name, sizeof name, "n%d", i);
      nvtx_mark (name);
      /* One that comes again and again stays right while the others push it out. */
      if (i % 1000 == 0)
        nvtx_push ("again"), nvtx_pop ();
    }
  return 0;
}

static uint64_t n_right;

static void
check_number (MiniSession *session,
              MiniProcess *process,
              MiniStream *stream,
              const LnsWireRecord *record)
{
  if (record->type == LNS_WIRE_MARK)
    {
      char expected[32];
      snprintf (expected, sizeof expected, "n%" PRIu64, process->n_type[LNS_WIRE_MARK] - 1);
      n_right += strcmp (stream->strings[record->event.string].text, expected) == 0;
    }
  else if (record->type == LNS_WIRE_PUSH)
    n_right += strcmp (stream->strings[record->event.string].text, "again") == 0;
}

static void
test_a_million_names (void)
{
  MiniOptions options = { .on_record = check_number };
  n_right = 0;
  MiniSession *session = mini_session_run (&options, a_million_names);
  LNS_CHECK_INT (session->exit_status, 0);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_MARK), N_DISTINCT);
  LNS_CHECK_INT (mini_session_lost_all (session), 0);
  LNS_CHECK_INT (n_right, N_DISTINCT + N_DISTINCT / 1000);
  LNS_CHECK_INT (session->n_unknown_names, 0);
  mini_session_free (session);
}

static int
attributes (void)
{
  nvtx_start ();
  const void *domain = nvtx_domain ("numbers");
  EXPECT (domain != NULL && nvtx_domain ("numbers") == domain);
  EXPECT (nvtx_domain ("others") != domain);
  const void *name = nvtx_register (domain, "registered");
  EXPECT (name != NULL && nvtx_register (domain, "registered") == name);
  EXPECT (nvtx_register (NULL, "registered") != name);
  LnsNvtxEventAttributes event = { .version = 3,
                                   .size = sizeof event,
                                   .category = 7,
                                   .color_type = 1,
                                   .color = 0xff336699,
                                   .message_type = LNS_NVTX_MESSAGE_REGISTERED,
                                   .message.registered = name };
  static const uint64_t payloads[] = { 0,          UINT64_MAX, (uint64_t)-5, 0x3ff8000000000000,
                                       0xffffffff, 0xfffffffb, 0x3fc00000 };
  for (int32_t type = 0; type <= 6; type++)
    {
      event.payload_type = type;
      /* The upper half is not the value's in types of 32 bits. */
      event.payload = payloads[type] | (type > 3 ? UINT64_C (0xabcd) << 48 : 0);
      EXPECT (nvtx_domain_push (domain, &event) == type);
    }
  EXPECT (nvtx_push ("default") == 0);
  for (int type = 6; type >= 0; type--)
    EXPECT (nvtx_domain_pop (domain) == type);
  EXPECT (nvtx_domain_pop (domain) < 0);
  EXPECT (nvtx_pop () == 0);
  /* An older, shorter structure: what lies behind it is not looked at. */
  event.size = 16;
  EXPECT (nvtx_domain_push (NULL, &event) == 0);
  EXPECT (nvtx_domain_push (NULL, NULL) == 1);
  return 0;
}

static void
test_attributes (void)
{
  MiniSession *session = run (attributes);
  static const uint64_t payloads[] = { 0,          UINT64_MAX, (uint64_t)-5, 0x3ff8000000000000,
                                       0xffffffff, 0xfffffffb, 0x3fc00000 };
  LNS_CHECK_INT (session->n_events, 7 + 1 + 8 + 1 + 2);
  uint32_t domain = session->events[0].domain;
  LNS_CHECK_STR (session->processes[0].domains[domain], "numbers");
  for (uint32_t type = 0; type <= 6; type++)
    {
      const MiniEvent *event = &session->events[type];
      LNS_CHECK_INT (event->type, LNS_WIRE_PUSH);
      LNS_CHECK_INT (event->domain, domain);
      LNS_CHECK_INT (event->depth, type);
      LNS_CHECK_STR (event->name, "registered");
      LNS_CHECK_INT (event->color, 0xff336699);
      LNS_CHECK_INT (event->color_type, 1);
      LNS_CHECK_INT (event->category, 7);
      LNS_CHECK_INT (event->payload_type, type);
      LNS_CHECK_INT (event->payload, payloads[type]);
    }
  LNS_CHECK_INT (session->events[7].domain, 0);
  const MiniEvent *old = &session->events[session->n_events - 2];
  LNS_CHECK_INT (old->color, 0xff336699);
  LNS_CHECK (old->name == NULL);
  LNS_CHECK_INT (old->payload_type, 0);
  mini_session_free (session);
}

static int
start_and_end (void)
{
  nvtx_start ();
  const void *domain = nvtx_domain ("started");
  uint64_t a = nvtx_range_start ("a"), b = nvtx_range_start ("b");
  EXPECT (a != 0 && b != 0 && a != b);
  nvtx_range_end (a);
  nvtx_range_end (b);
  LnsNvtxEventAttributes event = { .size = sizeof event,
                                   .color_type = 1,
                                   .color = 1,
                                   .message_type = LNS_NVTX_MESSAGE_ASCII,
                                   .message.ascii = "c" };
  uint64_t c = NVTX_CALL (core2, LNS_NVTX_CORE2_DOMAIN_RANGE_START_EX, uint64_t,
                          (const void *, const LnsNvtxEventAttributes *)) (domain, &event);
  NVTX_CALL (core2, LNS_NVTX_CORE2_DOMAIN_RANGE_END, void, (const void *, uint64_t)) (domain, c);
  nvtx_range_end (0); /* of a range that never was */
  return 0;
}

static void
test_start_and_end (void)
{
  MiniSession *session = run (start_and_end);
  const MiniEvent *events = session->events;
  LNS_CHECK_INT (session->n_events, 7);
  LNS_CHECK_STR (events[0].name, "a");
  LNS_CHECK_INT (events[2].type, LNS_WIRE_END);
  LNS_CHECK_INT (events[2].range, events[0].range);
  LNS_CHECK_INT (events[3].range, events[1].range);
  LNS_CHECK_STR (events[4].name, "c");
  LNS_CHECK_INT (events[4].color, 1);
  LNS_CHECK_INT (events[5].range, events[4].range);
  LNS_CHECK_INT (events[5].domain, events[4].domain);
  LNS_CHECK_INT (events[6].range, 0);
  mini_session_free (session);
}

static int
deep (void)
{
  nvtx_start ();
  for (int i = 0; i < 1000; i++)
    EXPECT (nvtx_push ("deep") == i);
  for (int i = 999; i >= 0; i--)
    EXPECT (nvtx_pop () == i);
  char name[16];
  LnsNvtxEventAttributes event = { .size = sizeof event };
  for (int i = 0; i < 200; i++)
    {
      /* More domains than are counted near by. */
      snprintf (name, sizeof name, "domain %d", i);
      const void *domain = nvtx_domain (name);
      EXPECT (nvtx_domain_push (domain, &event) == 0);
      EXPECT (nvtx_domain_push (domain, &event) == 1);
      EXPECT (nvtx_domain_pop (domain) == 1);
    }
  return 0;
}

static void
test_deep_nesting_and_many_domains (void)
{
  MiniSession *session = run (deep);
  LNS_CHECK_INT (session->n_events, 2000 + 600);
  for (uint32_t i = 0; i < 1000; i++)
    {
      LNS_CHECK_INT (session->events[i].depth, i);
      LNS_CHECK_INT (session->events[1000 + i].depth, 999 - i);
    }
  LNS_CHECK_STR (session->processes[0].domains[200], "domain 199");
  mini_session_free (session);
}

static int
the_same_names_again (void)
{
  nvtx_start ();
  void (*name_category) (uint32_t, const char *) =
      NVTX_CALL (core, LNS_NVTX_CORE_NAME_CATEGORY_A, void, (uint32_t, const char *));
  for (int i = 0; i < 1000; i++)
    {
      name_category (1, "first");
      name_category (2, "second");
      nvtx_domain ("domain");
      nvtx_register (NULL, "string");
    }
  name_category (1, "renamed");
  name_category (1, "first");
  name_category (3, NULL);
  return 0;
}

static void
test_the_same_names_again_are_told_once (void)
{
  MiniSession *session = run (the_same_names_again);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_CATEGORY), 5);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_DOMAIN), 1);
  LNS_CHECK_INT (mini_session_count (session, LNS_WIRE_REGISTERED), 1);
  mini_session_free (session);
}

/* Two link units, one of them old with shorter tables. */
static int
link_units (void)
{
  nvtx_start ();
  NvtxUnit other = { 0 };
  EXPECT (nvtx_load (&other, LNS_NVTX_CORE_RANGE_POP, 4));
  EXPECT (other.core[LNS_NVTX_CORE_RANGE_PUSH_A] == nvtx.core[LNS_NVTX_CORE_RANGE_PUSH_A]);
  EXPECT (other.core[LNS_NVTX_CORE_RANGE_POP] == NULL);
  EXPECT (other.core2[LNS_NVTX_CORE2_DOMAIN_RANGE_END] != NULL);
  EXPECT (other.core2[LNS_NVTX_CORE2_DOMAIN_RANGE_PUSH_EX] == NULL);
  nvtx_push ("one");
  ((int (*) (const char *))other.core[LNS_NVTX_CORE_RANGE_PUSH_A]) ("two");
  return 0;
}

static void
test_link_units_share_a_stream (void)
{
  MiniSession *session = run (link_units);
  LNS_CHECK_INT (session->n_processes, 1);
  LNS_CHECK_INT (session->n_events, 2);
  LNS_CHECK_INT (session->events[1].depth, 1);
  mini_session_free (session);
}

int
main (void)
{
  LNS_TEST (test_push_and_pop);
  LNS_TEST (test_names_in_buffers);
  LNS_TEST (test_names_at_a_page_end);
  LNS_TEST (test_names_that_lost_a_page);
  LNS_TEST (test_long_and_odd_names);
  LNS_TEST (test_a_million_names);
  LNS_TEST (test_attributes);
  LNS_TEST (test_start_and_end);
  LNS_TEST (test_deep_nesting_and_many_domains);
  LNS_TEST (test_the_same_names_again_are_told_once);
  LNS_TEST (test_link_units_share_a_stream);
  return lns_tap_done ();
}
