/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "src/symbols/name-jobs.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/symbols/code-map.h"
#include "src/symbols/dwarf-names.h"
#include "src/symbols/elf-image.h"
#include "src/symbols/symbol-table.h"
#include "src/symbols/vdso.h"

/* An address that some segment of the file has. */
typedef struct
{
  uint64_t address; /* virtual */
  size_t i;         /* its number */
  const char *name; /* from a symbol table; NULL if there is none */
  bool is_written;
} Place;

typedef struct
{
  Place *places;
  LnsNameSource table_source;
  LnsNameWriter *writer;
} Naming;

static int
compare_places (const void *a, const void *b)
{
  const Place *x = a, *y = b;
  return x->address != y->address ? (x->address < y->address ? -1 : 1)
                                  : (x->i > y->i) - (x->i < y->i);
}

/* Converts file offsets into virtual addresses, and returns the number of those that have one. */
static size_t
list_places (const LnsElfImage *image, const LnsNameJobInput *input, Place *ret_places)
{
  size_t n = 0;
  bool is_sorted = true;
  for (size_t i = 0; i < input->n; i++)
    {
      Place place = { .i = i };
      if (!lns_elf_image_address (image, input->addresses[i], &place.address))
        continue;
      is_sorted &= n == 0 || ret_places[n - 1].address <= place.address;
      ret_places[n++] = place;
    }
  if (!is_sorted)
    qsort (ret_places, n, sizeof *ret_places, compare_places);
  return n;
}

static void
name_by_table (const LnsSymbolTable *table, Place *places, size_t n)
{
  LnsSpanSweep sweep = { .spans = &table->functions };
  for (size_t i = 0; i < n; i++)
    {
      const uint32_t span = lns_span_sweep_find (&sweep, places[i].address);
      if (span != LNS_SPAN_NONE)
        places[i].name = table->names + table->functions.items[span].name;
    }
  lns_span_sweep_clear (&sweep);
}

/* Writes what DWARF says of a place. Where it has no name, the symbol table may. */
static void
write_debug_info (void *context, size_t at, const LnsDwarfFrame *found, size_t n_found)
{
  Naming *naming = context;
  Place *place = &naming->places[at];
  LnsSymbolFrame frames[LNS_NAME_MOST_FRAMES];
  size_t n = 0;
  for (size_t i = 0; i < n_found && n < LNS_NAME_MOST_FRAMES; i++)
    {
      const char *function = found[i].function;
      LnsNameSource source = LNS_NAME_DEBUG_INFO;
      if (function == NULL && i + 1 == n_found)
        {
          function = place->name;
          source = naming->table_source;
        }
      if (function == NULL && i + 1 < n_found)
        function = "(inlined)";
      if (function != NULL)
        frames[n++] = (LnsSymbolFrame){ function, found[i].file, found[i].line, source };
    }
  if (n > 0)
    lns_name_writer_add (naming->writer, place->i, frames, n);
  place->is_written = n > 0;
}

void
lns_name_job_elf (const void *what, LnsNameWriter *writer)
{
  const LnsNameJobInput *input = what;
  LnsElfImage *image =
      strcmp (input->image, "[vdso]") == 0 ? lns_vdso_open () : lns_elf_image_open (input->image);
  if (image == NULL)
    return;
  Naming naming = { .writer = writer };
  naming.places = lns_calloc (input->n, sizeof *naming.places);
  const size_t n = list_places (image, input, naming.places);
  LnsElfImage *debug = input->debug != NULL ? lns_elf_image_open (input->debug) : NULL;
  LnsSymbolTable table = { .names = NULL };
  /* A separate file may have DWARF alone, and leave the table to the image. */
  if (debug == NULL || !lns_symbol_table_read (debug, &table) || table.is_dynamic)
    {
      lns_symbol_table_clear (&table);
      lns_symbol_table_read (image, &table);
    }
  naming.table_source = table.is_dynamic ? LNS_NAME_DYNAMIC_TABLE : LNS_NAME_SYMBOL_TABLE;
  name_by_table (&table, naming.places, n);
  LnsDwarfNames *dwarf =
      input->uses_debug_info && input->debug != NULL ? lns_dwarf_names_new (input->debug) : NULL;
  if (dwarf != NULL)
    {
      uint64_t *addresses = lns_calloc (n, sizeof *addresses);
      for (size_t i = 0; i < n; i++)
        addresses[i] = naming.places[i].address;
      lns_dwarf_names_find (dwarf, addresses, n, write_debug_info, &naming);
      free (addresses);
    }
  for (size_t i = 0; i < n; i++)
    if (naming.places[i].name != NULL && !naming.places[i].is_written)
      lns_name_writer_add (writer, naming.places[i].i,
                           &(LnsSymbolFrame){ naming.places[i].name, NULL, 0, naming.table_source },
                           1);
  lns_dwarf_names_free (dwarf);
  lns_symbol_table_clear (&table);
  lns_elf_image_free (debug);
  lns_elf_image_free (image);
  free (naming.places);
}

static void
name_by_map (const LnsCodeMap *map, const LnsNameJobInput *input, LnsNameWriter *writer)
{
  LnsSpanSweep sweep = { .spans = &map->functions };
  for (size_t i = 0; i < input->n; i++)
    {
      const uint32_t span = lns_span_sweep_find (&sweep, input->addresses[i]);
      if (span == LNS_SPAN_NONE)
        continue;
      LnsSymbolFrame frame = { .function = map->text + map->functions.items[span].name,
                               .source = LNS_NAME_MAP };
      const LnsCodeLine *line = lns_code_map_line (map, span, input->addresses[i]);
      if (line != NULL)
        {
          frame.file = map->text + line->file;
          frame.line = line->line;
        }
      lns_name_writer_add (writer, i, &frame, 1);
    }
  lns_span_sweep_clear (&sweep);
}

static void
run_map (bool (*read) (const char *path, LnsCodeMap *ret_map),
         const LnsNameJobInput *input,
         LnsNameWriter *writer)
{
  LnsCodeMap map = { .text = NULL };
  if (read (input->image, &map))
    name_by_map (&map, input, writer);
  lns_code_map_clear (&map);
}

void
lns_name_job_perf_map (const void *input, LnsNameWriter *writer)
{
  run_map (lns_code_map_read_perf, input, writer);
}

void
lns_name_job_jitdump (const void *input, LnsNameWriter *writer)
{
  run_map (lns_code_map_read_jitdump, input, writer);
}
