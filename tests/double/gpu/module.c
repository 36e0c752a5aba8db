/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Modules and their functions. */

#include "tests/double/gpu/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t last_module;

/* How NVIDIA's binary images begin; every other image is read as PTX, a zero-terminated text. */
static bool
is_text (const void *image)
{
  static const unsigned char fat_binary[4] = { 0x50, 0xed, 0x55, 0xba };
  return memcmp (image, fat_binary, 4) != 0 && memcmp (image, "\177ELF", 4) != 0;
}

CUmodule
lns_gpu_module_new (const void *image)
{
  int64_t start_ns = lns_gpu_now ();
  CUmodule module = calloc (1, sizeof *module);
  module->id = __atomic_add_fetch (&last_module, 1, __ATOMIC_RELAXED);
  module->image = image;
  module->text = image != NULL && is_text (image);
  module->image_bytes = module->text ? strlen (image) + 1 : 0;
  LNS_GPU_TELL (module, module, false, start_ns);
  return module;
}

/* Functions are never freed: records refer to them by pointer. */
void
lns_gpu_module_free (CUmodule module)
{
  LNS_GPU_TELL (module, module, true, lns_gpu_now ());
  free (module);
}

static bool
has_entry (const char *text, const char *name)
{
  size_t length = strlen (name);
  for (const char *entry = strstr (text, ".entry"); entry != NULL; entry = strstr (entry, ".entry"))
    {
      entry += strlen (".entry");
      entry += strspn (entry, " \t\n");
      if (strncmp (entry, name, length) == 0 && strchr ("( \t\n", entry[length]) != NULL)
        return true;
    }
  return false;
}

/* Resources follow from the length of the name, so that tests can compute them; see README.md. */
CUfunction
lns_gpu_module_function (CUmodule module, const char *name)
{
  CUfunction function = NULL;
  LNS_GPU_LOCK ();
  for (function = module->functions; function != NULL; function = function->next)
    if (strcmp (function->name, name) == 0)
      break;
  if (function == NULL && (!module->text || has_entry (module->image, name)))
    {
      const char *faulting = getenv ("LNS_DOUBLE_FAULTING_KERNEL");
      size_t length = strlen (name);
      function = calloc (1, sizeof *function);
      function->name = strdup (name);
      function->registers = (uint16_t)(16 + length % 64);
      function->static_shared_bytes = (uint32_t)(length % 4 * 256);
      function->local_bytes = 0;
      function->faults =
          strstr (name, faulting != NULL && *faulting != '\0' ? faulting : "fault") != NULL;
      function->module = module;
      function->next = module->functions;
      module->functions = function;
    }
  LNS_GPU_UNLOCK ();
  return function;
}
