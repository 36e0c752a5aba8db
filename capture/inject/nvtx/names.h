/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* The handlers of functions that name and create things. All texts may be null, which counts as empty. Handles are
 * numbers: a domain's is its id (null for the default domain), a string's is its wire id, a resource's is a serial
 * number. So they are the same in all link units and in the child of a fork. */

#pragma once

#include "capture/inject/core/nvtx-abi.h"

void lns_nvtx_initialize (const void *reserved);
const void *lns_nvtx_domain_create_a (const char *name);
const void *lns_nvtx_domain_create_w (const wchar_t *name);
void lns_nvtx_domain_destroy (const void *domain);
const void *lns_nvtx_register_string_a (const void *domain, const char *text);
const void *lns_nvtx_register_string_w (const void *domain, const wchar_t *text);
void lns_nvtx_name_category_a (uint32_t category, const char *name);
void lns_nvtx_name_category_w (uint32_t category, const wchar_t *name);
void lns_nvtx_domain_name_category_a (const void *domain, uint32_t category, const char *name);
void lns_nvtx_domain_name_category_w (const void *domain, uint32_t category, const wchar_t *name);
void lns_nvtx_name_thread_a (uint32_t tid, const char *name);
void lns_nvtx_name_thread_w (uint32_t tid, const wchar_t *name);
const void *lns_nvtx_resource_create (const void *domain,
                                      const LnsNvtxResourceAttributes *attributes);
void lns_nvtx_resource_destroy (const void *resource);

/* Names the program's object IDENTIFIER, of type LNS_NVTX_RESOURCE_…. A later name replaces it. */
void lns_nvtx_name_object_a (uint32_t type, uint64_t identifier, const char *name);
void lns_nvtx_name_object_w (uint32_t type, uint64_t identifier, const wchar_t *name);

/* Writes, once, that the program uses WHAT, which is not recorded. */
void lns_nvtx_miss (const char *what);

/* The same with the next event, without joining the session for it. */
void lns_nvtx_note_missing (const char *what);
