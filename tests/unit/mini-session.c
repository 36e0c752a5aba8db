/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/unit/mini-session.h"
#include "tests/unit/mini-session-records.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void
fail (const char *what)
{
  fprintf (stderr, "# mini-session: %s: %s\n", what, strerror (errno));
  abort ();
}

static void
open_listener (MiniSession *session)
{
  strcpy (session->folder, "/tmp/lns-test-XXXXXX");
  if (mkdtemp (session->folder) == NULL)
    fail ("mkdtemp");
  snprintf (session->path, sizeof session->path, "%s/socket", session->folder);
  session->listener = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  strcpy (address.sun_path, session->path);
  if (bind (session->listener, (struct sockaddr *)&address, sizeof address) < 0 ||
      listen (session->listener, 64) < 0)
    fail ("listen");
}

static void
welcome (MiniProcess *process, uint32_t serial)
{
  LnsWireWelcome message = { .magic = LNS_WIRE_MAGIC,
                             .abi = LNS_WIRE_ABI,
                             .serial = serial,
                             .pool_bytes = lns_wire_pool_view (process->pool)->pool_bytes };
  union
  {
    struct cmsghdr header;
    char bytes[CMSG_SPACE (sizeof (int))];
  } control = { 0 };
  struct iovec part = { &message, sizeof message };
  struct msghdr header = {
    .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
  };
  struct cmsghdr *rights = CMSG_FIRSTHDR (&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN (sizeof (int));
  int fd = lns_wire_pool_fd (process->pool);
  memcpy (CMSG_DATA (rights), &fd, sizeof fd);
  if (sendmsg (process->connection, &header, MSG_NOSIGNAL) < 0 && errno != EPIPE)
    fail ("sendmsg");
}

/* Takes one connection and says welcome; false when none waits. */
static bool
accept_process (MiniSession *session)
{
  int fd = accept4 (session->listener, NULL, NULL, SOCK_CLOEXEC);
  if (fd < 0)
    return false;
  if (session->n_processes == MINI_PROCESSES_MAX)
    fail ("too many processes");
  MiniProcess *process = &session->processes[session->n_processes];
  process->connection = fd;
  struct ucred peer;
  socklen_t n_peer = sizeof peer;
  if (getsockopt (fd, SOL_SOCKET, SO_PEERCRED, &peer, &n_peer) < 0)
    fail ("SO_PEERCRED");
  process->pid = peer.pid;
  if (recv (fd, &process->hello, sizeof process->hello, 0) != sizeof process->hello ||
      process->hello.magic != LNS_WIRE_MAGIC || process->hello.abi != LNS_WIRE_ABI)
    {
      close (fd);
      return true;
    }
  usleep ((useconds_t)session->options.answer_after_ms * 1000);
  uint32_t serial = session->n_processes + 1;
  if (session->options.refuse_with != 0)
    {
      LnsWireWelcome no = { .magic = LNS_WIRE_MAGIC,
                            .abi = LNS_WIRE_ABI,
                            .refused = session->options.refuse_with };
      (void)send (fd, &no, sizeof no, MSG_NOSIGNAL);
    }
  else if (!session->options.refuse)
    {
      LnsWirePoolOptions options = {
        .serial = serial,
        .clock = session->clock,
        .chunk_bytes = session->options.chunk_bytes,
        .n_chunks = session->options.n_chunks,
        .n_buffers = session->options.asked == NULL || session->options.no_buffers ? 0 : 512,
        .target = session->options.asked,
        .recording = !session->options.paused
      };
      if (lns_wire_pool_new (&options, &process->pool) < 0)
        fail ("lns_wire_pool_new");
      lns_wire_pool_publish (process->pool, session->options.n_free);
      if (session->options.asked != NULL)
        lns_wire_pool_top_up (process->pool, UINT32_MAX, 0);
      welcome (process, serial);
    }
  __atomic_store_n (&session->n_processes, serial, __ATOMIC_RELEASE);
  return true;
}

/* Answers in a thread of its own: a target waits a second at most, a drain may take long; and before others, where
 * that is allowed, as the real one does. */
static void *
answer (void *argument)
{
  MiniSession *session = argument;
  setpriority (PRIO_PROCESS, (id_t)gettid (), -10);
  while (!__atomic_load_n (&session->is_over, __ATOMIC_ACQUIRE))
    {
      struct pollfd wake = { .fd = session->listener, .events = POLLIN };
      poll (&wake, 1, 5);
      while (accept_process (session))
        ;
    }
  return NULL;
}

static uint32_t
count_processes (const MiniSession *session)
{
  return __atomic_load_n (&session->n_processes, __ATOMIC_ACQUIRE);
}

static void
listen_to (MiniSession *session, MiniProcess *process)
{
  LnsWireNotice notice;
  ssize_t n;
  if (process->connection < 0)
    return;
  while ((n = recv (process->connection, &notice, sizeof notice, MSG_DONTWAIT)) == sizeof notice)
    {
      session->n_notices++;
      session->n_notice[notice.kind % 8]++;
    }
  if (n == 0 || (n < 0 && errno != EAGAIN))
    {
      close (process->connection);
      process->connection = -1;
    }
}

/* Reads what there is; with GONE, takes back what is owned too. Returns the bytes read. */
static size_t
drain (MiniSession *session, MiniProcess *process, bool gone)
{
  static LnsWireChunk chunks[LNS_WIRE_CHUNKS_DEFAULT];
  static uint8_t buffer[LNS_WIRE_RECORD_MAX_BYTES];
  size_t n_all = 0;
  if (process->pool == NULL)
    return 0;
  size_t n = lns_wire_pool_scan (process->pool, chunks, LNS_WIRE_CHUNKS_DEFAULT);
  for (size_t i = 0; i < n; i++)
    {
      MiniStream *stream = mini_process_stream (process, chunks[i].stream);
      if (chunks[i].sequence != stream->next_sequence)
        continue;
      size_t n_bytes = lns_wire_pool_read (process->pool, &chunks[i], buffer, sizeof buffer);
      mini_session_take (session, process, stream, buffer, n_bytes);
      n_all += n_bytes;
      if (lns_wire_pool_reclaim (process->pool, &chunks[i], gone, true) == 0)
        {
          stream->next_sequence++;
          n_all++; /* the next one may be there already */
        }
    }
  if (session->options.asked != NULL && !gone)
    lns_wire_pool_top_up (process->pool, UINT32_MAX, 0);
  LnsWirePoolUsage usage;
  lns_wire_pool_usage (process->pool, &usage);
  if (usage.n_owned > process->n_max_owned)
    process->n_max_owned = usage.n_owned;
  if (usage.n_free < session->options.n_free)
    lns_wire_pool_publish (process->pool, session->options.n_free - usage.n_free);
  return n_all;
}

static void
visit_all (MiniSession *session)
{
  for (uint32_t i = 0; i < count_processes (session); i++)
    {
      listen_to (session, &session->processes[i]);
      drain (session, &session->processes[i], false);
    }
  if (session->options.on_visit != NULL)
    session->options.on_visit (session);
}

/* Sleeps until a process says something, or the next visit is due. */
static void
wait_for_news (MiniSession *session)
{
  struct pollfd polled[MINI_PROCESSES_MAX];
  uint32_t n = count_processes (session);
  for (uint32_t i = 0; i < n; i++)
    polled[i] = (struct pollfd){ .fd = session->processes[i].connection, .events = POLLIN };
  if (session->options.drain_every_ms > 0)
    usleep ((useconds_t)session->options.drain_every_ms * 1000);
  else
    poll (polled, n, 1);
}

/* Serves until no child is left; descendants come to this process, their subreaper. */
static void
serve (MiniSession *session, pid_t first)
{
  for (;;)
    {
      int status;
      pid_t pid = waitpid (-1, &status, WNOHANG);
      if (pid < 0 && errno == ECHILD)
        break;
      if (pid == first)
        session->exit_status = status;
      visit_all (session);
      if (pid <= 0)
        wait_for_news (session);
    }
  __atomic_store_n (&session->is_over, true, __ATOMIC_RELEASE);
  pthread_join (session->answerer, NULL);
  for (uint32_t i = 0; i < session->n_processes; i++)
    {
      MiniProcess *process = &session->processes[i];
      listen_to (session, process);
      while (drain (session, process, true) > 0)
        ;
      if (process->pool == NULL)
        continue;
      lns_wire_pool_losses (process->pool, &process->losses);
      for (uint32_t s = 0; s < process->n_streams; s++)
        if (process->streams[s] != NULL)
          mini_losses_add (&process->told, &process->streams[s]->told);
    }
}

MiniSession *
mini_session_run (const MiniOptions *options, int (*target) (void))
{
  MiniSession *session = calloc (1, sizeof *session);
  session->options = *options;
  if (session->options.n_free == 0)
    session->options.n_free = 1024;
  session->clock = lns_wire_clock_detect ();
  session->first_ticks = lns_wire_clock_ticks (session->clock);
  open_listener (session);
  prctl (PR_SET_CHILD_SUBREAPER, 1);
  fflush (NULL);
  pid_t pid = fork ();
  if (pid == 0)
    {
      close (session->listener);
      setenv (LNS_WIRE_ENVIRONMENT, session->path, 1);
      char library[4096];
      snprintf (library, sizeof library, "%s/capture/inject/liblanescope-inject.so",
                getenv ("LNS_BUILD_ROOT"));
      setenv ("NVTX_INJECTION64_PATH", library, 1);
      _exit (target ());
    }
  if (pthread_create (&session->answerer, NULL, answer, session) != 0)
    fail ("pthread_create");
  serve (session, pid);
  close (session->listener);
  unlink (session->path);
  rmdir (session->folder);
  mini_session_resolve (session);
  return session;
}

uint64_t
mini_session_count (const MiniSession *session, LnsWireType type)
{
  uint64_t n = 0;
  for (uint32_t i = 0; i < session->n_processes; i++)
    n += session->processes[i].n_type[type];
  return n;
}

uint64_t
mini_session_lost (const MiniSession *session, LnsWireLossKind kind)
{
  uint64_t n = 0;
  for (uint32_t i = 0; i < session->n_processes; i++)
    n += session->processes[i].losses.events[kind];
  return n;
}

uint64_t
mini_session_lost_all (const MiniSession *session)
{
  uint64_t n = 0;
  for (int kind = 0; kind < LNS_WIRE_LOSS_KINDS; kind++)
    n += mini_session_lost (session, kind);
  return n;
}

/* --- In the child. --------------------------------------------------------------------------- */

NvtxUnit nvtx;

/* The tables of the unit being loaded: get_module_table() has no argument for it. */
static struct
{
  LnsNvtxFunction *core[16], *core2[16];
  unsigned n_core, n_core2;
} loading;

static int
get_module_table (int32_t module, LnsNvtxTable *ret_table, unsigned int *ret_size)
{
  if (module != LNS_NVTX_MODULE_CORE && module != LNS_NVTX_MODULE_CORE2)
    return 0;
  bool core = module == LNS_NVTX_MODULE_CORE;
  *ret_table = core ? loading.core : loading.core2;
  *ret_size = core ? loading.n_core : loading.n_core2;
  return 1;
}

static const void *
get_export_table (uint32_t id)
{
  static const LnsNvtxCallbacks callbacks = { .struct_bytes = sizeof callbacks,
                                              .get_module_table = get_module_table };
  return id == LNS_NVTX_EXPORT_CALLBACKS ? &callbacks : NULL;
}

bool
nvtx_load (NvtxUnit *unit, unsigned n_core, unsigned n_core2)
{
  void *library = dlopen (getenv ("NVTX_INJECTION64_PATH"), RTLD_LAZY);
  if (library == NULL)
    {
      fprintf (stderr, "# %s\n", dlerror ());
      exit (99);
    }
  int (*initialize) (LnsNvtxGetExportTable) =
      (int (*) (LnsNvtxGetExportTable))dlsym (library, "InitializeInjectionNvtx2");
  int (*extend) (LnsNvtxExtension *) =
      (int (*) (LnsNvtxExtension *))dlsym (library, "InitializeInjectionNvtxExtension");
  memset (&loading, 0, sizeof loading);
  loading.n_core = n_core;
  loading.n_core2 = n_core2;
  /* Slot 0 of a module is no function. */
  for (unsigned i = 1; i < 16; i++)
    {
      loading.core[i] = &unit->core[i];
      loading.core2[i] = &unit->core2[i];
    }
  bool takes_part = initialize (get_export_table) == 1;
  LnsNvtxExtensionSegment segments[] = { { 1, 63, unit->payload }, { 1, 63, unit->counters } };
  LnsNvtxExtension payload = { .nvtx_version = 3,
                               .struct_bytes = sizeof payload,
                               .module = LNS_NVTX_EXTENSION_PAYLOAD,
                               .compatibility = 0x0104,
                               .n_segments = 1,
                               .segments = &segments[0] };
  LnsNvtxExtension counters = payload;
  counters.module = LNS_NVTX_EXTENSION_COUNTERS;
  counters.compatibility = LNS_NVTX_COUNTERS_COMPATIBLE;
  counters.segments = &segments[1];
  return extend (&payload) == takes_part && extend (&counters) == takes_part && takes_part;
}

void
nvtx_start (void)
{
  if (!nvtx_load (&nvtx, 16, 16))
    {
      fprintf (stderr, "# the injection does not take part\n");
      exit (98);
    }
}
