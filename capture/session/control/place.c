/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "capture/session/control/place.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/compare.h"
#include "src/base/monotonic.h"

#define MAGIC 0x32534e4cu /* LNS2: changes with the entry */

/* How long, and for how many sessions, the entries of ended sessions are kept. */
#define REMEMBERED_NS INT64_C (3600000000000)
#define REMEMBERED    4

/* A request is a command line. */
#define START_MAX_BYTES ((size_t)1 << 20)

const char *
lns_session_state_name (LnsSessionState state)
{
  static const char *const names[] = {
    "WaitingForLaunch", "Launched", "DelayedCollection", "Collection", "Generation", "Ended", "Lost"
  };
  return names[state];
}

bool
lns_session_check_name (const char *name, LnsError *error)
{
  size_t n = strlen (name), n_digits = strspn (name, "0123456789");
  bool fits = n >= 1 && n <= LNS_SESSION_NAME_MAX_BYTES && n_digits < n;
  for (size_t i = 0; i < n; i++)
    fits = fits && !iscntrl ((unsigned char)name[i]);
  return fits || lns_error_set (error, LNS_ERROR_USAGE, 0,
                                "“%.140s” is not a valid session name; use up to %d bytes without "
                                "control characters, and not a number",
                                name, LNS_SESSION_NAME_MAX_BYTES);
}

/* --- The folder ------------------------------------------------------------------------------- */

/* Fills FOLDER with its path in PARENT. Returns false if it cannot be made there. */
static bool
fill_folder (const char *parent, char folder[LNS_SESSION_PATH_MAX_BYTES])
{
  const int n = snprintf (folder, LNS_SESSION_PATH_MAX_BYTES, "%s/lanescope-sessions-%u", parent,
                          (unsigned)geteuid ());
  return n > 0 && n < LNS_SESSION_PATH_MAX_BYTES && parent[0] == '/' &&
         access (parent, W_OK | X_OK) == 0;
}

/* Fills FOLDER with the path of the folder, and makes that if MAY_MAKE. Returns false and ERROR if it cannot be
 * made or others may enter it. */
static bool
find_folder (bool may_make, char folder[LNS_SESSION_PATH_MAX_BYTES], LnsError *error)
{
  const char *runtime = getenv ("XDG_RUNTIME_DIR"), *temporary = getenv ("TMPDIR");
  char own[32];
  struct stat status;
  snprintf (own, sizeof own, "/run/user/%u", (unsigned)geteuid ());
  if ((runtime == NULL || !fill_folder (runtime, folder)) && !fill_folder (own, folder) &&
      !fill_folder ("/tmp", folder) && (temporary == NULL || !fill_folder (temporary, folder)) &&
      !fill_folder ("/dev/shm", folder))
    return lns_error_set (
        error, LNS_ERROR_IO, errno,
        "cannot make a folder for sessions in /tmp: %s; set XDG_RUNTIME_DIR or TMPDIR "
        "to a folder that you can write to",
        strerror (errno));
  if (may_make && mkdir (folder, 0700) != 0 && errno != EEXIST)
    return lns_error_set_errno (error, errno, "cannot make the folder for sessions, %s", folder);
  /* In /tmp, another user may have made it before. */
  if (lstat (folder, &status) == 0 &&
      (!S_ISDIR (status.st_mode) || status.st_uid != geteuid () || (status.st_mode & 077) != 0))
    return lns_error_set (error, LNS_ERROR_IO, EPERM,
                          "other users can enter the folder for sessions, %s; "
                          "remove it, or set XDG_RUNTIME_DIR to a folder of yours",
                          folder);
  return true;
}

/* Finds or makes the folder and locks it: others cannot add or remove sessions until the descriptor that is
 * returned is closed. Returns -1 and ERROR if it fails. */
static int
lock (char folder[LNS_SESSION_PATH_MAX_BYTES], LnsError *error)
{
  while (find_folder (true, folder, error))
    {
      struct stat locked, there;
      int fd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), failed = 0;
      do
        failed = fd < 0 || flock (fd, LOCK_EX) != 0 ? errno : 0;
      while (failed == EINTR);
      if (failed == 0 && fstat (fd, &locked) == 0 && lstat (folder, &there) == 0 &&
          locked.st_ino == there.st_ino && locked.st_dev == there.st_dev)
        return fd;
      if (fd >= 0)
        close (fd);
      /* Else the last session that ended has just removed it. */
      if (failed != 0 && failed != ENOENT)
        {
          lns_error_set_errno (error, failed, "cannot lock %s", folder);
          return -1;
        }
    }
  return -1;
}

/* Unlocks the folder, and removes it if it is empty. */
static void
unlock (const char *folder, int fd)
{
  if (fd < 0)
    return;
  rmdir (folder);
  close (fd);
}

/* Room for FOLDER/ID.KIND. */
typedef struct
{
  char text[LNS_SESSION_PATH_MAX_BYTES + 32];
} Path;

static Path
path_of (const char *folder, uint32_t id, const char *kind)
{
  Path path;
  snprintf (path.text, sizeof path.text, "%s/%u.%s", folder, id, kind);
  return path;
}

static void
erase (const char *folder, uint32_t id)
{
  static const char *const kinds[] = { "socket", "start", "session" };
  for (int i = 0; i < 3; i++)
    unlink (path_of (folder, id, kinds[i]).text);
}

/* --- Reading ---------------------------------------------------------------------------------- */

static bool
read_entry (const char *folder, uint32_t id, LnsSessionEntry *ret_entry)
{
  int fd = open (path_of (folder, id, "session").text, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  bool is_one = fd >= 0 && read (fd, ret_entry, sizeof *ret_entry) == (ssize_t)sizeof *ret_entry &&
                ret_entry->magic == MAGIC && ret_entry->id == id &&
                ret_entry->state <= LNS_SESSION_ENDED;
  if (is_one)
    {
      ret_entry->name[sizeof ret_entry->name - 1] = '\0';
      ret_entry->report[sizeof ret_entry->report - 1] = '\0';
      const bool is_owned =
          ret_entry->state != LNS_SESSION_WAITING && ret_entry->state != LNS_SESSION_ENDED;
      if (is_owned && flock (fd, LOCK_SH | LOCK_NB) == 0)
        {
          ret_entry->state = LNS_SESSION_LOST;
          unlink (path_of (folder, id, "socket").text);
        }
    }
  if (fd >= 0)
    close (fd);
  return is_one;
}

static int
by_age (const void *a, const void *b)
{
  const LnsSessionEntry *first = a, *second = b;
  return LNS_COMPARE (first->began_ns, second->began_ns);
}

static LnsSessionEntry *
list (const char *folder_path, size_t *ret_n)
{
  LNS_ARRAY (LnsSessionEntry) entries = { 0 };
  DIR *folder = opendir (folder_path);
  struct dirent *file;
  while (folder != NULL && (file = readdir (folder)) != NULL)
    {
      char *end;
      unsigned long id = strtoul (file->d_name, &end, 10);
      if (end == file->d_name || strcmp (end, ".session") != 0 || id > UINT32_MAX)
        continue;
      LnsSessionEntry *entry = lns_array_add (&entries);
      entries.n -= !read_entry (folder_path, (uint32_t)id, entry);
    }
  if (folder != NULL)
    closedir (folder);
  if (entries.n > 0)
    qsort (entries.items, entries.n, sizeof *entries.items, by_age);
  *ret_n = entries.n;
  return entries.items;
}

bool
lns_session_is_over (const LnsSessionEntry *entry)
{
  return entry->state == LNS_SESSION_ENDED || entry->state == LNS_SESSION_LOST;
}

/* Whether entry AT of N, the oldest first, is of a session that ended too long ago to be kept. */
static bool
is_stale (const LnsSessionEntry *entries, size_t n, size_t at, int64_t now_ns)
{
  size_t n_later = 0;
  for (size_t i = at + 1; i < n; i++)
    n_later += lns_session_is_over (&entries[i]);
  return lns_session_is_over (&entries[at]) &&
         (n_later >= REMEMBERED || now_ns - entries[at].told_ns > REMEMBERED_NS);
}

LnsSessionEntry *
lns_session_list (size_t *ret_n)
{
  char folder[LNS_SESSION_PATH_MAX_BYTES];
  size_t n = 0;
  *ret_n = 0;
  LnsSessionEntry *entries = find_folder (false, folder, NULL) ? list (folder, &n) : NULL;
  const int64_t now_ns = lns_clock_now_ns (CLOCK_REALTIME);
  for (size_t i = 0; i < n; i++)
    if (!is_stale (entries, n, i, now_ns))
      entries[(*ret_n)++] = entries[i]; /* never ahead of I */
  return entries;
}

/* How well NAME fits ENTRY: 3 if it is its name, 2 its id, 1 the beginning of its name, 0 if it does not fit. */
static int
fit (const LnsSessionEntry *entry, const char *name)
{
  const size_t n = strlen (name);
  char id[16];
  snprintf (id, sizeof id, "%u", entry->id);
  if (strcmp (entry->name, name) == 0)
    return 3;
  if (strcmp (id, name) == 0)
    return 2;
  return strncmp (entry->name, name, n) == 0 && entry->name[n] == '-';
}

/* Sets ERROR, which lists the sessions to choose from. Returns false. */
static bool
tell_ambiguous (const LnsSessionEntry *entries, size_t n, LnsError *error)
{
  char names[512] = "";
  size_t used = 0;
  for (size_t i = 0; i < n && used < sizeof names; i++)
    if (!lns_session_is_over (&entries[i]))
      used += (size_t)snprintf (names + used, sizeof names - used, "%s%s", used > 0 ? ", " : "",
                                entries[i].name);
  return lns_error_set (error, LNS_ERROR_USAGE, 0,
                        "there are several sessions (%s); choose one with --session=NAME", names);
}

bool
lns_session_find (const char *name, LnsSessionEntry *ret_entry, LnsError *error)
{
  size_t n, n_alive = 0;
  LnsSessionEntry *entries = lns_session_list (&n);
  const LnsSessionEntry *best = NULL;
  int best_fit = 0;
  for (size_t i = 0; i < n; i++)
    {
      /* A living session comes before one that is over; of those that are over, the last one counts. */
      int how = name != NULL ? fit (&entries[i], name) : 1;
      if (how > 0 && !lns_session_is_over (&entries[i]))
        how += 4;
      n_alive += !lns_session_is_over (&entries[i]);
      if (how > 0 && how >= best_fit)
        {
          best = &entries[i];
          best_fit = how;
        }
    }
  bool found = best != NULL;
  if (name == NULL && n_alive > 1)
    found = tell_ambiguous (entries, n, error);
  else if (found)
    *ret_entry = *best;
  else if (name != NULL)
    lns_error_set (error, LNS_ERROR_USAGE, ENOENT,
                   "there is no session “%.140s”; `lanescope sessions list` shows the sessions",
                   name);
  else
    lns_error_set (error, LNS_ERROR_USAGE, ENOENT,
                   "there is no session; `lanescope launch` or `lanescope profile` starts one");
  free (entries);
  return found;
}

bool
lns_session_socket_path (const LnsSessionEntry *entry, char *path, size_t room, LnsError *error)
{
  char folder[LNS_SESSION_PATH_MAX_BYTES];
  if (!find_folder (false, folder, error))
    return false;
  snprintf (path, room, "%s", path_of (folder, entry->id, "socket").text);
  return true;
}

void
lns_session_forget (const LnsSessionEntry *entry)
{
  char folder[LNS_SESSION_PATH_MAX_BYTES];
  LnsSessionEntry now;
  int lock_fd = lock (folder, NULL);
  if (lock_fd >= 0 && read_entry (folder, entry->id, &now) && now.began_ns == entry->began_ns &&
      (lns_session_is_over (&now) || now.state == LNS_SESSION_WAITING))
    erase (folder, entry->id);
  unlock (folder, lock_fd);
}

/* --- Coming ----------------------------------------------------------------------------------- */

/* Removes the entries of sessions that ended too long ago. The lock is held. */
static void
sweep (const char *folder)
{
  size_t n;
  LnsSessionEntry *entries = list (folder, &n);
  const int64_t now_ns = lns_clock_now_ns (CLOCK_REALTIME);
  for (size_t i = 0; i < n; i++)
    if (is_stale (entries, n, i, now_ns))
      erase (folder, entries[i].id);
  free (entries);
}

/* Finds the session that `launch` continues: NAME, if it waits, or the only one that waits if NAME is NULL. RET_AT
 * is its index, or -1. Returns false and ERROR if there are several. */
static bool
find_waiting (
    const LnsSessionEntry *entries, size_t n, const char *name, int *ret_at, LnsError *error)
{
  *ret_at = -1;
  for (size_t i = 0; i < n; i++)
    if (entries[i].state == LNS_SESSION_WAITING &&
        (name == NULL || strcmp (entries[i].name, name) == 0))
      {
        if (*ret_at >= 0)
          return tell_ambiguous (entries, n, error);
        *ret_at = (int)i;
      }
  return true;
}

/* Whether ID is free. Removes the files of a session that is over, also if another version wrote them. */
static bool
is_unused (const char *folder, uint32_t id)
{
  LnsSessionEntry entry;
  if (read_entry (folder, id, &entry) && entry.state == LNS_SESSION_WAITING)
    return false;
  int fd = open (path_of (folder, id, "session").text, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  const bool is_free = fd < 0 ? errno == ENOENT : flock (fd, LOCK_EX | LOCK_NB) == 0;
  if (fd >= 0 && is_free)
    erase (folder, id);
  if (fd >= 0)
    close (fd);
  return is_free;
}

/* Sets the name of ENTRY, NAME or STEM-ID-PROGRAM if that is NULL, and an id that is free. Returns false and ERROR
 * if NAME is taken. The lock is held. */
static bool
choose (const char *folder,
        const char *name,
        const char *stem,
        const char *program,
        LnsSessionEntry *entry,
        LnsError *error)
{
  size_t n;
  LnsSessionEntry *entries = list (folder, &n);
  bool is_free = true;
  /* A living session of another pid namespace may have the same id. */
  for (entry->id = (uint32_t)getpid (); !is_unused (folder, entry->id);)
    entry->id++;
  for (size_t i = 0; i < n && name != NULL; i++)
    {
      const LnsSessionEntry *other = &entries[i];
      if (strcmp (other->name, name) != 0)
        continue;
      if (lns_session_is_over (other))
        erase (folder, other->id);
      else
        is_free = lns_error_set (
            error, LNS_ERROR_USAGE, EEXIST,
            "session “%s” exists already (process %d); choose another --session-new=NAME, or end "
            "that one with `lanescope shutdown --session='%s'`",
            name, other->program_pid != 0 ? other->program_pid : other->owner_pid, name);
    }
  free (entries);
  if (name != NULL)
    snprintf (entry->name, sizeof entry->name, "%s", name);
  else
    snprintf (entry->name, sizeof entry->name, "%.16s-%u%s%.80s", stem, entry->id,
              program != NULL ? "-" : "", program != NULL ? program : "");
  return is_free;
}

static bool
put_entry (const char *folder, const LnsSessionEntry *entry, int *ret_fd, LnsError *error)
{
  Path path = path_of (folder, entry->id, "session");
  int fd = open (path.text, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd >= 0 && flock (fd, LOCK_EX) == 0 &&
      write (fd, entry, sizeof *entry) == (ssize_t)sizeof *entry)
    {
      *ret_fd = fd;
      return true;
    }
  lns_error_set_errno (error, errno, "cannot write %s", path.text);
  if (fd >= 0)
    {
      unlink (path.text);
      close (fd);
    }
  return false;
}

/* Listens on ID.socket in FOLDER. */
static int
listen_at (const char *folder, uint32_t id, LnsError *error)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  Path path = path_of (folder, id, "socket");
  int fd = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  snprintf (address.sun_path, sizeof address.sun_path, "%.107s", path.text);
  unlink (path.text);
  if (fd >= 0 && bind (fd, (struct sockaddr *)&address, sizeof address) == 0 &&
      chmod (path.text, 0600) == 0 && listen (fd, 16) == 0)
    return fd;
  lns_error_set_errno (error, errno, "cannot make the session's socket %s", path.text);
  if (fd >= 0)
    close (fd);
  return -1;
}

/* Takes the request of session ID, and removes the session. Returns NULL if there is no request. */
static char *
take_start (const char *folder, uint32_t id, size_t *ret_n_bytes)
{
  char *bytes = malloc (START_MAX_BYTES);
  int fd = open (path_of (folder, id, "start").text, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  ssize_t n = fd >= 0 && bytes != NULL ? read (fd, bytes, START_MAX_BYTES) : -1;
  if (fd >= 0)
    close (fd);
  erase (folder, id);
  if (n <= 0)
    {
      free (bytes);
      return NULL;
    }
  *ret_n_bytes = (size_t)n;
  return bytes;
}

bool
lns_session_place_open (LnsSessionPlace *place,
                        const char *name,
                        const char *stem,
                        const char *program,
                        bool may_continue,
                        char **ret_start,
                        size_t *ret_n_bytes,
                        LnsError *error)
{
  *place = LNS_SESSION_NOWHERE;
  *ret_start = NULL;
  place->entry = (LnsSessionEntry){ .magic = MAGIC,
                                    .state = LNS_SESSION_LAUNCHED,
                                    .owner_pid = getpid (),
                                    .began_ns = lns_clock_now_ns (CLOCK_REALTIME) };
  place->entry.told_ns = place->entry.began_ns;
  int lock_fd = lock (place->folder, error);
  if (lock_fd < 0)
    return false;
  sweep (place->folder);
  size_t n = 0;
  LnsSessionEntry *entries = may_continue ? list (place->folder, &n) : NULL;
  char own_name[sizeof place->entry.name];
  int waiting;
  bool done = find_waiting (entries, n, name, &waiting, error);
  if (done && waiting >= 0)
    {
      *ret_start = take_start (place->folder, entries[waiting].id, ret_n_bytes);
      name = strcpy (own_name, entries[waiting].name);
    }
  free (entries);
  done = done && choose (place->folder, name, stem, program, &place->entry, error) &&
         (place->socket_fd = listen_at (place->folder, place->entry.id, error)) >= 0 &&
         put_entry (place->folder, &place->entry, &place->entry_fd, error);
  close (lock_fd);
  if (!done)
    {
      lns_session_place_close (place, false);
      free (*ret_start);
      *ret_start = NULL;
    }
  return done;
}

bool
lns_session_place_leave (const char *name,
                         const char *start,
                         size_t n_bytes,
                         LnsSessionEntry *ret_entry,
                         LnsError *error)
{
  char folder[LNS_SESSION_PATH_MAX_BYTES];
  int lock_fd = lock (folder, error);
  if (lock_fd < 0)
    return false;
  sweep (folder);
  *ret_entry = (LnsSessionEntry){ .magic = MAGIC,
                                  .state = LNS_SESSION_WAITING,
                                  .began_ns = lns_clock_now_ns (CLOCK_REALTIME) };
  int entry_fd = -1;
  bool done = choose (folder, name, "start", NULL, ret_entry, error);
  if (done)
    {
      Path path = path_of (folder, ret_entry->id, "start");
      int fd = open (path.text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
      done =
          n_bytes <= START_MAX_BYTES && fd >= 0 && write (fd, start, n_bytes) == (ssize_t)n_bytes;
      if (!done)
        lns_error_set_errno (error, n_bytes > START_MAX_BYTES ? E2BIG : errno, "cannot write %s",
                             path.text);
      if (fd >= 0)
        close (fd);
      done = done && put_entry (folder, ret_entry, &entry_fd, error);
      if (!done)
        erase (folder, ret_entry->id);
    }
  if (entry_fd >= 0)
    close (entry_fd);
  close (lock_fd);
  return done;
}

/* --- Going ------------------------------------------------------------------------------------ */

void
lns_session_place_tell (LnsSessionPlace *place)
{
  if (place->entry_fd < 0)
    return;
  place->entry.told_ns = lns_clock_now_ns (CLOCK_REALTIME);
  ssize_t n = pwrite (place->entry_fd, &place->entry, sizeof place->entry, 0);
  (void)n; /* if the disk is full, others see the state before */
}

void
lns_session_place_close (LnsSessionPlace *place, bool is_remembered)
{
  if (place->folder[0] == '\0')
    return;
  int lock_fd = lock (place->folder, NULL);
  place->entry.state = LNS_SESSION_ENDED;
  lns_session_place_tell (place);
  /* A process that gets no answer then finds the state ENDED. */
  if (place->socket_fd >= 0)
    {
      unlink (path_of (place->folder, place->entry.id, "socket").text);
      close (place->socket_fd);
    }
  if (place->entry_fd >= 0 && !is_remembered)
    erase (place->folder, place->entry.id);
  if (place->entry_fd >= 0)
    close (place->entry_fd);
  unlock (place->folder, lock_fd);
  *place = LNS_SESSION_NOWHERE;
}
