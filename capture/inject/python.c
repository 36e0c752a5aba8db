/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The functions that the extension module for Python functions calls; see capture/wire/python.h. Their ranges are
 * handled as NVTX ranges. */

#include "capture/inject/core/definitions.h"
#include "capture/inject/nvtx/nvtx.h"
#include "capture/inject/core/system.h"
#include "capture/inject/core/join.h"
#include "capture/wire/python.h"

__attribute__ ((visibility ("default"))) const LnsPythonHooks *lanescope_python_hooks (void);

/* The first number of categories, apart from the numbers that programs choose. */
#define FIRST_CATEGORY 0x4c4e0000u

/* Sends new definitions now if this thread can. */
static void
send_definitions (void)
{
  lns_inject_stream_send_and_leave (lns_inject_stream_enter_slow (LNS_STREAM_NO_EVENT));
}

static bool
define (const char *domain,
        const char *category,
        uint32_t color,
        const char *name,
        LnsPythonFunction *ret_function)
{
  if (lns_process_joined () < LNS_GENERATION_FIRST)
    return false;
  LNS_KEEP_ERRNO;
  const uint32_t id = domain[0] == '\0' ? 0 : lns_definitions_domain (domain, strlen (domain));
  *ret_function = (LnsPythonFunction){ .domain = id,
                                       .string = lns_definitions_string (id, name, strlen (name)),
                                       .color = color };
  if (category[0] != '\0')
    {
      /* The same text has the same number in each domain and process. */
      ret_function->category =
          FIRST_CATEGORY | (uint32_t)(lns_strings_hash (category, strlen (category)) & 0xffff);
      lns_nvtx_name_category ((const void *)(uintptr_t)id, ret_function->category, category);
    }
  send_definitions ();
  return ret_function->string != 0;
}

static void
push (const LnsPythonFunction *function)
{
  LnsNvtxEvent event = { .domain = function->domain,
                         .string = function->string,
                         .category = function->category,
                         .color = function->color,
                         .color_type = function->color != 0 };
  (void)lns_nvtx_push (lns_inject_stream_enter (LNS_WIRE_LOSS_PUSH), &event);
}

static void
pop (const LnsPythonFunction *function)
{
  LnsNvtxEvent event = { .domain = function->domain };
  (void)lns_nvtx_pop (lns_inject_stream_enter (LNS_WIRE_LOSS_POP), &event);
}

static void
say (const char *text)
{
  LNS_KEEP_ERRNO;
  const LnsWireHead head = { .type = LNS_WIRE_PYTHON_SAID,
                             .string = (uint32_t)lns_strings_hash (text, strlen (text)) };
  (void)lns_definitions_name (head, text, strlen (text));
  send_definitions ();
}

const LnsPythonHooks *
lanescope_python_hooks (void)
{
  static const LnsPythonHooks hooks = { LNS_PYTHON_HOOKS_ABI, define, push, pop, say };
  return &hooks;
}
