/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the session and `lanescope-sampler` say to each other. The sampler reads GPUs through NVIDIA's management library
 * (NVML), and another one of it their hardware counters through CUPTI's PM sampling. It is a program of its own for two
 * reasons: the session is linked statically and cannot load libraries, and a call of these libraries may hang or crash when a
 * GPU does.
 *
 * One struct is one message of a socket (SOCK_SEQPACKET), which the sampler finds at the descriptor LNS_WIRE_GPU_SOCKET. The
 * sampler ends when the other end of the socket is closed. Both programs are of the same build. */

#pragma once

#include <stdint.h>

#define LNS_WIRE_GPU_SOCKET  3
#define LNS_WIRE_GPU_MAX     64 /* GPUs of a machine */
#define LNS_WIRE_GPU_MAX_HZ  100
#define LNS_WIRE_GPU_PROGRAM "lanescope-sampler"

/* The first argument of the sampler that reads hardware counters. The others are the samples a second, the set of metrics,
 * the GPUs ("all", "cuda-visible" or "0,2") and where libcupti is, or "". */
#define LNS_WIRE_GPU_METRICS_MODE "metrics"

/* In place of a rate: the sampler prints a line for each GPU, and ends: with 1 if it finds none. */
#define LNS_WIRE_GPU_LIST_MODE "list"

#define LNS_WIRE_GPU_METRICS_MIN_HZ 10
#define LNS_WIRE_GPU_METRICS_MAX_HZ 200000
#define LNS_WIRE_GPU_MAX_METRICS    32   /* that are sampled at once */
#define LNS_WIRE_GPU_METRIC_IDS     64   /* ids of metrics are below that */
#define LNS_WIRE_GPU_BATCH_WORDS    1024 /* of a message with samples of metrics */

/* What is sampled. Reports hold these numbers, which never change meaning. */
typedef enum
{
  LNS_WIRE_GPU_POWER = 1,          /* mW */
  LNS_WIRE_GPU_SM_CLOCK,           /* MHz */
  LNS_WIRE_GPU_MEMORY_CLOCK,       /* MHz */
  LNS_WIRE_GPU_TEMPERATURE,        /* °C */
  LNS_WIRE_GPU_MEMORY_TEMPERATURE, /* °C */
  LNS_WIRE_GPU_MEMORY_USED,        /* bytes, by all processes and the driver */
  LNS_WIRE_GPU_PCIE_SENT,          /* KB/s, as NVML says */
  LNS_WIRE_GPU_PCIE_RECEIVED,      /* KB/s */
  LNS_WIRE_GPU_NVLINK_SENT,        /* KiB/s, of all links */
  LNS_WIRE_GPU_NVLINK_RECEIVED,    /* KiB/s */
  LNS_WIRE_GPU_ECC_CORRECTED,      /* errors since the driver was loaded */
  LNS_WIRE_GPU_ECC_UNCORRECTED,    /* errors since the driver was loaded */
  LNS_WIRE_GPU_CLOCK_REASONS,      /* what holds clocks down: bits of nvmlClocksEventReasons */
  LNS_WIRE_GPU_N_METRICS
} LnsWireGpuMetric;

typedef enum
{
  LNS_WIRE_GPU_FOUND = 1,      /* LnsWireGpuFound */
  LNS_WIRE_GPU_SAMPLE,         /* LnsWireGpuSample */
  LNS_WIRE_GPU_FAILURE,        /* LnsWireGpuFailure */
  LNS_WIRE_GPU_FOUND_COUNTERS, /* LnsWireGpuFound, of the sampler of hardware counters */
  LNS_WIRE_GPU_COUNTER,        /* LnsWireGpuCounter */
  LNS_WIRE_GPU_BATCH,          /* LnsWireGpuBatch */
  LNS_WIRE_GPU_READY, /* a head alone: of each GPU that was asked for, it is known whether it can be sampled */
  LNS_WIRE_GPU_DRAINED /* a head alone, after LNS_WIRE_GPU_PAUSE: all samples of counters before it are sent */
} LnsWireGpuKind;

typedef enum
{
  LNS_WIRE_GPU_ADD = 1, /* the GPU at `bus` is to be sampled, too */
  LNS_WIRE_GPU_PAUSE,   /* nothing is to be read … (one of these comes first) */
  LNS_WIRE_GPU_GO_ON    /* … until this comes */
} LnsWireGpuRequest;

/* To the sampler. BUS is as CUDA names it, "0000:3b:00.0"; "": all GPUs that CUDA_VISIBLE_DEVICES allows. */
typedef struct
{
  uint32_t request; /* LnsWireGpuRequest */
  char bus[32];
} LnsWireGpuWanted;

/* All messages of the sampler begin so. */
typedef struct
{
  uint32_t kind; /* LnsWireGpuKind */
  uint32_t
      gpu; /* NVML's number of it, below LNS_WIRE_GPU_MAX; of a failure that is not about one GPU: UINT32_MAX */
} LnsWireGpuHead;

/* Comes before the samples of the GPU. */
typedef struct
{
  LnsWireGpuHead head;
  char bus[32]; /* as in LnsWireGpuWanted, or NVML's */
  char name[96];
  char uuid[96];
} LnsWireGpuFound;

/* Values of one GPU that were read one after the other. Those that it does not support, or that could not be read, are left
 * out. */
typedef struct
{
  LnsWireGpuHead head;
  int64_t time_ns; /* CLOCK_MONOTONIC, before the first was read */
  uint32_t n_values;
  uint32_t padding;
  struct
  {
    uint32_t metric;
    uint32_t padding;
    uint64_t value;
  } values[LNS_WIRE_GPU_N_METRICS];
} LnsWireGpuSample;

/* One of the hardware metrics of a GPU. Comes before their samples. */
typedef struct
{
  LnsWireGpuHead head;
  uint32_t place; /* of its values in samples, from 0 on, below LNS_WIRE_GPU_MAX_METRICS */
  uint32_t id;    /* below LNS_WIRE_GPU_METRIC_IDS; never changes meaning */
  char name[48];
  char unit[16];
} LnsWireGpuCounter;

/* Samples of the hardware metrics of a GPU, in order. A message ends behind the last word that it has. */
typedef struct
{
  LnsWireGpuHead head;
  uint32_t n_samples;
  uint32_t n_metrics; /* in each sample */
  uint64_t n_lost;    /* samples that are missing before the first one … */
  int64_t lost_from_ns;
  /* The times are right except for an error: they are up to EARLY_NS too early or LATE_NS too late, as far as the calls of
   * CUPTI around them show. */
  int64_t early_ns, late_ns;
  uint64_t words
      [LNS_WIRE_GPU_BATCH_WORDS]; /* of each sample: the time at which it begins (CLOCK_MONOTONIC), then
                                               values, which are doubles; NaN: undefined */
} LnsWireGpuBatch;

typedef enum
{
  LNS_WIRE_GPU_NO_LIBRARY = 1, /* libnvidia-ml.so.1 cannot be loaded: `text` says why */
  LNS_WIRE_GPU_NO_NVML,        /* NVML cannot be initialised: `text` is its word for it */
  LNS_WIRE_GPU_UNKNOWN,        /* NVML does not know the GPU, or gives nothing of it */
  LNS_WIRE_GPU_LOST,           /* the GPU does not answer any more; it has no samples after this */

  /* Of hardware counters. */
  LNS_WIRE_GPU_NO_DRIVER, /* libcuda.so.1 cannot be loaded or initialised: `text` says why */
  LNS_WIRE_GPU_NO_CUPTI,  /* libcupti cannot be loaded: `text` says why */
  LNS_WIRE_GPU_OLD_CUPTI, /* `result` is its version, which has no PM sampling */
  LNS_WIRE_GPU_NO_HOST,   /* libnvperf_host cannot be loaded */
  LNS_WIRE_GPU_NO_SUCH,   /* there is no GPU with the number `text` */
  LNS_WIRE_GPU_NOT_ALLOWED,
  LNS_WIRE_GPU_BUSY,
  LNS_WIRE_GPU_MIG,
  LNS_WIRE_GPU_UNSUPPORTED, /* the GPU, or its driver as it is set up: `text` is CUPTI's word for it */
  LNS_WIRE_GPU_NO_METRICS,  /* the chip `text` has none of the set */
  LNS_WIRE_GPU_REFUSED,     /* anything else that keeps sampling from beginning */
  LNS_WIRE_GPU_BROKE_OFF,   /* sampling ended by an error */
  LNS_WIRE_GPU_WRONG_CLOCK, /* the times of samples cannot be right: `text` says how */
  LNS_WIRE_GPU_N_CAUSES
} LnsWireGpuCause;

typedef struct
{
  LnsWireGpuHead head;
  uint32_t cause; /* LnsWireGpuCause */
  int32_t result; /* nvmlReturn_t, CUptiResult or CUresult */
  char bus[32];   /* of the GPU, if it is about one */
  char text[160];
} LnsWireGpuFailure;

typedef union
{
  LnsWireGpuHead head;
  LnsWireGpuFound found;
  LnsWireGpuSample sample;
  LnsWireGpuFailure failure;
  LnsWireGpuCounter counter;
  LnsWireGpuBatch batch;
} LnsWireGpuMessage;
