/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The environment of the program: that of the caller, the variables of switches, and those that load our libraries. */

#include "src/cli/profile/profile.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lns-config.h"
#include "src/base/memory.h"
#include "capture/session/system/program-file.h"
#include "src/cli/terminal/language.h"

#define INJECTION   "liblanescope-inject.so"
#define SAMPLER     "lanescope-sampler"
#define LIBRARIES   "liblanescope-libraries.so"
#define MPI_LIBRARY "liblanescope-mpi.so"
#define OS_LIBRARY  "liblanescope-osrt.so"
#define EARLY       "liblanescope-early.so"

/* What --env-record=list keeps: variables that explain how a run went, by their exact names, since a
 * pattern such as NVIDIA_* also takes the keys that people keep in variables. None holds a secret: a
 * test refuses names with KEY, TOKEN, SECRET, PASS, CRED or AUTH in them. In the order of strcmp(). */
static const char *const recorded[] = {
  "BLIS_NUM_THREADS",
  "CONDA_DEFAULT_ENV",
  "CONDA_PREFIX",
  "CUBLASLT_WORKSPACE_SIZE",
  "CUBLAS_WORKSPACE_CONFIG",
  "CUDA_CACHE_DISABLE",
  "CUDA_CACHE_MAXSIZE",
  "CUDA_CACHE_PATH",
  "CUDA_DEVICE_DEFAULT_PERSISTING_L2_CACHE_PERCENTAGE_LIMIT",
  "CUDA_DEVICE_MAX_CONNECTIONS",
  "CUDA_DEVICE_ORDER",
  "CUDA_DISABLE_PTX_JIT",
  "CUDA_FORCE_PTX_JIT",
  "CUDA_HOME",
  "CUDA_INJECTION64_PATH",
  "CUDA_LAUNCH_BLOCKING",
  "CUDA_MANAGED_FORCE_DEVICE_ALLOC",
  "CUDA_MODULE_DATA_LOADING",
  "CUDA_MODULE_LOADING",
  "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
  "CUDA_MPS_LOG_DIRECTORY",
  "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT",
  "CUDA_MPS_PIPE_DIRECTORY",
  "CUDA_PATH",
  "CUDA_SCALE_LAUNCH_QUEUES",
  "CUDA_VISIBLE_DEVICES",
  "CUDNN_LOGLEVEL_DBG",
  "GOMP_CPU_AFFINITY",
  "GROUP_RANK",
  "JAX_COMPILATION_CACHE_DIR",
  "JAX_DEFAULT_MATMUL_PRECISION",
  "JAX_DISABLE_JIT",
  "JAX_ENABLE_X64",
  "JAX_PLATFORMS",
  "JAX_PLATFORM_NAME",
  "JULIA_CUDA_MEMORY_POOL",
  "JULIA_NUM_THREADS",
  "KMP_AFFINITY",
  "KMP_BLOCKTIME",
  "KMP_HW_SUBSET",
  "LANG",
  "LC_ALL",
  "LD_LIBRARY_PATH",
  "LD_PRELOAD",
  "LOCAL_RANK",
  "LOCAL_WORLD_SIZE",
  "LSB_JOBID",
  "MALLOC_ARENA_MAX",
  "MALLOC_CONF",
  "MALLOC_MMAP_THRESHOLD_",
  "MALLOC_TRIM_THRESHOLD_",
  "MASTER_ADDR",
  "MASTER_PORT",
  "MKL_DYNAMIC",
  "MKL_NUM_THREADS",
  "MKL_THREADING_LAYER",
  "MPICH_GPU_SUPPORT_ENABLED",
  "MPI_LOCALNRANKS",
  "MPI_LOCALRANKID",
  "NCCL_ALGO",
  "NCCL_BUFFSIZE",
  "NCCL_COLLNET_ENABLE",
  "NCCL_CROSS_NIC",
  "NCCL_CUMEM_ENABLE",
  "NCCL_DEBUG",
  "NCCL_DEBUG_FILE",
  "NCCL_DEBUG_SUBSYS",
  "NCCL_DMABUF_ENABLE",
  "NCCL_IB_DISABLE",
  "NCCL_IB_GID_INDEX",
  "NCCL_IB_HCA",
  "NCCL_IB_QPS_PER_CONNECTION",
  "NCCL_IB_TIMEOUT",
  "NCCL_IGNORE_CPU_AFFINITY",
  "NCCL_LAUNCH_MODE",
  "NCCL_MAX_CTAS",
  "NCCL_MAX_NCHANNELS",
  "NCCL_MIN_CTAS",
  "NCCL_MIN_NCHANNELS",
  "NCCL_MNNVL_ENABLE",
  "NCCL_NET",
  "NCCL_NET_GDR_LEVEL",
  "NCCL_NET_GDR_READ",
  "NCCL_NET_PLUGIN",
  "NCCL_NSOCKS_PERTHREAD",
  "NCCL_NTHREADS",
  "NCCL_NVLS_ENABLE",
  "NCCL_P2P_DISABLE",
  "NCCL_P2P_LEVEL",
  "NCCL_PROTO",
  "NCCL_PXN_DISABLE",
  "NCCL_SHM_DISABLE",
  "NCCL_SOCKET_IFNAME",
  "NCCL_SOCKET_NTHREADS",
  "NCCL_TOPO_FILE",
  "NCCL_TUNER_PLUGIN",
  "NODE_RANK",
  "NUMEXPR_NUM_THREADS",
  "NVIDIA_DISABLE_REQUIRE",
  "NVIDIA_DRIVER_CAPABILITIES",
  "NVIDIA_TF32_OVERRIDE",
  "NVIDIA_VISIBLE_DEVICES",
  "NVSHMEM_BOOTSTRAP",
  "NVSHMEM_DEBUG",
  "NVSHMEM_REMOTE_TRANSPORT",
  "NVSHMEM_SYMMETRIC_SIZE",
  "NVTX_INJECTION64_PATH",
  "OMPI_COMM_WORLD_LOCAL_RANK",
  "OMPI_COMM_WORLD_LOCAL_SIZE",
  "OMPI_COMM_WORLD_NODE_RANK",
  "OMPI_COMM_WORLD_RANK",
  "OMPI_COMM_WORLD_SIZE",
  "OMPI_UNIVERSE_SIZE",
  "OMP_DYNAMIC",
  "OMP_MAX_ACTIVE_LEVELS",
  "OMP_NUM_THREADS",
  "OMP_PLACES",
  "OMP_PROC_BIND",
  "OMP_SCHEDULE",
  "OMP_STACKSIZE",
  "OMP_WAIT_POLICY",
  "OPENBLAS_NUM_THREADS",
  "PBS_JOBID",
  "PMIX_RANK",
  "PMI_LOCAL_RANK",
  "PMI_LOCAL_SIZE",
  "PMI_RANK",
  "PMI_SIZE",
  "PYTHONDONTWRITEBYTECODE",
  "PYTHONFAULTHANDLER",
  "PYTHONHASHSEED",
  "PYTHONHOME",
  "PYTHONMALLOC",
  "PYTHONNOUSERSITE",
  "PYTHONOPTIMIZE",
  "PYTHONPATH",
  "PYTHONUNBUFFERED",
  "PYTHONWARNINGS",
  "PYTHON_GIL",
  "PYTORCH_ALLOC_CONF",
  "PYTORCH_CUDA_ALLOC_CONF",
  "PYTORCH_NO_CUDA_MEMORY_CACHING",
  "PYTORCH_NVML_BASED_CUDA_CHECK",
  "RANK",
  "RAYON_NUM_THREADS",
  "SLURM_CLUSTER_NAME",
  "SLURM_CPUS_ON_NODE",
  "SLURM_CPUS_PER_TASK",
  "SLURM_GPUS",
  "SLURM_GPUS_ON_NODE",
  "SLURM_GPUS_PER_NODE",
  "SLURM_GPUS_PER_TASK",
  "SLURM_JOB_ID",
  "SLURM_JOB_NAME",
  "SLURM_JOB_NODELIST",
  "SLURM_JOB_NUM_NODES",
  "SLURM_JOB_PARTITION",
  "SLURM_LOCALID",
  "SLURM_NNODES",
  "SLURM_NODEID",
  "SLURM_NTASKS",
  "SLURM_NTASKS_PER_NODE",
  "SLURM_PROCID",
  "SLURM_STEP_ID",
  "TF_CPP_MIN_LOG_LEVEL",
  "TF_CUDNN_DETERMINISTIC",
  "TF_DETERMINISTIC_OPS",
  "TF_ENABLE_ONEDNN_OPTS",
  "TF_FORCE_GPU_ALLOW_GROWTH",
  "TF_GPU_ALLOCATOR",
  "TF_GPU_THREAD_COUNT",
  "TF_GPU_THREAD_MODE",
  "TF_NUM_INTEROP_THREADS",
  "TF_NUM_INTRAOP_THREADS",
  "TF_XLA_FLAGS",
  "TORCHINDUCTOR_CACHE_DIR",
  "TORCHINDUCTOR_COMPILE_THREADS",
  "TORCHINDUCTOR_MAX_AUTOTUNE",
  "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
  "TORCH_COMPILE_DISABLE",
  "TORCH_CPP_LOG_LEVEL",
  "TORCH_CUDA_ARCH_LIST",
  "TORCH_DISTRIBUTED_DEBUG",
  "TORCH_LOGS",
  "TORCH_NCCL_ASYNC_ERROR_HANDLING",
  "TORCH_NCCL_AVOID_RECORD_STREAMS",
  "TORCH_NCCL_BLOCKING_WAIT",
  "TORCH_SHOW_CPP_STACKTRACES",
  "TRITON_CACHE_DIR",
  "TRITON_INTERPRET",
  "TZ",
  "UCX_IB_GPU_DIRECT_RDMA",
  "UCX_LOG_LEVEL",
  "UCX_MAX_RNDV_RAILS",
  "UCX_MEMTYPE_CACHE",
  "UCX_NET_DEVICES",
  "UCX_RNDV_SCHEME",
  "UCX_RNDV_THRESH",
  "UCX_TLS",
  "VIRTUAL_ENV",
  "VLLM_ATTENTION_BACKEND",
  "VLLM_USE_V1",
  "WORLD_SIZE",
  "XLA_FLAGS",
  "XLA_PYTHON_CLIENT_ALLOCATOR",
  "XLA_PYTHON_CLIENT_MEM_FRACTION",
  "XLA_PYTHON_CLIENT_PREALLOCATE",
};

/* Writes the folder of this executable to PATH, without a slash at the end. False without /proc. */
static bool
own_folder (char *path, size_t room)
{
  ssize_t n = readlink ("/proc/self/exe", path, room - 1);
  if (n <= 0)
    return false;
  path[n] = '\0';
  char *slash = strrchr (path, '/');
  if (slash == NULL)
    return false;
  *slash = '\0';
  return true;
}

/* The path of the file NAME of this installation: in the folder BUILT_IN of the build that this executable is of, else where
 * both were installed, even if the installation was moved. Owned; NULL with ERROR if it is not found. */
static char *
find_part (const char *built_in, const char *name, LnsError *error)
{
  const char *const places[] = { built_in, "/../" LNS_LIBDIR_NAME "/lanescope/",
                                 "/../lib/lanescope/" };
  char folder[4096] = "?", path[4096 + 128];
  bool is_known = own_folder (folder, sizeof folder);
  for (size_t i = 0; is_known && i < sizeof places / sizeof *places; i++)
    {
      snprintf (path, sizeof path, "%s%s%s", folder, places[i], name);
      char *whole = realpath (path, NULL);
      if (whole != NULL)
        return whole;
    }
  snprintf (path, sizeof path, LNS_LIBDIR "/lanescope/%s", name);
  if (access (path, R_OK) == 0)
    return lns_strdup (path);
  lns_error_set (error, LNS_ERROR_UNSUPPORTED, 0,
                 "cannot find %s beside this program (%s); install all of Lanescope", name, folder);
  return NULL;
}

char *
lns_profile_find_sampler (LnsError *error)
{
  return find_part ("/../../capture/sampler/", SAMPLER, error);
}

bool
lns_profile_is_installed (uint32_t trace, LnsError *error)
{
  static const struct
  {
    uint32_t traces;
    const char *library;
  } parts[] = {
    { LNS_WIRE_TRACE_LIBRARIES, LIBRARIES },
    { LNS_WIRE_TRACE_MPI, MPI_LIBRARY },
    { LNS_WIRE_TRACE_OS, OS_LIBRARY },
    { UINT32_MAX, INJECTION },
  };
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    {
      char *path = trace & parts[i].traces
                       ? find_part ("/../../capture/inject/", parts[i].library, error)
                       : NULL;
      if ((trace & parts[i].traces) != 0 && path == NULL)
        return false;
      free (path);
    }
  return true;
}

bool
lns_profile_has_python (LnsError *error)
{
  char *injection = find_part ("/../../capture/inject/", INJECTION, error);
  if (injection == NULL)
    return false;
  char *folder = lns_profile_python_folder (injection, error);
  free (injection);
  free (folder);
  return folder != NULL;
}

/* Ends the process if a function of the environment failed, which happens only without memory. Nothing runs yet. */
static void
require (bool done)
{
  if (!done)
    lns_out_of_memory ();
}

/* Adds the NAME=VALUE of --env-var. */
static bool
add_given (LnsProfile *profile, LnsError *error)
{
  LnsOptionList *given = &profile->options.env_var;
  for (size_t i = 0; i < given->n_items; i++)
    {
      char *equals = strchr (given->items[i], '=');
      if (equals == NULL || equals == given->items[i])
        return lns_cli_usage (error,
                              "--env-var: “%s” is not NAME=VALUE; put a value that contains a "
                              "comma in quotes, as in A='1,2'",
                              given->items[i]);
      *equals = '\0';
      require (lns_environment_set (&profile->environment, given->items[i], equals + 1));
      *equals = '=';
    }
  return true;
}

/* The path of FILE beside the library INJECTION. Owned. */
static char *
beside (const char *injection, const char *file)
{
  return lns_asprintf ("%.*s%s", (int)(strlen (injection) - strlen (INJECTION)), injection, file);
}

/* Has the program load the library INJECTION when it starts, instead of in its first call of NVTX, if its loader does that
 * and nothing comes of it but that. Comes after what the caller preloads, as a sanitizer must come first. */
static void
load_early (LnsProfile *profile, const char *injection)
{
  const char *sanitizer;
  if (lns_program_kind (profile->argv[0], lns_environment_get (&profile->environment, "PATH"),
                        &sanitizer) != LNS_PROGRAM_TAKES_PRELOADS)
    return;
  const char *before = lns_environment_get (&profile->environment, "LD_PRELOAD");
  char *path = beside (injection, EARLY);
  char *list = before != NULL && before[0] != '\0' ? lns_asprintf ("%s:%s", before, path)
                                                   : lns_strdup (path);
  if (access (path, R_OK) == 0)
    require (lns_environment_set (&profile->environment, "LD_PRELOAD", list));
  free (list);
  free (path);
}

/* If IS_WANTED, makes the program load FILE, which lies beside the library INJECTION and wraps functions of WHAT. */
static void
add_library (
    LnsProfile *profile, const char *injection, bool is_wanted, const char *file, const char *what)
{
  if (!is_wanted)
    return;
  char *path = beside (injection, file);
  if (access (path, R_OK) != 0)
    lns_cli_say ("warning",
                 "--trace: %s: these calls are not recorded, because %s is not beside %s; install "
                 "all of Lanescope [LNS-TRACE-002]",
                 what, file, INJECTION);
  else
    require (lns_environment_prepend (&profile->environment, "LD_PRELOAD", path));
  free (path);
}

/* Whether calls of the C library are to be recorded and the library that does it may be loaded. Says why not. */
static bool
takes_os_library (const LnsProfile *profile)
{
  const char *sanitizer, *program = profile->argv[0];
  if (!(profile->target.traces & LNS_WIRE_TRACE_OS))
    return false;
  switch (
      lns_program_kind (program, lns_environment_get (&profile->environment, "PATH"), &sanitizer))
    {
    case LNS_PROGRAM_STATIC:
      lns_cli_say ("warning",
                   "--trace: osrt: %s is linked with a C library of its own, whose calls are not "
                   "recorded; those of programs that it starts are; link it with the shared C "
                   "library [LNS-OSRT-001]",
                   program);
      return true;
    case LNS_PROGRAM_PRIVILEGED:
      lns_cli_say ("warning",
                   "--trace: osrt: %s runs with other rights than yours, and the system keeps our "
                   "library out of it: its calls are not recorded; run Lanescope with these rights "
                   "[LNS-OSRT-002]",
                   program);
      return true;
    case LNS_PROGRAM_SANITIZED:
      lns_cli_say (
          "warning",
          "--trace: osrt: %s is built with %s, which must come before all other libraries: "
          "its calls are not recorded; record a build without it [LNS-OSRT-003]",
          program, sanitizer);
      return false;
    case LNS_PROGRAM_FOREIGN:
      lns_cli_say (
          "warning",
          "--trace: osrt: %s uses another C library than glibc, or is for another kind of "
          "processor: its calls are not recorded; `strace -f -T` shows those of the kernel "
          "[LNS-OSRT-004]",
          program);
      return false;
    default:
      return true;
    }
}

/* Has AddressSanitizer run behind our library in programs that the program starts. It would end them otherwise. Our
 * library is off in them. */
static void
pacify_sanitizer (LnsProfile *profile)
{
  require (
      lns_environment_prepend (&profile->environment, "ASAN_OPTIONS", "verify_asan_link_order=0"));
}

/* The variables that name a library for NVIDIA's to load, of which there can be one. */
static const struct
{
  const char *variable, *code;
} injections[] = { { "NVTX_INJECTION64_PATH", "LNS-NVTX-003" },
                   { "CUDA_INJECTION64_PATH", "LNS-CUDA-030" },
                   { "NCCL_PROFILER_PLUGIN", "LNS-NCCL-001" } };
#define N_INJECTIONS (sizeof injections / sizeof *injections)

static bool
add_injection (LnsProfile *profile, LnsError *error)
{
  char *injection = find_part ("/../../capture/inject/", INJECTION, error);
  if (injection == NULL)
    return false;
  char *others[N_INJECTIONS];
  for (size_t i = 0; i < N_INJECTIONS; i++)
    {
      const char *other = lns_environment_get (&profile->environment, injections[i].variable);
      others[i] = lns_strdup (other != NULL ? other : "");
    }
  const uint32_t traces = profile->target.traces;
  require (lns_session_add_variables (profile->session, &profile->environment, injection));
  for (size_t i = 0; i < N_INJECTIONS; i++)
    {
      const char *now = lns_environment_get (&profile->environment, injections[i].variable);
      if (others[i][0] != '\0' && strcmp (now, others[i]) != 0)
        lns_cli_say ("warning", "%s is set to %s; Lanescope replaces it in this run [%s]",
                     injections[i].variable, others[i], injections[i].code);
      free (others[i]);
    }
  add_library (profile, injection, traces & LNS_WIRE_TRACE_LIBRARIES, LIBRARIES,
               "cublas, cudnn, cusparse, cusolver");
  add_library (profile, injection, traces & LNS_WIRE_TRACE_MPI, MPI_LIBRARY, "mpi");
  if (takes_os_library (profile))
    {
      add_library (profile, injection, true, OS_LIBRARY, "osrt");
      pacify_sanitizer (profile);
    }
  else
    load_early (profile, injection);
  const bool done = lns_profile_add_python (profile, injection, error);
  free (injection);
  return done;
}

bool
lns_profile_make_environment (LnsProfile *profile, LnsError *error)
{
  char id[16];
  if (profile->options.inherit_environment)
    require (lns_environment_add_all (&profile->environment, environ));
  if (profile->target.traces == 0)
    return add_given (profile, error);
  /* Programs see by this variable that they are profiled, and behave: NVTX.jl, GROMACS and trainers do. */
  snprintf (id, sizeof id, "%u", profile->place.entry.id);
  require (lns_environment_set (&profile->environment, "NSYS_PROFILING_SESSION_ID", id));
  return add_given (profile, error) && add_injection (profile, error);
}

static int
compare_names (const void *a, const void *b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

static bool
is_recorded (const char *name)
{
  return bsearch (&name, recorded, sizeof recorded / sizeof *recorded, sizeof *recorded,
                  compare_names) != NULL;
}

void
lns_profile_record_environment (LnsProfile *profile, LnsWriter *report)
{
  const char *given = profile->options.env_record;
  const bool all = given != NULL && strcmp (given, "all") == 0;
  if (profile->options.discard_environment || (given != NULL && strcmp (given, "none") == 0))
    return;
  for (size_t i = 0; i < profile->environment.n_items; i++)
    {
      char *item = profile->environment.items[i], *equals = strchr (item, '=');
      if (equals == NULL)
        continue;
      *equals = '\0';
      if (all || is_recorded (item))
        {
          /* This may run while a program is recorded, which a lack of memory must not end. */
          char *key;
          if (asprintf (&key, "env.%s", item) >= 0)
            {
              lns_writer_set_meta (report, key, equals + 1);
              free (key);
            }
        }
      *equals = '=';
    }
}
