# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""The tables of nsys' SQLite exports, as files of different years have them, and a writer of such files.

A column is written `name`, an INTEGER, or `name:T` (TEXT) or `name:R` (REAL). `!` means NOT NULL, `*` the primary
key, `@2023` that only files of that year and later have the column, `<2021` that only older ones have it. The years
are close, not exact: a reader has to take whichever columns it finds."""

import os
import re
import sqlite3

GPU = "start! end! deviceId! contextId! greenContextId@2023 streamId! correlationId globalPid"

LAYOUT = {
    "StringIds": "id!* value:T!",
    "ThreadNames": "nameId! priority globalTid",
    "ProcessStreams": "globalPid! filenameId! contentId!",
    "PROCESSES": "globalPid pid name:T",
    "NVTX_EVENTS": "start! end eventType! rangeId category color text:T globalTid endGlobalTid textId domainId uint64Value int64Value doubleValue:R"
                   " uint32Value int32Value floatValue:R jsonTextId@2021 jsonText:T@2021 binaryData:T@2023",
    "NVTX_PAYLOAD_SCHEMAS": "domainId schemaId name:T type flags numEntries payloadSize alignTo",
    "NVTX_PAYLOAD_SCHEMA_ENTRIES": "domainId! schemaId! idx! flags type name:T description:T arrayOrUnionDetail offset",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "start! end! eventClass! globalTid correlationId nameId! returnValue! callchainId",
    "CUPTI_ACTIVITY_KIND_KERNEL": GPU + " demangledName! shortName! mangledName@2022 launchType cacheConfig registersPerThread! gridX! gridY! gridZ!"
                                  " blockX! blockY! blockZ! staticSharedMemory! dynamicSharedMemory! localMemoryPerThread! localMemoryTotal! gridId!"
                                  " sharedMemoryExecuted graphNodeId sharedMemoryLimitConfig qmdBulkReleaseDone@2025 qmdPreexitDone@2025 qmdLastCtaDone@2025"
                                  " graphId@2025 clusterX@2025 clusterY@2025 clusterZ@2025 clusterSchedulingPolicy@2025 maxPotentialClusterSize@2025"
                                  " maxActiveClusters@2025 sharedMemoryRequestedPercentage@2025 tensorSizeMinusOneElements:T!@2026",
    "CUPTI_ACTIVITY_KIND_MEMCPY": GPU + " bytes! copyKind! deprecatedSrcId srcKind dstKind srcDeviceId srcContextId dstDeviceId dstContextId"
                                  " migrationCause graphNodeId virtualAddress copyCount@2025",
    "CUPTI_ACTIVITY_KIND_MEMSET": GPU + " value! bytes! graphNodeId memKind",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": GPU + " deprecatedSyncType@2025 syncType! eventId! eventSyncId@2025",
    "CUPTI_ACTIVITY_KIND_CUDA_EVENT": "timestamp@2025 deviceId! contextId! greenContextId@2023 streamId! correlationId globalPid eventId! eventSyncId@2025",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": GPU + " graphId! graphExecId!",
    "CUDA_GRAPH_EVENTS": "start! end! eventClass! globalTid nameId! graphId originalGraphId graphExecId",
    "CUDA_GRAPH_NODE_EVENTS": "start! end! eventClass! globalTid nameId! graphNodeId! originalGraphNodeId",
    "CUDA_GPU_MEMORY_USAGE_EVENTS": "start! globalPid! deviceId! contextId! address! pc! bytes! memKind! memoryOperationType! name:T correlationId streamId"
                                    " localMemoryPoolAddress localMemoryPoolReleaseThreshold localMemoryPoolSize localMemoryPoolUtilizedSize"
                                    " importedMemoryPoolAddress importedMemoryPoolProcessId",
    "CUDA_UM_CPU_PAGE_FAULT_EVENTS": "start! globalPid! address! originalFaultPc CpuInstruction! module! unresolvedFaultPc sourceFile sourceLine",
    "CUDA_UM_GPU_PAGE_FAULT_EVENTS": "start! end! globalPid! deviceId! address! numberOfPageFaults! faultAccessType!",
    "PROFILER_OVERHEAD": "start! end! globalTid nameId! returnValue!<2025 overheadType!@2025",
    "CUPTI_ACTIVITY_KIND_OVERHEAD": "start! end! eventClass! globalTid correlationId nameId overheadType!",
    "CUBLAS_EVENTS": "start! end! eventClass! globalTid nameId!",
    "CUDNN_EVENTS": "start! end! eventClass! globalTid nameId!",
    "OSRT_API": "start! end! eventClass! globalTid nameId! returnValue! nestingLevel callchainId!",
    "OSRT_CALLCHAINS": "id! symbol! module! kernelMode thumbCode unresolved specialEntry originalIP unwindMethod stackDepth!",
    "SAMPLING_CALLCHAINS": "id! symbol! module! kernelMode thumbCode unresolved specialEntry originalIP unwindMethod stackDepth!",
    "CUDA_CALLCHAINS": "id! symbol! module! unresolved originalIP stackDepth!",
    "COMPOSITE_EVENTS": "id! start! cpu threadState globalTid cpuCycles!",
    "SCHED_EVENTS": "start! cpu! isSchedIn! globalTid threadState@2023 threadBlock@2023",
    "MPI_RANKS": "globalTid! rank!",
    "MPI_P2P_EVENTS": "start! end globalTid textId commHandle tag remoteRank size requestHandle",
    "MPI_COLLECTIVES_EVENTS": "start! end globalTid textId commHandle commUid rootRank size recvSize requestHandle",
    "MPI_START_WAIT_EVENTS": "start! end globalTid textId requestHandle",
    "MPI_OTHER_EVENTS": "start! end globalTid textId",
    "TARGET_INFO_GPU": "vmId! deviceId<2021 id!@2021 name:T busLocation:T isDiscrete l2CacheSize totalMemory memoryBandwidth clockRate smCount pwGpuId uuid:T luid"
                       " chipName:T cuDevice ctxswDevPath:T ctrlDevPath:T revision nodeMask constantMemory maxIPC maxRegistersPerBlock maxShmemPerBlock"
                       " maxShmemPerBlockOptin maxShmemPerSm maxRegistersPerSm threadsPerWarp asyncEngines maxWarpsPerSm maxBlocksPerSm maxThreadsPerBlock"
                       " maxBlockDimX maxBlockDimY maxBlockDimZ maxGridDimX maxGridDimY maxGridDimZ computeMajor computeMinor smMajor smMinor",
    "TARGET_INFO_GPU_METRICS": "typeId! sourceId! typeName:T! metricId! metricName:T!",
    "GPU_METRICS": "rawTimestamp timestamp typeId! metricId! value!",
    "TARGET_INFO_CUDA_DEVICE": "gpuId cudaId! pid! uuid:T numMultiprocessors",
    "TARGET_INFO_CUDA_CONTEXT_INFO": "nullStreamId! hwId! vmId! processId! deviceId! contextId! parentContextId isGreenContext numMultiprocessors@2025",
    "TARGET_INFO_CUDA_STREAM": "streamId! hwId! vmId! processId! contextId! priority! flag!",
    "TARGET_INFO_SESSION_START_TIME": "utcEpochNs utcTime:T localTime:T systemClockNs@2025",
    "DIAGNOSTIC_EVENT": "timestamp! timestampType! source! severity! text:T! globalPid",
    "META_DATA_CAPTURE": "name:T! value:T",
    "META_DATA_EXPORT": "name:T! value:T",
    # No tool writes this one: an import keeps tables that it does not know.
    "SITE_NOTES": "written note:T weight:R",
}

TYPES = {None: "INTEGER", "T": "TEXT", "R": "REAL"}
COLUMN = re.compile(r"(\w+)(?::([TR]))?(!?)(\*?)(?:@(\d+))?(?:<(\d+))?$")


def columns(table, year):
    """(name, type, NOT NULL, primary key) of each column of TABLE in files of YEAR."""
    found = []
    for word in LAYOUT[table].split():
        name, kind, not_null, key, since, until = COLUMN.match(word).groups()
        if (since is None or year >= int(since)) and (until is None or year < int(until)):
            found.append((name, TYPES[kind], int(not_null != ""), int(key != "")))
    return found


class Export:
    """The rows of one file; only tables with rows are written."""

    def __init__(self, year):
        self.year, self.rows, self.strings = year, {}, {}

    def string(self, text):
        """The id of TEXT. As in files of nsys, ids tell nothing of the order."""
        return self.strings.setdefault(text, 7 * len(self.strings) + 1)

    def add(self, table, **values):
        """Adds a row. Values for columns that files of this year do not have are dropped; a name that no year knows is an error."""
        known = {COLUMN.match(word)[1] for word in LAYOUT[table].split()}
        assert values.keys() <= known, (table, values.keys() - known)
        self.rows.setdefault(table, []).append(values)

    def write(self, path):
        """Writes the file PATH, which must not be there."""
        assert not os.path.exists(path), path
        database = sqlite3.connect(path)
        self.rows["StringIds"] = [{"id": number, "value": text} for text, number in self.strings.items()]
        for table, rows in self.rows.items():
            described = columns(table, self.year)
            words = [name + " " + kind + " NOT NULL" * not_null + " PRIMARY KEY" * key for name, kind, not_null, key in described]
            database.execute(f"CREATE TABLE {table} ({', '.join(words)})")
            database.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(described))})",
                                 [[row.get(name) for name, *_ in described] for row in rows])
        database.commit()
        database.close()
