/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Finds the copies of CUPTI on this machine, and orders them by how well they suit a driver. A recorded program loads
 * the first that works; `lanescope status` lists them. Allocates nothing. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LNS_CUPTI_PATH_BYTES 512
#define LNS_CUPTI_COPIES_MAX 48
#define LNS_CUPTI_N_VERSIONS 15

/* The versions that libcupti.so is named by, the newest first. Names of CUDA 11 and 10 hold the minor version, too. CUDA 10
 * is too old, but its CUPTI is found so that the user is told. */
extern const char *const lns_cupti_versions[LNS_CUPTI_N_VERSIONS];

/* Where a copy was found, in the order of preference between copies of the same version. */
typedef enum
{
  LNS_CUPTI_IN_LD_LIBRARY_PATH,
  LNS_CUPTI_BESIDE_RUNTIME, /* the CUDA runtime that the program has loaded */
  LNS_CUPTI_IN_CUDA_HOME,
  LNS_CUPTI_IN_CUDA_PATH,
  LNS_CUPTI_IN_PROGRAM, /* the environment of the program, which may be a Python */
  LNS_CUPTI_IN_VIRTUAL_ENV,
  LNS_CUPTI_IN_CONDA_PREFIX,
  LNS_CUPTI_IN_PYTHONPATH,
  LNS_CUPTI_IN_USER_PACKAGES,
  LNS_CUPTI_IN_TOOLKIT,
  LNS_CUPTI_IN_SYSTEM,
  LNS_CUPTI_N_PLACES
} LnsCuptiPlace;

/* Whether a copy suits the driver, from the best to the worst. */
typedef enum
{
  LNS_CUPTI_IS_NAMED,   /* by LD_LIBRARY_PATH, and suits */
  LNS_CUPTI_SUITS,      /* is not newer than the driver, or either's version is not known */
  LNS_CUPTI_MAY_SUIT,   /* is newer than the driver, but of the same major version of CUDA */
  LNS_CUPTI_IS_TOO_NEW, /* of a newer major version: it refuses the driver */
} LnsCuptiFit;

typedef struct
{
  char path[LNS_CUPTI_PATH_BYTES];
  LnsCuptiPlace place;
  LnsCuptiFit fit;
  int cuda;              /* the CUDA that it came with: 12040; 12000 without HAS_MINOR */
  bool has_minor;        /* the minor version is known, too */
  uint64_t device, file; /* which file it is, whatever its path */
} LnsCuptiCopy;

typedef struct
{
  const char
      *root; /* goes before folders that are not named by variables: "", or a test's folder */
  const char
      *program; /* path of the program that is recorded, links not followed; NULL: not known */
  const char *runtime; /* path of the CUDA runtime that it has loaded; NULL: none */
  int driver;          /* what cuDriverGetVersion() returns, such as 12040; 0: not known */
} LnsCuptiAsked;

/* Writes the copies to RET_COPIES, the one to try first at the front. Returns how many there are, N_MAX at most. */
size_t lns_cupti_search (const LnsCuptiAsked *asked, LnsCuptiCopy *ret_copies, size_t n_max);

/* Finds the program NAME as a shell does, by PATH if it holds no slash. Returns whether there is one that fits into
 * RET_PATH, of N_MAX bytes. */
bool lns_cupti_find_program (const char *name, char *ret_path, size_t n_max);
