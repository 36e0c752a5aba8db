/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/symbols/dwarf-names.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/memory.h"
#include "src/base/regular-file.h"
#include "src/symbols/span-list.h"

#define MOST_NESTING 200 /* of scopes and inlined calls within each other */

/* A compilation, whose lines may be in another unit (split DWARF) than its functions. */
typedef struct
{
  Dwarf_Die lines;
  Dwarf_Die functions;
  bool is_used;   /* an address in it was looked up */
  bool is_listed; /* its edges were listed */
} Unit;

/* An inlined call within the current function. Those within others follow them. */
typedef struct
{
  uint64_t start, end;
  unsigned depth; /* 0: directly within the function */
  uint32_t call;
} Scope;

typedef struct
{
  Dwarf_Die die;
  LnsDwarfFrame caller; /* the place of the call; `function` is not used */
  const char *name;
  bool has_name;
} Call;

struct LnsDwarfNames
{
  int fd;
  Dwarf *dwarf;
  LNS_ARRAY (Unit) units;
  LnsSpanList unit_spans; /* sorted; `name` is the number of the unit */
  bool lacks_files;       /* parts of the DWARF are in other files, which are missing */
  uint32_t unit;          /* the one that the members below are of */
  LNS_ARRAY (Dwarf_Die) functions;
  LnsSpanList function_spans;
  uint32_t function; /* the one that the members below are of, or LNS_SPAN_NONE */
  const char *function_name;
  LNS_ARRAY (Call) calls;
  LNS_ARRAY (Scope) scopes;
};

/* Adds the address ranges of DIE to SPANS under the number NAME. */
static void
add_ranges (LnsSpanList *spans, Dwarf_Die *die, uint64_t name)
{
  Dwarf_Addr base, start, end;
  ptrdiff_t at = 0;
  while ((at = dwarf_ranges (die, at, &base, &start, &end)) > 0)
    if (end > start)
      *lns_array_add (spans) = (LnsSpan){ start, end, name, name };
}

/* Sorted by start, an inner span comes after those around it, and has the higher rank. */
static void
index_spans (LnsSpanList *spans)
{
  lns_span_list_sort (spans);
  for (size_t i = 0; i < spans->n; i++)
    spans->items[i].rank = i;
}

LnsDwarfNames *
lns_dwarf_names_new (const char *path)
{
  const int fd = lns_regular_file_open (path);
  Dwarf *dwarf = fd >= 0 ? dwarf_begin (fd, DWARF_C_READ) : NULL;
  if (dwarf == NULL)
    {
      if (fd >= 0)
        close (fd);
      return NULL;
    }
  LnsDwarfNames *names = lns_calloc (1, sizeof *names);
  names->fd = fd;
  names->dwarf = dwarf;
  Dwarf_CU *at = NULL;
  Dwarf_Die unit_die, split_die;
  uint8_t type;
  /* .debug_aranges has such an index, but not every compiler writes it. */
  while (dwarf_get_units (dwarf, at, &at, NULL, &type, &unit_die, &split_die) == 0)
    if (type == DW_UT_compile || type == DW_UT_skeleton)
      {
        const bool is_split =
            type == DW_UT_skeleton && dwarf_tag (&split_die) == DW_TAG_compile_unit;
        *lns_array_add (&names->units) =
            (Unit){ .lines = unit_die, .functions = is_split ? split_die : unit_die };
        names->lacks_files |= type == DW_UT_skeleton && !is_split;
        add_ranges (&names->unit_spans, &unit_die, names->units.n - 1);
      }
  index_spans (&names->unit_spans);
  return names;
}

void
lns_dwarf_names_free (LnsDwarfNames *names)
{
  if (names == NULL)
    return;
  lns_array_clear (&names->units);
  lns_array_clear (&names->unit_spans);
  lns_array_clear (&names->functions);
  lns_array_clear (&names->function_spans);
  lns_array_clear (&names->calls);
  lns_array_clear (&names->scopes);
  dwarf_end (names->dwarf);
  close (names->fd);
  free (names);
}

/* Lists the functions within DIE, which may lie in namespaces and types. */
static void
add_functions (LnsDwarfNames *names, Dwarf_Die *die, unsigned nesting)
{
  Dwarf_Die child;
  if (nesting == MOST_NESTING || dwarf_child (die, &child) != 0)
    return;
  do
    switch (dwarf_tag (&child))
      {
      case DW_TAG_subprogram:
        {
          const size_t n_before = names->function_spans.n;
          add_ranges (&names->function_spans, &child, names->functions.n);
          if (names->function_spans.n > n_before)
            *lns_array_add (&names->functions) = child;
          break;
        }
      case DW_TAG_namespace:
      case DW_TAG_module:
      case DW_TAG_class_type:
      case DW_TAG_structure_type:
      case DW_TAG_union_type:
        add_functions (names, &child, nesting + 1);
        break;
      default:
        break;
      }
  while (dwarf_siblingof (&child, &child) == 0);
}

/* The place in the source from which DIE, an inlined function, is called. */
static void
read_call (LnsDwarfNames *names, Dwarf_Die *die, LnsDwarfFrame *ret)
{
  Dwarf_Attribute attribute;
  Dwarf_Word value;
  if (dwarf_formudata (dwarf_attr (die, DW_AT_call_line, &attribute), &value) == 0 &&
      value <= UINT32_MAX)
    ret->line = (uint32_t)value;
  Dwarf_Files *files;
  size_t n_files;
  if (dwarf_formudata (dwarf_attr (die, DW_AT_call_file, &attribute), &value) == 0 &&
      dwarf_getsrcfiles (&names->units.items[names->unit].functions, &files, &n_files) == 0 &&
      value < n_files)
    ret->file = dwarf_filesrc (files, value, NULL, NULL);
}

/* Lists the inlined calls within DIE. */
static void
add_calls (LnsDwarfNames *names, Dwarf_Die *die, unsigned depth, unsigned nesting)
{
  Dwarf_Die child;
  if (nesting == MOST_NESTING || dwarf_child (die, &child) != 0)
    return;
  do
    switch (dwarf_tag (&child))
      {
      case DW_TAG_inlined_subroutine:
        {
          const uint32_t number = (uint32_t)names->calls.n;
          Call *call = lns_array_add (&names->calls);
          call->die = child;
          read_call (names, &child, &call->caller);
          Dwarf_Addr base, start, end;
          ptrdiff_t at = 0;
          while ((at = dwarf_ranges (&child, at, &base, &start, &end)) > 0)
            *lns_array_add (&names->scopes) = (Scope){ start, end, depth, number };
          add_calls (names, &child, depth + 1, nesting + 1);
          break;
        }
      case DW_TAG_lexical_block:
      case DW_TAG_try_block:
      case DW_TAG_catch_block:
        add_calls (names, &child, depth, nesting + 1);
        break;
      default:
        break;
      }
  while (dwarf_siblingof (&child, &child) == 0);
}

/* The name of DIE's function, which its declaration or its abstract instance may have. */
static const char *
name_of (Dwarf_Die *die)
{
  static const unsigned names[] = { DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    {
      Dwarf_Attribute attribute;
      const char *name = dwarf_formstring (dwarf_attr_integrate (die, names[i], &attribute));
      if (name != NULL && name[0] != '\0')
        return name;
    }
  return NULL;
}

/* Makes UNIT the current one. */
static void
enter_unit (LnsDwarfNames *names, uint32_t unit)
{
  names->unit = unit;
  names->function = LNS_SPAN_NONE;
  names->function_name = NULL;
  names->functions.n = names->function_spans.n = names->calls.n = names->scopes.n = 0;
  add_functions (names, &names->units.items[unit].functions, 0);
  index_spans (&names->function_spans);
}

/* Makes the function of SPAN, which may be LNS_SPAN_NONE, the current one. */
static void
enter_function (LnsDwarfNames *names, uint32_t span)
{
  const uint32_t function =
      span != LNS_SPAN_NONE ? (uint32_t)names->function_spans.items[span].name : LNS_SPAN_NONE;
  if (function == names->function)
    return;
  names->function = function;
  names->function_name = NULL;
  names->calls.n = names->scopes.n = 0;
  if (function != LNS_SPAN_NONE)
    {
      names->function_name = name_of (&names->functions.items[function]);
      add_calls (names, &names->functions.items[function], 0, 0);
    }
}

/* Lists the frames of ADDRESS, which the current function has, and returns their number. */
static size_t
list_frames (LnsDwarfNames *names, uint64_t address, LnsDwarfFrame *ret_frames)
{
  LnsDwarfFrame place = { .line = 0 };
  Dwarf_Line *line = dwarf_getsrc_die (&names->units.items[names->unit].lines, address);
  int number;
  if (line != NULL && dwarf_lineno (line, &number) == 0 && number > 0)
    {
      place.file = dwarf_linesrc (line, NULL, NULL);
      place.line = (uint32_t)number;
    }
  uint32_t chain[MOST_NESTING];
  unsigned n_chain = 0;
  for (size_t i = 0; i < names->scopes.n && n_chain < MOST_NESTING; i++)
    {
      const Scope *scope = &names->scopes.items[i];
      if (scope->depth == n_chain && address >= scope->start && address < scope->end)
        chain[n_chain++] = scope->call;
    }
  size_t n = 0;
  for (; n_chain > 0; n_chain--)
    {
      Call *call = &names->calls.items[chain[n_chain - 1]];
      if (!call->has_name)
        call->name = name_of (&call->die);
      call->has_name = true;
      ret_frames[n++] = (LnsDwarfFrame){ call->name, place.file, place.line };
      place = call->caller;
    }
  place.function = names->function_name;
  if (place.function != NULL || place.line > 0)
    ret_frames[n++] = place;
  return n;
}

typedef struct
{
  uint32_t unit;
  size_t address; /* its number */
} Place;

static int
compare_places (const void *a, const void *b)
{
  const Place *x = a, *y = b;
  return x->unit != y->unit ? (x->unit < y->unit ? -1 : 1)
                            : (x->address > y->address) - (x->address < y->address);
}

/* The linker may have put the code of one compilation into several places, so addresses are ordered by compilation: each is
 * read once. */
void
lns_dwarf_names_find (
    LnsDwarfNames *names, const uint64_t *addresses, size_t n, LnsDwarfFunc func, void *context)
{
  LNS_ARRAY (Place) places = { 0 };
  LnsSpanSweep units = { .spans = &names->unit_spans };
  for (size_t i = 0; i < n; i++)
    {
      const uint32_t span = lns_span_sweep_find (&units, addresses[i]);
      if (span != LNS_SPAN_NONE)
        *lns_array_add (&places) = (Place){ (uint32_t)names->unit_spans.items[span].name, i };
    }
  lns_span_sweep_clear (&units);
  if (places.n > 0)
    qsort (places.items, places.n, sizeof *places.items, compare_places);
  LnsSpanSweep functions = { .spans = &names->function_spans };
  for (size_t i = 0; i < places.n; i++)
    {
      const uint64_t address = addresses[places.items[i].address];
      if (i == 0 || places.items[i].unit != names->unit)
        {
          enter_unit (names, places.items[i].unit);
          names->units.items[names->unit].is_used = true;
          functions.n_seen = functions.open.n = 0;
        }
      enter_function (names, lns_span_sweep_find (&functions, address));
      LnsDwarfFrame frames[MOST_NESTING + 1];
      const size_t n_frames = list_frames (names, address, frames);
      if (n_frames > 0)
        func (context, places.items[i].address, frames, n_frames);
    }
  lns_span_sweep_clear (&functions);
  lns_array_clear (&places);
}

/* --- Edges --------------------------------------------------------------------------------------- */

static void
add_edge (LnsDwarfEdges *edges, uint64_t address)
{
  *lns_array_add (edges) = (LnsDwarfEdge){ .address = address };
}

/* Adds each address at which the frames of an address in UNIT may become others: list_frames() depends on the function, the
 * inlined calls and the line. */
static void
add_unit_edges (LnsDwarfNames *names, uint32_t unit, LnsDwarfEdges *edges)
{
  Dwarf_Lines *lines;
  size_t n_lines;
  enter_unit (names, unit);
  names->units.items[unit].is_listed = true;
  for (size_t i = 0; i < names->function_spans.n; i++)
    {
      add_edge (edges, names->function_spans.items[i].start);
      add_edge (edges, names->function_spans.items[i].end);
      enter_function (names, (uint32_t)i);
      for (size_t scope = 0; scope < names->scopes.n; scope++)
        {
          add_edge (edges, names->scopes.items[scope].start);
          add_edge (edges, names->scopes.items[scope].end);
        }
    }
  if (dwarf_getsrclines (&names->units.items[unit].lines, &lines, &n_lines) != 0)
    return;
  for (size_t i = 0; i < n_lines; i++)
    {
      Dwarf_Addr address;
      if (dwarf_lineaddr (dwarf_onesrcline (lines, i), &address) == 0)
        add_edge (edges, address);
    }
}

static int
compare_edges (const void *a, const void *b)
{
  const LnsDwarfEdge *x = a, *y = b;
  return (x->address > y->address) - (x->address < y->address);
}

/* Whether DWARF names a supplementary file (dwz), which is missing. */
static bool
lacks_supplement (Dwarf *dwarf)
{
  const char *name;
  const void *id;
  return dwelf_dwarf_gnu_debugaltlink (dwarf, &name, &id) > 0 && dwarf_getalt (dwarf) == NULL;
}

bool
lns_dwarf_names_list_edges (LnsDwarfNames *names, uint64_t most_code_bytes, LnsDwarfEdges *edges)
{
  if (names->lacks_files || lacks_supplement (names->dwarf))
    return false;
  uint64_t n_code_bytes = 0;
  for (size_t i = 0; i < names->unit_spans.n; i++)
    {
      n_code_bytes += names->unit_spans.items[i].end - names->unit_spans.items[i].start;
      add_edge (edges, names->unit_spans.items[i].start);
      add_edge (edges, names->unit_spans.items[i].end);
    }
  for (uint32_t i = 0; i < names->units.n; i++)
    if (names->units.items[i].is_used || n_code_bytes <= most_code_bytes)
      add_unit_edges (names, i, edges);
  if (edges->n > 0)
    qsort (edges->items, edges->n, sizeof *edges->items, compare_edges);
  LnsSpanSweep units = { .spans = &names->unit_spans };
  size_t n = 0;
  for (size_t i = 0; i < edges->n; i++)
    if (n == 0 || edges->items[i].address != edges->items[n - 1].address)
      {
        const uint32_t span = lns_span_sweep_find (&units, edges->items[i].address);
        edges->items[n++] = (LnsDwarfEdge){
          .address = edges->items[i].address,
          .is_known = span == LNS_SPAN_NONE ||
                      names->units.items[names->unit_spans.items[span].name].is_listed,
        };
      }
  lns_span_sweep_clear (&units);
  edges->n = n;
  return true;
}
