/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/analysis/facts/call-class.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

/* A '*' at the end stands for any text. The first row that fits tells, so that exceptions come first. */
typedef struct
{
  const char *name;
  LnsCallClass class;
} Row;

static const Row cuda[] = {
  { "cudaDeviceSynchronize", LNS_CALL_SYNC },
  { "cudaThreadSynchronize", LNS_CALL_SYNC },
  { "cudaStreamSynchronize", LNS_CALL_SYNC },
  { "cudaEventSynchronize", LNS_CALL_SYNC },
  { "cuCtxSynchronize*", LNS_CALL_SYNC },
  { "cuStreamSynchronize", LNS_CALL_SYNC },
  { "cuEventSynchronize", LNS_CALL_SYNC },
  { "cudaEventQuery", LNS_CALL_QUERY },
  { "cudaStreamQuery", LNS_CALL_QUERY },
  { "cuEventQuery", LNS_CALL_QUERY },
  { "cuStreamQuery", LNS_CALL_QUERY },
  { "cudaStreamWaitEvent", LNS_CALL_STREAM_WAIT },
  { "cuStreamWaitEvent", LNS_CALL_STREAM_WAIT },
  { "cudaLaunchHostFunc", LNS_CALL_STREAM_WAIT },
  { "cuLaunchHostFunc", LNS_CALL_STREAM_WAIT },
  { "cudaStreamAddCallback", LNS_CALL_STREAM_WAIT },
  { "cuStreamAddCallback", LNS_CALL_STREAM_WAIT },
  { "cuStreamWaitValue*", LNS_CALL_STREAM_WAIT },
  { "cudaStreamBeginCapture*", LNS_CALL_CAPTURE },
  { "cuStreamBeginCapture*", LNS_CALL_CAPTURE },
  { "cudaStreamEndCapture", LNS_CALL_CAPTURE_END },
  { "cuStreamEndCapture", LNS_CALL_CAPTURE_END },
  { "cudaLaunch*", LNS_CALL_LAUNCH },
  { "cudaModuleLaunch*", LNS_CALL_LAUNCH },
  { "cudaExtModuleLaunch*", LNS_CALL_LAUNCH },
  { "cuLaunch*", LNS_CALL_LAUNCH },
  { "cudaGraphLaunch", LNS_CALL_LAUNCH },
  { "cuGraphLaunch", LNS_CALL_LAUNCH },
  { "cudaMallocAsync", LNS_CALL_ALLOCATION },
  { "cudaFreeAsync", LNS_CALL_ALLOCATION },
  { "cudaMalloc*", LNS_CALL_ALLOCATION },
  { "cudaFree*", LNS_CALL_ALLOCATION },
  { "cudaHostAlloc", LNS_CALL_ALLOCATION },
  { "cudaHostRegister", LNS_CALL_ALLOCATION },
  { "cudaHostUnregister", LNS_CALL_ALLOCATION },
  { "cudaMemPool*", LNS_CALL_ALLOCATION },
  { "cuMemAlloc*", LNS_CALL_ALLOCATION },
  { "cuMemFree*", LNS_CALL_ALLOCATION },
  { "cuMemHost*", LNS_CALL_ALLOCATION },
  { "cuMemCreate", LNS_CALL_ALLOCATION },
  { "cuMemRelease", LNS_CALL_ALLOCATION },
  { "cuMemMap*", LNS_CALL_ALLOCATION },
  { "cuMemUnmap", LNS_CALL_ALLOCATION },
  { "cuMemAddress*", LNS_CALL_ALLOCATION },
  { "cuMemSetAccess", LNS_CALL_ALLOCATION },
  { "cuMemPool*", LNS_CALL_ALLOCATION },
  { "cudaMemcpy*Async", LNS_CALL_LAUNCH },
  { "cudaMemset*Async", LNS_CALL_LAUNCH },
  { "cuMemcpy*Async", LNS_CALL_LAUNCH },
  { "cuMemset*Async", LNS_CALL_LAUNCH },
  { "cudaMemcpy*", LNS_CALL_SYNC_COPY },
  { "cudaMemset*", LNS_CALL_SYNC_COPY },
  { "cuMemcpy*", LNS_CALL_SYNC_COPY },
  { "cuMemset*", LNS_CALL_SYNC_COPY },
  { "cuModuleUnload", LNS_CALL_OTHER },
  { "cuLibraryUnload", LNS_CALL_OTHER },
  { "cuModule*", LNS_CALL_MODULE },
  { "cudaModule*", LNS_CALL_MODULE },
  { "cuLibrary*", LNS_CALL_MODULE },
  { "cudaLibrary*", LNS_CALL_MODULE },
  { "cuLink*", LNS_CALL_MODULE },
  { "cuKernelGetName",
    LNS_CALL_OTHER }, /* which the runtime asks for before each launch that is traced */
  { "cuKernelGet*", LNS_CALL_MODULE },
  { "cudaFuncGetAttributes", LNS_CALL_MODULE },
  { NULL, LNS_CALL_OTHER },
};

static const Row os[] = {
  { "pthread_mutex_lock", LNS_CALL_LOCK },
  { "pthread_mutex_timedlock", LNS_CALL_LOCK },
  { "pthread_mutex_clocklock", LNS_CALL_LOCK },
  { "pthread_mutex_unlock", LNS_CALL_RELEASE },
  { "pthread_cond_signal", LNS_CALL_RELEASE },
  { "pthread_cond_broadcast", LNS_CALL_RELEASE },
  { "pthread_cond_*wait", LNS_CALL_LOCK },
  { "pthread_rwlock_unlock", LNS_CALL_RELEASE },
  { "pthread_rwlock_*lock", LNS_CALL_LOCK },
  { "pthread_barrier_wait", LNS_CALL_LOCK },
  { "pthread_*join*", LNS_CALL_LOCK },
  { "pthread_once", LNS_CALL_LOCK },
  { "pthread_spin_lock", LNS_CALL_LOCK },
  { "sem_post", LNS_CALL_RELEASE },
  { "sem_*wait", LNS_CALL_LOCK },
  { "futex", LNS_CALL_LOCK },
  { "futex_wait*", LNS_CALL_LOCK },
  { "wait", LNS_CALL_LOCK },
  { "wait3", LNS_CALL_LOCK },
  { "wait4", LNS_CALL_LOCK },
  { "waitpid", LNS_CALL_LOCK },
  { "waitid", LNS_CALL_LOCK },
  { "flock", LNS_CALL_LOCK },
  { "lockf*", LNS_CALL_LOCK },
  { "mq_*receive", LNS_CALL_LOCK },
  { "mq_*send", LNS_CALL_LOCK },
  { "msgrcv", LNS_CALL_LOCK },
  { "msgsnd", LNS_CALL_LOCK },
  { "semop", LNS_CALL_LOCK },
  { "semtimedop", LNS_CALL_LOCK },
  { "sleep", LNS_CALL_SLEEP },
  { "usleep", LNS_CALL_SLEEP },
  { "nanosleep", LNS_CALL_SLEEP },
  { "clock_nanosleep*", LNS_CALL_SLEEP },
  { "pause", LNS_CALL_SLEEP },
  { "sig*wait*", LNS_CALL_SLEEP },
  { "read", LNS_CALL_IO },
  { "read64", LNS_CALL_IO },
  { "readv", LNS_CALL_IO },
  { "readahead", LNS_CALL_IO },
  { "lseek*", LNS_CALL_IO },
  { "access", LNS_CALL_IO },
  { "faccessat*", LNS_CALL_IO },
  { "readlink*", LNS_CALL_IO },
  { "pread*", LNS_CALL_IO },
  { "write", LNS_CALL_OUTPUT },
  { "writev", LNS_CALL_OUTPUT },
  { "pwrite*", LNS_CALL_OUTPUT },
  { "open", LNS_CALL_IO },
  { "open64", LNS_CALL_IO },
  { "openat*", LNS_CALL_IO },
  { "creat*", LNS_CALL_IO },
  { "close", LNS_CALL_IO },
  { "fsync", LNS_CALL_OUTPUT },
  { "fdatasync", LNS_CALL_OUTPUT },
  { "sync", LNS_CALL_OUTPUT },
  { "syncfs", LNS_CALL_OUTPUT },
  { "sync_file_range", LNS_CALL_OUTPUT },
  { "msync", LNS_CALL_OUTPUT },
  { "ftruncate*", LNS_CALL_OUTPUT },
  { "truncate*", LNS_CALL_OUTPUT },
  { "fallocate*", LNS_CALL_OUTPUT },
  { "posix_fallocate*", LNS_CALL_OUTPUT },
  { "eventfd_write", LNS_CALL_OUTPUT },
  { "eventfd_read", LNS_CALL_IO },
  { "sendfile*", LNS_CALL_IO },
  { "send", LNS_CALL_OUTPUT },
  { "sendto", LNS_CALL_OUTPUT },
  { "sendm*", LNS_CALL_OUTPUT },
  { "recv", LNS_CALL_IO },
  { "recvfrom", LNS_CALL_IO },
  { "recvm*", LNS_CALL_IO },
  { "connect", LNS_CALL_IO },
  { "accept*", LNS_CALL_IO },
  { "poll", LNS_CALL_IO },
  { "ppoll*", LNS_CALL_IO },
  { "select", LNS_CALL_IO },
  { "pselect*", LNS_CALL_IO },
  { "epoll_*wait*", LNS_CALL_IO },
  { "splice", LNS_CALL_IO },
  { "tee", LNS_CALL_IO },
  { "vmsplice", LNS_CALL_IO },
  { "copy_file_range", LNS_CALL_IO },
  { "io_getevents", LNS_CALL_IO },
  { "io_submit", LNS_CALL_IO },
  { "io_uring_enter", LNS_CALL_IO },
  { "aio_suspend*", LNS_CALL_IO },
  { "getaddrinfo", LNS_CALL_IO },
  { "fopen*", LNS_CALL_IO },
  { "fclose", LNS_CALL_OUTPUT },
  { "fread*", LNS_CALL_IO },
  { "fwrite*", LNS_CALL_OUTPUT },
  { "fflush*", LNS_CALL_OUTPUT },
  { "fget*", LNS_CALL_IO },
  { "fput*", LNS_CALL_OUTPUT },
  { "getline", LNS_CALL_IO },
  { "getdelim", LNS_CALL_IO },
  { "getdents*", LNS_CALL_IO },
  { "readdir*", LNS_CALL_IO },
  { "opendir", LNS_CALL_IO },
  { "stat", LNS_CALL_IO },
  { "lstat", LNS_CALL_IO },
  { "fstat*", LNS_CALL_IO },
  { "newfstatat", LNS_CALL_IO },
  { "statx", LNS_CALL_IO },
  { "rename*", LNS_CALL_IO },
  { "unlink*", LNS_CALL_IO },
  { "mkdir*", LNS_CALL_IO },
  { "mmap*", LNS_CALL_ALLOCATION },
  { "munmap", LNS_CALL_ALLOCATION },
  { "mremap", LNS_CALL_ALLOCATION },
  { "madvise", LNS_CALL_ALLOCATION },
  { "mprotect", LNS_CALL_ALLOCATION },
  { "brk", LNS_CALL_ALLOCATION },
  { "sbrk", LNS_CALL_ALLOCATION },
  { "mlock*", LNS_CALL_ALLOCATION },
  { "munlock*", LNS_CALL_ALLOCATION },
  { "ioctl", LNS_CALL_DEVICE },
  { "dlopen", LNS_CALL_MODULE },
  { "dlmopen", LNS_CALL_MODULE },
  { NULL, LNS_CALL_OTHER },
};

static const Row mpi[] = {
  { "MPI_*Barrier*", LNS_CALL_COLLECTIVE },
  { "MPI_*Bcast*", LNS_CALL_COLLECTIVE },
  { "MPI_*Reduce*", LNS_CALL_COLLECTIVE },
  { "MPI_*reduce*", LNS_CALL_COLLECTIVE },
  { "MPI_*Gather*", LNS_CALL_COLLECTIVE },
  { "MPI_*gather*", LNS_CALL_COLLECTIVE },
  { "MPI_*Scatter*", LNS_CALL_COLLECTIVE },
  { "MPI_*lltoall*", LNS_CALL_COLLECTIVE },
  { "MPI_*Scan*", LNS_CALL_COLLECTIVE },
  { "MPI_*scan*", LNS_CALL_COLLECTIVE },
  { "MPI_Wait*", LNS_CALL_PEER },
  { "MPI_*Recv*", LNS_CALL_PEER },
  { "MPI_*recv*", LNS_CALL_PEER },
  { "MPI_*Send*", LNS_CALL_PEER },
  { "MPI_*send*", LNS_CALL_PEER },
  { "MPI_*Probe*", LNS_CALL_PEER },
  { NULL, LNS_CALL_OTHER },
};

struct LnsCallClasses
{
  LnsReport *report;
  uint32_t n_strings;
  uint8_t *known; /* by string id: 1 + LnsCallClass, 0 = not looked at yet                       */
};

/* How many bytes of NAME are the call's own: without the version that CUDA's runtime appends, and without the stream that
 * the driver's calls have by default. */
static size_t
plain_length (const char *name)
{
  size_t n = strlen (name);

  if (n > 5 && (strncmp (name + n - 5, "_ptsz", 5) == 0 || strncmp (name + n - 5, "_ptds", 5) == 0))
    n -= 5;
  size_t k = n;
  while (k > 0 && isdigit ((unsigned char)name[k - 1]))
    k--;
  if (k < n && k > 2 && name[k - 1] == 'v' && name[k - 2] == '_')
    n = k - 2;
  return n;
}

/* Whether the N bytes of NAME are what PATTERN stands for, where each '*' is any text. */
static bool
fits (const char *pattern, const char *name, size_t n)
{
  const char *star = NULL;
  size_t at = 0, mark = 0;

  while (at < n)
    if (*pattern == '*')
      {
        star = ++pattern;
        mark = at;
      }
    else if (*pattern == name[at] && *pattern != '\0')
      {
        pattern++;
        at++;
      }
    else if (star != NULL)
      {
        pattern = star;
        at = ++mark;
      }
    else
      return false;
  while (*pattern == '*')
    pattern++;
  return *pattern == '\0';
}

LnsCallClass
lns_call_class_of_text (LnsLaneKind kind, const char *text)
{
  size_t n = plain_length (text);
  char as_cuda[64];
  const Row *row;

  /* HIP's runtime has the names of CUDA's. */
  if (kind == LNS_LANE_CUDA_API && strncmp (text, "hip", 3) == 0 && n < sizeof as_cuda - 2)
    {
      snprintf (as_cuda, sizeof as_cuda, "cuda%.*s", (int)(n - 3), text + 3);
      text = as_cuda;
      n++;
    }
  if (kind == LNS_LANE_CUDA_API)
    row = cuda;
  else if (kind == LNS_LANE_OS_CALL || kind == LNS_LANE_SYSTEM_CALL)
    row = os;
  else if (kind == LNS_LANE_MPI_CALL)
    row = mpi;
  else
    return LNS_CALL_OTHER;
  while (row->name != NULL && !fits (row->name, text, n))
    row++;
  return row->class;
}

LnsCallClasses *
lns_call_classes_new (LnsReport *report)
{
  LnsCallClasses *classes = lns_calloc (1, sizeof *classes);

  classes->report = report;
  classes->n_strings = lns_report_n_strings (report);
  classes->known = lns_calloc ((size_t)classes->n_strings + 1, 1);
  return classes;
}

void
lns_call_classes_free (LnsCallClasses *classes)
{
  if (classes == NULL)
    return;
  free (classes->known);
  free (classes);
}

LnsCallClass
lns_call_class_of (LnsCallClasses *classes, LnsLaneKind kind, uint32_t name)
{
  if (name >= classes->n_strings)
    return LNS_CALL_OTHER;
  if (classes->known[name] == 0)
    classes->known[name] =
        (uint8_t)(1 +
                  lns_call_class_of_text (kind, lns_report_string (classes->report, name, NULL)));
  return (LnsCallClass)(classes->known[name] - 1);
}

bool
lns_call_only_waits (LnsLaneKind kind, const char *text)
{
  static const char *const ready[] = { "poll", "ppoll", "select", "pselect", "epoll_" };
  const LnsCallClass class = lns_call_class_of_text (kind, text);
  if (class != LNS_CALL_IO)
    return class == LNS_CALL_LOCK || class == LNS_CALL_SLEEP;
  for (size_t i = 0; i < sizeof ready / sizeof *ready; i++)
    if (strncmp (text, ready[i], strlen (ready[i])) == 0)
      return true;
  return false;
}

/* --- Kernels ---------------------------------------------------------------------------------- */

/* What kernels of collectives are called, from their beginning on. */
static const char *const beginnings[] = { "nccl", "rccl", "msccl", "nvshmem" };

bool
lns_is_collective (const char *kernel)
{
  if (strncmp (kernel, "void ", strlen ("void ")) == 0)
    kernel += strlen ("void ");
  for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
    if (strncmp (kernel, beginnings[i], strlen (beginnings[i])) == 0)
      return true;
  return false;
}
