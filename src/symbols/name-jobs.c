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

/* A file with more code is never named whole. Naming 1.4 MB (libc) takes 0.2 s. */
#define MOST_CODE_BYTES (UINT64_C (2) << 20)
/* Spans of a file with more functions are not kept. */
#define MOST_FUNCTIONS (1u << 18)

/* An address that some segment of the file has. */
typedef struct
{
  uint64_t address; /* virtual */
  uint64_t end;     /* of the span that begins there; 0: only the address is asked for */
  size_t i;         /* its number */
  const char *name; /* from a symbol table; NULL if there is none */
  bool is_written;
} Place;

typedef struct
{
  const LnsElfImage *image;
  Place *places;
  size_t n;
  LnsSymbolTable table;
  LnsNameSource table_source;
  LnsDwarfNames *dwarf; /* or NULL */
  LnsNameWriter *writer;
  /* The span that is written next; further ones that follow it and have the same frames become part of it. */
  uint64_t span_start, span_end; /* offsets; equal if there is none */
  LnsSymbolFrame span_frames[LNS_NAME_MOST_FRAMES];
  size_t n_span_frames;
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

static void
end_span (Naming *naming)
{
  if (naming->span_end > naming->span_start)
    lns_name_writer_add_span (naming->writer, naming->span_start, naming->span_end,
                              naming->span_frames, naming->n_span_frames);
  naming->span_start = naming->span_end = 0;
}

/* Texts are compared by their places: those that are the same at another place only make another span. */
static bool
are_same (const LnsSymbolFrame *a, const LnsSymbolFrame *b, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (a[i].function != b[i].function || a[i].file != b[i].file || a[i].line != b[i].line ||
        a[i].source != b[i].source)
      return false;
  return true;
}

static void
add_span (
    Naming *naming, uint64_t start, uint64_t end, const LnsSymbolFrame *frames, size_t n_frames)
{
  if (start != naming->span_end || n_frames != naming->n_span_frames ||
      !are_same (frames, naming->span_frames, n_frames))
    {
      end_span (naming);
      naming->span_start = start;
      naming->n_span_frames = n_frames;
      memcpy (naming->span_frames, frames, n_frames * sizeof *frames);
    }
  naming->span_end = end;
}

static void
write_place (Naming *naming, Place *place, const LnsSymbolFrame *frames, size_t n)
{
  place->is_written = true;
  if (place->end == 0)
    {
      lns_name_writer_add (naming->writer, place->i, frames, n);
      return;
    }
  const Elf64_Phdr *segment;
  for (size_t i = 0; (segment = lns_elf_image_segment_at (naming->image, i)) != NULL; i++)
    if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0 &&
        place->address >= segment->p_vaddr &&
        place->address - segment->p_vaddr < segment->p_filesz &&
        place->end - segment->p_vaddr <= segment->p_filesz)
      {
        const uint64_t offset = segment->p_offset + (place->address - segment->p_vaddr);
        add_span (naming, offset, offset + (place->end - place->address), frames, n);
        return;
      }
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
    write_place (naming, place, frames, n);
}

/* Names the places, and writes those that have a name, and all spans. */
static void
name_places (Naming *naming)
{
  name_by_table (&naming->table, naming->places, naming->n);
  if (naming->dwarf != NULL)
    {
      uint64_t *addresses = lns_calloc (naming->n, sizeof *addresses);
      for (size_t i = 0; i < naming->n; i++)
        addresses[i] = naming->places[i].address;
      lns_dwarf_names_find (naming->dwarf, addresses, naming->n, write_debug_info, naming);
      free (addresses);
    }
  for (size_t i = 0; i < naming->n; i++)
    {
      Place *place = &naming->places[i];
      const LnsSymbolFrame frame = { place->name, NULL, 0, naming->table_source };
      if (!place->is_written && (place->name != NULL || place->end != 0))
        write_place (naming, place, &frame, place->name != NULL);
    }
  end_span (naming);
}

/* Adds where the code segments begin and end. False if two of them have the same bytes of the file, or there is none. */
static bool
add_segment_edges (const LnsElfImage *image, LnsDwarfEdges *edges)
{
  const Elf64_Phdr *segment;
  uint64_t last_end = 0;
  for (size_t i = 0; (segment = lns_elf_image_segment_at (image, i)) != NULL; i++)
    if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0)
      {
        const uint64_t end = segment->p_offset + segment->p_filesz;
        if (segment->p_offset < last_end || end < segment->p_offset || end > UINT32_MAX ||
            segment->p_vaddr > UINT64_MAX - segment->p_filesz)
          return false;
        last_end = end;
        *lns_array_add (edges) = (LnsDwarfEdge){ segment->p_vaddr, true };
        *lns_array_add (edges) = (LnsDwarfEdge){ segment->p_vaddr + segment->p_filesz, true };
      }
  return last_end > 0;
}

static int
compare_edges (const void *a, const void *b)
{
  const LnsDwarfEdge *x = a, *y = b;
  return (x->address > y->address) - (x->address < y->address);
}

/* Writes that offsets outside of code have no names, so that they are not looked up again. The segments are in order. */
static void
write_gaps (Naming *naming)
{
  const Elf64_Phdr *segment;
  uint64_t end = 0;
  for (size_t i = 0; (segment = lns_elf_image_segment_at (naming->image, i)) != NULL; i++)
    if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0)
      {
        if (segment->p_offset > end)
          lns_name_writer_add_span (naming->writer, end, segment->p_offset, NULL, 0);
        end = segment->p_offset + segment->p_filesz;
      }
  if (end < UINT32_MAX)
    lns_name_writer_add_span (naming->writer, end, UINT32_MAX, NULL, 0);
}

/* Writes spans of the file whose addresses have the same frames. Between two edges nothing changes that a name depends on,
 * so each span is named as its first address is. */
static void
write_spans (Naming *naming, uint64_t most_code_bytes)
{
  LnsDwarfEdges edges = { 0 };
  bool is_good =
      naming->table.functions.n <= MOST_FUNCTIONS && add_segment_edges (naming->image, &edges);
  for (size_t i = 0; is_good && i < naming->table.functions.n; i++)
    {
      *lns_array_add (&edges) = (LnsDwarfEdge){ naming->table.functions.items[i].start, true };
      *lns_array_add (&edges) = (LnsDwarfEdge){ naming->table.functions.items[i].end, true };
    }
  if (naming->dwarf != NULL)
    is_good = is_good && lns_dwarf_names_list_edges (naming->dwarf, most_code_bytes, &edges);
  else if (edges.n > 0)
    qsort (edges.items, edges.n, sizeof *edges.items, compare_edges);
  free (naming->places);
  naming->places = lns_calloc (edges.n, sizeof *naming->places);
  naming->n = 0;
  for (size_t i = 0; is_good && i + 1 < edges.n; i++)
    if (edges.items[i].is_known && edges.items[i].address < edges.items[i + 1].address)
      naming->places[naming->n++] =
          (Place){ .address = edges.items[i].address, .end = edges.items[i + 1].address };
  name_places (naming);
  if (is_good)
    write_gaps (naming);
  lns_array_clear (&edges);
}

void
lns_name_job_elf (const void *what, LnsNameWriter *writer)
{
  const LnsNameJobInput *input = what;
  LnsElfImage *image =
      strcmp (input->image, "[vdso]") == 0 ? lns_vdso_open () : lns_elf_image_open (input->image);
  if (image == NULL)
    return;
  Naming naming = { .image = image, .writer = writer };
  naming.places = lns_calloc (input->n, sizeof *naming.places);
  naming.n = list_places (image, input, naming.places);
  LnsElfImage *debug = input->debug != NULL ? lns_elf_image_open (input->debug) : NULL;
  /* A separate file may have DWARF alone, and leave the table to the image. */
  if (debug == NULL || !lns_symbol_table_read (debug, &naming.table) || naming.table.is_dynamic)
    {
      lns_symbol_table_clear (&naming.table);
      lns_symbol_table_read (image, &naming.table);
    }
  naming.table_source = naming.table.is_dynamic ? LNS_NAME_DYNAMIC_TABLE : LNS_NAME_SYMBOL_TABLE;
  if (input->uses_debug_info && input->debug != NULL)
    naming.dwarf = lns_dwarf_names_new (input->debug);
  name_places (&naming);
  if (input->wants_spans)
    write_spans (&naming, input->wants_all_spans ? MOST_CODE_BYTES : 0);
  lns_dwarf_names_free (naming.dwarf);
  lns_symbol_table_clear (&naming.table);
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
