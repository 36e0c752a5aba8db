/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests calls of cuBLAS, cuSPARSE and cuSOLVER with stand-ins for the libraries. Callers must get what they would get
 * without Lanescope, however they found the function. */

#include "tests/tap.h"
#include "tests/unit/cuda-fixture.h"

#include <dlfcn.h>
#include <unistd.h>

typedef int (*Gemm) (void *,
                     int,
                     int,
                     int,
                     int,
                     int,
                     const float *,
                     const float *,
                     int,
                     const float *,
                     int,
                     const float *,
                     float *,
                     int);

typedef int (*Gather) (void *, const void *, void *);
typedef int (*Swap) (void *, int, float *, int, int, int, const int *, int);
typedef int (*Analyse) (void *, int, int, int, void *, const int *, const int *, void *);
typedef int (*Refactor) (void *);

#define N_CALLS 10

/* --- Scenes. --------------------------------------------------------------------------------- */

static void *
open_fake (const char *file, int flags)
{
  char path[4096];
  snprintf (path, sizeof path, "%s/tests/unit/%s", getenv ("LNS_BUILD_ROOT"), file);
  return dlopen (path, RTLD_NOW | flags);
}

/* 0 where all arguments have come through. */
static int
call (Gemm gemm)
{
  float alpha = 1, a = 2, b = 3, beta = 4, c = 0;
  char handle[2];
  int status = gemm (handle, 7, 5, 1, 2, 3, &alpha, &a, 4, &b, 5, &beta, &c, 6);
  return status == 7 && c == 654321 + 10 + 5 ? 0 : 1;
}

/* As a program does that is linked with the library: by the name's first definition. */
static int
scene_linked (void)
{
  if (open_fake ("libcublas.so.13", RTLD_GLOBAL) == NULL)
    return 90;
  Gemm gemm = (Gemm)dlsym (RTLD_DEFAULT, "cublasSgemm_v2");
  for (int i = 0; i < N_CALLS; i++)
    if (gemm == NULL || call (gemm) != 0)
      return 1;
  return 0;
}

/* As a module does that nobody else sees. */
static int
scene_hidden (void)
{
  void *plugin = open_fake ("fake-plugin.so", RTLD_LOCAL);
  if (plugin == NULL)
    return 90;
  int (*copy) (float *) = (int (*) (float *))dlsym (plugin, "plugin_copy");
  float to = 0;
  return copy (&to) == 0 && to == 3 ? 0 : 1;
}

/* As a program does that looks by itself. */
static int
scene_looking (void)
{
  void *library = open_fake ("libcublas.so.13", RTLD_LOCAL);
  return library != NULL ? call ((Gemm)dlsym (library, "cublasSgemm_v2")) : 90;
}

/* A program that loads another copy of the library, too. */
static int
scene_copies (void)
{
  char command[8192], copy[] = "/tmp/lanescope-test-XXXXXX", path[64];
  if (mkdtemp (copy) == NULL)
    return 91;
  snprintf (path, sizeof path, "%s/libcublas.so.13", copy);
  snprintf (command, sizeof command, "cp %s/tests/unit/libcublas.so.13 %s",
            getenv ("LNS_BUILD_ROOT"), path);
  void *first = open_fake ("libcublas.so.13", RTLD_LOCAL);
  void *found = first == NULL ? NULL : dlsym (first, "cublasSgemm_v2");
  void *again = first == NULL ? NULL : dlsym (first, "cublasSgemm_v2");
  void *second = system (command) == 0 ? dlmopen (LM_ID_BASE, path, RTLD_NOW | RTLD_LOCAL) : NULL;
  remove (path);
  rmdir (copy);
  void *other = second == NULL ? NULL : dlsym (second, "cublasSgemm_v2");
  Dl_info in_first, in_second;
  /* The getter has no wrapper: it tells where each copy is. */
  if (found == NULL || found != again || other == NULL || other == found ||
      dladdr (dlsym (second, "cublasGetStream_v2"), &in_second) == 0 ||
      dladdr (other, &in_first) == 0 || in_first.dli_fbase != in_second.dli_fbase)
    return 92;
  return call ((Gemm)found) != 0 || call ((Gemm)other) != 0;
}

static int
scene_next (void)
{
  void *plugin = open_fake ("fake-plugin.so", RTLD_LOCAL);
  if (plugin == NULL)
    return 90;
  void *(*next) (const char *) = (void *(*)(const char *))dlsym (plugin, "plugin_next");
  void *handle = open_fake ("libcublas.so.13", RTLD_LOCAL);
  return next ("cublasGetStream_v2") == dlsym (handle, "cublasGetStream_v2") &&
                 next ("no_such_function") == NULL && dlerror () != NULL
             ? 0
             : 1;
}

/* As a program that is linked with cuSPARSE and cuSOLVER. */
static int
scene_solver (void)
{
  if (open_fake ("libcusparse.so.12", RTLD_GLOBAL) == NULL ||
      open_fake ("libcusolver.so.12", RTLD_GLOBAL) == NULL)
    return 90;
  Gather gather = (Gather)dlsym (RTLD_DEFAULT, "cusparseGather");
  Swap swap = (Swap)dlsym (RTLD_DEFAULT, "cusolverDnSlaswp");
  Analyse analyse = (Analyse)dlsym (RTLD_DEFAULT, "cusolverSpXcsrqrAnalysis");
  Refactor refactor = (Refactor)dlsym (RTLD_DEFAULT, "cusolverRfRefactor");
  if (gather == NULL || swap == NULL || analyse == NULL || refactor == NULL)
    return 91;
  char handle[8];
  float a = 0;
  int from = 5, to = 0, four = 4, six = 6, result = 0;
  return gather (handle, &from, &to) == 10 && to == 5 &&
                 swap (handle, 1, &a, 2, 3, 4, &six, 5) == 7 && a == 564321 &&
                 analyse (handle, 1, 2, 3, NULL, &four, &six, &result) == 8 && result == 64321 &&
                 refactor (handle) == 9
             ? 0
             : 1;
}

/* The wrapper is there and the library is not. */
static int
scene_missing (void)
{
  Gemm gemm = (Gemm)dlsym (RTLD_DEFAULT, "cublasSgemm_v2");
  Gather gather = (Gather)dlsym (RTLD_DEFAULT, "cusparseGather");
  Refactor refactor = (Refactor)dlsym (RTLD_DEFAULT, "cusolverRfRefactor");
  float number = 0;
  if (gather == NULL || gather (NULL, NULL, NULL) != 1 || refactor == NULL || refactor (NULL) != 1)
    return 1;
  return gemm != NULL && gemm (NULL, 0, 0, 0, 0, 0, &number, &number, 0, &number, 0, &number,
                               &number, 0) == 1
             ? 0
             : 1;
}

static const CudaScene scenes[] = { { "linked", scene_linked },   { "hidden", scene_hidden },
                                    { "looking", scene_looking }, { "copies", scene_copies },
                                    { "next", scene_next },       { "solver", scene_solver },
                                    { "missing", scene_missing }, { NULL, NULL } };

/* --- Tests. ---------------------------------------------------------------------------------- */

static MiniSession *
run (const char *scene, uint32_t traces)
{
  char preload[4096];
  snprintf (preload, sizeof preload, "LD_PRELOAD=%s/capture/inject/liblanescope-libraries.so",
            getenv ("LNS_BUILD_ROOT"));
  const char *const environment[] = { preload, NULL };
  LnsWireOptions asked = { .traces = traces };
  MiniSession *session = cuda_run (scene, &asked, false, environment);
  LNS_CHECK (cuda_is_sound (session));
  LNS_CHECK_INT (mini_session_lost_all (session), 0);
  return session;
}

static void
test_linked (void)
{
  MiniSession *session = run ("linked", LNS_WIRE_TRACE_CUBLAS);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_LIBRARY_CALL), N_CALLS);
  uint64_t last_ticks = 0;
  for (size_t i = 0; i < N_CALLS; i++)
    {
      const LnsWireLibraryCallBytes *made = cuda_record (LNS_WIRE_LIBRARY_CALL, i);
      LNS_CHECK_STR (cuda_text (session, made->head.string), "cublasSgemm_v2");
      LNS_CHECK_INT (made->library, LNS_WIRE_CUBLAS);
      LNS_CHECK_INT (made->return_value, 7);
      LNS_CHECK_INT (made->head.depth, 0);
      LNS_CHECK (made->stream != 0);
      LNS_CHECK (made->head.ticks >= last_ticks && made->end_ticks >= made->head.ticks);
      last_ticks = made->end_ticks;
    }
  mini_session_free (session);
}

/* The calls within calls are for those who ask. */
static void
test_verbose (void)
{
  MiniSession *session = run ("linked", LNS_WIRE_TRACE_CUBLAS | LNS_WIRE_TRACE_CUBLAS_VERBOSE);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_LIBRARY_CALL), 2 * N_CALLS);
  const LnsWireLibraryCallBytes *inner = cuda_record (LNS_WIRE_LIBRARY_CALL, 0);
  const LnsWireLibraryCallBytes *outer = cuda_record (LNS_WIRE_LIBRARY_CALL, 1);
  LNS_CHECK_STR (cuda_text (session, inner->head.string), "cublasScopy_v2");
  LNS_CHECK_INT (inner->head.depth, 1);
  LNS_CHECK (inner->head.ticks >= outer->head.ticks && inner->end_ticks <= outer->end_ticks);
  mini_session_free (session);
}

static void
test_not_asked_for (void)
{
  MiniSession *session = run ("linked", LNS_WIRE_TRACE_CUDNN);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_LIBRARY_CALL), 0);
  mini_session_free (session);
}

static void
test_hidden (void)
{
  MiniSession *session = run ("hidden", LNS_WIRE_TRACE_CUBLAS);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_LIBRARY_CALL), 1);
  mini_session_free (session);
}

static void
test_looked_up_by_itself (void)
{
  MiniSession *session = run ("looking", LNS_WIRE_TRACE_CUBLAS);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_LIBRARY_CALL), 1);
  const LnsWireLibraryCallBytes *made = cuda_record (LNS_WIRE_LIBRARY_CALL, 0);
  LNS_CHECK_STR (cuda_text (session, made->head.string), "cublasSgemm_v2");
  LNS_CHECK_INT (made->return_value, 7);
  LNS_CHECK (made->stream != 0);
  mini_session_free (session);
}

/* Of two copies each caller gets its own. Of the second, only the calls are seen that the library itself makes, as those
 * of callers that are linked. */
static void
test_two_copies (void)
{
  MiniSession *session = run ("copies", LNS_WIRE_TRACE_CUBLAS);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_LIBRARY_CALL), 2);
  const LnsWireLibraryCallBytes *first = cuda_record (LNS_WIRE_LIBRARY_CALL, 0);
  const LnsWireLibraryCallBytes *second = cuda_record (LNS_WIRE_LIBRARY_CALL, 1);
  LNS_CHECK_STR (cuda_text (session, first->head.string), "cublasSgemm_v2");
  LNS_CHECK_STR (cuda_text (session, second->head.string), "cublasScopy_v2");
  mini_session_free (session);
}

/* A lookup of the next definition is the caller's. */
static void
test_next (void)
{
  MiniSession *session = run ("next", LNS_WIRE_TRACE_CUBLAS);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_LIBRARY_CALL), 0);
  mini_session_free (session);
}

/* A call that is expected, in the order of the ends. */
typedef struct
{
  const char *name;
  LnsWireLibrary library;
  uint32_t return_value;
  uint32_t depth;
  int stream; /* what the handle's stream lies behind it; 0: the handle has none */
} Expected;

/* Runs the scene "solver" with TRACES and expects the N calls of EXPECTED. */
static void
expect_solver (uint32_t traces, const Expected *expected, size_t n)
{
  MiniSession *session = run ("solver", traces);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_LIBRARY_CALL), n);
  uint64_t handle = 0;
  for (size_t i = 0; i < n; i++)
    {
      const LnsWireLibraryCallBytes *made = cuda_record (LNS_WIRE_LIBRARY_CALL, i);
      LNS_CHECK_STR (cuda_text (session, made->head.string), expected[i].name);
      LNS_CHECK_INT (made->library, expected[i].library);
      LNS_CHECK_INT (made->return_value, expected[i].return_value);
      LNS_CHECK_INT (made->head.depth, expected[i].depth);
      LNS_CHECK (made->end_ticks >= made->head.ticks);
      LNS_CHECK ((made->stream != 0) == (expected[i].stream != 0));
      if (handle == 0 && made->stream != 0)
        handle = made->stream - (uint64_t)expected[i].stream;
      if (made->stream != 0)
        LNS_CHECK_INT (made->stream - handle, expected[i].stream);
    }
  mini_session_free (session);
}

#define GATHER(depth)                                                                              \
 {                                                                                                 \
  "cusparseGather", LNS_WIRE_CUSPARSE, 10, depth, 2                                                \
 }
#define SWAP(depth)                                                                                \
 {                                                                                                 \
  "cusolverDnSlaswp", LNS_WIRE_CUSOLVER, 7, depth, 3                                               \
 }
#define ANALYSIS                                                                                   \
 {                                                                                                 \
  "cusolverSpXcsrqrAnalysis", LNS_WIRE_CUSOLVER, 8, 0, 4                                           \
 }
#define REFACTOR                                                                                   \
 {                                                                                                 \
  "cusolverRfRefactor", LNS_WIRE_CUSOLVER, 9, 0, 0                                                 \
 }
#define EXPECT(traces, ...)                                                                        \
 expect_solver (traces, (const Expected[]){ __VA_ARGS__ },                                         \
                sizeof (const Expected[]){ __VA_ARGS__ } / sizeof (Expected))

/* The program's own calls, of the library that is asked for. */
static void
test_sparse_and_solver (void)
{
  EXPECT (LNS_WIRE_TRACE_CUSPARSE, GATHER (0));
  EXPECT (LNS_WIRE_TRACE_CUSOLVER, SWAP (0), ANALYSIS, REFACTOR);
  EXPECT (LNS_WIRE_TRACE_CUSPARSE | LNS_WIRE_TRACE_CUSOLVER, GATHER (0), SWAP (0), ANALYSIS,
          REFACTOR);
}

/* The depth is that of the same library. */
static void
test_sparse_and_solver_verbose (void)
{
  EXPECT (LNS_WIRE_TRACE_CUSPARSE_VERBOSE, GATHER (0), GATHER (0));
  EXPECT (LNS_WIRE_TRACE_CUSOLVER_VERBOSE, SWAP (0), SWAP (1), ANALYSIS, REFACTOR);
  EXPECT (LNS_WIRE_TRACE_CUSPARSE_VERBOSE | LNS_WIRE_TRACE_CUSOLVER, GATHER (0), SWAP (0),
          GATHER (0), ANALYSIS, REFACTOR);
}

static void
test_missing (void)
{
  MiniSession *session = run ("missing", LNS_WIRE_TRACE_CUBLAS);
  LNS_CHECK_INT (cuda_count (LNS_WIRE_LIBRARY_CALL), 0);
  mini_session_free (session);
}

int
main (int argc, char **argv)
{
  cuda_scenes (scenes, argv);
  LNS_TEST (test_linked);
  LNS_TEST (test_verbose);
  LNS_TEST (test_not_asked_for);
  LNS_TEST (test_hidden);
  LNS_TEST (test_looked_up_by_itself);
  LNS_TEST (test_two_copies);
  LNS_TEST (test_next);
  LNS_TEST (test_sparse_and_solver);
  LNS_TEST (test_sparse_and_solver_verbose);
  LNS_TEST (test_missing);
  return lns_tap_done ();
}
