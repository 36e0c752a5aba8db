/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "ui/model/cuda-text.h"

#include <glib/gi18n.h>
#include <string.h>

#include "src/store/read/facet.h"

static bool
has (const char *name, size_t size_bytes, const char *part)
{
  return memmem (name, size_bytes, part, strlen (part)) != NULL;
}

const char *
lns_cuda_copy_kind_name (uint32_t kind)
{
  static const char *const names[] = { "Memcpy",       "HtoD",        "DtoH", "HtoA",
                                       "AtoH",         "AtoA",        "AtoD", "DtoA",
                                       "DtoD",         "HtoH",        "PtoP", "Unified HtoD",
                                       "Unified DtoH", "Unified DtoD" };
  return kind == LNS_FACET_MEMSET ? "Memset" : names[kind < G_N_ELEMENTS (names) ? kind : 0];
}

const char *
lns_cuda_memory_kind_name (uint32_t kind)
{
  static const char *const names[] = { N_ ("unknown"),       N_ ("pageable"),      N_ ("pinned"),
                                       N_ ("device"),        N_ ("array"),         N_ ("managed"),
                                       N_ ("device static"), N_ ("managed static") };
  return _ (names[kind < G_N_ELEMENTS (names) ? kind : 0]);
}

const char *
lns_cuda_operation_name (uint32_t operation, bool is_pool)
{
  static const char *const memory[] = { "", N_ ("allocation"), N_ ("release") };
  static const char *const pool[] = { "", N_ ("creation"), N_ ("destruction"), N_ ("trim") };
  const char *name = is_pool ? pool[operation < G_N_ELEMENTS (pool) ? operation : 0]
                             : memory[operation < G_N_ELEMENTS (memory) ? operation : 0];

  return *name != '\0' ? _ (name) : name;
}

/* --- Results ------------------------------------------------------------------------------- */

/* The runtime and the driver share their numbers since CUDA 10.1. */
typedef struct
{
  int code;
  const char *runtime, *driver;
} Result;

static const Result results[] = {
  { 1, "cudaErrorInvalidValue", "CUDA_ERROR_INVALID_VALUE" },
  { 2, "cudaErrorMemoryAllocation", "CUDA_ERROR_OUT_OF_MEMORY" },
  { 3, "cudaErrorInitializationError", "CUDA_ERROR_NOT_INITIALIZED" },
  { 4, "cudaErrorCudartUnloading", "CUDA_ERROR_DEINITIALIZED" },
  { 9, "cudaErrorInvalidConfiguration", NULL },
  { 17, "cudaErrorInvalidDevicePointer", NULL },
  { 21, "cudaErrorInvalidMemcpyDirection", NULL },
  { 35, "cudaErrorInsufficientDriver", NULL },
  { 46, "cudaErrorDevicesUnavailable", "CUDA_ERROR_DEVICE_UNAVAILABLE" },
  { 98, "cudaErrorInvalidDeviceFunction", NULL },
  { 100, "cudaErrorNoDevice", "CUDA_ERROR_NO_DEVICE" },
  { 101, "cudaErrorInvalidDevice", "CUDA_ERROR_INVALID_DEVICE" },
  { 200, "cudaErrorInvalidKernelImage", "CUDA_ERROR_INVALID_IMAGE" },
  { 201, "cudaErrorDeviceUninitialized", "CUDA_ERROR_INVALID_CONTEXT" },
  { 209, "cudaErrorNoKernelImageForDevice", "CUDA_ERROR_NO_BINARY_FOR_GPU" },
  { 214, "cudaErrorECCUncorrectable", "CUDA_ERROR_ECC_UNCORRECTABLE" },
  { 217, "cudaErrorPeerAccessUnsupported", "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED" },
  { 218, "cudaErrorInvalidPtx", "CUDA_ERROR_INVALID_PTX" },
  { 400, "cudaErrorInvalidResourceHandle", "CUDA_ERROR_INVALID_HANDLE" },
  { 401, "cudaErrorIllegalState", "CUDA_ERROR_ILLEGAL_STATE" },
  { 500, "cudaErrorSymbolNotFound", "CUDA_ERROR_NOT_FOUND" },
  { 600, "cudaErrorNotReady", "CUDA_ERROR_NOT_READY" },
  { 700, "cudaErrorIllegalAddress", "CUDA_ERROR_ILLEGAL_ADDRESS" },
  { 701, "cudaErrorLaunchOutOfResources", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES" },
  { 702, "cudaErrorLaunchTimeout", "CUDA_ERROR_LAUNCH_TIMEOUT" },
  { 704, "cudaErrorPeerAccessAlreadyEnabled", "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED" },
  { 705, "cudaErrorPeerAccessNotEnabled", "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED" },
  { 709, "cudaErrorContextIsDestroyed", "CUDA_ERROR_CONTEXT_IS_DESTROYED" },
  { 710, "cudaErrorAssert", "CUDA_ERROR_ASSERT" },
  { 716, "cudaErrorMisalignedAddress", "CUDA_ERROR_MISALIGNED_ADDRESS" },
  { 719, "cudaErrorLaunchFailure", "CUDA_ERROR_LAUNCH_FAILED" },
  { 720, "cudaErrorCooperativeLaunchTooLarge", "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE" },
  { 800, "cudaErrorNotPermitted", "CUDA_ERROR_NOT_PERMITTED" },
  { 801, "cudaErrorNotSupported", "CUDA_ERROR_NOT_SUPPORTED" },
  { 802, "cudaErrorSystemNotReady", "CUDA_ERROR_SYSTEM_NOT_READY" },
  { 900, "cudaErrorStreamCaptureUnsupported", "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED" },
  { 901, "cudaErrorStreamCaptureInvalidated", "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED" },
  { 999, "cudaErrorUnknown", "CUDA_ERROR_UNKNOWN" },
};

static const Result cublas_results[] = {
  { 1, "CUBLAS_STATUS_NOT_INITIALIZED", NULL }, { 3, "CUBLAS_STATUS_ALLOC_FAILED", NULL },
  { 7, "CUBLAS_STATUS_INVALID_VALUE", NULL },   { 8, "CUBLAS_STATUS_ARCH_MISMATCH", NULL },
  { 11, "CUBLAS_STATUS_MAPPING_ERROR", NULL },  { 13, "CUBLAS_STATUS_EXECUTION_FAILED", NULL },
  { 14, "CUBLAS_STATUS_INTERNAL_ERROR", NULL }, { 15, "CUBLAS_STATUS_NOT_SUPPORTED", NULL },
  { 16, "CUBLAS_STATUS_LICENSE_ERROR", NULL },
};

static const Result cusparse_results[] = {
  { 1, "CUSPARSE_STATUS_NOT_INITIALIZED", NULL },
  { 2, "CUSPARSE_STATUS_ALLOC_FAILED", NULL },
  { 3, "CUSPARSE_STATUS_INVALID_VALUE", NULL },
  { 4, "CUSPARSE_STATUS_ARCH_MISMATCH", NULL },
  { 5, "CUSPARSE_STATUS_MAPPING_ERROR", NULL },
  { 6, "CUSPARSE_STATUS_EXECUTION_FAILED", NULL },
  { 7, "CUSPARSE_STATUS_INTERNAL_ERROR", NULL },
  { 8, "CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED", NULL },
  { 9, "CUSPARSE_STATUS_ZERO_PIVOT", NULL },
  { 10, "CUSPARSE_STATUS_NOT_SUPPORTED", NULL },
  { 11, "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES", NULL },
};

static const Result cusolver_results[] = {
  { 1, "CUSOLVER_STATUS_NOT_INITIALIZED", NULL },
  { 2, "CUSOLVER_STATUS_ALLOC_FAILED", NULL },
  { 3, "CUSOLVER_STATUS_INVALID_VALUE", NULL },
  { 4, "CUSOLVER_STATUS_ARCH_MISMATCH", NULL },
  { 5, "CUSOLVER_STATUS_MAPPING_ERROR", NULL },
  { 6, "CUSOLVER_STATUS_EXECUTION_FAILED", NULL },
  { 7, "CUSOLVER_STATUS_INTERNAL_ERROR", NULL },
  { 8, "CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED", NULL },
  { 9, "CUSOLVER_STATUS_NOT_SUPPORTED", NULL },
  { 10, "CUSOLVER_STATUS_ZERO_PIVOT", NULL },
  { 11, "CUSOLVER_STATUS_INVALID_LICENSE", NULL },
  { 31, "CUSOLVER_STATUS_INVALID_WORKSPACE", NULL },
};

static const char *
name_of (const Result *all, size_t n, int64_t result, bool is_runtime)
{
  for (size_t i = 0; i < n; i++)
    if (all[i].code == result)
      return is_runtime ? all[i].runtime : all[i].driver;
  return NULL;
}

char *
lns_cuda_result_text (LnsTrackKind kind, bool is_runtime, int64_t result)
{
  const char *name = NULL;
  if (result == 0)
    return NULL;
  if (kind == LNS_TRACK_CUDA_API)
    name = name_of (results, G_N_ELEMENTS (results), result, is_runtime);
  else if (kind == LNS_TRACK_CUBLAS)
    name = name_of (cublas_results, G_N_ELEMENTS (cublas_results), result, true);
  else if (kind == LNS_TRACK_CUSPARSE)
    name = name_of (cusparse_results, G_N_ELEMENTS (cusparse_results), result, true);
  else if (kind == LNS_TRACK_CUSOLVER)
    name = name_of (cusolver_results, G_N_ELEMENTS (cusolver_results), result, true);
  /* Translators: a number, "error 712" */
  return name != NULL ? g_strdup_printf ("%s (%lld)", name, (long long)result)
                      : g_strdup_printf (_ ("error %lld"), (long long)result);
}

/* --- Calls --------------------------------------------------------------------------------- */

LnsCudaCallKind
lns_cuda_call_kind (const char *name, size_t size_bytes)
{
  if (has (name, size_bytes, "Launch"))
    return LNS_CUDA_CALL_LAUNCH;
  if (has (name, size_bytes, "Synchronize") || has (name, size_bytes, "WaitEvent") ||
      has (name, size_bytes, "Query"))
    return LNS_CUDA_CALL_SYNC;
  if (has (name, size_bytes, "Mem") || has (name, size_bytes, "Malloc") ||
      has (name, size_bytes, "Free") || has (name, size_bytes, "Alloc"))
    return LNS_CUDA_CALL_MEMORY;
  return LNS_CUDA_CALL_OTHER;
}

const char *
lns_cuda_call_kind_name (LnsCudaCallKind kind)
{
  return kind == LNS_CUDA_CALL_LAUNCH   ? _ ("launch")
         : kind == LNS_CUDA_CALL_MEMORY ? _ ("memory")
         : kind == LNS_CUDA_CALL_SYNC   ? _ ("synchronization")
                                        : _ ("other");
}

GPtrArray *
lns_cuda_devices (LnsReport *report)
{
  uint32_t n;
  const LnsCudaDevice *devices = lns_report_devices (report, &n);
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GPtrArray *found = g_ptr_array_new ();

  for (uint32_t i = 0; i < n; i++)
    {
      char *key = g_strdup_printf ("%" G_GUINT64_FORMAT " %u", (guint64)devices[i].uuid,
                                   devices[i].uuid != 0 ? 0 : devices[i].number);
      if (g_hash_table_add (known, key) && *lns_report_string (report, devices[i].name, NULL) != 0)
        g_ptr_array_add (found, (gpointer)&devices[i]);
    }
  return found;
}
