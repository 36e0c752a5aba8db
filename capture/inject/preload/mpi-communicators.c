/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/inject/preload/mpi-communicators.h"

#include <stdlib.h>

#define PLACES_MAX  4096u  /* a power of 2 */
#define TOLD_MAX    16384u /* a program may make and free them for ever */
#define MEMBERS_MAX 4096   /* that are told */

/* A key with a number. Keys are never removed; a key of 0 marks a free place. */
typedef struct
{
  uint64_t key, number;
} Place;

static Place by_handle[PLACES_MAX]; /* uids */
static Place of_kind[PLACES_MAX];   /* how many there were, by parent and members */
static uint32_t n_told;

static uint64_t
mix (uint64_t hash, uint64_t value)
{
  hash = (hash ^ value) * UINT64_C (0x9e3779b97f4a7c15);
  hash = (hash ^ (hash >> 32)) * UINT64_C (0xd6e8feb86659fd93);
  return hash ^ (hash >> 29);
}

static uint64_t
mix_text (uint64_t hash, const char *text)
{
  for (; text != NULL && *text != '\0'; text++)
    hash = mix (hash, (unsigned char)*text);
  return hash;
}

/* The place of KEY. If IS_NEW, makes one. Returns null if there is none. */
static Place *
find_place (Place *places, uint64_t key, bool is_new)
{
  for (uint32_t i = 0, at = (uint32_t)mix (0, key); i < PLACES_MAX; i++, at++)
    {
      Place *place = &places[at & (PLACES_MAX - 1)];
      uint64_t there = __atomic_load_n (&place->key, __ATOMIC_ACQUIRE);
      if (there == 0 &&
          (!is_new || __atomic_compare_exchange_n (&place->key, &there, key, false,
                                                   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)))
        return is_new ? place : NULL;
      if (there == key)
        return place;
    }
  return NULL;
}

uint64_t
lns_mpi_communicator_uid (LnsMpiWord handle)
{
  const Place *place = handle == 0 ? NULL : find_place (by_handle, handle, false);
  return place == NULL ? 0 : __atomic_load_n (&place->number, __ATOMIC_RELAXED);
}

static void
set_uid (LnsMpiWord handle, uint64_t uid)
{
  Place *place = handle == 0 ? NULL : find_place (by_handle, handle, uid != 0);
  if (place != NULL)
    __atomic_store_n (&place->number, uid, __ATOMIC_RELAXED);
}

void
lns_mpi_communicator_gone (LnsMpiWord handle)
{
  set_uid (handle, 0);
}

/* --- Who is in it ----------------------------------------------------------------------------- */

/* The ranks in MPI_COMM_WORLD of the N members of COMMUNICATOR. The caller frees them. Null if MPI does not tell. */
static int *
find_members (const LnsMpi *mpi, LnsMpiWord communicator, int n)
{
  LnsMpiWord group = 0, world = 0;
  int *ranks = n > 0 ? calloc ((size_t)n, 2 * sizeof *ranks) : NULL;
  bool done = false;
  for (int i = 0; ranks != NULL && i < n; i++)
    ranks[n + i] = i;
  if (ranks != NULL && mpi->group (communicator, &group) == 0)
    {
      if (mpi->group (mpi->world, &world) == 0)
        {
          done = mpi->translate (group, n, ranks + n, world, ranks) == 0;
          (void)mpi->free_group (&world);
        }
      (void)mpi->free_group (&group);
    }
  if (!done)
    free (ranks);
  return done ? ranks : NULL;
}

/* Makes the number from what all members know. It has 52 bits, as readers may keep numbers as doubles. */
static uint64_t
make_uid (uint64_t parent, const int *members, int n)
{
  uint64_t kind = mix (parent, (uint64_t)n);
  for (int i = 0; i < n; i++)
    kind = mix (kind, (uint64_t)members[i]);
  Place *place = find_place (of_kind, kind | 1, true);
  if (place == NULL)
    return 0;
  return (mix (kind, __atomic_add_fetch (&place->number, 1, __ATOMIC_RELAXED)) >> 12) | 1;
}

/* A number that differs between jobs, if the launcher names them. */
static uint64_t
hash_job (void)
{
  static const char *const names[] = { "PMIX_NAMESPACE", "PMI_JOBID", "SLURM_JOB_ID",
                                       "SLURM_STEP_ID" };
  uint64_t hash = 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    hash = mix_text (mix (hash, i), getenv (names[i]));
  return hash;
}

/* Gives the communicator HANDLE, made from PARENT with PARENT_UID, its number. */
static void
add (const LnsMpi *mpi, uint64_t parent_uid, LnsMpiWord parent, LnsMpiWord handle)
{
  LnsWireMpiCommunicatorBytes told = { .handle = handle,
                                       .parent = parent,
                                       .world_rank = mpi->world_rank };
  int is_between = 0;
  lns_mpi_communicator_gone (handle);
  if (mpi->is_between (handle, &is_between) != 0 || is_between ||
      mpi->size (handle, &told.size) != 0 || mpi->rank (handle, &told.rank) != 0)
    return;
  int *members = find_members (mpi, handle, told.size);
  if (members == NULL)
    return;
  told.uid = make_uid (parent_uid, members, told.size);
  told.root = members[0];
  told.n_members = (uint32_t)(told.size < MEMBERS_MAX ? told.size : MEMBERS_MAX);
  set_uid (handle, told.uid);
  const LnsLibraryHooks *hooks = lns_library_hooks ();
  if (hooks != NULL && told.uid != 0 &&
      __atomic_fetch_add (&n_told, 1, __ATOMIC_RELAXED) < TOLD_MAX)
    hooks->define_communicator (&told, members);
  free (members);
}

void
lns_mpi_communicators_begin (const LnsMpi *mpi)
{
  const uint64_t job = hash_job ();
  add (mpi, job, 0, mpi->world);
  add (mpi, job, 0, mpi->self);
}

void
lns_mpi_communicator_made (const LnsMpi *mpi, LnsMpiWord parent, LnsMpiWord handle)
{
  if (handle != 0 && handle != mpi->none)
    add (mpi, lns_mpi_communicator_uid (parent), parent, handle);
}
