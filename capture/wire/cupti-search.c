/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/wire/cupti-search.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *const lns_cupti_versions[LNS_CUPTI_N_VERSIONS] = {
  "15",   "14",   "13",   "12",   "11.8", "11.7", "11.6", "11.5",
  "11.4", "11.3", "11.2", "11.1", "11.0", "10.2", "10.1",
};

#if defined(__aarch64__)
# define TARGET    "targets/sbsa-linux/lib"
# define MULTIARCH "aarch64-linux-gnu"
#else
# define TARGET    "targets/x86_64-linux/lib"
# define MULTIARCH "x86_64-linux-gnu"
#endif

typedef struct
{
  const LnsCuptiAsked *asked;
  LnsCuptiCopy *copies;
  size_t n, n_max;
  LnsCuptiPlace place;
  int wheel; /* the CUDA of NVIDIA's package for Python whose folder is searched, 12040; 0: none */
} Search;

typedef void (*Visit) (Search *search, const char *path);

/* An entry of a folder as the kernel gives it. */
typedef struct
{
  uint64_t file;
  int64_t next;
  uint16_t n_bytes;
  uint8_t type;
  char name[];
} Entry;

static int
open_path (const char *path, int flags)
{
  return (int)syscall (SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC);
}

static bool
is_digit (char c)
{
  return c >= '0' && c <= '9';
}

/* strtol() would need a newer glibc. */
static int
take_number (const char **text)
{
  int number = 0;
  for (; is_digit (**text) && number < 100000; (*text)++)
    number = 10 * number + **text - '0';
  return number;
}

/* The version of CUDA that TEXT begins with: 12040 for "12.4.127". 0: none, or only a major one. */
static int
version_of (const char *text)
{
  const int major = take_number (&text);
  if (text[0] != '.' || !is_digit (text[1]))
    return 0;
  text++;
  return 1000 * major + 10 * take_number (&text);
}

/* The version of CUDA that a file of CUPTI with this NAME came with: 12040 for libcupti.so.2024.1.1, 11080 for
 * libcupti.so.11.8.87; 0: the name does not tell. */
static int
version_of_file (const char *name)
{
  static const struct
  {
    int year, first, n; /* CUDA of the year's first release, and how many there were */
  } years[] = { { 2020, 11000, 3 }, { 2021, 11030, 3 }, { 2022, 11060, 3 },
                { 2023, 12010, 3 }, { 2024, 12040, 3 }, { 2025, 12080, 2 } };
  static const struct
  {
    int year, release, cuda;
  } others[] = { { 2022, 4, 12000 },
                 { 2025, 3, 13000 },
                 { 2025, 4, 13010 },
                 { 2026, 1, 13020 },
                 { 2026, 2, 13030 } };
  static const char beginning[] = "libcupti.so.";
  const char *slash = strrchr (name, '/');
  name = slash != NULL ? slash + 1 : name;
  if (strncmp (name, beginning, sizeof beginning - 1) != 0)
    return 0;
  const int version = version_of (name + sizeof beginning - 1);
  if (version < 1000 * 1000)
    return version;
  const int year = version / 1000, release = version % 1000 / 10;
  for (size_t i = 0; i < sizeof years / sizeof *years; i++)
    if (year == years[i].year && release >= 1 && release <= years[i].n)
      return years[i].first + 10 * (release - 1);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (year == others[i].year && release == others[i].release)
      return others[i].cuda;
  return 0;
}

/* The version of CUDA that a folder of PATH is named by, as /usr/local/cuda-12.4; 0: none is. */
static int
version_of_folder (const char *path)
{
  static const char beginning[] = "/cuda-";
  int version = 0;
  for (; (path = strstr (path, beginning)) != NULL; path++)
    if (version_of (path + sizeof beginning - 1) != 0)
      version = version_of (path + sizeof beginning - 1);
  return version;
}

static LnsCuptiFit
fit_of (const Search *search, int cuda)
{
  const int driver = search->asked->driver;
  if (driver != 0 && cuda / 1000 > driver / 1000)
    return LNS_CUPTI_IS_TOO_NEW;
  if (driver != 0 && cuda > driver)
    return LNS_CUPTI_MAY_SUIT;
  return search->place == LNS_CUPTI_IN_LD_LIBRARY_PATH ? LNS_CUPTI_IS_NAMED : LNS_CUPTI_SUITS;
}

/* Adds the file that FD is open on, FOLDER/libcupti.so.VERSION, unless it is there by another path. */
static void
add (Search *search, int fd, const char *folder, const char *version)
{
  LnsCuptiCopy *copy = &search->copies[search->n];
  char link[32], real[LNS_CUPTI_PATH_BYTES];
  struct stat status;
  snprintf (link, sizeof link, "/proc/self/fd/%d", fd);
  const long n_real = syscall (SYS_readlinkat, AT_FDCWD, link, real, sizeof real - 1);
  real[n_real > 0 ? n_real : 0] = '\0';
  if (search->n == search->n_max || syscall (SYS_newfstatat, fd, "", &status, AT_EMPTY_PATH) != 0 ||
      !S_ISREG (status.st_mode))
    return;
  for (size_t i = 0; i < search->n; i++)
    if (search->copies[i].device == status.st_dev && search->copies[i].file == status.st_ino)
      return;
  if (snprintf (copy->path, sizeof copy->path, "%s/libcupti.so.%s", folder, version) >=
      (int)sizeof copy->path)
    return;
  /* Names of the release say more than those that only end in the major version. */
  const int told[] = { version_of (version), version_of_file (real), search->wheel,
                       version_of_folder (real) };
  const char *major = version;
  copy->cuda = 1000 * take_number (&major);
  copy->has_minor = false;
  for (size_t i = 0; i < sizeof told / sizeof *told && !copy->has_minor; i++)
    if (told[i] != 0 && told[i] / 1000 == copy->cuda / 1000)
      {
        copy->cuda = told[i];
        copy->has_minor = true;
      }
  copy->place = search->place;
  copy->fit = fit_of (search, copy->cuda);
  copy->device = status.st_dev;
  copy->file = status.st_ino;
  search->n++;
}

static void
look_in (Search *search, const char *folder)
{
  const int folder_fd = open_path (folder, O_PATH | O_DIRECTORY);
  if (folder_fd < 0)
    return;
  for (size_t i = 0; i < LNS_CUPTI_N_VERSIONS; i++)
    {
      char name[32];
      snprintf (name, sizeof name, "libcupti.so.%s", lns_cupti_versions[i]);
      const int fd = (int)syscall (SYS_openat, folder_fd, name, O_PATH | O_CLOEXEC);
      if (fd < 0)
        continue;
      add (search, fd, folder, lns_cupti_versions[i]);
      (void)syscall (SYS_close, fd);
    }
  (void)syscall (SYS_close, folder_fd);
}

/* Calls VISIT with the path that consists of PARTS, which a null ends, unless it is too long. */
static void
visit (Search *search, Visit visitor, const char *const *parts)
{
  char path[LNS_CUPTI_PATH_BYTES];
  size_t n = 0;
  for (; *parts != NULL; parts++)
    {
      const size_t n_part = strlen (*parts);
      if (n + n_part >= sizeof path)
        return;
      memcpy (path + n, *parts, n_part);
      n += n_part;
    }
  path[n] = '\0';
  visitor (search, path);
}
#define VISIT(visitor, ...) visit (search, visitor, (const char *const[]){ __VA_ARGS__, NULL })

/* Calls VISITOR with the path of each entry of FOLDER whose name begins with BEGINNING, and END after it. */
static void
visit_entries (
    Search *search, const char *folder, const char *beginning, const char *end, Visit visitor)
{
  _Alignas(Entry) char bytes[2048];
  const int fd = open_path (folder, O_RDONLY | O_DIRECTORY);
  long n;
  if (fd < 0)
    return;
  while ((n = syscall (SYS_getdents64, fd, bytes, sizeof bytes)) > 0)
    for (long at = 0; at < n; at += ((const Entry *)(bytes + at))->n_bytes)
      {
        const char *name = ((const Entry *)(bytes + at))->name;
        if (strncmp (name, beginning, strlen (beginning)) == 0)
          VISIT (visitor, folder, "/", name, end);
      }
  (void)syscall (SYS_close, fd);
}

/* A folder of a toolkit, or that has what a toolkit has, as an environment of conda. */
static void
look_in_toolkit (Search *search, const char *folder)
{
  VISIT (look_in, folder, "/extras/CUPTI/lib64");
  VISIT (look_in, folder, "/lib64");
  VISIT (look_in, folder, "/lib");
  VISIT (look_in, folder, "/" TARGET);
}

/* Takes the version of the package of CUPTI, nvidia_cuda_cupti_cu12-12.4.127.dist-info. */
static void
take_wheel (Search *search, const char *path)
{
  const char *dash = strchr (strrchr (path, '/'), '-');
  if (dash != NULL && version_of (dash + 1) > search->wheel)
    search->wheel = version_of (dash + 1);
}

/* A folder of Python's packages. Packages of CUDA 11 and 12 have a folder for each library, those of CUDA 13 have one for
 * all, nvidia/cu13. Triton has a copy of its own. */
static void
look_in_packages (Search *search, const char *folder)
{
  VISIT (look_in, folder, "/triton/backends/nvidia/lib/cupti");
  char nvidia[LNS_CUPTI_PATH_BYTES];
  if (snprintf (nvidia, sizeof nvidia, "%s/nvidia", folder) >= (int)sizeof nvidia ||
      syscall (SYS_faccessat, AT_FDCWD, nvidia, F_OK) != 0)
    return;
  visit_entries (search, folder, "nvidia_cuda_cupti", "", take_wheel);
  VISIT (look_in, nvidia, "/cuda_cupti/lib");
  visit_entries (search, nvidia, "cu1", "/lib", look_in);
  search->wheel = 0;
}

/* A folder as /usr, or an environment of conda or Python. */
static void
look_in_prefix (Search *search, const char *folder)
{
  static const char *const libraries[] = { "/lib", "/lib64" };
  look_in_toolkit (search, folder);
  for (size_t i = 0; i < 2; i++)
    {
      char path[LNS_CUPTI_PATH_BYTES];
      if (snprintf (path, sizeof path, "%s%s", folder, libraries[i]) >= (int)sizeof path)
        return;
      visit_entries (search, path, "python3", "/site-packages", look_in_packages);
      visit_entries (search, path, "python3", "/dist-packages", look_in_packages);
    }
}

/* Calls VISITOR with PATH without its last N components. */
static void
visit_above (Search *search, const char *path, int n, Visit visitor)
{
  size_t n_bytes = strlen (path);
  for (; n > 0; n--)
    {
      while (n_bytes > 0 && path[n_bytes - 1] != '/')
        n_bytes--;
      while (n_bytes > 1 && path[n_bytes - 1] == '/')
        n_bytes--;
    }
  char folder[LNS_CUPTI_PATH_BYTES];
  if (n_bytes >= sizeof folder)
    return;
  memcpy (folder, path, n_bytes);
  folder[n_bytes] = '\0';
  visitor (search, n_bytes == 0 ? "." : folder);
}

/* The environment that the program's file lies in: that of the links to it, then its own. */
static void
look_in_program (Search *search)
{
  const int fd = search->asked->program == NULL ? -1 : open_path (search->asked->program, O_PATH);
  if (fd < 0)
    return;
  char link[32], real[LNS_CUPTI_PATH_BYTES];
  snprintf (link, sizeof link, "/proc/self/fd/%d", fd);
  const long n_real = syscall (SYS_readlinkat, AT_FDCWD, link, real, sizeof real - 1);
  (void)syscall (SYS_close, fd);
  visit_above (search, search->asked->program, 2, look_in_prefix);
  if (n_real <= 0)
    return;
  real[n_real] = '\0';
  visit_above (search, real, 2, look_in_prefix);
}

/* The runtime of a toolkit lies in TOOLKIT/lib64, that of a package in PACKAGES/nvidia/cuda_runtime/lib. */
static void
look_beside_runtime (Search *search)
{
  const char *runtime = search->asked->runtime;
  search->place = LNS_CUPTI_BESIDE_RUNTIME;
  if (runtime == NULL || runtime[0] != '/')
    return;
  visit_above (search, runtime, 1, look_in);
  visit_above (search, runtime, 2, look_in_toolkit);
  if (strstr (runtime, "/nvidia/") != NULL)
    visit_above (search, runtime, 4, look_in_packages);
}

/* The folders that the variable NAME lists. */
static void
look_in_list (Search *search, LnsCuptiPlace place, const char *name, Visit visitor)
{
  const char *list = getenv (name);
  search->place = place;
  for (size_t n; list != NULL && *list != '\0'; list += n + (list[n] != '\0'))
    {
      char folder[LNS_CUPTI_PATH_BYTES];
      n = strcspn (list, ":;");
      if (n == 0 || n >= sizeof folder)
        continue;
      memcpy (folder, list, n);
      folder[n] = '\0';
      visitor (search, folder);
    }
}

/* The folders that a file of the loader's configuration lists, one a line. */
static void
look_in_configured (Search *search, const char *path)
{
  char text[4096];
  const int fd = open_path (path, O_RDONLY);
  const long n = fd < 0 ? 0 : (long)syscall (SYS_read, fd, text, sizeof text - 1);
  if (fd >= 0)
    (void)syscall (SYS_close, fd);
  text[n > 0 ? n : 0] = '\0';
  for (char *line = text; *line != '\0';)
    {
      const size_t n_line = strcspn (line, " \t\r\n");
      const bool is_end = line[n_line] == '\0';
      line[n_line] = '\0';
      if (line[0] == '/')
        VISIT (look_in, search->asked->root, line);
      line += n_line + !is_end;
    }
}

static void
look_in_system (Search *search)
{
  static const char *const folders[] = { "/usr/lib/" MULTIARCH, "/lib/" MULTIARCH, "/usr/lib64",
                                         "/lib64" };
  const char *root = search->asked->root;
  search->place = LNS_CUPTI_IN_TOOLKIT;
  char local[LNS_CUPTI_PATH_BYTES], configured[LNS_CUPTI_PATH_BYTES];
  if (snprintf (local, sizeof local, "%s/usr/local", root) >= (int)sizeof local ||
      snprintf (configured, sizeof configured, "%s/etc/ld.so.conf.d", root) >=
          (int)sizeof configured)
    return;
  visit_entries (search, local, "cuda", "", look_in_toolkit);
  VISIT (look_in_toolkit, root, "/opt/cuda");
  search->place = LNS_CUPTI_IN_SYSTEM;
  VISIT (look_in_configured, root, "/etc/ld.so.conf");
  visit_entries (search, configured, "", "", look_in_configured);
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
    VISIT (look_in, root, folders[i]);
  look_in_prefix (search, local);
  VISIT (look_in_prefix, root, "/usr");
}

/* Whether A is to be tried before B. Among those that are newer than the driver, the oldest comes first. */
static bool
is_before (const LnsCuptiCopy *a, const LnsCuptiCopy *b)
{
  if (a->fit != b->fit)
    return a->fit < b->fit;
  return a->fit == LNS_CUPTI_MAY_SUIT ? a->cuda < b->cuda : a->cuda > b->cuda;
}

size_t
lns_cupti_search (const LnsCuptiAsked *asked, LnsCuptiCopy *ret_copies, size_t n_max)
{
  Search state = { .asked = asked, .copies = ret_copies, .n_max = n_max }, *search = &state;
  const char *home = getenv ("HOME");
  look_in_list (search, LNS_CUPTI_IN_LD_LIBRARY_PATH, "LD_LIBRARY_PATH", look_in);
  look_beside_runtime (search);
  look_in_list (search, LNS_CUPTI_IN_CUDA_HOME, "CUDA_HOME", look_in_toolkit);
  look_in_list (search, LNS_CUPTI_IN_CUDA_PATH, "CUDA_PATH", look_in_toolkit);
  search->place = LNS_CUPTI_IN_PROGRAM;
  look_in_program (search);
  look_in_list (search, LNS_CUPTI_IN_VIRTUAL_ENV, "VIRTUAL_ENV", look_in_prefix);
  look_in_list (search, LNS_CUPTI_IN_CONDA_PREFIX, "CONDA_PREFIX", look_in_prefix);
  look_in_list (search, LNS_CUPTI_IN_PYTHONPATH, "PYTHONPATH", look_in_packages);
  search->place = LNS_CUPTI_IN_USER_PACKAGES;
  if (home != NULL && home[0] == '/')
    VISIT (look_in_prefix, home, "/.local");
  look_in_system (search);
  /* Insertion keeps the order of places. */
  for (size_t i = 1; i < state.n; i++)
    {
      const LnsCuptiCopy copy = ret_copies[i];
      size_t at = i;
      for (; at > 0 && is_before (&copy, &ret_copies[at - 1]); at--)
        ret_copies[at] = ret_copies[at - 1];
      ret_copies[at] = copy;
    }
  return state.n;
}

bool
lns_cupti_find_program (const char *name, char *ret_path, size_t n_max)
{
  const char *list = strchr (name, '/') != NULL ? "" : getenv ("PATH");
  if (list == NULL || name[0] == '\0')
    return false;
  do
    {
      const size_t n = strcspn (list, ":");
      const int n_path =
          snprintf (ret_path, n_max, "%.*s%s%s", (int)n, list, n > 0 ? "/" : "", name);
      if (n_path > 0 && (size_t)n_path < n_max &&
          syscall (SYS_faccessat, AT_FDCWD, ret_path, X_OK) == 0)
        return true;
      list += n + (list[n] == ':');
    }
  while (*list != '\0');
  return false;
}
