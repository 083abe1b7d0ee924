"""Numbers between PostgreSQL and numpy without a Python object for each: as binary arrays, and as binary COPY."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from psycopg import Connection, Cursor, pq, sql
from psycopg.abc import AdaptContext, DumperKey, PyFormat
from psycopg.adapt import Dumper

from hopweave.graph_store.backend import Indices, Mask

SqlType = Literal["int2", "int4", "int8", "float8"]

_TYPES: dict[SqlType, str] = {"int2": ">i2", "int4": ">i4", "int8": ">i8", "float8": ">f8"}
_ARRAYS = {
    "i2": (21, 1005),
    "i4": (23, 1007),
    "i8": (20, 1016),
    "f8": (701, 1022),
}  # numbers of SQL types, and of arrays
_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)


class NumberArrayDumper(Dumper):
    """Sends an array of numbers as it lies in memory, where psycopg would write out a list number by number."""

    format = pq.Format.BINARY

    def __init__(self, cls: type, context: AdaptContext | None = None) -> None:
        super().__init__(cls, context)
        self._element = 0

    def get_key(self, obj: Any, format: PyFormat) -> DumperKey:  # noqa: A002, ARG002 - the names of psycopg
        """Arrays of another type are another SQL type."""
        return (self.cls, obj.dtype.str[1:])

    def upgrade(self, obj: Any, format: PyFormat) -> "NumberArrayDumper":  # noqa: A002, ARG002
        """The dumper of arrays of this type."""
        made = NumberArrayDumper(self.cls)
        made._element, made.oid = _ARRAYS[obj.dtype.str[1:]]
        return made

    def dump(self, obj: Any) -> bytes:
        """The array in PostgreSQL's binary form."""
        head = np.array([int(len(obj) > 0), 0, self._element, len(obj), 1][: 5 if len(obj) else 3], ">i4")
        entries = np.empty(len(obj), [("length", ">i4"), ("value", obj.dtype.newbyteorder(">"))])
        entries["length"], entries["value"] = obj.dtype.itemsize, obj
        return head.tobytes() + entries.tobytes()


def accept_arrays(connection: Connection[Any]) -> None:
    """Let statements on a connection take numpy arrays as parameters."""
    connection.adapters.register_dumper(np.ndarray, NumberArrayDumper)


def packed(*columns: str) -> str:
    """Expressions that collect columns of numbers into bytes that `unpacked` reads.

    >>> packed("src", "dst")
    'array_send(array_agg(src)), array_send(array_agg(dst))'
    """
    return ", ".join(f"array_send(array_agg({column}))" for column in columns)


def unpacked(content: bytes | None, kind: SqlType) -> npt.NDArray[Any]:
    """The numbers of a PostgreSQL array in its binary form; none for NULL.

    >>> header, one = bytes([0, 0, 0, 1]) + bytes(16), bytes([0, 0, 0, 4, 0, 0, 1, 0])
    >>> unpacked(header + one + one, "int4").tolist(), len(unpacked(None, "int8"))
    ([256, 256], 0)
    """
    values = np.dtype(_TYPES[kind])
    if content is None:
        return np.empty(0, values.newbyteorder("="))
    entries = np.frombuffer(content, np.dtype([("length", ">i4"), ("value", values)]), offset=20)
    return entries["value"].astype(values.newbyteorder("="))


def copy_numbers(cursor: Cursor[Any], table: str, columns: dict[str, SqlType], *arrays: npt.ArrayLike) -> None:
    """Put rows of numbers into a table with COPY."""
    count = len(np.asarray(arrays[0]))
    fields: list[tuple[str, str]] = [("fields", ">i2")]
    for name, kind in columns.items():
        fields += [(f"{name} length", ">i4"), (name, _TYPES[kind])]
    rows = np.empty(count, np.dtype(fields))
    rows["fields"] = len(columns)
    for (name, kind), values in zip(columns.items(), arrays, strict=True):
        rows[f"{name} length"] = np.dtype(_TYPES[kind]).itemsize
        rows[name] = values
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT binary)").format(sql.Identifier(table), names)
    with cursor.copy(statement) as copy:
        copy.write(_HEADER + rows.tobytes() + b"\xff\xff")


class LookedUpFlags:
    """Flags that are looked up for the nodes asked about."""

    def __init__(self, look_up: Callable[[Indices], Mask]) -> None:
        self._look_up = look_up

    def __getitem__(self, nodes: Indices) -> Mask:
        return self._look_up(np.asarray(nodes, np.int64))
