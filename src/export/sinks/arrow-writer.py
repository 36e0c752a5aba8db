# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""Writes the tables that arrow.c sends over the socket that is standard input, with pyarrow: KIND MODE TARGET.
What is sent is said there. Answers "r" once it may begin; at the end "k", "o" and the errno of what cannot be written, or "e" and what went wrong."""

import errno
import os
import signal
import socket
import struct
import sys

signal.signal(signal.SIGINT, signal.SIG_IGN)  # who sends decides
try:
    import pyarrow
    import pyarrow.parquet
except ImportError:
    sys.exit(3)

kind, mode, target = sys.argv[1:]
os.umask(os.umask(0) | 0o777 & ~int(mode, 8))
connection = socket.socket(fileno=0)
stream = connection.makefile("rb", buffering=1 << 20)
TYPES = {"i": pyarrow.int64(), "r": pyarrow.float64(), "t": pyarrow.utf8(), "b": pyarrow.binary()}


def read(size):
    data = stream.read(size)
    if len(data) != size:
        raise EOFError("the export ended early")
    return data


def number(form="<I"):
    return struct.unpack(form, read(struct.calcsize(form)))[0]


def read_schema():
    name = read(number()).decode("utf-8", "replace")
    fields = []
    for _ in range(number()):
        column_type = TYPES[read(1).decode()]
        fields.append(pyarrow.field(read(number()).decode("utf-8", "replace"), column_type))
    return name, pyarrow.schema(fields, metadata={"table": name})


def read_batch(schema):
    rows = number()
    columns = []
    for field in schema:
        buffers = [pyarrow.py_buffer(read(number("<Q"))) for _ in range(3 if field.type in (TYPES["t"], TYPES["b"]) else 2)]
        columns.append(pyarrow.Array.from_buffers(field.type, rows, buffers))
    return pyarrow.record_batch(columns, schema=schema)


def writer_of(name, schema, whole):
    name = name.replace("/", "_")  # tables that came from elsewhere are called as they please
    if kind == "parquetdir":
        return pyarrow.parquet.ParquetWriter(f"{target}/{name}.parquet", schema, compression="zstd")
    if kind == "arrowdir":
        return pyarrow.ipc.new_file(f"{target}/{name}.arrow", schema)
    return pyarrow.ipc.new_stream(whole, schema)  # one after another, each to its own end


def write_all():
    whole = open(target, "xb") if kind == "arrow" else None
    writer = schema = None
    while (message := read(1)) != b"Z":
        if message == b"T":
            name, schema = read_schema()
            writer = writer_of(name, schema, whole)
        elif message == b"B":
            writer.write_batch(read_batch(schema))
        else:
            writer.close()
    if whole is not None:
        whole.close()


connection.sendall(b"r")
try:
    write_all()
    connection.sendall(b"k")
except EOFError:
    pass
except OSError as error:
    connection.sendall(b"o" + str(error.errno or errno.EIO).encode())
except Exception as error:
    connection.sendall(b"e" + str(error).encode())
