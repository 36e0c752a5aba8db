/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Shared by the CUDA test programs. */

#pragma once

#include <cuda_runtime.h>

#include <stdio.h>
#include <stdlib.h>

/* Ends the program with status 1, naming the line, where CALL fails. */
#define CHECK(CALL)                                                                                \
 do                                                                                                \
  {                                                                                                \
   cudaError_t error = (CALL);                                                                     \
   if (error != cudaSuccess)                                                                       \
    {                                                                                              \
     fprintf (stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #CALL, cudaGetErrorString (error));   \
     exit (1);                                                                                     \
    }                                                                                              \
  }                                                                                                \
 while (0)
