/* Copyright the Lanescope authors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* Compares capture/inject/core/nvtx-abi.h with NVIDIA's own headers. The compiler decides: if they
 * differ, this file does not build. */

#include "capture/inject/core/nvtx-abi.h"
#include "tests/tap.h"

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtMem.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>
#include <nvtx3/nvToolsExtSemanticsTime.h>

#define SAME(ours, theirs)                                                                         \
 _Static_assert((int64_t)(ours) == (int64_t)(theirs), #ours " is not " #theirs)
#define SAME_SIZE(ours, theirs)                                                                    \
 _Static_assert(sizeof (ours) == sizeof (theirs), #ours " is not as long as " #theirs)
#define SAME_FIELD(Ours, ours, Theirs, theirs)                                                     \
 _Static_assert(offsetof (Ours, ours) == offsetof (Theirs, theirs) &&                              \
                    sizeof (((Ours *)0)->ours) == sizeof (((Theirs *)0)->theirs),                  \
                #Ours "." #ours " is not where " #Theirs "." #theirs " is")

SAME (LNS_NVTX_EXPORT_CALLBACKS, NVTX_ETID_CALLBACKS);
SAME (LNS_NVTX_MODULE_CORE, NVTX_CB_MODULE_CORE);
SAME (LNS_NVTX_MODULE_CORE2, NVTX_CB_MODULE_CORE2);
SAME (LNS_NVTX_MODULE_CUDA, NVTX_CB_MODULE_CUDA);
SAME (LNS_NVTX_MODULE_OPENCL, NVTX_CB_MODULE_OPENCL);
SAME (LNS_NVTX_MODULE_CUDART, NVTX_CB_MODULE_CUDART);
SAME (LNS_NVTX_MODULE_SYNC, NVTX_CB_MODULE_SYNC);
SAME_SIZE (LnsNvtxCallbacks, NvtxExportTableCallbacks);
SAME_FIELD (LnsNvtxCallbacks, struct_bytes, NvtxExportTableCallbacks, struct_size);
SAME_FIELD (LnsNvtxCallbacks, get_module_table, NvtxExportTableCallbacks, GetModuleFunctionTable);
SAME (LNS_NVTX_EXPORT_VERSION, NVTX_ETID_VERSIONINFO);
SAME_SIZE (LnsNvtxVersionInfo, NvtxExportTableVersionInfo);
SAME (LNS_NVTX_INIT_STARTED, NVTX_INIT_STATE_STARTED);
SAME (LNS_NVTX_EXTENSION_STARTING, NVTX_EXTENSION_STARTING);
SAME_FIELD (LnsNvtxGlobals, init_state, nvtxGlobals_t, initState);
SAME_FIELD (LnsNvtxGlobals, callbacks, nvtxGlobals_t, etblCallbacks);
SAME_FIELD (LnsNvtxGlobals, version, nvtxGlobals_t, etblVersionInfo);

SAME (LNS_NVTX_CORE_MARK_EX, NVTX_CBID_CORE_MarkEx);
SAME (LNS_NVTX_CORE_MARK_A, NVTX_CBID_CORE_MarkA);
SAME (LNS_NVTX_CORE_MARK_W, NVTX_CBID_CORE_MarkW);
SAME (LNS_NVTX_CORE_RANGE_START_EX, NVTX_CBID_CORE_RangeStartEx);
SAME (LNS_NVTX_CORE_RANGE_START_A, NVTX_CBID_CORE_RangeStartA);
SAME (LNS_NVTX_CORE_RANGE_START_W, NVTX_CBID_CORE_RangeStartW);
SAME (LNS_NVTX_CORE_RANGE_END, NVTX_CBID_CORE_RangeEnd);
SAME (LNS_NVTX_CORE_RANGE_PUSH_EX, NVTX_CBID_CORE_RangePushEx);
SAME (LNS_NVTX_CORE_RANGE_PUSH_A, NVTX_CBID_CORE_RangePushA);
SAME (LNS_NVTX_CORE_RANGE_PUSH_W, NVTX_CBID_CORE_RangePushW);
SAME (LNS_NVTX_CORE_RANGE_POP, NVTX_CBID_CORE_RangePop);
SAME (LNS_NVTX_CORE_NAME_CATEGORY_A, NVTX_CBID_CORE_NameCategoryA);
SAME (LNS_NVTX_CORE_NAME_CATEGORY_W, NVTX_CBID_CORE_NameCategoryW);
SAME (LNS_NVTX_CORE_NAME_OS_THREAD_A, NVTX_CBID_CORE_NameOsThreadA);
SAME (LNS_NVTX_CORE_NAME_OS_THREAD_W, NVTX_CBID_CORE_NameOsThreadW);

SAME (LNS_NVTX_CORE2_DOMAIN_MARK_EX, NVTX_CBID_CORE2_DomainMarkEx);
SAME (LNS_NVTX_CORE2_DOMAIN_RANGE_START_EX, NVTX_CBID_CORE2_DomainRangeStartEx);
SAME (LNS_NVTX_CORE2_DOMAIN_RANGE_END, NVTX_CBID_CORE2_DomainRangeEnd);
SAME (LNS_NVTX_CORE2_DOMAIN_RANGE_PUSH_EX, NVTX_CBID_CORE2_DomainRangePushEx);
SAME (LNS_NVTX_CORE2_DOMAIN_RANGE_POP, NVTX_CBID_CORE2_DomainRangePop);
SAME (LNS_NVTX_CORE2_DOMAIN_RESOURCE_CREATE, NVTX_CBID_CORE2_DomainResourceCreate);
SAME (LNS_NVTX_CORE2_DOMAIN_RESOURCE_DESTROY, NVTX_CBID_CORE2_DomainResourceDestroy);
SAME (LNS_NVTX_CORE2_DOMAIN_NAME_CATEGORY_A, NVTX_CBID_CORE2_DomainNameCategoryA);
SAME (LNS_NVTX_CORE2_DOMAIN_NAME_CATEGORY_W, NVTX_CBID_CORE2_DomainNameCategoryW);
SAME (LNS_NVTX_CORE2_DOMAIN_REGISTER_STRING_A, NVTX_CBID_CORE2_DomainRegisterStringA);
SAME (LNS_NVTX_CORE2_DOMAIN_REGISTER_STRING_W, NVTX_CBID_CORE2_DomainRegisterStringW);
SAME (LNS_NVTX_CORE2_DOMAIN_CREATE_A, NVTX_CBID_CORE2_DomainCreateA);
SAME (LNS_NVTX_CORE2_DOMAIN_CREATE_W, NVTX_CBID_CORE2_DomainCreateW);
SAME (LNS_NVTX_CORE2_DOMAIN_DESTROY, NVTX_CBID_CORE2_DomainDestroy);

SAME (LNS_NVTX_CUDA_NAME_DEVICE_A, NVTX_CBID_CUDA_NameCuDeviceA);
SAME (LNS_NVTX_CUDA_NAME_DEVICE_A + 1, NVTX_CBID_CUDA_NameCuDeviceW);
SAME (LNS_NVTX_CUDA_NAME_CONTEXT_A, NVTX_CBID_CUDA_NameCuContextA);
SAME (LNS_NVTX_CUDA_NAME_CONTEXT_A + 1, NVTX_CBID_CUDA_NameCuContextW);
SAME (LNS_NVTX_CUDA_NAME_STREAM_A, NVTX_CBID_CUDA_NameCuStreamA);
SAME (LNS_NVTX_CUDA_NAME_STREAM_A + 1, NVTX_CBID_CUDA_NameCuStreamW);
SAME (LNS_NVTX_CUDA_NAME_EVENT_A, NVTX_CBID_CUDA_NameCuEventA);
SAME (LNS_NVTX_CUDA_NAME_EVENT_A + 1, NVTX_CBID_CUDA_NameCuEventW);
SAME (LNS_NVTX_CUDART_NAME_DEVICE_A, NVTX_CBID_CUDART_NameCudaDeviceA);
SAME (LNS_NVTX_CUDART_NAME_DEVICE_A + 1, NVTX_CBID_CUDART_NameCudaDeviceW);
SAME (LNS_NVTX_CUDART_NAME_STREAM_A, NVTX_CBID_CUDART_NameCudaStreamA);
SAME (LNS_NVTX_CUDART_NAME_STREAM_A + 1, NVTX_CBID_CUDART_NameCudaStreamW);
SAME (LNS_NVTX_CUDART_NAME_EVENT_A, NVTX_CBID_CUDART_NameCudaEventA);
SAME (LNS_NVTX_CUDART_NAME_EVENT_A + 1, NVTX_CBID_CUDART_NameCudaEventW);
SAME (LNS_NVTX_OPENCL_NAME_DEVICE_A, NVTX_CBID_OPENCL_NameClDeviceA);
SAME (LNS_NVTX_OPENCL_NAME_DEVICE_A + 1, NVTX_CBID_OPENCL_NameClDeviceW);
SAME (LNS_NVTX_OPENCL_NAME_CONTEXT_A, NVTX_CBID_OPENCL_NameClContextA);
SAME (LNS_NVTX_OPENCL_NAME_CONTEXT_A + 1, NVTX_CBID_OPENCL_NameClContextW);
SAME (LNS_NVTX_OPENCL_NAME_COMMAND_QUEUE_A, NVTX_CBID_OPENCL_NameClCommandQueueA);
SAME (LNS_NVTX_OPENCL_NAME_COMMAND_QUEUE_A + 1, NVTX_CBID_OPENCL_NameClCommandQueueW);
SAME (LNS_NVTX_OPENCL_NAME_MEM_OBJECT_A, NVTX_CBID_OPENCL_NameClMemObjectA);
SAME (LNS_NVTX_OPENCL_NAME_MEM_OBJECT_A + 1, NVTX_CBID_OPENCL_NameClMemObjectW);
SAME (LNS_NVTX_OPENCL_NAME_SAMPLER_A, NVTX_CBID_OPENCL_NameClSamplerA);
SAME (LNS_NVTX_OPENCL_NAME_SAMPLER_A + 1, NVTX_CBID_OPENCL_NameClSamplerW);
SAME (LNS_NVTX_OPENCL_NAME_PROGRAM_A, NVTX_CBID_OPENCL_NameClProgramA);
SAME (LNS_NVTX_OPENCL_NAME_PROGRAM_A + 1, NVTX_CBID_OPENCL_NameClProgramW);
SAME (LNS_NVTX_OPENCL_NAME_EVENT_A, NVTX_CBID_OPENCL_NameClEventA);
SAME (LNS_NVTX_OPENCL_NAME_EVENT_A + 1, NVTX_CBID_OPENCL_NameClEventW);
SAME (LNS_NVTX_SYNC_CREATE, NVTX_CBID_SYNC_DomainSyncUserCreate);

SAME (LNS_NVTX_MESSAGE_ASCII, NVTX_MESSAGE_TYPE_ASCII);
SAME (LNS_NVTX_MESSAGE_WIDE, NVTX_MESSAGE_TYPE_UNICODE);
SAME (LNS_NVTX_MESSAGE_REGISTERED, NVTX_MESSAGE_TYPE_REGISTERED);
SAME (LNS_NVTX_NOT_TRACKED, NVTX_NO_PUSH_POP_TRACKING);
SAME (LNS_NVTX_PAYLOAD_EXTENDED, NVTX_PAYLOAD_TYPE_EXT);

SAME_SIZE (LnsNvtxEventAttributes, nvtxEventAttributes_t);
SAME_FIELD (LnsNvtxEventAttributes, version, nvtxEventAttributes_t, version);
SAME_FIELD (LnsNvtxEventAttributes, size, nvtxEventAttributes_t, size);
SAME_FIELD (LnsNvtxEventAttributes, category, nvtxEventAttributes_t, category);
SAME_FIELD (LnsNvtxEventAttributes, color_type, nvtxEventAttributes_t, colorType);
SAME_FIELD (LnsNvtxEventAttributes, color, nvtxEventAttributes_t, color);
SAME_FIELD (LnsNvtxEventAttributes, payload_type, nvtxEventAttributes_t, payloadType);
SAME_FIELD (LnsNvtxEventAttributes, n_payloads, nvtxEventAttributes_t, reserved0);
SAME_FIELD (LnsNvtxEventAttributes, payload, nvtxEventAttributes_t, payload);
SAME_FIELD (LnsNvtxEventAttributes, message_type, nvtxEventAttributes_t, messageType);
SAME_FIELD (LnsNvtxEventAttributes, message, nvtxEventAttributes_t, message);

SAME_SIZE (LnsNvtxResourceAttributes, nvtxResourceAttributes_t);
SAME_FIELD (LnsNvtxResourceAttributes, size, nvtxResourceAttributes_t, size);
SAME_FIELD (LnsNvtxResourceAttributes, identifier_type, nvtxResourceAttributes_t, identifierType);
SAME_FIELD (LnsNvtxResourceAttributes, identifier, nvtxResourceAttributes_t, identifier);
SAME_FIELD (LnsNvtxResourceAttributes, message_type, nvtxResourceAttributes_t, messageType);
SAME_FIELD (LnsNvtxResourceAttributes, message, nvtxResourceAttributes_t, message);

SAME_SIZE (LnsNvtxExtensionSegment, nvtxExtModuleSegment_t);
SAME_FIELD (LnsNvtxExtensionSegment, n_slots, nvtxExtModuleSegment_t, slotCount);
SAME_FIELD (LnsNvtxExtensionSegment, slots, nvtxExtModuleSegment_t, functionSlots);
SAME_SIZE (LnsNvtxExtension, nvtxExtModuleInfo_t);
SAME_FIELD (LnsNvtxExtension, struct_bytes, nvtxExtModuleInfo_t, structSize);
SAME_FIELD (LnsNvtxExtension, module, nvtxExtModuleInfo_t, moduleId);
SAME_FIELD (LnsNvtxExtension, compatibility, nvtxExtModuleInfo_t, compatId);
SAME_FIELD (LnsNvtxExtension, n_segments, nvtxExtModuleInfo_t, segmentsCount);
SAME_FIELD (LnsNvtxExtension, segments, nvtxExtModuleInfo_t, segments);
SAME_FIELD (LnsNvtxExtension, info, nvtxExtModuleInfo_t, extInfo);
SAME (LNS_NVTX_EXTENSION_MEMORY, NVTX_EXT_MODULEID_MEM);
SAME (LNS_NVTX_EXTENSION_PAYLOAD, NVTX_EXT_PAYLOAD_MODULEID);
SAME (LNS_NVTX_EXTENSION_COUNTERS, NVTX_EXT_COUNTERS_MODULEID);
SAME (LNS_NVTX_COUNTERS_COMPATIBLE, NVTX_EXT_COUNTERS_COMPATID);

SAME (LNS_NVTX_PAYLOAD_SCHEMA_REGISTER, NVTX3EXT_CBID_nvtxPayloadSchemaRegister);
SAME (LNS_NVTX_PAYLOAD_ENUM_REGISTER, NVTX3EXT_CBID_nvtxPayloadEnumRegister);
SAME (LNS_NVTX_PAYLOAD_MARK, NVTX3EXT_CBID_nvtxMarkPayload);
SAME (LNS_NVTX_PAYLOAD_RANGE_PUSH, NVTX3EXT_CBID_nvtxRangePushPayload);
SAME (LNS_NVTX_PAYLOAD_RANGE_POP, NVTX3EXT_CBID_nvtxRangePopPayload);
SAME (LNS_NVTX_PAYLOAD_RANGE_START, NVTX3EXT_CBID_nvtxRangeStartPayload);
SAME (LNS_NVTX_PAYLOAD_RANGE_END, NVTX3EXT_CBID_nvtxRangeEndPayload);
SAME (LNS_NVTX_PAYLOAD_SCOPE_REGISTER, NVTX3EXT_CBID_nvtxScopeRegister);
SAME (LNS_NVTX_PAYLOAD_TIMESTAMP_GET, NVTX3EXT_CBID_nvtxTimestampGet);
SAME (LNS_NVTX_PAYLOAD_TIME_DOMAIN_REGISTER, NVTX3EXT_CBID_nvtxTimeDomainRegister);
SAME (LNS_NVTX_PAYLOAD_TIMER_SOURCE, NVTX3EXT_CBID_nvtxTimerSource);
SAME (LNS_NVTX_PAYLOAD_TIMER_SOURCE_WITH_DATA, NVTX3EXT_CBID_nvtxTimerSourceWithData);
SAME (LNS_NVTX_PAYLOAD_TIME_SYNC_POINT, NVTX3EXT_CBID_nvtxTimeSyncPoint);
SAME (LNS_NVTX_PAYLOAD_TIME_SYNC_POINT_TABLE, NVTX3EXT_CBID_nvtxTimeSyncPointTable);
SAME (LNS_NVTX_PAYLOAD_TIMESTAMP_CONVERSION_FACTOR, NVTX3EXT_CBID_nvtxTimestampConversionFactor);
SAME (LNS_NVTX_PAYLOAD_EVENT_SUBMIT, NVTX3EXT_CBID_nvtxEventSubmit);
SAME (LNS_NVTX_PAYLOAD_EVENT_BATCH_SUBMIT, NVTX3EXT_CBID_nvtxEventBatchSubmit);
SAME (LNS_NVTX_SEMANTICS_TIME, NVTX_SEMANTIC_ID_TIME_V1);
SAME_SIZE (LnsNvtxTimeSemantics, nvtxSemanticsTime_t);
SAME_FIELD (LnsNvtxTimeSemantics, time_domain, nvtxSemanticsTime_t, timeDomainId);
SAME_SIZE (LnsNvtxTimeDomainAttributes, nvtxTimeDomainAttr_t);
SAME_FIELD (LnsNvtxTimeDomainAttributes, type, nvtxTimeDomainAttr_t, timestampTypeId);
SAME_FIELD (LnsNvtxTimeDomainAttributes, id, nvtxTimeDomainAttr_t, timeDomainId);
SAME_SIZE (LnsNvtxEventBatch, nvtxEventBatch_t);
SAME_FIELD (LnsNvtxEventBatch, schema, nvtxEventBatch_t, eventSchemaId);
SAME_FIELD (LnsNvtxEventBatch, n_bytes, nvtxEventBatch_t, size);
SAME_FIELD (LnsNvtxEventBatch, events, nvtxEventBatch_t, events);
SAME_FIELD (LnsNvtxEventBatch, flags, nvtxEventBatch_t, flags);
SAME_FIELD (LnsNvtxEventBatch, n_flexible_bytes, nvtxEventBatch_t, flexDataSize);
SAME (LNS_NVTX_COUNTERS_REGISTER, NVTX3EXT_CBID_nvtxCounterRegister);
SAME (LNS_NVTX_COUNTERS_SAMPLE_INT64, NVTX3EXT_CBID_nvtxCounterSampleInt64);
SAME (LNS_NVTX_COUNTERS_SAMPLE_FLOAT64, NVTX3EXT_CBID_nvtxCounterSampleFloat64);
SAME (LNS_NVTX_COUNTERS_SAMPLE, NVTX3EXT_CBID_nvtxCounterSample);
SAME (LNS_NVTX_COUNTERS_SAMPLE_NO_VALUE, NVTX3EXT_CBID_nvtxCounterSampleNoValue);
SAME (LNS_NVTX_COUNTERS_BATCH_SUBMIT, NVTX3EXT_CBID_nvtxCounterBatchSubmit);
SAME (LNS_NVTX_DYNAMIC_ID_START, NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);
SAME (LNS_NVTX_DYNAMIC_ID_START, NVTX_SCOPE_ID_DYNAMIC_START);
SAME (LNS_NVTX_DYNAMIC_ID_START, NVTX_COUNTER_ID_DYNAMIC_START);
SAME (LNS_NVTX_ENTRY_CSTRING, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING);
SAME (LNS_NVTX_ENTRY_CSTRING_UTF8, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8);

SAME_SIZE (LnsNvtxPayloadData, nvtxPayloadData_t);
SAME_FIELD (LnsNvtxPayloadData, schema, nvtxPayloadData_t, schemaId);
SAME_FIELD (LnsNvtxPayloadData, n_bytes, nvtxPayloadData_t, size);
SAME_FIELD (LnsNvtxPayloadData, bytes, nvtxPayloadData_t, payload);
SAME_SIZE (LnsNvtxSemantics, nvtxSemanticsHeader_t);
SAME_FIELD (LnsNvtxSemantics, struct_bytes, nvtxSemanticsHeader_t, structSize);
SAME_FIELD (LnsNvtxSemantics, id, nvtxSemanticsHeader_t, semanticId);
SAME_FIELD (LnsNvtxSemantics, next, nvtxSemanticsHeader_t, next);
SAME (LNS_NVTX_SEMANTICS_COUNTER, NVTX_SEMANTIC_ID_COUNTERS_V1);
SAME_SIZE (LnsNvtxCounterSemantics, nvtxSemanticsCounter_t);
SAME_FIELD (LnsNvtxCounterSemantics, flags, nvtxSemanticsCounter_t, flags);
SAME_FIELD (LnsNvtxCounterSemantics, unit, nvtxSemanticsCounter_t, unit);
SAME_FIELD (LnsNvtxCounterSemantics, scale_numerator, nvtxSemanticsCounter_t, unitScaleNumerator);
SAME_FIELD (LnsNvtxCounterSemantics,
            scale_denominator,
            nvtxSemanticsCounter_t,
            unitScaleDenominator);
SAME_FIELD (LnsNvtxCounterSemantics, limit_type, nvtxSemanticsCounter_t, limitType);
SAME_FIELD (LnsNvtxCounterSemantics, min, nvtxSemanticsCounter_t, min);
SAME_FIELD (LnsNvtxCounterSemantics, max, nvtxSemanticsCounter_t, max);

SAME_SIZE (LnsNvtxSchemaEntry, nvtxPayloadSchemaEntry_t);
SAME_FIELD (LnsNvtxSchemaEntry, flags, nvtxPayloadSchemaEntry_t, flags);
SAME_FIELD (LnsNvtxSchemaEntry, type, nvtxPayloadSchemaEntry_t, type);
SAME_FIELD (LnsNvtxSchemaEntry, name, nvtxPayloadSchemaEntry_t, name);
SAME_FIELD (LnsNvtxSchemaEntry, description, nvtxPayloadSchemaEntry_t, description);
SAME_FIELD (LnsNvtxSchemaEntry, detail, nvtxPayloadSchemaEntry_t, arrayOrUnionDetail);
SAME_FIELD (LnsNvtxSchemaEntry, offset, nvtxPayloadSchemaEntry_t, offset);
SAME_FIELD (LnsNvtxSchemaEntry, semantics, nvtxPayloadSchemaEntry_t, semantics);
SAME (LNS_NVTX_SCHEMA_HAS_NAME, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME);
SAME (LNS_NVTX_SCHEMA_HAS_TYPE, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE);
SAME (LNS_NVTX_SCHEMA_HAS_FLAGS, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS);
SAME (LNS_NVTX_SCHEMA_HAS_ENTRIES, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES);
SAME (LNS_NVTX_SCHEMA_HAS_N_ENTRIES, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES);
SAME (LNS_NVTX_SCHEMA_HAS_STATIC_SIZE, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE);
SAME (LNS_NVTX_SCHEMA_HAS_ALIGNMENT, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT);
SAME (LNS_NVTX_SCHEMA_HAS_ID, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID);
SAME_SIZE (LnsNvtxSchemaAttributes, nvtxPayloadSchemaAttr_t);
SAME_FIELD (LnsNvtxSchemaAttributes, fields, nvtxPayloadSchemaAttr_t, fieldMask);
SAME_FIELD (LnsNvtxSchemaAttributes, name, nvtxPayloadSchemaAttr_t, name);
SAME_FIELD (LnsNvtxSchemaAttributes, type, nvtxPayloadSchemaAttr_t, type);
SAME_FIELD (LnsNvtxSchemaAttributes, flags, nvtxPayloadSchemaAttr_t, flags);
SAME_FIELD (LnsNvtxSchemaAttributes, entries, nvtxPayloadSchemaAttr_t, entries);
SAME_FIELD (LnsNvtxSchemaAttributes, n_entries, nvtxPayloadSchemaAttr_t, numEntries);
SAME_FIELD (LnsNvtxSchemaAttributes, static_bytes, nvtxPayloadSchemaAttr_t, payloadStaticSize);
SAME_FIELD (LnsNvtxSchemaAttributes, pack_align, nvtxPayloadSchemaAttr_t, packAlign);
SAME_FIELD (LnsNvtxSchemaAttributes, id, nvtxPayloadSchemaAttr_t, schemaId);

SAME_SIZE (LnsNvtxEnumEntry, nvtxPayloadEnum_t);
SAME_FIELD (LnsNvtxEnumEntry, name, nvtxPayloadEnum_t, name);
SAME_FIELD (LnsNvtxEnumEntry, value, nvtxPayloadEnum_t, value);
SAME_FIELD (LnsNvtxEnumEntry, is_flag, nvtxPayloadEnum_t, isFlag);
SAME (LNS_NVTX_ENUM_HAS_NAME, NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME);
SAME (LNS_NVTX_ENUM_HAS_ENTRIES, NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES);
SAME (LNS_NVTX_ENUM_HAS_N_ENTRIES, NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES);
SAME (LNS_NVTX_ENUM_HAS_SIZE, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE);
SAME (LNS_NVTX_ENUM_HAS_ID, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID);
SAME_SIZE (LnsNvtxEnumAttributes, nvtxPayloadEnumAttr_t);
SAME_FIELD (LnsNvtxEnumAttributes, fields, nvtxPayloadEnumAttr_t, fieldMask);
SAME_FIELD (LnsNvtxEnumAttributes, name, nvtxPayloadEnumAttr_t, name);
SAME_FIELD (LnsNvtxEnumAttributes, entries, nvtxPayloadEnumAttr_t, entries);
SAME_FIELD (LnsNvtxEnumAttributes, n_entries, nvtxPayloadEnumAttr_t, numEntries);
SAME_FIELD (LnsNvtxEnumAttributes, value_bytes, nvtxPayloadEnumAttr_t, sizeOfEnum);
SAME_FIELD (LnsNvtxEnumAttributes, id, nvtxPayloadEnumAttr_t, schemaId);

SAME_SIZE (LnsNvtxScopeAttributes, nvtxScopeAttr_t);
SAME_FIELD (LnsNvtxScopeAttributes, struct_bytes, nvtxScopeAttr_t, structSize);
SAME_FIELD (LnsNvtxScopeAttributes, path, nvtxScopeAttr_t, path);
SAME_FIELD (LnsNvtxScopeAttributes, parent, nvtxScopeAttr_t, parentScope);
SAME_FIELD (LnsNvtxScopeAttributes, id, nvtxScopeAttr_t, scopeId);
SAME_SIZE (LnsNvtxCounterAttributes, nvtxCounterAttr_t);
SAME_FIELD (LnsNvtxCounterAttributes, struct_bytes, nvtxCounterAttr_t, structSize);
SAME_FIELD (LnsNvtxCounterAttributes, schema, nvtxCounterAttr_t, schemaId);
SAME_FIELD (LnsNvtxCounterAttributes, name, nvtxCounterAttr_t, name);
SAME_FIELD (LnsNvtxCounterAttributes, description, nvtxCounterAttr_t, description);
SAME_FIELD (LnsNvtxCounterAttributes, scope, nvtxCounterAttr_t, scopeId);
SAME_FIELD (LnsNvtxCounterAttributes, semantics, nvtxCounterAttr_t, semantics);
SAME_FIELD (LnsNvtxCounterAttributes, id, nvtxCounterAttr_t, counterId);
SAME_SIZE (LnsNvtxCounterBatch, nvtxCounterBatch_t);
SAME_FIELD (LnsNvtxCounterBatch, counter, nvtxCounterBatch_t, counterId);
SAME_FIELD (LnsNvtxCounterBatch, samples, nvtxCounterBatch_t, counters);
SAME_FIELD (LnsNvtxCounterBatch, n_samples_bytes, nvtxCounterBatch_t, countersSize);
SAME_FIELD (LnsNvtxCounterBatch, flags, nvtxCounterBatch_t, flags);
SAME_FIELD (LnsNvtxCounterBatch, times, nvtxCounterBatch_t, timestamps);
SAME_FIELD (LnsNvtxCounterBatch, n_times_bytes, nvtxCounterBatch_t, timestampsSize);

/* What the compiler cannot decide: that the handlers' parameters are those of the headers' calls, is
 * seen by calling them, which tests/programs/calls.c does with these same headers. */
static void
test_abi_is_that_of_the_headers (void)
{
  LNS_CHECK_INT (sizeof (LnsNvtxMessage), sizeof (nvtxMessageValue_t));
  LNS_CHECK_INT (LNS_NVTX_SEMANTICS_COUNTER, NVTX_SEMANTIC_ID_COUNTERS_V1);
}

int
main (void)
{
  LNS_TEST (test_abi_is_that_of_the_headers);
  return lns_tap_done ();
}
