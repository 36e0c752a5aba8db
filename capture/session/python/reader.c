/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/python/reader.h"

#include "capture/session/python/code.h"
#include "capture/session/python/find.h"
#include "capture/session/python/frames.h"
#include "capture/session/python/layout.h"
#include "capture/session/python/memory.h"
#include "capture/session/python/thread-name.h"
#include "capture/session/system/process-info.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_INTERPRETERS 64
#define MOST_THREADS      4096
/* Descriptors that a reader keeps open. Files of threads beyond these are opened each time. */
#define MOST_RUNS_FDS 128
/* Readings of a thread in one sample. The first may meet functions that were never seen before. */
#define MOST_ATTEMPTS    3
#define MOST_FIRST_LOOKS 16
/* The name of a thread is read in one of so many samples in which it has run. */
#define SAMPLES_OF_A_NAME 16
/* struct _gil_runtime_state (internal/pycore_gil.h), with its condition variables and mutexes. */
#define GIL_BYTES 208
/* offsetof (struct pthread, tid) of glibc on x86-64 (nptl/descr.h): after a TCB of 704 bytes and a list node. */
#define GLIBC_TID_OFFSET 720

/* A PyThreadState. */
typedef struct
{
  uint64_t address;
  uint64_t n_listing; /* in which it was seen last */
  uint64_t self;      /* pthread_self() */
  uint64_t native;    /* the id that Python has of it */
  bool is_settled;    /* both are its own: its maker's may be there until it runs */
  int32_t tid;
  int64_t interpreter;
  LnsPythonGil gil;
  LnsPythonThreadState state;
  int runs_fd;       /* its schedstat in /proc; -1: not open */
  uint64_t n_runs;   /* how often it got a CPU, before `state` was read; 0: not known */
  uint64_t waits_at; /* address of the futex that it waits for; 0: none, or not known */
  uint64_t top;      /* what its state had for its innermost frame then */
  bool stands;       /* it has not run since then */
  uint64_t n_freed;  /* LnsPythonCodes.n_freed as of `shown` */
  bool is_kept;      /* `shown` has all of its frames as of then */
  uint8_t bytes[LNS_PYTHON_MOST_THREAD_BYTES];
  bool is_read;
  LnsPythonWalk walk;
  bool is_double; /* `tid` may be another's */
  bool is_done, is_cut, lacks_outermost;
  size_t first, n;                  /* of the reader's frames */
  LNS_ARRAY (LnsPythonFrame) shown; /* of this sample, the innermost first */
  uint64_t outermost;               /* address of the frame that is the last of `shown` */
  char *name;                       /* owned; NULL: not known */
  unsigned n_until_name;            /* samples before it is read again */
  unsigned n_unnamed;               /* readings without a name */
} Thread;

typedef struct
{
  uint64_t address, threads, next;
  int64_t id;
  uint64_t gil;    /* address */
  uint64_t holder; /* PyThreadState; 0: the GIL is free */
} Interpreter;

struct _LnsPythonReader
{
  int32_t pid;
  int32_t own_pid; /* as the process sees itself */
  LnsPythonPlace place;
  LnsPythonLayout layout;
  LnsPythonCodes codes;
  LnsPythonNameKey name_key;
  LnsPythonPages *pages;
  LnsIdMap by_address;          /* Thread */
  LNS_ARRAY (Thread *) threads; /* owned, in the order of the interpreters' lists */
  LNS_ARRAY (LnsPythonRawFrame) frames;
  LNS_ARRAY (uint64_t) addresses; /* of code objects to compare */
  LNS_ARRAY (LnsRemotePiece) pieces;
  uint64_t now; /* the clock of the copies: counts readings of frames */
  uint64_t n_listings;
  unsigned n_runs_fds;
  bool has_several; /* interpreters, at some time */
  LnsPythonCounters counters;
};

/* --- Threads --- */

static void
free_thread (Thread *thread)
{
  _lns_python_walk_clear (&thread->walk);
  lns_array_clear (&thread->shown);
  free (thread->name);
  if (thread->runs_fd >= 0)
    close (thread->runs_fd);
  free (thread);
}

/* The id in our pid namespace of the thread that is NATIVE in the process's own; 0 if there is none. O(threads) in another
 * namespace */
static int32_t
outer_tid (const LnsPythonReader *reader, uint64_t native)
{
  char path[64], line[256];
  int32_t found = 0;

  if (native == 0 || native > INT32_MAX)
    return 0;
  /* The child of a fork has its parent's ids, until the interpreter corrects them. */
  snprintf (path, sizeof path, "/proc/%d/task/%d", reader->pid, (int32_t)native);
  if (reader->own_pid == reader->pid)
    return access (path, F_OK) == 0 ? (int32_t)native : 0;
  snprintf (path, sizeof path, "/proc/%d/task", reader->pid);
  DIR *tasks = opendir (path);
  for (struct dirent *task; tasks != NULL && found == 0 && (task = readdir (tasks)) != NULL;)
    {
      const int32_t tid = (int32_t)strtol (task->d_name, NULL, 10);
      snprintf (path, sizeof path, "/proc/%d/task/%d/status", reader->pid, tid);
      FILE *status = tid > 0 ? fopen (path, "re") : NULL;
      while (status != NULL && fgets (line, sizeof line, status) != NULL)
        {
          /* The last number is the id in the innermost namespace (proc_pid_status(5)). */
          const char *last = strrchr (line, '\t');
          if (strncmp (line, "NSpid:", 6) == 0 && last != NULL &&
              strtoull (last, NULL, 10) == native)
            found = tid;
        }
      if (status != NULL)
        fclose (status);
    }
  if (tasks != NULL)
    closedir (tasks);
  return found;
}

/* The kernel's id of a thread of 3.9 or 3.10, which keep only pthread_self(). */
static uint64_t
glibc_tid (const LnsPythonReader *reader, uint64_t self)
{
#ifdef __x86_64__
  char path[64];
  int32_t tid;

  if (!_lns_remote_read (reader->pid, self + GLIBC_TID_OFFSET, &tid, sizeof tid) || tid <= 0)
    return 0;
  snprintf (path, sizeof path, "/proc/%d/task/%d", reader->pid, outer_tid (reader, (uint64_t)tid));
  return access (path, F_OK) == 0 ? (uint64_t)tid : 0;
#else
  (void)reader, (void)self;
  return 0;
#endif
}

/* How often THREAD got a CPU; 0 if the kernel does not count it (Documentation/scheduler/sched-stats.rst). */
static uint64_t
count_runs (LnsPythonReader *reader, Thread *thread)
{
  char text[96];
  unsigned long long on_cpu, waited, n_runs;
  int file = thread->runs_fd;

  if (file < 0)
    {
      snprintf (text, sizeof text, "/proc/%d/task/%d/schedstat", reader->pid, thread->tid);
      file = open (text, O_RDONLY | O_CLOEXEC);
    }
  if (file < 0)
    return 0;
  const ssize_t n = pread (file, text, sizeof text - 1, 0);
  text[n > 0 ? n : 0] = '\0';
  if (thread->runs_fd < 0 && reader->n_runs_fds < MOST_RUNS_FDS)
    {
      thread->runs_fd = file;
      reader->n_runs_fds++;
    }
  else if (thread->runs_fd < 0)
    close (file);
  return sscanf (text, "%llu %llu %llu", &on_cpu, &waited, &n_runs) == 3 ? n_runs : 0;
}

/* Reads whether THREAD waits in the kernel, and for which futex (proc_pid_syscall(5)). */
static void
read_wait (const LnsPythonReader *reader, Thread *thread)
{
  char path[64], text[256];
  long number;
  uint64_t address;

  thread->state = LNS_PYTHON_THREAD_UNKNOWN;
  thread->waits_at = 0;
  snprintf (path, sizeof path, "/proc/%d/task/%d/syscall", reader->pid, thread->tid);
  const int file = thread->tid > 0 ? open (path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0)
    return;
  const ssize_t n = read (file, text, sizeof text - 1);
  close (file);
  if (n <= 0)
    return;
  text[n] = '\0';
  const bool is_running = strncmp (text, "running", 7) == 0;
  thread->state = is_running ? LNS_PYTHON_THREAD_RUNNABLE : LNS_PYTHON_THREAD_WAITING;
  if (sscanf (text, "%ld %" SCNx64, &number, &address) == 2 && number == SYS_futex)
    thread->waits_at = address;
}

/* Notes whether THREAD has not run since the sample before, and where it is in the kernel if it has. It has not run if it waited
 * then and has got no CPU since it was counted, which was before. */
static void
watch (LnsPythonReader *reader, Thread *thread, bool holds_gil)
{
  const uint64_t top = _lns_python_pointer_at (thread->bytes, reader->layout.thread_frame);
  const uint64_t n_runs = thread->tid > 0 ? count_runs (reader, thread) : 0;

  /* What holds the GIL may be used by another thread of the system, in programs that embed Python. */
  thread->stands = n_runs != 0 && n_runs == thread->n_runs && !holds_gil && top == thread->top &&
                   thread->state == LNS_PYTHON_THREAD_WAITING;
  if (thread->stands)
    return;
  thread->is_kept = false;
  thread->n_runs = n_runs;
  thread->top = top;
  read_wait (reader, thread);
}

static LnsPythonGil
gil_of (const Thread *thread, const Interpreter *interpreter)
{
  if (thread->address == interpreter->holder)
    return LNS_PYTHON_GIL_HELD;
  if (interpreter->holder == 0)
    return LNS_PYTHON_GIL_NONE;
  if (thread->state == LNS_PYTHON_THREAD_UNKNOWN)
    return LNS_PYTHON_GIL_UNKNOWN;
  /* One of the GIL's condition variables or mutexes. */
  return thread->waits_at >= interpreter->gil && thread->waits_at < interpreter->gil + GIL_BYTES
             ? LNS_PYTHON_GIL_WAITED_FOR
             : LNS_PYTHON_GIL_NONE;
}

/* The thread whose state is at ADDRESS, with its state read. NULL if that fails. */
static Thread *
get_thread (LnsPythonReader *reader, uint64_t address)
{
  Thread *thread = lns_id_map_get (&reader->by_address, address);

  if (thread == NULL)
    {
      thread = calloc (1, sizeof *thread);
      if (thread == NULL)
        return NULL;
      thread->address = address;
      thread->runs_fd = -1;
      if (!lns_id_map_set (&reader->by_address, address, thread))
        {
          free (thread);
          return NULL;
        }
    }
  if (!thread->is_read)
    thread->is_read =
        _lns_remote_read (reader->pid, address, thread->bytes, reader->layout.thread_bytes);
  return thread->is_read ? thread : NULL;
}

/* Notes in THREAD what its state says of it. */
static void
take_state (LnsPythonReader *reader, Thread *thread, const Interpreter *interpreter)
{
  const LnsPythonLayout *layout = &reader->layout;
  const uint64_t self = _lns_python_pointer_at (thread->bytes, layout->thread_self);
  const uint64_t native = layout->thread_native != 0
                              ? _lns_python_pointer_at (thread->bytes, layout->thread_native)
                              : 0;

  if (thread->tid == 0 || self != thread->self || native != thread->native)
    {
      thread->self = self;
      thread->native = native;
      thread->is_settled = false;
      free (thread->name);
      thread->name = NULL;
      thread->n_until_name = thread->n_unnamed = 0;
      thread->n_runs = 0;
      if (thread->runs_fd >= 0)
        close (thread->runs_fd);
      reader->n_runs_fds -= thread->runs_fd >= 0;
      thread->runs_fd = -1;
      thread->tid =
          outer_tid (reader, layout->thread_native != 0 ? native : glibc_tid (reader, self));
    }
  thread->interpreter = interpreter->id;
  watch (reader, thread, thread->address == interpreter->holder);
  thread->gil = gil_of (thread, interpreter);
}

/* Adds the threads of INTERPRETER to the reader's. Returns false if its list changed meanwhile, or is none. */
static bool
list_threads (LnsPythonReader *reader, const Interpreter *interpreter)
{
  const LnsPythonLayout *layout = &reader->layout;
  uint64_t previous = 0;

  for (uint64_t at = interpreter->threads; at != 0;)
    {
      Thread *thread = reader->threads.n < MOST_THREADS ? get_thread (reader, at) : NULL;
      if (thread == NULL || thread->n_listing == reader->n_listings ||
          _lns_python_pointer_at (thread->bytes, layout->thread_interpreter) !=
              interpreter->address ||
          _lns_python_pointer_at (thread->bytes, layout->thread_previous) != previous)
        return false;
      Thread **place = lns_array_try_add (&reader->threads);
      if (place == NULL)
        return false;
      *place = thread;
      thread->n_listing = reader->n_listings;
      take_state (reader, thread, interpreter);
      previous = at;
      at = _lns_python_pointer_at (thread->bytes, layout->thread_next);
    }
  return true;
}

static bool
read_interpreter (const LnsPythonReader *reader, uint64_t address, Interpreter *ret)
{
  const LnsPythonLayout *layout = &reader->layout;
  uint64_t holder = 0;
  int32_t is_locked = 0;

  *ret = (Interpreter){ .address = address };
  LnsRemotePiece pieces[4] = {
    { address + layout->interpreter_next, &ret->next, sizeof ret->next, false },
    { address + layout->interpreter_id, &ret->id, sizeof ret->id, false },
    { address + layout->interpreter_threads, &ret->threads, sizeof ret->threads, false },
    { address + layout->interpreter_gil, &ret->gil, sizeof ret->gil, false },
  };
  const bool is_shared = layout->runtime_gil != 0;
  _lns_remote_read_pieces (reader->pid, pieces, is_shared ? 3 : 4);
  if (!pieces[0].is_read || !pieces[1].is_read || !pieces[2].is_read ||
      (!is_shared && !pieces[3].is_read))
    return false;
  if (is_shared)
    ret->gil = reader->place.runtime + layout->runtime_gil;
  LnsRemotePiece state[2] = { { ret->gil + layout->gil_locked, &is_locked, sizeof is_locked,
                                false },
                              { ret->gil + layout->gil_holder, &holder, sizeof holder, false } };
  _lns_remote_read_pieces (reader->pid, state, 2);
  ret->holder = state[0].is_read && state[1].is_read && is_locked == 1 ? holder : 0;
  return true;
}

/* Reads the states of the threads of the last sample in one call: most of them are still there. */
static void
read_states (LnsPythonReader *reader)
{
  reader->pieces.n = 0;
  for (size_t i = 0; i < reader->threads.n; i++)
    {
      Thread *thread = reader->threads.items[i];
      LnsRemotePiece *piece = lns_array_try_add (&reader->pieces);
      if (piece == NULL)
        return;
      *piece =
          (LnsRemotePiece){ thread->address, thread->bytes, reader->layout.thread_bytes, false };
    }
  _lns_remote_read_pieces (reader->pid, reader->pieces.items, reader->pieces.n);
  for (size_t i = 0; i < reader->pieces.n; i++)
    reader->threads.items[i]->is_read = reader->pieces.items[i].is_read;
}

/* Frees the threads that this sample has not seen. */
static void
forget_threads (LnsPythonReader *reader, bool all)
{
  LNS_ARRAY (Thread *) ended = { 0 };
  size_t at = 0;

  for (Thread *thread; (thread = lns_id_map_next (&reader->by_address, &at)) != NULL;)
    {
      Thread **place =
          all || thread->n_listing != reader->n_listings ? lns_array_try_add (&ended) : NULL;
      thread->is_read = false;
      if (place != NULL)
        *place = thread;
    }
  for (size_t i = 0; i < ended.n; i++)
    {
      lns_id_map_take (&reader->by_address, ended.items[i]->address);
      reader->n_runs_fds -= ended.items[i]->runs_fd >= 0;
      free_thread (ended.items[i]);
    }
  lns_array_clear (&ended);
}

/* Lists the threads of the interpreter at FIRST and of those after it. Returns false if some are missing. */
static bool
list_from (LnsPythonReader *reader, uint64_t first)
{
  Interpreter interpreter;

  reader->n_listings++;
  reader->threads.n = 0;
  for (unsigned n = 0; first != 0 && n < MOST_INTERPRETERS; n++)
    {
      if (!read_interpreter (reader, first, &interpreter) || !list_threads (reader, &interpreter))
        return false;
      first = interpreter.next;
      reader->has_several |= n > 0;
    }
  return true;
}

/* Forgets the thread of the system of each PyThreadState that shares it with one of an older interpreter: one of a sub-interpreter
 * has the id of the thread that made it, and another may run it (PyThreadState_Swap()). */
static void
drop_doubles (LnsPythonReader *reader)
{
  LnsIdMap oldest = { 0 };

  for (size_t i = 0; i < reader->threads.n; i++)
    {
      Thread *thread = reader->threads.items[i];
      const Thread *known = lns_id_map_get (&oldest, (uint32_t)thread->tid);
      if (known == NULL || thread->interpreter < known->interpreter)
        lns_id_map_set (&oldest, (uint32_t)thread->tid, thread);
    }
  for (size_t i = 0; i < reader->threads.n; i++)
    reader->threads.items[i]->is_double =
        lns_id_map_get (&oldest, (uint32_t)reader->threads.items[i]->tid) !=
        reader->threads.items[i];
  lns_id_map_clear (&oldest);
}

/* Lists all threads of all interpreters. Returns false if there is no interpreter. */
static bool
list_all (LnsPythonReader *reader)
{
  const uint64_t first = _lns_remote_pointer (reader->pid, reader->place.runtime +
                                                               reader->layout.runtime_interpreters);
  bool is_whole = false;

  if (first == 0)
    return false;
  read_states (reader);
  for (unsigned n = 0; n < MOST_ATTEMPTS && !is_whole; n++)
    {
      size_t at = 0;
      if (n > 0) /* a thread came or went: what was read at once is old */
        for (Thread *thread; (thread = lns_id_map_next (&reader->by_address, &at)) != NULL;)
          thread->is_read = false;
      reader->counters.n_retries += n > 0;
      is_whole = list_from (reader, first);
    }
  reader->counters.n_broken_lists += !is_whole;
  forget_threads (reader, false);
  if (reader->has_several)
    drop_doubles (reader);
  return true;
}

/* --- Frames --- */

static void
read_frames (LnsPythonReader *reader, Thread *thread)
{
  const LnsPythonRawFrames *frames;

  reader->counters.n_retries +=
      _lns_python_walk (&thread->walk, reader->pages, reader->pid, &reader->layout, thread->address,
                        &frames, &thread->is_cut, &thread->lacks_outermost);
  thread->first = reader->frames.n;
  thread->n = 0;
  for (size_t i = 0; i < frames->n; i++)
    {
      LnsPythonRawFrame *frame = lns_array_try_add (&reader->frames);
      uint64_t *address = frame != NULL ? lns_array_try_add (&reader->addresses) : NULL;
      if (address == NULL)
        {
          reader->frames.n = thread->first;
          thread->n = 0;
          thread->is_cut = true;
          return;
        }
      *frame = frames->items[i];
      *address = frame->code;
      thread->n++;
    }
}

/* How many frames of THREAD, from the outermost on, are sure to be of the functions that the copies tell: those whose copies
 * are older than the reading and were right after it. Sets RET_IS_NEW if only the first is missing. */
static size_t
count_sure (const LnsPythonReader *reader, const Thread *thread, bool *ret_is_new)
{
  size_t n = 0;

  *ret_is_new = false;
  for (; n < thread->n; n++)
    {
      const uint64_t address = reader->frames.items[thread->first + thread->n - 1 - n].code;
      const LnsPythonCode *code = _lns_python_codes_get (&reader->codes, address, reader->now);
      if (code == NULL || code->since == reader->now)
        {
          *ret_is_new = code != NULL;
          break;
        }
    }
  return n;
}

/* Whether CODE is of a frame between Python and C. Its owner says so, too, but may not have been written yet when the frame was
 * read. The name is that of 3.12. */
static bool
is_trampoline (const LnsPythonCode *code)
{
  return strcmp (code->name.utf8, "<interpreter trampoline>") == 0;
}

/* Shows the outermost N_SURE frames of THREAD. */
static void
show (LnsPythonReader *reader, Thread *thread, size_t n_sure)
{
  const size_t first = thread->first + thread->n - n_sure;

  thread->is_cut |= n_sure < thread->n;
  thread->is_done = true;
  thread->shown.n = 0;
  for (size_t i = 0; i < n_sure; i++)
    {
      const LnsPythonRawFrame *raw = &reader->frames.items[first + i];
      const LnsPythonCode *code = _lns_python_codes_get (&reader->codes, raw->code, reader->now);
      if (is_trampoline (code))
        continue;
      thread->outermost = raw->address;
      LnsPythonFrame *frame = lns_array_try_add (&thread->shown);
      if (frame == NULL)
        {
          thread->shown.n = 0;
          thread->is_cut = true;
          return;
        }
      *frame = (LnsPythonFrame){ .code_id = code->id,
                                 .code = raw->code,
                                 .name = code->name.utf8,
                                 .file = code->file->text.utf8,
                                 .first_line = code->first_line,
                                 .line = _lns_python_line_at (
                                     &code->lines, code->first_line,
                                     lns_python_offset_in_code (&reader->layout, raw->code,
                                                                raw->instruction)) };
    }
  /* What frames refer to stays as long as they do, and so do the copies. */
  thread->is_kept = !thread->is_cut;
  thread->n_freed = reader->codes.n_freed;
}

/* Reads the frames of all threads, and again of those that were in functions never seen before. The copies of code objects are
 * compared after the frames of all threads were read, each once. */
static void
read_all_frames (LnsPythonReader *reader)
{
  bool is_all = true;

  for (size_t i = 0; i < reader->threads.n; i++)
    {
      Thread *thread = reader->threads.items[i];
      thread->stands =
          thread->stands && thread->is_kept && thread->n_freed == reader->codes.n_freed;
      thread->is_done = thread->stands;
      is_all &= thread->stands;
    }
  reader->frames.n = 0;
  for (unsigned attempt = 1; attempt <= MOST_ATTEMPTS && !is_all; attempt++)
    {
      reader->addresses.n = 0;
      reader->now++;
      for (size_t i = 0; i < reader->threads.n; i++)
        if (!reader->threads.items[i]->is_done)
          read_frames (reader, reader->threads.items[i]);
      _lns_python_codes_check (&reader->codes, reader->addresses.items, reader->addresses.n,
                               reader->now);
      is_all = true;
      for (size_t i = 0; i < reader->threads.n; i++)
        {
          Thread *thread = reader->threads.items[i];
          bool is_new;
          if (thread->is_done)
            continue;
          const size_t n_sure = count_sure (reader, thread, &is_new);
          if (n_sure == thread->n || !is_new || attempt == MOST_ATTEMPTS)
            show (reader, thread, n_sure);
          else
            {
              reader->counters.n_retries++;
              is_all = false;
            }
        }
    }
}

/* Whether the first function of THREAD is the one with which a threading.Thread begins. Its qualified name is known from 3.11
 * on. */
static bool
is_of_threading (const Thread *thread)
{
  static const char file[] = "threading.py";
  if (thread->shown.n == 0 || thread->lacks_outermost)
    return false;
  const LnsPythonFrame *first = &thread->shown.items[thread->shown.n - 1];
  const size_t n = strlen (first->file);
  return n >= sizeof file - 1 && strcmp (first->file + n - (sizeof file - 1), file) == 0 &&
         (strcmp (first->name, "Thread._bootstrap") == 0 ||
          strcmp (first->name, "_bootstrap") == 0);
}

/* Whether the ids of THREAD, of which frames were read since, are its own. */
static bool
is_settled (const LnsPythonReader *reader, Thread *thread)
{
  const LnsPythonLayout *layout = &reader->layout;
  if (!thread->is_settled)
    thread->is_settled =
        _lns_remote_pointer (reader->pid, thread->address + layout->thread_self) == thread->self &&
        (layout->thread_native == 0 ||
         _lns_remote_pointer (reader->pid, thread->address + layout->thread_native) ==
             thread->native);
  return thread->is_settled;
}

/* Reads the name of THREAD now and then. */
static void
read_name (LnsPythonReader *reader, Thread *thread)
{
  if (thread->stands || !is_of_threading (thread) || thread->n_until_name-- > 0)
    return;
  char *name =
      _lns_python_thread_name (&reader->name_key, reader->pid, &reader->layout, thread->outermost,
                               thread->shown.items[thread->shown.n - 1].code);
  thread->n_unnamed += name == NULL;
  /* What changes just now is there in the next sample. */
  thread->n_until_name =
      name != NULL || thread->n_unnamed > MOST_ATTEMPTS ? SAMPLES_OF_A_NAME - 1 : 0;
  if (name == NULL)
    return;
  free (thread->name);
  thread->name = name;
}

LnsPythonState
lns_python_reader_sample (LnsPythonReader *reader, LnsPythonThreadFunc function, void *data)
{
  reader->counters.n_samples++;
  if (!list_all (reader))
    return LNS_PYTHON_GONE;
  _lns_python_codes_begin (&reader->codes);
  read_all_frames (reader);
  for (size_t i = 0; i < reader->threads.n; i++)
    {
      Thread *thread = reader->threads.items[i];
      const bool has_tid = !thread->is_double && is_settled (reader, thread);
      if (has_tid)
        read_name (reader, thread);
      reader->counters.n_threads++;
      reader->counters.n_frames += thread->shown.n;
      reader->counters.n_cut += thread->is_cut || thread->lacks_outermost;
      function (&(LnsPythonThread){ .tid = has_tid ? thread->tid : 0,
                                    .interpreter = thread->interpreter,
                                    .gil = thread->gil,
                                    .state = thread->state,
                                    .is_cut = thread->is_cut,
                                    .lacks_outermost = thread->lacks_outermost,
                                    .is_unchanged = thread->stands,
                                    .frames = thread->shown.items,
                                    .n_frames = thread->shown.n,
                                    .name = thread->name },
                data);
    }
  return LNS_PYTHON_READY;
}

LnsPythonCounters
lns_python_reader_counters (const LnsPythonReader *reader)
{
  return reader->counters;
}

unsigned
lns_python_reader_version (const LnsPythonReader *reader)
{
  return reader->place.version >> 16;
}

/* --- Beginning and end --- */

static LnsPythonState
say_denied (int32_t pid, LnsError *error)
{
  lns_error_set (error, LNS_ERROR_IO, EPERM,
                 "cannot read the memory of process %d, as process_vm_readv is denied; allow it in "
                 "the container's seccomp profile (`docker run --cap-add=SYS_PTRACE`)",
                 pid);
  return LNS_PYTHON_REFUSED;
}

static LnsPythonState
say_refused (int32_t pid, LnsError *error)
{
  char path[64], scope = '0';
  struct stat status;

  snprintf (path, sizeof path, "/proc/%d", pid);
  /* What denies the call itself, as seccomp does, denies it for this process, too. */
  if (!_lns_remote_read (getpid (), (uintptr_t)path, &scope, sizeof scope))
    return say_denied (pid, error);
  scope = '0';
  if (stat (path, &status) == 0 && status.st_uid != geteuid ())
    lns_error_set (error, LNS_ERROR_IO, EPERM,
                   "cannot read the memory of process %d, which belongs to user %u; run Lanescope "
                   "as this user or as root",
                   pid, status.st_uid);
  else
    {
      const int file = open ("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
      if (file >= 0 && read (file, &scope, 1) != 1)
        scope = '0';
      if (file >= 0)
        close (file);
      if (scope != '0')
        lns_error_set (error, LNS_ERROR_IO, EPERM,
                       "cannot read the memory of process %d, because kernel.yama.ptrace_scope is "
                       "%c; let Lanescope start the "
                       "program, or run \"sysctl kernel.yama.ptrace_scope=0\" as root",
                       pid, scope);
      else
        lns_error_set (error, LNS_ERROR_IO, EPERM,
                       "cannot read the memory of process %d, which is protected or has more "
                       "privileges; run Lanescope as root",
                       pid);
    }
  return LNS_PYTHON_REFUSED;
}

/* Whether the interpreter has started, and its first thread looks as it should. */
static LnsPythonState
check_layout (const LnsPythonReader *reader, LnsError *error)
{
  const LnsPythonLayout *layout = &reader->layout;
  LnsPythonState state = LNS_PYTHON_ABSENT;

  /* A program that starts or ends a thread right now may look wrong, but not each time. */
  for (unsigned n = 0; n < MOST_FIRST_LOOKS; n++)
    {
      Interpreter interpreter = { 0 };
      uint8_t thread[LNS_PYTHON_MOST_THREAD_BYTES];
      const uint64_t first =
          _lns_remote_pointer (reader->pid, reader->place.runtime + layout->runtime_interpreters);
      state = LNS_PYTHON_ABSENT;
      if (first == 0 || !read_interpreter (reader, first, &interpreter) || interpreter.threads == 0)
        continue;
      if (_lns_remote_read (reader->pid, interpreter.threads, thread, layout->thread_bytes) &&
          _lns_python_pointer_at (thread, layout->thread_interpreter) == first &&
          _lns_python_pointer_at (thread, layout->thread_previous) == 0)
        return LNS_PYTHON_READY;
      state = LNS_PYTHON_STRANGE;
    }
  if (state == LNS_PYTHON_ABSENT)
    lns_error_set (error, LNS_ERROR_UNSUPPORTED, 0,
                   "process %d has not started its Python interpreter yet", reader->pid);
  else
    lns_error_set (
        error, LNS_ERROR_UNSUPPORTED, 0,
        "the Python interpreter of process %d keeps its threads in another way than CPython 3.%u",
        reader->pid, layout->minor);
  return state;
}

LnsPythonState
lns_python_reader_new (int32_t pid, LnsPythonReader **ret_reader, LnsError *error)
{
  LnsPythonPlace place;

  *ret_reader = NULL;
  if (!_lns_python_find (pid, &place))
    {
      if (errno == EPERM || errno == EACCES)
        return say_refused (pid, error);
      if (errno == ESRCH)
        {
          lns_error_set (error, LNS_ERROR_IO, ESRCH, "process %d has ended", pid);
          return LNS_PYTHON_GONE;
        }
      lns_error_set (error, LNS_ERROR_UNSUPPORTED, 0,
                     "process %d has not loaded a Python interpreter", pid);
      return LNS_PYTHON_ABSENT;
    }
  LnsPythonReader *reader = calloc (1, sizeof *reader);
  if (reader == NULL || (reader->pages = _lns_python_pages_new ()) == NULL ||
      !_lns_python_codes_init (&reader->codes, pid, place.code_type, &reader->layout))
    {
      if (reader != NULL)
        _lns_python_pages_free (reader->pages);
      free (reader);
      lns_error_set (error, LNS_ERROR_NO_MEMORY, 0,
                     "cannot read the Python functions of process %d: out of memory", pid);
      return LNS_PYTHON_UNSUPPORTED;
    }
  LnsProcessInfo info;
  lns_process_info_read (pid, &info);
  reader->pid = pid;
  reader->own_pid = info.target_pid;
  lns_process_info_clear (&info);
  reader->place = place;
  LnsPythonState state = LNS_PYTHON_UNSUPPORTED;
  if (_lns_python_layout_read (pid, &place, &reader->layout, error))
    state = check_layout (reader, error);
  if (state == LNS_PYTHON_READY)
    *ret_reader = reader;
  else
    lns_python_reader_free (reader);
  return state;
}

void
lns_python_reader_free (LnsPythonReader *reader)
{
  if (reader == NULL)
    return;
  forget_threads (reader, true);
  lns_id_map_clear (&reader->by_address);
  lns_array_clear (&reader->threads);
  lns_array_clear (&reader->frames);
  lns_array_clear (&reader->addresses);
  lns_array_clear (&reader->pieces);
  _lns_python_codes_clear (&reader->codes);
  _lns_python_pages_free (reader->pages);
  free (reader);
}
