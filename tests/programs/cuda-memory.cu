/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests memory, by its argument: `copies` of every kind, whose data are checked, `pools`, or
 * `managed` memory. */

#include "cuda-program.h"

#include <string.h>

#define BYTES (1 << 20)
#define ROWS 100
#define ROW_BYTES 400

__constant__ int table[256];

__global__ void
touch (char *bytes)
{
  bytes[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

static void
expect (bool holds, const char *what)
{
  if (!holds)
    {
      fprintf (stderr, "wrong data: %s\n", what);
      exit (2);
    }
}

static void
copies (void)
{
  int n_devices;
  char *pinned, *other_pinned, *device, *second, *rows, *far;
  char *pageable = (char *) malloc (BYTES), *back = (char *) calloc (1, BYTES);
  size_t pitch;
  cudaStream_t stream;
  int numbers[256];
  CHECK (cudaStreamCreate (&stream));
  CHECK (cudaMallocHost (&pinned, BYTES));
  CHECK (cudaHostAlloc (&other_pinned, BYTES, cudaHostAllocDefault));
  CHECK (cudaMalloc (&device, BYTES));
  CHECK (cudaMalloc (&second, BYTES));
  CHECK (cudaMallocPitch (&rows, &pitch, ROW_BYTES, ROWS));
  for (int i = 0; i < BYTES; i++)
    pageable[i] = i % 251, pinned[i] = i % 241;
  for (int i = 0; i < 256; i++)
    numbers[i] = i;
  CHECK (cudaMemcpy (device, pageable, BYTES, cudaMemcpyHostToDevice));
  CHECK (cudaMemcpy (second, device, BYTES, cudaMemcpyDeviceToDevice));
  CHECK (cudaMemcpy (back, second, BYTES, cudaMemcpyDeviceToHost));
  expect (memcmp (back, pageable, BYTES) == 0, "pageable to device, device, pageable");
  CHECK (cudaMemcpyAsync (device, pinned, BYTES / 2, cudaMemcpyHostToDevice, stream));
  CHECK (cudaMemcpyAsync (other_pinned, device, BYTES / 2, cudaMemcpyDeviceToHost, stream));
  CHECK (cudaStreamSynchronize (stream));
  expect (memcmp (other_pinned, pinned, BYTES / 2) == 0, "pinned to device to pinned");
  CHECK (cudaMemcpy (other_pinned, pinned, BYTES / 4, cudaMemcpyHostToHost));
  CHECK (cudaMemcpy2D (rows, pitch, pageable, ROW_BYTES, ROW_BYTES, ROWS, cudaMemcpyHostToDevice));
  CHECK (cudaMemcpy2D (back, ROW_BYTES, rows, pitch, ROW_BYTES, ROWS, cudaMemcpyDeviceToHost));
  expect (memcmp (back, pageable, ROWS * ROW_BYTES) == 0, "rows");
  CHECK (cudaMemcpyToSymbol (table, numbers, sizeof numbers));
  CHECK (cudaMemset (device, 0x5a, BYTES));
  CHECK (cudaMemsetAsync (second, 0, BYTES / 8, stream));
  CHECK (cudaMemcpy (back, device, 64, cudaMemcpyDefault));
  expect (back[0] == 0x5a && back[63] == 0x5a, "set");
  CHECK (cudaGetDeviceCount (&n_devices));
  if (n_devices > 1)
    {
      CHECK (cudaSetDevice (1));
      CHECK (cudaMalloc (&far, BYTES));
      CHECK (cudaSetDevice (0));
      CHECK (cudaMemcpyPeer (far, 1, device, 0, BYTES));
    }
  CHECK (cudaDeviceSynchronize ());
}

static void
pools (void)
{
  cudaMemPool_t pool;
  cudaMemPoolProps props = {};
  cudaStream_t stream;
  char *blocks[10], *own;
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  CHECK (cudaStreamCreate (&stream));
  for (int i = 0; i < 10; i++)
    CHECK (cudaMallocAsync ((void **) &blocks[i], BYTES * (i + 1), stream));
  for (int i = 0; i < 10; i++)
    CHECK (cudaFreeAsync (blocks[i], stream));
  CHECK (cudaMemPoolCreate (&pool, &props));
  CHECK (cudaMallocFromPoolAsync ((void **) &own, 3 * BYTES, pool, stream));
  touch<<<BYTES / 256, 256, 0, stream>>> (own);
  CHECK (cudaFreeAsync (own, stream));
  CHECK (cudaStreamSynchronize (stream));
  CHECK (cudaMemPoolTrimTo (pool, 0));
  CHECK (cudaMemPoolDestroy (pool));
}

static void
managed (void)
{
  char *first, *second;
  cudaMemLocation device = { cudaMemLocationTypeDevice, 0 }, host = { cudaMemLocationTypeHost, 0 };
  CHECK (cudaMallocManaged (&first, BYTES));
  CHECK (cudaMallocManaged (&second, 2 * BYTES));
  memset (first, 1, BYTES);
  memset (second, 2, 2 * BYTES);
  CHECK (cudaMemPrefetchAsync (second, 2 * BYTES, device, 0, 0));
  touch<<<BYTES / 256, 256>>> (first);
  CHECK (cudaDeviceSynchronize ());
  CHECK (cudaMemPrefetchAsync (first, BYTES, host, 0, 0));
  CHECK (cudaDeviceSynchronize ());
  CHECK (cudaFree (first));
  CHECK (cudaFree (second));
}

int
main (int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "copies";
  if (strcmp (what, "pools") == 0)
    pools ();
  else if (strcmp (what, "managed") == 0)
    managed ();
  else
    copies ();
  return 0;
}
