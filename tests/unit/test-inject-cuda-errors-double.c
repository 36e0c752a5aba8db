/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests failures of CUPTI: the program must not notice them, and each must be reported once. */

#include "tests/tap.h"
#include "tests/unit/cuda-fixture.h"

#include <cupti.h>
#include <dlfcn.h>
#include <unistd.h>

static const LnsWireOptions plain = { .traces = LNS_WIRE_TRACE_CUDA };

#define N_KERNELS 20

static int
scene_work (void)
{
  static char host[4096];
  void *device;
  cuda_start ();
  if (cuda.cudaMalloc (&device, sizeof host) != cudaSuccess ||
      cuda.cudaMemcpy (device, host, sizeof host, cudaMemcpyHostToDevice) != cudaSuccess)
    return 1;
  cuda_launch (N_KERNELS, false, 16, 256, NULL);
  if (cuda.cudaDeviceSynchronize () != cudaSuccess || cuda.cudaFree (device) != cudaSuccess)
    return 2;
  return 0;
}

/* The program, or something that it loaded, has a CUPTI of its own. */
static int
scene_loaded (void)
{
  return dlopen ("libcupti.so.12", RTLD_NOW) != NULL ? scene_work () : 3;
}

static const CudaScene scenes[] = { { "work", scene_work },
                                    { "loaded", scene_loaded },
                                    { NULL, NULL } };

/* What is left to record when a call fails. */
typedef enum
{
  NOTHING,
  NO_KERNELS,
  ALL
} Left;

static const struct
{
  const char *failure;
  LnsWireCudaProblem problem;
  uint32_t result;
  const char *words; /* null: none, or any */
  Left left;
  const char *version; /* null: any */
} cases[] = {
  { "LNS_DOUBLE_FAIL=cuptiSubscribe=999,cuptiSubscribe_v2=999", LNS_WIRE_PROBLEM_SUBSCRIBE, 999,
    NULL, NOTHING },
  { "LNS_DOUBLE_FAIL=cuptiSubscribe=35,cuptiSubscribe_v2=35", LNS_WIRE_PROBLEM_SUBSCRIBE, 35, NULL,
    NOTHING },
  { "LNS_DOUBLE_OTHER_TOOL=somebody", LNS_WIRE_PROBLEM_BUSY, 39, "CUPTI for somebody", NOTHING },
  { "LNS_DOUBLE_FAIL=cuptiActivityRegisterTimestampCallback=1", LNS_WIRE_PROBLEM_CALL, 1,
    "cuptiActivityRegisterTimestampCallback", NOTHING, "LNS_DOUBLE_CUPTI_VERSION=130100" },
  /* This version follows CUPTI's own clock. */
  { "LNS_DOUBLE_FAIL=cuptiActivityRegisterTimestampCallback=1,cuptiActivitySetAttribute:5=1",
    LNS_WIRE_PROBLEM_ATTRIBUTE, 1, NULL, ALL, "LNS_DOUBLE_CUPTI_VERSION=130001" },
  { "LNS_DOUBLE_FAIL=cuptiActivityRegisterCallbacks=1", LNS_WIRE_PROBLEM_CALL, 1,
    "cuptiActivityRegisterCallbacks", NOTHING },
  { "LNS_DOUBLE_FAIL=cuptiSetThreadIdType=999", LNS_WIRE_PROBLEM_CALL, 999, "cuptiSetThreadIdType",
    ALL },
  { "LNS_DOUBLE_FAIL=cuptiActivitySetAttribute:5=1", LNS_WIRE_PROBLEM_ATTRIBUTE, 1, NULL, ALL },
  { "LNS_DOUBLE_FAIL=cuptiActivityEnable:10=35", LNS_WIRE_PROBLEM_ENABLE, 35, NULL, NO_KERNELS },
  { "LNS_DOUBLE_FAIL=cuptiActivityEnable:51=27", LNS_WIRE_PROBLEM_ENABLE, 27, NULL, ALL },
  { "LNS_DOUBLE_FAIL=cuptiEnableDomain=1", LNS_WIRE_PROBLEM_CALL, 1, "cuptiEnableDomain", ALL },
  { "LNS_DOUBLE_FAIL=cuptiEnableCallback=1", LNS_WIRE_PROBLEM_CALL, 1, "cuptiEnableCallback", ALL },
  { "LNS_DOUBLE_FAIL=cuptiActivityEnableRuntimeApi=1", LNS_WIRE_PROBLEM_CALL, 1,
    "cuptiActivityEnableRuntimeApi", ALL },
  { "LNS_DOUBLE_FAIL=cuptiActivityGetNumDroppedRecords=1", LNS_WIRE_PROBLEM_CALL, 1,
    "cuptiActivityGetNumDroppedRecords", ALL },
  { "LNS_DOUBLE_FAIL=cuptiActivityFlushAll=999", LNS_WIRE_PROBLEM_FLUSH, 999, NULL, NOTHING },
};

/* PLAIN, with the library of a generation, since newer ones may be installed on this machine. */
static LnsWireOptions
with_library (const char *generation)
{
  LnsWireOptions asked = plain;
  snprintf (asked.cupti_path, sizeof asked.cupti_path, "%s/tests/double/generations/%s",
            getenv ("LNS_BUILD_ROOT"), generation);
  return asked;
}

static void
test_each_failure (void)
{
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    {
      const char *const environment[] = { cases[i].failure, cases[i].version, NULL };
      MiniSession *session = cuda_run ("work", &plain, false, environment);
      fprintf (stderr, "# %s\n", cases[i].failure);
      LNS_CHECK (cuda_is_sound (session));
      LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_PROBLEM), 1);
      const LnsWireCudaProblemBytes *problem = cuda_record (LNS_WIRE_CUDA_PROBLEM, 0);
      LNS_CHECK_INT (problem->problem, cases[i].problem);
      LNS_CHECK_INT (problem->result, cases[i].result);
      if (cases[i].words != NULL)
        LNS_CHECK_STR (cuda_text (session, problem->head.string), cases[i].words);
      LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_KERNEL), cases[i].left == ALL ? N_KERNELS : 0);
      LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_MEMCPY), cases[i].left == NOTHING ? 0 : 1);
      mini_session_free (session);
    }
}

/* CUPTI's buffers lie on the host only if that is asked for. */
static void
test_host_buffers (void)
{
  static const char *const environment[] = { "LNS_DOUBLE_FAIL=cuptiActivitySetAttribute:8=41",
                                             NULL };
  for (int i = 0; i < 2; i++)
    {
      LnsWireOptions asked = plain;
      asked.cuda = i == 1 ? LNS_WIRE_CUDA_HOST_BUFFERS : 0;
      MiniSession *session = cuda_run ("work", &asked, false, environment);
      LNS_CHECK (cuda_is_sound (session));
      LNS_CHECK_INT (cuda_problems (LNS_WIRE_PROBLEM_ATTRIBUTE), i);
      LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_KERNEL), N_KERNELS);
      mini_session_free (session);
    }
}

/* Graphs that the GPU launches are nobody's default, as CUPTI takes memory of the GPU for them. */
static void
test_device_graphs (void)
{
  static const struct
  {
    const char *failure;
    LnsWireCudaProblem problem;
  } failures[] = { { "LNS_DOUBLE_FAIL=cuptiActivityEnableDeviceGraph=27", LNS_WIRE_PROBLEM_CALL },
                   { "LNS_DOUBLE_FAIL=cuptiActivityEnable:53=14", LNS_WIRE_PROBLEM_ENABLE } };
  for (size_t i = 0; i < 4; i++)
    {
      const char *const environment[] = { failures[i / 2].failure, NULL };
      LnsWireOptions asked = plain;
      asked.cuda = i % 2 ? LNS_WIRE_CUDA_DEVICE_GRAPHS : 0;
      MiniSession *session = cuda_run ("work", &asked, false, environment);
      LNS_CHECK (cuda_is_sound (session));
      LNS_CHECK_INT (cuda_problems (failures[i / 2].problem), i % 2);
      LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_PROBLEM), i % 2);
      LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_KERNEL), N_KERNELS);
      mini_session_free (session);
    }
}

/* Records that CUPTI drops are counted by it, and told. */
static void
test_dropped (void)
{
  const char *const environment[] = { "LNS_DOUBLE_DROP=4", NULL };
  MiniSession *session = cuda_run ("work", &plain, false, environment);
  LNS_CHECK (cuda_is_sound (session));
  uint64_t n_dropped = 0;
  const LnsWireCudaDroppedBytes *dropped;
  for (size_t i = 0; (dropped = cuda_record (LNS_WIRE_CUDA_DROPPED, i)) != NULL; i++)
    n_dropped += dropped->count;
  LNS_CHECK (n_dropped > 0);
  LNS_CHECK (cuda_count (LNS_WIRE_CUDA_KERNEL) < N_KERNELS);
  mini_session_free (session);
}

/* Each generation of CUPTI that is supported, with records as short as they were then. */
static void
test_versions (void)
{
  static const struct
  {
    int version;
    const char *generation;
  } versions[] = { { 17, "11.8" }, { 18, "11.8" }, { 19, "12.4" },
                   { 20, "12.4" }, { 22, "12.4" }, { 24, "12.9" },
                   { 26, "12.9" }, { 28, "12.9" }, { 130001, "13.0" } };
  for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
    {
      char setting[64];
      snprintf (setting, sizeof setting, "LNS_DOUBLE_CUPTI_VERSION=%d", versions[i].version);
      const char *const environment[] = { setting, NULL };
      LnsWireOptions asked = with_library (versions[i].generation);
      MiniSession *session = cuda_run ("work", &asked, false, environment);
      fprintf (stderr, "# %s\n", setting);
      LNS_CHECK (cuda_is_sound (session));
      LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_PROBLEM), 0);
      LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_KERNEL), N_KERNELS);
      const LnsWireCudaInfoBytes *info = cuda_record (LNS_WIRE_CUDA_INFO, 0);
      LNS_CHECK_INT (info->cupti_version, versions[i].version);
      mini_session_free (session);
    }
}

static void
test_too_old (void)
{
  const char *const environment[] = { "LNS_DOUBLE_CUPTI_VERSION=12", NULL };
  LnsWireOptions asked = with_library ("11.0");
  MiniSession *session = cuda_run ("work", &asked, false, environment);
  LNS_CHECK (cuda_is_sound (session));
  LNS_CHECK_INT (cuda_problems (LNS_WIRE_PROBLEM_OLD_CUPTI), 1);
  const LnsWireCudaProblemBytes *problem = cuda_record (LNS_WIRE_CUDA_PROBLEM, 0);
  LNS_CHECK_INT (problem->result, 12);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_KERNEL), 0);
  mini_session_free (session);
}

/* A second copy could not be subscribed to: the one that is there is taken, also where it is older. */
static void
test_loaded_by_the_program (void)
{
  const char *const environment[] = { "LNS_DOUBLE_CUPTI_VERSION=22", NULL };
  LnsWireOptions asked = with_library ("13.0");
  MiniSession *session = cuda_run ("loaded", &asked, false, environment);
  LNS_CHECK (cuda_is_sound (session));
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_PROBLEM), 0);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_KERNEL), N_KERNELS);
  const LnsWireCudaInfoBytes *info = cuda_record (LNS_WIRE_CUDA_INFO, 0);
  LNS_CHECK_INT (info->cupti_version, 22);
  mini_session_free (session);
}

/* NVIDIA's own library, where it is installed: it loads, tells how long its records are (newer ones not
 * before there is a driver), and refuses a driver that is none of NVIDIA's. */
static void
test_library_of_nvidia (void)
{
  static const char *const paths[] = { "/usr/local/cuda/lib64/libcupti.so",
                                       "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so" };
  LnsWireOptions asked = plain;
  for (size_t i = 0; i < 2 && asked.cupti_path[0] == '\0'; i++)
    if (access (paths[i], R_OK) == 0)
      strcpy (asked.cupti_path, paths[i]);
  if (asked.cupti_path[0] == '\0')
    LNS_SKIP ("NVIDIA's libcupti is not installed here");
  MiniSession *session = cuda_run ("work", &asked, false, NULL);
  LNS_CHECK (cuda_is_sound (session));
  LNS_CHECK_INT (cuda_problems (LNS_WIRE_PROBLEM_SUBSCRIBE), 1);
  LnsWireCuptiSizes sizes;
  sizes = lns_wire_pool_view (session->processes[0].pool)->header->cupti;
  const LnsWireCudaInfoBytes *info = cuda_record (LNS_WIRE_CUDA_INFO, 0);
  if (info->cupti_version == 0)
    LNS_SKIP ("NVIDIA's libcupti tells nothing without a driver");
  LNS_CHECK_INT (sizes.version, info->cupti_version);
  LNS_CHECK_INT (sizes.record_bytes[CUPTI_ACTIVITY_KIND_RUNTIME], sizeof (CUpti_ActivityAPI));
  if (sizes.version == CUPTI_API_VERSION)
    LNS_CHECK_INT (sizes.record_bytes[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL],
                   sizeof (CUpti_ActivityKernel10));
  mini_session_free (session);
}

/* Nobody is there: no CUPTI at the path that was given. */
static void
test_no_cupti (void)
{
  LnsWireOptions asked = plain;
  strcpy (asked.cupti_path, "/nowhere");
  MiniSession *session = cuda_run ("work", &asked, false, NULL);
  LNS_CHECK (cuda_is_sound (session));
  LNS_CHECK_INT (cuda_problems (LNS_WIRE_PROBLEM_NO_CUPTI), 1);
  const LnsWireCudaProblemBytes *problem = cuda_record (LNS_WIRE_CUDA_PROBLEM, 0);
  LNS_CHECK (strstr (cuda_text (session, problem->head.string), "/nowhere") != NULL);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_CUDA_KERNEL), 0);
  mini_session_free (session);
}

int
main (int argc, char **argv)
{
  cuda_scenes (scenes, argv);
  LNS_TEST (test_each_failure);
  LNS_TEST (test_host_buffers);
  LNS_TEST (test_device_graphs);
  LNS_TEST (test_dropped);
  LNS_TEST (test_versions);
  LNS_TEST (test_too_old);
  LNS_TEST (test_loaded_by_the_program);
  LNS_TEST (test_library_of_nvidia);
  LNS_TEST (test_no_cupti);
  return lns_tap_done ();
}
