/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* liblanescope-mpi.so, which is preloaded into a program (LD_PRELOAD) if MPI calls are asked for. It has functions with
 * MPI's names, which record the call and pass it on to the next function: another tool's or MPI's own. Fortran calls
 * come through a library of bindings, which calls the C functions by these names (MPICH, mpif.h) or by those of the
 * profiling interface (Open MPI; MPICH, mpi_f08). The latter are here too, but record calls of the bindings only.
 *
 * One library serves all implementations. Each parameter of these functions is an integer or an address, which the ABIs
 * of x86-64 and AArch64 pass as one word; the library passes words on and does not depend on the types. It reads
 * integers, the first word of arrays, and handles, which are addresses in Open MPI and 32-bit numbers in MPICH and its
 * derivatives. */

#include "capture/inject/preload/mpi-communicators.h"
#include "capture/inject/core/oldest-glibc.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

LNS_OLDEST (dlsym);
LNS_OLDEST (dladdr);

#define N_WORDS 12

/* MPI_STATUS_IGNORE is 0 in Open MPI and 1 in MPICH. */
#define STATUS_IGNORE_MAX 1

typedef LnsMpiWord Word;
typedef Word (*Function) (Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word);

/* How many counts there are, and in which processes they have a meaning. */
typedef enum
{
  ONE_COUNT,
  ONE_AT_ROOT, /* in the root alone */
  EVERYWHERE,
  AT_ROOT, /* in the root alone */
} PerRank;

/* One function of MPI. Numbers of parameters count from 1; 0: it has none. */
typedef struct
{
  const char *name, *symbol; /* as it is called, and as it is looked up */
  LnsWireMpiClass class;
  uint8_t count, type, received_count, received_type, peer, tag, communicator;
  uint8_t request, n_requests;             /* that are waited for or begun */
  uint8_t made_request, made_communicator; /* what the call makes, of COMMUNICATOR */
  uint8_t freed_communicator;
  uint8_t status; /* what it received, which may be more exact than what it was ready for */
  uint8_t sent_per_rank, received_per_rank;
  bool begins, ends; /* MPI can be asked from then on, until then */
  uint32_t string;
  Function real;
  const void *bindings, *others; /* who called last */
} MpiFunction;

static LnsMpi mpi = { .world_rank = -1 };
static int (*get_count) (const void *status, Word type, int *count);
static bool handles_are_words;
static bool is_running; /* between MPI_Init () and MPI_Finalize () */

static __thread uint8_t depth __attribute__ ((tls_model ("initial-exec")));

/* --- The implementation ----------------------------------------------------------------------- */

/* Finds what the caller at CALLER would have got for NAME without this library. */
static void *
find (const char *name, void *caller)
{
  Dl_info info;
  void *address = NULL;
  if (dladdr (caller, &info) && info.dli_fname != NULL)
    address = lns_library_symbol (info.dli_fname, name);
  return address != NULL ? address : lns_library_symbol (NULL, name);
}

static Function
find_real (MpiFunction *self, void *caller)
{
  Function real = __atomic_load_n (&self->real, __ATOMIC_ACQUIRE);
  if (real == NULL)
    {
      const int saved = errno;
      *(void **)&real = find (self->symbol, caller);
      __atomic_store_n (&self->real, real, __ATOMIC_RELEASE);
      errno = saved;
    }
  return real;
}

/* The handle that is the address of the object NAME in Open MPI, and NUMBER in MPICH (mpi.h of both). A program may
 * hold a copy of the object. */
static Word
find_handle (const char *name, Word number, void *caller)
{
  void *address = dlsym (RTLD_DEFAULT, name);
  if (address == NULL)
    address = find (name, caller);
  return address != NULL ? (Word)(uintptr_t)address : number;
}

/* Notes that MPI runs. Called by one thread, before others may call MPI. */
static void
start (void *caller)
{
  *(void **)&mpi.type_size = find ("PMPI_Type_size", caller);
  *(void **)&mpi.size = find ("PMPI_Comm_size", caller);
  *(void **)&mpi.rank = find ("PMPI_Comm_rank", caller);
  *(void **)&mpi.is_between = find ("PMPI_Comm_test_inter", caller);
  *(void **)&mpi.group = find ("PMPI_Comm_group", caller);
  *(void **)&mpi.translate = find ("PMPI_Group_translate_ranks", caller);
  *(void **)&mpi.free_group = find ("PMPI_Group_free", caller);
  *(void **)&get_count = find ("PMPI_Get_count", caller);
  if (mpi.type_size == NULL || mpi.size == NULL || mpi.rank == NULL || mpi.is_between == NULL ||
      mpi.group == NULL || mpi.translate == NULL || mpi.free_group == NULL)
    return;
  mpi.world = find_handle ("ompi_mpi_comm_world", 0x44000000, caller);
  mpi.self = find_handle ("ompi_mpi_comm_self", 0x44000001, caller);
  mpi.none = find_handle ("ompi_mpi_comm_null", 0x04000000, caller);
  handles_are_words = mpi.world != 0x44000000;
  if (mpi.rank (mpi.world, &mpi.world_rank) != 0)
    mpi.world_rank = -1;
  else
    lns_mpi_communicators_begin (&mpi);
  __atomic_store_n (&is_running, true, __ATOMIC_RELEASE);
}

/* Whether CALLER, of a function of the profiling interface, is a library of bindings for Fortran. */
static bool
is_bindings (MpiFunction *self, const void *caller)
{
  static const char *const files[] = { "_mpifh", "_usempi", "mpichfort", "mpifort", "mpichf90" };
  if (__atomic_load_n (&self->bindings, __ATOMIC_RELAXED) == caller)
    return true;
  if (__atomic_load_n (&self->others, __ATOMIC_RELAXED) == caller)
    return false;
  const int saved = errno;
  Dl_info info;
  const char *file = NULL;
  if (dladdr (caller, &info) && info.dli_fname != NULL)
    file = strrchr (info.dli_fname, '/');
  bool result = false;
  for (size_t i = 0; file != NULL && i < sizeof files / sizeof *files; i++)
    result |= strstr (file, files[i]) != NULL;
  __atomic_store_n (result ? &self->bindings : &self->others, caller, __ATOMIC_RELAXED);
  errno = saved;
  return result;
}

/* --- What a call is about --------------------------------------------------------------------- */

static inline Word
argument (const Word *words, uint8_t number)
{
  return number == 0 ? 0 : words[number - 1];
}

static inline Word
handle (Word word)
{
  return handles_are_words ? word : (uint32_t)word;
}

static Word
handle_at (Word address)
{
  if (address == 0)
    return 0;
  return handles_are_words ? *(const Word *)(uintptr_t)address
                           : *(const uint32_t *)(uintptr_t)address;
}

/* The number of items that the parameter COUNT names: its own value, or the sum of an array. */
static uint64_t
n_items (const MpiFunction *self, const Word *words, uint8_t count, PerRank per_rank)
{
  const Word communicator = argument (words, self->communicator);
  const int *counts = (const int *)(uintptr_t)argument (words, count);
  int n_ranks = 0, rank = -1;
  uint64_t n = 0;
  if ((per_rank == AT_ROOT || per_rank == ONE_AT_ROOT) &&
      (mpi.rank (communicator, &rank) != 0 || rank != (int)argument (words, self->peer)))
    return 0;
  if (per_rank == ONE_COUNT || per_rank == ONE_AT_ROOT)
    return (int)argument (words, count) > 0 ? (uint64_t)(int)argument (words, count) : 0;
  if (counts == NULL || mpi.size (communicator, &n_ranks) != 0)
    return 0;
  for (int i = 0; i < n_ranks; i++)
    n += counts[i] > 0 ? (uint64_t)counts[i] : 0;
  return n;
}

/* Whether the parameter before COUNT is MPI_IN_PLACE, 1 in Open MPI and -1 in MPICH: it stands for the call's
 * other buffer, and COUNT and its type mean nothing. */
static bool
is_in_place (const Word *words, uint8_t count)
{
  const Word buffer = count < 2 ? 0 : words[count - 2];
  return buffer == 1 || buffer == UINT64_MAX;
}

/* The bytes that the parameters COUNT and TYPE make. MPI is asked about them only if they have a meaning: elsewhere a
 * program need not pass a valid type. */
static uint64_t
n_bytes (const MpiFunction *self, const Word *words, uint8_t count, uint8_t type, PerRank per_rank)
{
  int size = 0;
  const bool counts = count != 0 && type != 0 && !is_in_place (words, count);
  const uint64_t n = counts ? n_items (self, words, count, per_rank) : 0;
  return n > 0 && mpi.type_size (argument (words, type), &size) == 0 && size > 0
             ? n * (uint64_t)size
             : 0;
}

/* Replaces what the call was ready to receive (from anybody, with any tag, at most so much) by what it received. */
static void
read_status (const MpiFunction *self, const Word *words, LnsWireMpiCallBytes *call)
{
  const Word address = argument (words, self->status);
  const int *fields = (const int *)(uintptr_t)address;
  int count = -1, size = 0;
  if (address <= STATUS_IGNORE_MAX)
    return;
  fields +=
      handles_are_words ? 0 : 2; /* the source comes first, or after the count; the tag follows */
  call->has_peer = true;
  call->peer = fields[0];
  call->tag = fields[1];
  if (self->type == 0 || get_count == NULL)
    return;
  const Word type = argument (words, self->type);
  if (get_count ((const void *)(uintptr_t)address, type, &count) == 0 && count >= 0 &&
      mpi.type_size (type, &size) == 0 && size >= 0)
    call->bytes = (uint64_t)count * (uint64_t)size;
}

static void
describe (const MpiFunction *self, const Word *words, LnsWireMpiCallBytes *call)
{
  call->class = self->class;
  call->has_peer = self->peer != 0;
  call->peer = (int)argument (words, self->peer);
  call->tag = (int)argument (words, self->tag);
  call->communicator = handle (argument (words, self->communicator));
  call->communicator_uid = lns_mpi_communicator_uid (call->communicator);
  if (self->made_request != 0)
    call->request = handle_at (argument (words, self->made_request));
  int is_between = 0;
  if (self->class == LNS_WIRE_MPI_COLLECTIVE &&
      (mpi.is_between (argument (words, self->communicator), &is_between) != 0 || is_between))
    return; /* each of its two groups has parameters that mean nothing */
  call->bytes = n_bytes (self, words, self->count, self->type, self->sent_per_rank);
  call->received_bytes =
      n_bytes (self, words, self->received_count, self->received_type, self->received_per_rank);
  if (self->status != 0)
    read_status (self, words, call);
}

/* --- A call ----------------------------------------------------------------------------------- */

/* Updates what is known of MPI and its communicators after each call, recorded or not. */
static void
follow (const MpiFunction *self, void *caller, const Word *words, Word freed)
{
  if (self->begins)
    start (caller);
  if (!__atomic_load_n (&is_running, __ATOMIC_ACQUIRE))
    return;
  if (freed != 0)
    lns_mpi_communicator_gone (freed);
  if (self->made_communicator != 0)
    lns_mpi_communicator_made (&mpi, handle (argument (words, self->communicator)),
                               handle_at (argument (words, self->made_communicator)));
}

static int
call (MpiFunction *self, void *caller, Word *w)
{
  Function real = find_real (self, caller);
  if (real == NULL)
    return 15; /* MPI_ERR_OTHER: there is no MPI in this process */
  const int saved = errno;
  const LnsLibraryHooks *hooks = lns_library_hooks ();
  LnsWireMpiCallBytes told = { 0 };
  uint64_t begin_ticks = hooks == NULL ? 0 : hooks->begin (LNS_WIRE_MPI, depth > 0);
  if (begin_ticks != 0 && self->request != 0 && is_running &&
      (self->n_requests == 0 || (int)argument (w, self->n_requests) > 0))
    told.request = handle_at (argument (w, self->request));
  Word status[8] = { 0 };
  if (begin_ticks != 0 && self->status != 0 && w[self->status - 1] <= STATUS_IGNORE_MAX)
    w[self->status - 1] = (Word)(uintptr_t)status;
  const Word freed = handle_at (argument (w, self->freed_communicator));
  if (self->ends)
    __atomic_store_n (&is_running, false, __ATOMIC_RELEASE);
  errno = saved;
  depth++;
  const int result =
      (int)real (w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11]);
  depth--;
  const int error = errno;
  if (result == 0 && depth == 0)
    follow (self, caller, w, freed);
  /* Handles may be asked about, because the call has accepted them. */
  if (begin_ticks != 0)
    {
      told.class = self->class;
      told.world_rank = mpi.world_rank;
      if (result == 0 && __atomic_load_n (&is_running, __ATOMIC_ACQUIRE))
        describe (self, w, &told);
      told.end_ticks = hooks->now ();
      hooks->end (LNS_WIRE_MPI_CALL, begin_ticks, self->name, &self->string, depth, &told.head,
                  sizeof told);
    }
  errno = error;
  return result;
}

/* The same for a function of the profiling interface. */
static int
call_of_bindings (MpiFunction *self, void *caller, Word *w)
{
  if (depth == 0 && is_bindings (self, caller))
    return call (self, caller, w);
  Function real = find_real (self, caller);
  return real == NULL
             ? 15
             : (int)real (w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11]);
}

#define PARAMETER(i)  Word a##i
#define PARAMETER_0   void
#define WORD(i)       a##i
#define WORD_0        0
#define LIST_0(Item)  Item##_0
#define LIST_1(Item)  Item (1)
#define LIST_2(Item)  LIST_1 (Item), Item (2)
#define LIST_3(Item)  LIST_2 (Item), Item (3)
#define LIST_4(Item)  LIST_3 (Item), Item (4)
#define LIST_5(Item)  LIST_4 (Item), Item (5)
#define LIST_6(Item)  LIST_5 (Item), Item (6)
#define LIST_7(Item)  LIST_6 (Item), Item (7)
#define LIST_8(Item)  LIST_7 (Item), Item (8)
#define LIST_9(Item)  LIST_8 (Item), Item (9)
#define LIST_10(Item) LIST_9 (Item), Item (10)
#define LIST_12(Item) LIST_10 (Item), Item (11), Item (12)

#define DEFINE(n, prefix, function, pass, kind, ...)                                               \
 LNS_LIBRARY_FUNCTION int prefix##function (LIST_##n (PARAMETER));                                 \
 LNS_LIBRARY_FUNCTION int prefix##function (LIST_##n (PARAMETER))                                  \
 {                                                                                                 \
  static MpiFunction self = { .name = "MPI_" #function,                                            \
                              .symbol = #prefix #function,                                         \
                              .class = LNS_WIRE_MPI_##kind,                                        \
                              ##__VA_ARGS__ };                                                     \
  Word words[N_WORDS] = { LIST_##n (WORD) };                                                       \
  return pass (&self, __builtin_return_address (0), words);                                        \
 }
#define MPI_CALL(n, function, kind, ...)                                                           \
 DEFINE (n, MPI_, function, call, kind, ##__VA_ARGS__)                                             \
 DEFINE (n, PMPI_, function, call_of_bindings, kind, ##__VA_ARGS__)
#include "capture/inject/preload/mpi-functions.h"
