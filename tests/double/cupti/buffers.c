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
#include <unistd.h>

typedef struct LnsCuptiBuffer Buffer;

struct LnsCuptiBuffer
{
  uint8_t *bytes;
  size_t size;
  size_t used;
  size_t n_records;
  size_t n_incomplete; /* of n_records */
  size_t max_records;  /* 0: no limit */
  struct CUpti_Subscriber_st *of;
  Buffer *next;
};

/* Where a thread or the GPU writes records. A slot outlives its thread, so that a flush can empty it. */
typedef struct Slot
{
  Buffer *buffer;
  Buffer *spare; /* received while another thread also requested one */
  struct CUpti_Subscriber_st *of;
  struct Slot *next;
} Slot;

/* In the kind of a record that is not filled in. */
#define INCOMPLETE UINT32_C (0x80000000)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static Slot shared_slots[LNS_CUPTI_SUBSCRIBERS];
static Slot *slots; /* of threads */
static Buffer *full, **full_tail = &full;
static unsigned n_delivering;
static size_t n_written;
static bool worker_runs, worker_stops;
static pthread_t worker;
static uint32_t flush_period_ms;
static uint8_t per_thread_buffers = 1;
static uint8_t zeroed_by_client;

static __thread Slot *own_slots[LNS_CUPTI_SUBSCRIBERS];
static __thread bool in_delivery;

static Slot *
slot_locked (struct CUpti_Subscriber_st *subscriber, bool is_gpu)
{
  const size_t of = (size_t)(subscriber - _lns_cupti_subscribers);
  int asked = _lns_cupti_options ()->per_thread;
  Slot **slot = &own_slots[of];
  shared_slots[of].of = subscriber;
  if (is_gpu || !(asked < 0 ? per_thread_buffers : asked))
    return &shared_slots[of];
  if (*slot == NULL)
    {
      *slot = calloc (1, sizeof **slot);
      (*slot)->of = subscriber;
      (*slot)->next = slots;
      slots = *slot;
    }
  return *slot;
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
  LnsCuptiRequestInfo info = { sizeof info };
  made->of = slot->of;
  pthread_mutex_unlock (&lock);
  if (made->of->request_v2 != NULL)
    made->of->request_v2 (&made->bytes, &made->size, &made->max_records, &info);
  else
    made->of->request (&made->bytes, &made->size, &made->max_records);
  if (made->bytes != NULL && !zeroed_by_client)
    memset (made->bytes, 0, made->size);
  pthread_mutex_lock (&lock);
  if (made->bytes == NULL || made->size == 0)
    {
      if (_lns_cupti_options ()->version < 27)
        abort (); /* as NVIDIA's library crashes */
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

static size_t
bytes_of (const void *record)
{
  uint32_t kind;
  memcpy (&kind, record, sizeof kind);
  return _lns_cupti_record_bytes (kind);
}

/* Copies RECORD into the buffer of SLOT. Returns false if it was dropped. */
static bool
write_locked (Slot *slot, const void *record, size_t bytes)
{
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
    slot->of->n_dropped++;
  return has_room;
}

/* RECORD with the thread as SUBSCRIBER names it; in ROOM if it is another name than that of the first subscriber. */
static const void *
name_thread (const struct CUpti_Subscriber_st *subscriber,
             const void *record,
             CUpti_ActivityAPI *room)
{
  uint32_t kind;
  memcpy (&kind, record, sizeof kind);
  if ((kind != CUPTI_ACTIVITY_KIND_RUNTIME && kind != CUPTI_ACTIVITY_KIND_DRIVER) ||
      subscriber->thread_type == _lns_cupti_subscribers[0].thread_type)
    return record;
  memcpy (room, record, sizeof *room);
  room->threadId = subscriber->thread_type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM
                       ? (uint32_t)gettid ()
                       : (uint32_t)pthread_self ();
  return room;
}

void
_lns_cupti_write (const void *record, bool is_gpu)
{
  size_t bytes = bytes_of (record);
  CUpti_ActivityAPI room;
  if (bytes == 0)
    return;
  pthread_mutex_lock (&lock);
  for (size_t i = 0; i < LNS_CUPTI_SUBSCRIBERS; i++)
    if (_lns_cupti_gets (&_lns_cupti_subscribers[i], record))
      (void)write_locked (slot_locked (&_lns_cupti_subscribers[i], is_gpu),
                          name_thread (&_lns_cupti_subscribers[i], record, &room), bytes);
  pthread_mutex_unlock (&lock);
}

/* Marks the record at BYTES as NVIDIA's library does until it is filled in. */
static void
mark_locked (uint8_t *bytes)
{
  uint32_t kind;
  memcpy (&kind, bytes, sizeof kind);
  kind |= INCOMPLETE;
  memcpy (bytes, &kind, sizeof kind);
}

bool
_lns_cupti_reserve (const void *record, LnsCuptiPlace *ret_place)
{
  size_t bytes = bytes_of (record);
  if (bytes == 0)
    return false;
  *ret_place = (LnsCuptiPlace){ 0 };
  pthread_mutex_lock (&lock);
  for (size_t i = 0; i < LNS_CUPTI_SUBSCRIBERS; i++)
    {
      if (!_lns_cupti_gets (&_lns_cupti_subscribers[i], record))
        continue;
      Slot *slot = slot_locked (&_lns_cupti_subscribers[i], false);
      if (!write_locked (slot, record, bytes))
        continue;
      mark_locked (slot->buffer->bytes + slot->buffer->used - bytes);
      slot->buffer->n_incomplete++;
      ret_place->is_reserved = true;
      ret_place->in[i].buffer = slot->buffer;
      ret_place->in[i].at = slot->buffer->used - bytes;
    }
  pthread_mutex_unlock (&lock);
  return ret_place->is_reserved;
}

void
_lns_cupti_complete (const LnsCuptiPlace *place, const void *record)
{
  pthread_mutex_lock (&lock);
  for (size_t i = 0; i < LNS_CUPTI_SUBSCRIBERS; i++)
    if (place->in[i].buffer != NULL)
      {
        memcpy (place->in[i].buffer->bytes + place->in[i].at, record, bytes_of (record));
        place->in[i].buffer->n_incomplete--;
      }
  pthread_cond_broadcast (&changed);
  pthread_mutex_unlock (&lock);
}

/* Takes the first full buffer whose records are all complete; NULL: there is none. */
static Buffer *
take_full_locked (void)
{
  for (Buffer **at = &full; *at != NULL; at = &(*at)->next)
    if ((*at)->n_incomplete == 0)
      {
        Buffer *buffer = *at;
        *at = buffer->next;
        if (*at == NULL)
          full_tail = at;
        return buffer;
      }
  return NULL;
}

static void
give_back (const Buffer *buffer)
{
  LnsCuptiCompleteInfo info = { .structSize = sizeof info, .threadId = (uint64_t)gettid () };
  if (buffer->of->complete_v2 != NULL)
    buffer->of->complete_v2 (buffer->bytes, buffer->size, buffer->used, &info);
  else
    buffer->of->complete (NULL, 0, buffer->bytes, buffer->size, buffer->used);
}

static void
retire_complete_locked (Slot *slot)
{
  if (slot->buffer != NULL && slot->buffer->used > 0 && slot->buffer->n_incomplete == 0)
    retire_locked (slot);
}

static void
deliver_locked (void)
{
  Buffer *buffer;
  while ((buffer = take_full_locked ()) != NULL)
    {
      n_delivering++;
      pthread_mutex_unlock (&lock);
      in_delivery = true;
      give_back (buffer);
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
    retire_complete_locked (slot);
  for (size_t i = 0; i < LNS_CUPTI_SUBSCRIBERS && flush; i++)
    retire_complete_locked (&shared_slots[i]);
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
      deliver_locked ();
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
  LNS_CUPTI_ENTER_SINGLE (-1);
  if (funcBufferRequested == NULL || funcBufferCompleted == NULL)
    return CUPTI_ERROR_INVALID_PARAMETER;
  _lns_cupti_subscribers[0].request = funcBufferRequested;
  _lns_cupti_subscribers[0].complete = funcBufferCompleted;
  return CUPTI_SUCCESS;
}

/* The other client has buffers of its own, and does not know those that are with CUPTI. */
static void
request_other (uint8_t **buffer, size_t *size, size_t *max_records)
{
  *size = 1 << 20;
  *buffer = calloc (1, *size);
  *max_records = 0;
}

static void
complete_other (CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
  if (size == 1 << 20)
    free (buffer);
}

void
_lns_cupti_take_over (void)
{
  if (!_lns_cupti_use (LNS_CUPTI_SINGLE))
    return;
  pthread_mutex_lock (&lock);
  _lns_cupti_subscribers[0].request = request_other;
  _lns_cupti_subscribers[0].complete = complete_other;
  pthread_mutex_unlock (&lock);
}

static uint32_t n_in_flush;

/* NVIDIA's library is torn down at the process's end, whoever is in it. */
__attribute__ ((destructor)) static void
tear_down (void)
{
  const bool flushes = _lns_cupti_options ()->flush_ns > 0 && _lns_cupti_n_in_flush () > 0;
  if (!lns_gpu_is_forked () && (flushes || _lns_cupti_n_looking () > 0))
    abort ();
}

uint32_t
_lns_cupti_n_in_flush (void)
{
  return __atomic_load_n (&n_in_flush, __ATOMIC_SEQ_CST);
}

static void flush_all (uint32_t flag);

LNS_CUPTI_API CUptiResult
cuptiActivityFlushAll (uint32_t flag)
{
  LNS_CUPTI_ENTER (flag);
  bool has_client = false;
  for (size_t i = 0; i < LNS_CUPTI_SUBSCRIBERS; i++)
    has_client = has_client || _lns_cupti_subscribers[i].complete != NULL ||
                 _lns_cupti_subscribers[i].complete_v2 != NULL;
  if (!has_client)
    return CUPTI_ERROR_INVALID_OPERATION;
  __atomic_fetch_add (&n_in_flush, 1, __ATOMIC_SEQ_CST);
  if (_lns_cupti_options ()->flush_ns > 0 && gettid () != getpid ())
    lns_gpu_wait_until (lns_gpu_now () + _lns_cupti_options ()->flush_ns);
  flush_all (flag);
  __atomic_fetch_sub (&n_in_flush, 1, __ATOMIC_SEQ_CST);
  return CUPTI_SUCCESS;
}

static void
flush_all (uint32_t flag)
{
  _lns_cupti_collect ((flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0 ? LNS_CUPTI_COLLECT_EVERYTHING
                                                                     : LNS_CUPTI_COLLECT_ENDED);
  if ((flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0)
    _lns_cupti_end_switches ();
  _lns_cupti_deliver (true);
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
  LNS_CUPTI_ENTER_SINGLE (-1);
  return _lns_cupti_dropped (&_lns_cupti_subscribers[0], dropped);
}

CUptiResult
_lns_cupti_dropped (struct CUpti_Subscriber_st *subscriber, size_t *ret_n)
{
  if (ret_n == NULL)
    return CUPTI_ERROR_INVALID_PARAMETER;
  pthread_mutex_lock (&lock);
  *ret_n = subscriber->n_dropped;
  subscriber->n_dropped = 0;
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
  LNS_CUPTI_ENTER_SINGLE (attr);
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
  LNS_CUPTI_ENTER_SINGLE (attr);
  return _lns_cupti_set_attribute (attr, valueSize, value);
}

CUptiResult
_lns_cupti_set_attribute (uint32_t attribute, const size_t *size, const void *value)
{
  Attribute *found;
  CUptiResult result = find_attribute (attribute, size, value, &found);
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
  _lns_cupti_check_fatal ();
  if (buffer == NULL || record == NULL)
    return CUPTI_ERROR_INVALID_PARAMETER;
  if (!_lns_cupti_answers ())
    return CUPTI_ERROR_UNKNOWN;
  if (!_lns_cupti_use (LNS_CUPTI_SINGLE))
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  return _lns_cupti_next_record (buffer, validBufferSizeBytes, record);
}

CUptiResult
_lns_cupti_next_record (uint8_t *buffer, size_t n_bytes, CUpti_Activity **record)
{
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
  size_t left = next < buffer + n_bytes ? (size_t)(buffer + n_bytes - next) : 0;
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
