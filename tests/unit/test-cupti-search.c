/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Tests which copies of CUPTI are found, and which one is tried first, in folders that are laid out as those of NVIDIA's
 * toolkit, its packages for Python, conda and the loader. */

#include "capture/wire/cupti-search.h"
#include "tests/tap.h"

#include <errno.h>
#include <ftw.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#define PACKAGES "/lib/python3.12/site-packages"

static char root[64];
static LnsCuptiCopy copies[LNS_CUPTI_COPIES_MAX];
static size_t n_copies;

static int
remove_entry (const char *path, const struct stat *unused, int type, struct FTW *where)
{
  return remove (path);
}

/* An empty machine, without variables that name folders of it. */
static void
begin (void)
{
  static const char *const variables[] = {
    "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "HOME"
  };
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
    unsetenv (variables[i]);
  strcpy (root, "/tmp/lanescope-test-XXXXXX");
  LNS_CHECK (mkdtemp (root) != NULL);
}

static void
end (void)
{
  nftw (root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static const char *
at (const char *path)
{
  static char whole[4][512];
  static unsigned turn;
  char *text = whole[turn++ % 4];
  snprintf (text, sizeof whole[0], "%s%s", root, path);
  return text;
}

/* Makes the file PATH below the root, that holds TEXT, and its folders. */
static void
put (const char *path, const char *text)
{
  char whole[512];
  snprintf (whole, sizeof whole, "%s", at (path));
  for (char *slash = whole + strlen (root) + 1; (slash = strchr (slash, '/')) != NULL; slash++)
    {
      *slash = '\0';
      LNS_CHECK (mkdir (whole, 0700) == 0 || errno == EEXIST);
      *slash = '/';
    }
  FILE *file = fopen (whole, "w");
  LNS_CHECK (file != NULL);
  fputs (text, file);
  fclose (file);
}

static void
search (int driver, const char *program, const char *runtime)
{
  const LnsCuptiAsked asked = {
    .root = root, .program = program, .runtime = runtime, .driver = driver
  };
  n_copies = lns_cupti_search (&asked, copies, LNS_CUPTI_COPIES_MAX);
  for (size_t i = 0; i < n_copies; i++)
    fprintf (stderr, "# %d %s %d\n", copies[i].fit, copies[i].path, copies[i].cuda);
}

static void
expect (size_t i, const char *path, LnsCuptiPlace place, int cuda)
{
  LNS_CHECK (i < n_copies);
  LNS_CHECK_STR (copies[i].path, at (path));
  LNS_CHECK_INT (copies[i].place, place);
  LNS_CHECK_INT (copies[i].has_minor ? copies[i].cuda : copies[i].cuda / 1000, cuda);
}

/* Each place alone, and the version that its names tell. */
static void
test_places (void)
{
  static const struct
  {
    const char *file, *link; /* FILE is a link to LINK beside it, if LINK is not null */
    const char *variable, *value;
    LnsCuptiPlace place;
    int cuda;
  } cases[] = {
    { "/x/libcupti.so.11.8", NULL, "LD_LIBRARY_PATH", "/x", LNS_CUPTI_IN_LD_LIBRARY_PATH, 11080 },
    { "/x/extras/CUPTI/lib64/libcupti.so.12", "libcupti.so.2024.1.1", "CUDA_HOME", "/x",
      LNS_CUPTI_IN_CUDA_HOME, 12040 },
    { "/x/lib64/libcupti.so.12", "libcupti.so.2022.4.0", "CUDA_PATH", "/x", LNS_CUPTI_IN_CUDA_PATH,
      12000 },
    { "/x" PACKAGES "/nvidia/cuda_cupti/lib/libcupti.so.12", NULL, "VIRTUAL_ENV", "/x",
      LNS_CUPTI_IN_VIRTUAL_ENV, 12 },
    { "/x" PACKAGES "/nvidia/cu13/lib/libcupti.so.13", NULL, "CONDA_PREFIX", "/x",
      LNS_CUPTI_IN_CONDA_PREFIX, 13 },
    { "/x/lib/libcupti.so.12", "libcupti.so.2025.2.1", "CONDA_PREFIX", "/x",
      LNS_CUPTI_IN_CONDA_PREFIX, 12090 },
    { "/x/triton/backends/nvidia/lib/cupti/libcupti.so.12", "libcupti.so.12.8.90", "PYTHONPATH",
      "/x", LNS_CUPTI_IN_PYTHONPATH, 12080 },
    { "/x/.local" PACKAGES "/nvidia/cuda_cupti/lib/libcupti.so.11.8", NULL, "HOME", "/x",
      LNS_CUPTI_IN_USER_PACKAGES, 11080 },
    { "/usr/local/cuda-12.4/lib64/libcupti.so.12", NULL, NULL, NULL, LNS_CUPTI_IN_TOOLKIT, 12040 },
    { "/opt/cuda/extras/CUPTI/lib64/libcupti.so.13", "libcupti.so.2099.1.1", NULL, NULL,
      LNS_CUPTI_IN_TOOLKIT, 13 },
    { "/usr/lib64/libcupti.so.12", NULL, NULL, NULL, LNS_CUPTI_IN_SYSTEM, 12 },
    { "/usr/local" PACKAGES "/nvidia/cu13/lib/libcupti.so.13", NULL, NULL, NULL,
      LNS_CUPTI_IN_SYSTEM, 13 },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    {
      begin ();
      if (cases[i].variable != NULL)
        setenv (cases[i].variable, at (cases[i].value), 1);
      put (cases[i].file, "");
      if (cases[i].link != NULL)
        {
          char real[512];
          snprintf (real, sizeof real, "%s", at (cases[i].file));
          strcpy (strrchr (real, '/') + 1, cases[i].link);
          LNS_CHECK (rename (at (cases[i].file), real) == 0);
          LNS_CHECK (symlink (cases[i].link, at (cases[i].file)) == 0);
        }
      search (13000, NULL, NULL);
      LNS_CHECK_INT (n_copies, 1);
      expect (0, cases[i].file, cases[i].place, cases[i].cuda);
      end ();
    }
}

/* A folder that a list of LD_LIBRARY_PATH or the loader's configuration names. */
static void
test_lists (void)
{
  begin ();
  put ("/one/libcupti.so.12", "");
  put ("/two/libcupti.so.11.8", "");
  put ("/etc/ld.so.conf.d/000_cuda.conf", "# a comment\n/three\n  \n/four");
  put ("/three/libcupti.so.11.7", "");
  put ("/four/libcupti.so.11.6", "");
  char list[256];
  snprintf (list, sizeof list, "/nowhere::%s:%s", at ("/one"), at ("/two"));
  setenv ("LD_LIBRARY_PATH", list, 1);
  search (0, NULL, NULL);
  LNS_CHECK_INT (n_copies, 4);
  expect (0, "/one/libcupti.so.12", LNS_CUPTI_IN_LD_LIBRARY_PATH, 12);
  expect (1, "/two/libcupti.so.11.8", LNS_CUPTI_IN_LD_LIBRARY_PATH, 11080);
  expect (2, "/three/libcupti.so.11.7", LNS_CUPTI_IN_SYSTEM, 11070);
  expect (3, "/four/libcupti.so.11.6", LNS_CUPTI_IN_SYSTEM, 11060);
  end ();
}

/* The environment of Python is told by the path that it is started by, not by where its file lies. */
static void
test_program (void)
{
  begin ();
  put ("/base/bin/python3.12", "");
  put ("/base" PACKAGES "/nvidia/cuda_cupti/lib/libcupti.so.11.8", "");
  put ("/env/bin/activate", "");
  LNS_CHECK (symlink (at ("/base/bin/python3.12"), at ("/env/bin/python")) == 0);
  put ("/env" PACKAGES "/nvidia/cuda_cupti/lib/libcupti.so.12", "");
  put ("/env" PACKAGES "/nvidia_cuda_cupti_cu12-12.4.127.dist-info/METADATA", "");
  put ("/env" PACKAGES "/nvidia_cuda_runtime_cu12-12.8.90.dist-info/METADATA", "");
  search (13000, at ("/env/bin/python"), NULL);
  LNS_CHECK_INT (n_copies, 2);
  expect (0, "/env" PACKAGES "/nvidia/cuda_cupti/lib/libcupti.so.12", LNS_CUPTI_IN_PROGRAM, 12040);
  expect (1, "/base" PACKAGES "/nvidia/cuda_cupti/lib/libcupti.so.11.8", LNS_CUPTI_IN_PROGRAM,
          11080);
  end ();
}

/* What belongs to the CUDA runtime that the program has loaded, wherever that lies. */
static void
test_runtime (void)
{
  begin ();
  put ("/p/nvidia/cuda_runtime/lib/libcudart.so.12", "");
  put ("/p/nvidia/cuda_cupti/lib/libcupti.so.12", "");
  put ("/p/nvidia_cuda_cupti_cu12-12.6.80.dist-info/METADATA", "");
  put ("/t/lib64/libcudart.so.12", "");
  put ("/t/extras/CUPTI/lib64/libcupti.so.12", "");
  search (13000, NULL, at ("/p/nvidia/cuda_runtime/lib/libcudart.so.12"));
  LNS_CHECK_INT (n_copies, 1);
  expect (0, "/p/nvidia/cuda_cupti/lib/libcupti.so.12", LNS_CUPTI_BESIDE_RUNTIME, 12060);
  search (13000, NULL, at ("/t/lib64/libcudart.so.12"));
  LNS_CHECK_INT (n_copies, 1);
  expect (0, "/t/extras/CUPTI/lib64/libcupti.so.12", LNS_CUPTI_BESIDE_RUNTIME, 12);
  end ();
}

/* The newest that the driver supports, then those of its own major version that are newer, the nearest first. */
static void
test_order (void)
{
  begin ();
  put ("/usr/local/cuda-12.2/lib64/libcupti.so.12", "");
  put ("/usr/local/cuda-12.4/lib64/libcupti.so.12", "");
  put ("/usr/local/cuda-12.6/lib64/libcupti.so.12", "");
  put ("/usr/local/cuda-12.9/lib64/libcupti.so.12", "");
  put ("/usr/local/cuda-13.0/lib64/libcupti.so.13", "");
  put ("/c/lib/libcupti.so.11.8", "");
  put ("/h/lib64/libcupti.so.12", "");
  setenv ("CONDA_PREFIX", at ("/c"), 1);
  setenv ("CUDA_HOME", at ("/h"), 1);
  search (12040, NULL, NULL);
  LNS_CHECK_INT (n_copies, 7);
  expect (0, "/usr/local/cuda-12.4/lib64/libcupti.so.12", LNS_CUPTI_IN_TOOLKIT, 12040);
  expect (1, "/usr/local/cuda-12.2/lib64/libcupti.so.12", LNS_CUPTI_IN_TOOLKIT, 12020);
  expect (2, "/h/lib64/libcupti.so.12", LNS_CUPTI_IN_CUDA_HOME, 12);
  expect (3, "/c/lib/libcupti.so.11.8", LNS_CUPTI_IN_CONDA_PREFIX, 11080);
  expect (4, "/usr/local/cuda-12.6/lib64/libcupti.so.12", LNS_CUPTI_IN_TOOLKIT, 12060);
  expect (5, "/usr/local/cuda-12.9/lib64/libcupti.so.12", LNS_CUPTI_IN_TOOLKIT, 12090);
  expect (6, "/usr/local/cuda-13.0/lib64/libcupti.so.13", LNS_CUPTI_IN_TOOLKIT, 13000);
  LNS_CHECK_INT (copies[3].fit, LNS_CUPTI_SUITS);
  LNS_CHECK_INT (copies[4].fit, LNS_CUPTI_MAY_SUIT);
  LNS_CHECK_INT (copies[6].fit, LNS_CUPTI_IS_TOO_NEW);
  /* Without a driver that tells its version, the newest. What LD_LIBRARY_PATH names goes first. */
  setenv ("LD_LIBRARY_PATH", at ("/usr/local/cuda-12.2/lib64"), 1);
  search (0, NULL, NULL);
  expect (0, "/usr/local/cuda-12.2/lib64/libcupti.so.12", LNS_CUPTI_IN_LD_LIBRARY_PATH, 12020);
  expect (1, "/usr/local/cuda-13.0/lib64/libcupti.so.13", LNS_CUPTI_IN_TOOLKIT, 13000);
  end ();
}

/* A file is there once, whatever paths lead to it; folders and links to nothing are not there. */
static void
test_same_file (void)
{
  begin ();
  put ("/usr/local/cuda-12.4/targets/x86_64-linux/lib/libcupti.so.2024.1.1", "");
  LNS_CHECK (symlink ("libcupti.so.2024.1.1",
                      at ("/usr/local/cuda-12.4/targets/x86_64-linux/lib/libcupti.so.12")) == 0);
  LNS_CHECK (symlink ("targets/x86_64-linux/lib", at ("/usr/local/cuda-12.4/lib64")) == 0);
  LNS_CHECK (symlink ("cuda-12.4", at ("/usr/local/cuda")) == 0);
  put ("/y/libcupti.so.13/file", "");
  LNS_CHECK (symlink ("nothing", at ("/y/libcupti.so.12")) == 0);
  setenv ("LD_LIBRARY_PATH", at ("/y"), 1);
  setenv ("CUDA_HOME", at ("/usr/local/cuda"), 1);
  search (12040, NULL, NULL);
  LNS_CHECK_INT (n_copies, 1);
  expect (0, "/usr/local/cuda/lib64/libcupti.so.12", LNS_CUPTI_IN_CUDA_HOME, 12040);
  end ();
}

static void
test_no_room (void)
{
  begin ();
  put ("/usr/local/cuda-12.2/lib64/libcupti.so.12", "");
  put ("/usr/local/cuda-12.4/lib64/libcupti.so.12", "");
  const LnsCuptiAsked asked = { .root = root };
  LNS_CHECK_INT (lns_cupti_search (&asked, copies, 1), 1);
  char deep[600];
  memset (deep, 'x', sizeof deep - 1);
  deep[0] = '/';
  deep[sizeof deep - 1] = '\0';
  setenv ("CUDA_HOME", deep, 1);
  setenv ("LD_LIBRARY_PATH", deep, 1);
  setenv ("HOME", deep, 1);
  search (0, deep, deep);
  LNS_CHECK_INT (n_copies, 2);
  end ();
}

static void
test_find_program (void)
{
  char path[64], before[4096];
  snprintf (before, sizeof before, "%s", getenv ("PATH"));
  LNS_CHECK (lns_cupti_find_program ("/bin/sh", path, sizeof path));
  LNS_CHECK_STR (path, "/bin/sh");
  setenv ("PATH", "/nowhere:/bin:", 1);
  LNS_CHECK (lns_cupti_find_program ("sh", path, sizeof path));
  LNS_CHECK_STR (path, "/bin/sh");
  LNS_CHECK (!lns_cupti_find_program ("", path, sizeof path));
  LNS_CHECK (!lns_cupti_find_program ("sh", path, 4));
  LNS_CHECK (!lns_cupti_find_program ("no-such-program", path, sizeof path));
  setenv ("PATH", before, 1);
}

int
main (void)
{
  LNS_TEST (test_places);
  LNS_TEST (test_lists);
  LNS_TEST (test_program);
  LNS_TEST (test_runtime);
  LNS_TEST (test_order);
  LNS_TEST (test_same_file);
  LNS_TEST (test_no_room);
  LNS_TEST (test_find_program);
  return lns_tap_done ();
}
