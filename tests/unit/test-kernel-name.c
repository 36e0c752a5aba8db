/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests demangling and shortening of kernel names. */

#include <string.h>

#include "capture/session/decode/cuda/kernel-name.h"
#include "tests/tap.h"

typedef struct
{
  const char *mangled, *demangled, *short_name;
} Name;

static void
check (const Name *names, size_t n)
{
  for (size_t i = 0; i < n; i++)
    {
      char *demangled = lns_kernel_name_demangle (names[i].mangled);
      LNS_CHECK_STR (demangled, names[i].demangled);
      char *short_name = lns_kernel_name_shorten (demangled);
      LNS_CHECK_STR (short_name, names[i].short_name);
      free (short_name);
      free (demangled);
    }
}
#define CHECK_NAMES(names) check (names, sizeof names / sizeof *names)

static void
functions_lose_their_types_and_namespaces (void)
{
  static const Name names[] = {
    { "_Z3addPKfS0_Pfi", "add(float const*, float const*, float*, int)", "add" },
    { "_ZN1a1b1cIiEEvT_", "void a::b::c<int>(int)", "c" },
    { "_ZN6shapes4fillIdLi2EEEvPT_S1_", "void shapes::fill<double, 2>(double*, double)", "fill" },
    { "_Z5applyIPFviEEvT_", "void apply<void (*)(int)>(void (*)(int))", "apply" },
    { "_Z5shiftILi1ELb1EEvPi", "void shift<1, true>(int*)", "shift" },
    { "_ZN12_GLOBAL__N_16hiddenEv", "(anonymous namespace)::hidden()", "hidden" },
    { "_ZN12_GLOBAL__N_14pairIiEEvT_", "void (anonymous namespace)::pair<int>(int)", "pair" },
    { "_ZN3abi3runB5cxx11Ev", "abi::run[abi:cxx11]()", "run[abi:cxx11]" },
  };
  CHECK_NAMES (names);
}

static void
operators_keep_their_signs (void)
{
  static const Name names[] = {
    { "_ZN1AclEi", "A::operator()(int)", "operator()" },
    { "_ZN1AlsIiEEvT_", "void A::operator<< <int>(int)", "operator<<" },
    { "_ZN1AltEi", "A::operator<(int)", "operator<" },
    { "_ZN1AgtEi", "A::operator>(int)", "operator>" },
    { "_ZN1AptEv", "A::operator->()", "operator->" },
    { "_ZN1AixEi", "A::operator[](int)", "operator[]" },
    { "_Z12my_operator2i", "my_operator2(int)", "my_operator2" },
    { "_Z13operators_runi", "operators_run(int)", "operators_run" },
  };
  CHECK_NAMES (names);
}

static void
lambdas_are_arguments_only (void)
{
  static const Name names[] = {
    { "_Z3runIZ4mainEUlvE_EvT_", "void run<main::{lambda()#1}>(main::{lambda()#1})", "run" },
    { "_ZN1n3runIZNS_4makeEvEUliiE0_EEvT_",
      "void n::run<n::make()::{lambda(int, int)#2}>(n::make()::{lambda(int, int)#2})", "run" },
  };
  CHECK_NAMES (names);
}

static void
what_is_not_mangled_stays (void)
{
  static const Name names[] = {
    { "saxpy", "saxpy", "saxpy" },
    { "", "", "" },
    { "i", "i", "i" },
    { "_", "_", "_" },
    { "_Z", "_Z", "_Z" },
    { "_Z9", "_Z9", "_Z9" },
    { "_Z999999999999999999999x", "_Z999999999999999999999x", "_Z999999999999999999999x" },
    { "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN",
      "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN",
      "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN" },
    { "_RNvCs1234_7mycrate3add", "_RNvCs1234_7mycrate3add", "_RNvCs1234_7mycrate3add" },
    { "triton__0d1d2d3de", "triton__0d1d2d3de", "triton__0d1d2d3de" },
  };
  CHECK_NAMES (names);
}

static void
unbalanced_names_end (void)
{
  static const char *const names[] = { "a>",
                                       ">",
                                       "<",
                                       "a<b",
                                       "a<b(",
                                       "(",
                                       "operator",
                                       "operator(",
                                       "f>>>>",
                                       "->",
                                       "a::",
                                       ": :",
                                       "(anonymous namespace)",
                                       "void ",
                                       "<<<>(" };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    {
      char *short_name = lns_kernel_name_shorten (names[i]);
      LNS_CHECK (short_name != NULL && strlen (short_name) <= strlen (names[i]));
      free (short_name);
    }
}

/* Of 10 KB, as those of CUTLASS and Eigen are. */
static void
long_names_are_demangled (void)
{
  static char mangled[12000], demangled[20000];
  size_t n = (size_t)sprintf (mangled, "_ZN7cutlass6KernelI"), n_out = 0;
  n_out += (size_t)sprintf (demangled, "void cutlass::Kernel<");
  for (int i = 0; i < 270; i++)
    {
      n += (size_t)sprintf (mangled + n, "N4gemm6Tile%02dIfLi128EN4warp3MmaEEE", i % 100);
      n_out += (size_t)sprintf (demangled + n_out, "%sgemm::Tile%02d<float, 128, warp::Mma>",
                                i == 0 ? "" : ", ", i % 100);
    }
  strcpy (mangled + n, "EEvi");
  strcpy (demangled + n_out, " >(int)");
  LNS_CHECK (strlen (mangled) > 9000);
  check (&(Name){ mangled, demangled, "Kernel" }, 1);

  n = (size_t)sprintf (mangled, "_ZN5Eigen8internal4evalI");
  n_out = (size_t)sprintf (demangled, "void Eigen::internal::eval<");
  for (int i = 0; i < 100; i++)
    {
      n += (size_t)sprintf (mangled + n,
                            "N5Eigen19TensorCwiseBinaryOpINS_8internal13scalar_sum_opIKffEEKdLi3E");
      n_out += (size_t)sprintf (demangled + n_out,
                                "Eigen::TensorCwiseBinaryOp<Eigen::internal::scalar_sum_op<"
                                "float const, float>, double const, 3, ");
    }
  n += (size_t)sprintf (mangled + n, "f");
  n_out += (size_t)sprintf (demangled + n_out, "float");
  for (int i = 0; i < 100; i++)
    {
      n += (size_t)sprintf (mangled + n, "EE");
      n_out += (size_t)sprintf (demangled + n_out, "%s", i == 0 ? ">" : " >");
    }
  strcpy (mangled + n, "EEvv");
  strcpy (demangled + n_out, " >()");
  check (&(Name){ mangled, demangled, "eval" }, 1);
}

/* What nobody calls a kernel, but a program may: neither the stack nor the time ends by it. */
static void
endless_names_stay (void)
{
  static char name[100000];
  memset (name, 'P', sizeof name - 1);
  memcpy (name, "_Z1f", 4);
  check (&(Name){ name, name, "f" }, 1);
  name[60000] = '\0';
  check (&(Name){ name, name, "f" }, 1);
}

/* A name of 10 KiB, nested a thousand deep. */
static void
long_names_pass (void)
{
  static char name[10241];
  size_t n = (size_t)sprintf (name, "void outer::run<");
  while (n + 16 < sizeof name / 2)
    n += (size_t)sprintf (name + n, "a<b, ");
  while (n + 16 < sizeof name)
    n += (size_t)sprintf (name + n, "c>");
  char *short_name = lns_kernel_name_shorten (name);
  LNS_CHECK (short_name != NULL);
  free (short_name);

  /* Where it cannot be demangled, the name itself is still known. */
  n = (size_t)sprintf (name, "_Z10200");
  memset (name + n, 'k', 10200);
  strcpy (name + n + 10200, "i");
  char *demangled = lns_kernel_name_demangle (name);
  short_name = lns_kernel_name_shorten (demangled);
  LNS_CHECK_INT (strlen (short_name), 10200);
  free (short_name);
  free (demangled);

  n = (size_t)sprintf (name, "_ZN7cutlass13device_kernelI");
  while (n + 16 < sizeof name)
    n += (size_t)sprintf (name + n, "3abcIiLi%zuEE", n % 10);
  strcpy (name + n, "EEvT_");
  demangled = lns_kernel_name_demangle (name);
  short_name = lns_kernel_name_shorten (demangled);
  LNS_CHECK_STR (short_name, "device_kernel");
  free (short_name);
  free (demangled);
}

int
main (void)
{
  LNS_TEST (functions_lose_their_types_and_namespaces);
  LNS_TEST (operators_keep_their_signs);
  LNS_TEST (lambdas_are_arguments_only);
  LNS_TEST (what_is_not_mangled_stays);
  LNS_TEST (unbalanced_names_end);
  LNS_TEST (long_names_are_demangled);
  LNS_TEST (endless_names_stay);
  LNS_TEST (long_names_pass);
  return lns_tap_done ();
}
