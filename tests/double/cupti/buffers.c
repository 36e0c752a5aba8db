/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Activity buffers: requests them from the client, fills them and returns them.
 *
 * The worker thread delivers full buffers. A flush delivers in the calling thread, and returns only when the
 * worker is not delivering a buffer. No lock is held while the client's callbacks run. */

#include "tests/double/cupti/cupti.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct Buffer
{
  uint8_t *bytes;
  size_t size;
  size_t used;
  size_t n_records;
  size_t max_records; /* 0: no limit */
  struct Buffer *next;
} Buffer;

/* Where a thread or the GPU writes records. A slot outlives its thread, so that a flush can empty it. */
typedef struct Slot
{
  Buffer *buffer;
  Buffer *spare; /* received while another thread also requested one */
  struct Slot *next;
} Slot;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static Slot shared_slot;
static Slot *slots = &shared_slot;
static Buffer *full, **full_tail = &full;
static unsigned n_delivering;
static size_t n_dropped;
static size_t n_written;
static bool worker_runs, worker_stops;
static pthread_t worker;
static uint32_t flush_period_ms;
static uint8_t per_thread_buffers = 1;
static uint8_t zeroed_by_client;

static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;

static __thread Slot *own_slot;
static __thread bool in_delivery;

static Slot *
slot_locked (bool is_gpu)
{
  int asked = _lns_cupti_options ()->per_thread;
  if (is_gpu || !(asked < 0 ? per_thread_buffers : asked))
    return &shared_slot;
  if (own_slot == NULL)
    {
      own_slot = calloc (1, sizeof *own_slot);
      own_slot->next = slots;
      slots = own_slot;
    }
  return own_slot;
}

static void
retire_locked (Slot *slot)
{
  *full_tail = slot->buffer;
  full_tail = &slot->buffer->next;
  slot->buffer = slot->spare;
  if (slot->spare != NULL)
    slot->spare = slot->spare->next;
  if (slot->buffer != NULL)
    slot->buffer->next = NULL;
  pthread_cond_broadcast (&changed);
}

static bool
fits (const Buffer *buffer, size_t bytes)
{
  return buffer->used + bytes <= buffer->size &&
         (buffer->max_records == 0 || buffer->n_records < buffer->max_records);
}

/* Requests a buffer from the client, without the lock. Returns false if the client gave none. */
static bool
request_locked (Slot *slot)
{
  Buffer *made = calloc (1, sizeof *made);
  pthread_mutex_unlock (&lock);
  request (&made->bytes, &made->size, &made->max_records);
  if (made->bytes != NULL && !zeroed_by_client)
    memset (made->bytes, 0, made->size);
  pthread_mutex_lock (&lock);
  if (made->bytes == NULL || made->size == 0)
    {
      free (made);
      return false;
    }
  if (slot->buffer == NULL)
    slot->buffer = made;
  else
    {
      made->next = slot->spare;
      slot->spare = made;
    }
  return true;
}

static bool
is_wanted_drop_locked (void)
{
  size_t every = _lns_cupti_options ()->drop;
  return every > 0 && ++n_written % every == 0;
}

void
_lns_cupti_write (const void *record, bool is_gpu)
{
  uint32_t kind;
  memcpy (&kind, record, sizeof kind);
  size_t bytes = _lns_cupti_record_bytes (kind);
  if (bytes == 0 || request == NULL)
    return;
  pthread_mutex_lock (&lock);
  Slot *slot = slot_locked (is_gpu);
  bool has_room = !is_wanted_drop_locked ();
  while (has_room && (slot->buffer == NULL || !fits (slot->buffer, bytes)))
    {
      if (slot->buffer != NULL && slot->buffer->used == 0)
        has_room = false; /* too small for any record */
      else if (slot->buffer != NULL)
        retire_locked (slot);
      else
        has_room = request_locked (slot);
    }
  if (has_room)
    {
      memcpy (slot->buffer->bytes + slot->buffer->used, record, bytes);
      slot->buffer->used += bytes;
      slot->buffer->n_records++;
    }
  else
    n_dropped++;
  pthread_mutex_unlock (&lock);
}

static void
deliver_locked (void)
{
  while (full != NULL)
    {
      Buffer *buffer = full;
      full = buffer->next;
      if (full == NULL)
        full_tail = &full;
      n_delivering++;
      pthread_mutex_unlock (&lock);
      in_delivery = true;
      complete (NULL, 0, buffer->bytes, buffer->size, buffer->used);
      in_delivery = false;
      free (buffer);
      pthread_mutex_lock (&lock);
      n_delivering--;
      pthread_cond_broadcast (&changed);
    }
}

void
_lns_cupti_deliver (bool flush)
{
  pthread_mutex_lock (&lock);
  for (Slot *slot = slots; flush && slot != NULL; slot = slot->next)
    if (slot->buffer != NULL && slot->buffer->used > 0)
      retire_locked (slot);
  deliver_locked ();
  while (flush && n_delivering > 0 && !in_delivery)
    pthread_cond_wait (&changed, &lock);
  pthread_mutex_unlock (&lock);
}

/* Collects operations that have ended, each period or every 10 ms, and delivers full buffers. */
static void *
work_cb (void *data)
{
  pthread_mutex_lock (&lock);
  while (!worker_stops)
    {
      struct timespec until;
      clock_gettime (CLOCK_REALTIME, &until);
      uint32_t period_ms = flush_period_ms != 0 ? flush_period_ms : 10;
      int64_t until_ns = until.tv_sec * 1000000000LL + until.tv_nsec + period_ms * 1000000LL;
      until = (struct timespec){ until_ns / 1000000000, until_ns % 1000000000 };
      if (full == NULL)
        pthread_cond_timedwait (&changed, &lock, &until);
      pthread_mutex_unlock (&lock);
      _lns_cupti_collect (LNS_CUPTI_COLLECT_IF_FREE);
      pthread_mutex_lock (&lock);
      deliver_locked ();
    }
  pthread_mutex_unlock (&lock);
  return NULL;
}

void
_lns_cupti_start_worker (void)
{
  sigset_t all, before;
  pthread_mutex_lock (&lock);
  if (!worker_runs)
    {
      sigfillset (&all);
      pthread_sigmask (SIG_SETMASK, &all, &before);
      worker_stops = false;
      worker_runs = pthread_create (&worker, NULL, work_cb, NULL) == 0;
      pthread_sigmask (SIG_SETMASK, &before, NULL);
    }
  pthread_mutex_unlock (&lock);
}

void
_lns_cupti_stop_worker (void)
{
  pthread_mutex_lock (&lock);
  bool ran = worker_runs;
  worker_stops = true;
  worker_runs = false;
  pthread_cond_broadcast (&changed);
  pthread_mutex_unlock (&lock);
  if (ran && !pthread_equal (worker, pthread_self ()))
    pthread_join (worker, NULL);
}

LNS_CUPTI_API CUptiResult
cuptiActivityRegisterCallbacks (CUpti_BuffersCallbackRequestFunc funcBufferRequested,
                                CUpti_BuffersCallbackCompleteFunc funcBufferCompleted)
{
  LNS_CUPTI_ENTER (-1);
  if (funcBufferRequested == NULL || funcBufferCompleted == NULL)
    return CUPTI_ERROR_INVALID_PARAMETER;
  request = funcBufferRequested;
  complete = funcBufferCompleted;
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiActivityFlushAll (uint32_t flag)
{
  LNS_CUPTI_ENTER (flag);
  if (complete == NULL)
    return CUPTI_ERROR_INVALID_OPERATION;
  _lns_cupti_collect ((flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0 ? LNS_CUPTI_COLLECT_EVERYTHING
                                                                     : LNS_CUPTI_COLLECT_ENDED);
  _lns_cupti_deliver (true);
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiActivityFlush (CUcontext context, uint32_t streamId, uint32_t flag)
{
  LNS_CUPTI_ENTER (flag);
  return cuptiActivityFlushAll (flag);
}

LNS_CUPTI_API CUptiResult
cuptiActivityFlushPeriod (uint32_t time)
{
  LNS_CUPTI_ENTER (time);
  flush_period_ms = time;
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiActivityGetNumDroppedRecords (CUcontext context, uint32_t streamId, size_t *dropped)
{
  LNS_CUPTI_ENTER (-1);
  if (dropped == NULL)
    return CUPTI_ERROR_INVALID_PARAMETER;
  pthread_mutex_lock (&lock);
  *dropped = n_dropped;
  n_dropped = 0;
  pthread_mutex_unlock (&lock);
  return CUPTI_SUCCESS;
}

/* Sizes of attributes in bytes, by number; the attributes after the semaphore pools are newer. */
typedef struct
{
  uint8_t size;
  uint64_t value;
} Attribute;

static Attribute attributes[] = {
  [CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE] = { 8, 3200000 },
  [CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_CDP] = { 8, 8388608 },
  [CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT] = { 8, 250 },
  [CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_POOL_SIZE] = { 8, 25000 },
  [CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_POOL_LIMIT] = { 8, 250 },
  [CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER] = { 1, 0 },
  [CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE] = { 8, 3 },
  [CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_PRE_ALLOCATE_VALUE] = { 8, 3 },
  [CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED] = { 1, 0 },
  [CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER] = { 1, 1 },
  [CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_DEVICE_GRAPHS] = { 8, 16777216 },
};

static CUptiResult
find_attribute (uint32_t attribute, const size_t *size, const void *value, Attribute **ret_found)
{
  /* In CUDA 11.0 the last attribute is the limit of semaphore pools. */
  const size_t n_known = _lns_cupti_options ()->version < 15
                             ? CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_POOL_LIMIT + 1
                             : sizeof attributes / sizeof attributes[0];
  if (size == NULL || value == NULL || attribute >= n_known)
    return CUPTI_ERROR_INVALID_PARAMETER;
  *ret_found = &attributes[attribute];
  return *size < (*ret_found)->size ? CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT : CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiActivityGetAttribute (CUpti_ActivityAttribute attr, size_t *valueSize, void *value)
{
  LNS_CUPTI_ENTER (attr);
  Attribute *found;
  CUptiResult result = find_attribute (attr, valueSize, value, &found);
  if (result == CUPTI_SUCCESS)
    {
      memcpy (value, &found->value, found->size);
      *valueSize = found->size;
    }
  return result;
}

LNS_CUPTI_API CUptiResult
cuptiActivitySetAttribute (CUpti_ActivityAttribute attr, size_t *valueSize, void *value)
{
  LNS_CUPTI_ENTER (attr);
  Attribute *found;
  CUptiResult result = find_attribute (attr, valueSize, value, &found);
  if (result != CUPTI_SUCCESS)
    return result;
  found->value = 0;
  memcpy (&found->value, value, found->size);
  per_thread_buffers = (uint8_t)attributes[CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER].value;
  zeroed_by_client = (uint8_t)attributes[CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER].value;
  return CUPTI_SUCCESS;
}

LNS_CUPTI_API CUptiResult
cuptiActivityGetNextRecord (uint8_t *buffer, size_t validBufferSizeBytes, CUpti_Activity **record)
{
  if (buffer == NULL || record == NULL)
    return CUPTI_ERROR_INVALID_PARAMETER;
  uint8_t *next = buffer;
  uint32_t kind;
  if (*record != NULL)
    {
      memcpy (&kind, *record, sizeof kind);
      size_t bytes = _lns_cupti_record_bytes (kind);
      if (bytes == 0)
        return CUPTI_ERROR_INVALID_KIND;
      next = (uint8_t *)*record + bytes;
    }
  size_t left =
      next < buffer + validBufferSizeBytes ? (size_t)(buffer + validBufferSizeBytes - next) : 0;
  if (left < sizeof kind)
    return CUPTI_ERROR_MAX_LIMIT_REACHED;
  memcpy (&kind, next, sizeof kind);
  size_t bytes = _lns_cupti_record_bytes (kind);
  if (bytes == 0)
    return CUPTI_ERROR_INVALID_KIND;
  if (left < bytes)
    return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = (CUpti_Activity *)next;
  return CUPTI_SUCCESS;
}
