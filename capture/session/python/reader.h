/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Reads which Python functions the threads of another process are in, with process_vm_readv(): the process is not stopped,
 * nothing of ours runs in it, and it cannot notice. CPython 3.9 to 3.14, with a GIL.
 *
 * The process goes on while it is read. What changed meanwhile is read again a few times, and then left out: a thread may miss
 * its innermost frames, which is said, but a frame never has the name of another function. The work of a sample is bounded,
 * whatever the memory holds.
 *
 * A reader belongs to one thread at a time. */

#pragma once

#include "src/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Texts have no more: 1,024 characters and "…". */
#define LNS_PYTHON_MOST_TEXT_BYTES (4 * 1024 + 3)

typedef enum
{
  LNS_PYTHON_READY,
  LNS_PYTHON_ABSENT,      /* the process has no interpreter, or has not started it yet */
  LNS_PYTHON_REFUSED,     /* the system does not let us look into it */
  LNS_PYTHON_STRANGE,     /* its threads are not kept as they should be: it may just begin */
  LNS_PYTHON_UNSUPPORTED, /* another version, or not what this version looks like */
  LNS_PYTHON_GONE         /* the process has ended, or runs another program now */
} LnsPythonState;

typedef enum
{
  LNS_PYTHON_GIL_UNKNOWN, /* not the holder; the kernel does not tell for what it waits */
  LNS_PYTHON_GIL_NONE,    /* neither holds it nor waits for it */
  LNS_PYTHON_GIL_HELD,
  LNS_PYTHON_GIL_WAITED_FOR
} LnsPythonGil;

typedef enum
{
  LNS_PYTHON_THREAD_UNKNOWN,
  LNS_PYTHON_THREAD_RUNNABLE, /* it runs, or could run */
  LNS_PYTHON_THREAD_WAITING   /* it waits in the kernel for something */
} LnsPythonThreadState;

/* The texts are UTF-8, owned by the reader and valid until its next sample. */
typedef struct
{
  uint64_t code_id; /* of the code object, from 1 on; a reader gives no id to two objects */
  uint64_t code;    /* its address in the process */
  const char
      *name; /* qualified, as "Class.method"; in 3.9 and 3.10 code objects have only "method" */
  const char *file;
  int32_t first_line; /* of the function */
  int32_t line;       /* 0: unknown */
} LnsPythonFrame;

typedef struct
{
  int32_t
      tid; /* in our pid namespace; 0: unknown, as for sub-interpreters that another thread may run, and for 3.9 and 3.10 on machines other than x86-64 with glibc */
  int64_t interpreter; /* its id; 0: the main one */
  LnsPythonGil gil;
  LnsPythonThreadState state; /* some 10 µs before its frames were read */
  bool is_cut;                /* innermost frames are missing, because they changed too fast */
  bool lacks_outermost;       /* outermost frames are missing, because there were more than 1,024 */
  bool is_unchanged;          /* the frames are those of the sample before */
  const LnsPythonFrame *frames; /* the innermost first */
  size_t n_frames;
  const char *name; /* that the program gave it (threading.Thread.name); NULL: not known */
} LnsPythonThread;

/* Sums over all samples of a reader. */
typedef struct
{
  uint64_t n_samples, n_threads, n_frames;
  uint64_t n_retries;      /* frames that were read again because they had changed */
  uint64_t n_cut;          /* threads that miss frames */
  uint64_t n_broken_lists; /* samples that miss threads, because the list of threads changed */
} LnsPythonCounters;

typedef struct _LnsPythonReader LnsPythonReader;

/* Finds the interpreter of process PID and checks that it is laid out as its version says. *RET_READER is the caller's if the
 * result is LNS_PYTHON_READY, else NULL, with the reason in ERROR. Costs some 10 µs for each mapped library, so look again
 * after LNS_PYTHON_ABSENT only now and then. The child of a fork needs a reader of its own. */
LnsPythonState lns_python_reader_new (int32_t pid, LnsPythonReader **ret_reader, LnsError *error);
void lns_python_reader_free (LnsPythonReader *reader);

/* 3.9 is 0x0309, as in the first half of PY_VERSION_HEX. */
unsigned lns_python_reader_version (const LnsPythonReader *reader);

typedef void (*LnsPythonThreadFunc) (const LnsPythonThread *thread, void *data);

/* Calls FUNCTION for each Python thread, after all of them were read. Returns LNS_PYTHON_READY or LNS_PYTHON_GONE.
 * Costs some 10 µs, 1 µs for each thread that has not run since the sample before, 5 µs for each other, and 1 µs for each function
 * on the stacks of these, once however many frames it has: ./run bench python-reader measures it. A process that ends during a sample does no harm. */
LnsPythonState
lns_python_reader_sample (LnsPythonReader *reader, LnsPythonThreadFunc function, void *data);

LnsPythonCounters lns_python_reader_counters (const LnsPythonReader *reader);
