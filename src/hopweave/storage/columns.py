"""Growing columns of numbers, whose first part may be mapped from a file."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Numbers = npt.NDArray[np.int64]


def distinct(*arrays: Array) -> Array:
    """The numbers in these arrays, each once, in order. `np.unique` hashes, which takes far longer than sorting.

    >>> distinct(np.array([3, 1, 3]), np.array([2])).tolist(), distinct(np.empty(0, np.int64)).tolist()
    ([1, 2, 3], [])
    """
    ordered = np.sort(np.concatenate(arrays))
    return ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])] if len(ordered) else ordered


class Column:
    """A one-dimensional array that grows at the end in amortised constant time.

    It starts as the given array, without a copy, until it grows. An array that `values` returned before stays as long
    as it was, so older entries must not be changed in place while somebody reads them: take a `copy` for readers.

    >>> column = Column(np.array([3, 4], np.int32))
    >>> column.append([5, 6])
    2
    >>> column.values.tolist()
    [3, 4, 5, 6]
    """

    def __init__(self, base: Array) -> None:
        self._data = base
        self._size = len(base)

    def __len__(self) -> int:
        return self._size

    @property
    def values(self) -> Array:
        """The entries, as a view."""
        return self._data[: self._size]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the entries."""
        return self._data.dtype

    def append(self, values: npt.ArrayLike) -> int:
        """Add entries at the end; the number of the first."""
        added = np.asarray(values, self._data.dtype)
        first = self._size
        self._reserve(first + len(added))
        self._data[first : first + len(added)] = added
        self._size += len(added)
        return first

    def resize(self, size: int, fill: float = 0) -> None:
        """Grow to this many entries, the new ones being `fill`; a column never shrinks."""
        if size > self._size:
            self._reserve(size)
            self._data[self._size : size] = fill
            self._size = size

    def _reserve(self, size: int) -> None:
        if size > len(self._data):
            grown = np.empty(max(size, len(self._data) + len(self._data) // 4, 16), self._data.dtype)
            grown[: self._size] = self._data[: self._size]
            self._data = grown


class RaggedRows:
    """Rows of different lengths, each with one or more fields per entry: adjacency lists, postings, texts.

    The rows it starts with lie end to end in arrays that are never written to. A row that is replaced or extended
    moves behind them; what it leaves is wasted until `arrays` lays all rows end to end again. Entries are never
    changed in place, so `frozen` rows stay as they were.

    >>> rows = RaggedRows.empty({"target": np.int32, "weight": np.float64})
    >>> rows.resize(3)
    >>> rows.replace(np.array([0, 2]), np.array([1, 2]), [[7, 8, 9], [0.5, 1.0, 2.0]])
    >>> rows.extend(np.array([0, 1]), [[5, 6], [1.0, 1.0]])
    >>> rows.row(0)[0].tolist(), rows.row(1)[0].tolist(), rows.row(2)[1].tolist()
    ([7, 5], [6], [1.0, 2.0])
    """

    def __init__(self, starts: Array, lengths: Array, base: Mapping[str, Array]) -> None:
        self.starts, self.lengths = Column(starts), Column(lengths)
        self.base = dict(base)
        self.tail = {name: Column(np.empty(0, values.dtype)) for name, values in base.items()}
        self.base_size = len(next(iter(base.values())))
        self._room: dict[int, int] = {}

    @classmethod
    def empty(cls, fields: Mapping[str, npt.DTypeLike]) -> "RaggedRows":
        """No rows yet."""
        base = {name: np.empty(0, dtype) for name, dtype in fields.items()}
        return cls(np.empty(0, np.int64), np.empty(0, np.int32), base)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> "RaggedRows":
        """The rows that `arrays` described."""
        fields = {name: values for name, values in arrays.items() if name not in ("starts", "lengths")}
        return cls(arrays["starts"], arrays["lengths"], fields)

    def arrays(self) -> dict[str, Array]:
        """All rows end to end: where each starts, how long it is, and one array per field."""
        lengths = self.lengths.values
        starts = np.cumsum(lengths, dtype=np.int64) - lengths
        return {"starts": starts, "lengths": np.array(lengths), **self.frozen().ordered()}

    def __len__(self) -> int:
        return len(self.starts)

    def resize(self, size: int) -> None:
        """Add empty rows until there are this many."""
        self.starts.resize(size)
        self.lengths.resize(size)

    def row(self, number: int) -> list[Array]:
        """The fields of one row."""
        start, length = int(self.starts.values[number]), int(self.lengths.values[number])
        if start >= self.base_size:
            first = start - self.base_size
            return [column.values[first : first + length] for column in self.tail.values()]
        return [values[start : start + length] for values in self.base.values()]

    def replace(self, rows: Array, lengths: Array, fields: Sequence[npt.ArrayLike]) -> None:
        """Put these fields, end to end, in place of what the rows held."""
        if not len(rows):
            return
        first = self.base_size + self._append(fields)
        self.starts.values[rows] = first + np.cumsum(lengths) - lengths
        self.lengths.values[rows] = lengths
        for row in self._room.keys() & set(rows.tolist()) if self._room else ():
            del self._room[row]

    def extend(self, rows: Array, fields: Sequence[npt.ArrayLike]) -> None:
        """Add one entry per row number given; a row may be given several times."""
        if not len(rows):
            return
        order = np.argsort(rows, kind="stable")
        ordered = rows[order]
        values = [np.asarray(field)[order] for field in fields]
        first = np.flatnonzero(np.diff(ordered, prepend=-1))
        distinct, counts = ordered[first], np.diff(first, append=len(ordered))
        new = self.lengths.values[distinct] == 0
        fresh = np.repeat(new, counts)
        self.replace(distinct[new], counts[new], [value[fresh] for value in values])
        for row, begin, count in zip(distinct[~new].tolist(), first[~new].tolist(), counts[~new].tolist(), strict=True):
            self._extend_one(row, [value[begin : begin + count] for value in values], count)

    def gather(self, rows: Array) -> tuple[Array, list[Array]]:
        """See `FrozenRows.gather`."""
        return self.frozen(copy=False).gather(rows)

    def frozen(self, *, copy: bool = True) -> "FrozenRows":
        """The rows as they are now, whatever becomes of them later; without a copy, until the next change."""
        starts, lengths = self.starts.values, self.lengths.values
        return FrozenRows(
            starts.copy() if copy else starts,
            lengths.copy() if copy else lengths,
            list(self.base),
            list(self.base.values()),
            [column.values for column in self.tail.values()],
        )

    def _extend_one(self, row: int, values: Sequence[Array], count: int) -> None:
        start, length = int(self.starts.values[row]), int(self.lengths.values[row])
        room = self._room.get(row, length)
        if length + count > room:
            old, room = self.row(row), 2 * (length + count)
            first = self._append([np.resize(old_part, room) for old_part in old])
            start = self.starts.values[row] = self.base_size + first
            self._room[row] = room
        place = start - self.base_size + length
        for column, added in zip(self.tail.values(), values, strict=True):
            column.values[place : place + count] = added
        self.lengths.values[row] = length + count

    def _append(self, fields: Sequence[npt.ArrayLike]) -> int:
        first = 0
        for column, field in zip(self.tail.values(), fields, strict=True):
            first = column.append(field)
        return first


class FrozenRows:
    """Rows of a `RaggedRows` at one moment."""

    def __init__(
        self, starts: Array, lengths: Array, names: Sequence[str], base: Sequence[Array], tail: Sequence[Array]
    ) -> None:
        self.starts, self.lengths = starts, lengths
        self._names, self._base, self._tail = names, base, tail
        self.base_size = len(base[0])

    def row(self, number: int) -> list[Array]:
        """The fields of one row."""
        start, length = int(self.starts[number]), int(self.lengths[number])
        if start >= self.base_size:
            first = start - self.base_size
            return [values[first : first + length] for values in self._tail]
        return [values[start : start + length] for values in self._base]

    def gather(self, rows: Array) -> tuple[Array, list[Array]]:
        """The entries of several rows, end to end: how many each row has, and the fields."""
        starts, lengths = self.starts[rows], self.lengths[rows]
        moved = starts >= self.base_size
        if moved.all():
            positions = run_positions(starts - self.base_size, lengths)
            return lengths, [values[positions] for values in self._tail]
        if not moved.any():
            positions = run_positions(starts, lengths)
            return lengths, [values[positions] for values in self._base]
        positions, from_tail = run_positions(starts, lengths), np.repeat(moved, lengths)
        in_base, in_tail = positions[~from_tail], positions[from_tail] - self.base_size
        fields = []
        for base, tail in zip(self._base, self._tail, strict=True):
            values = np.empty(len(positions), base.dtype)
            values[~from_tail], values[from_tail] = base[in_base], tail[in_tail]
            fields.append(values)
        return lengths, fields

    def ordered(self) -> dict[str, Array]:
        """All entries by row, one array per field."""
        return dict(zip(self._names, self.gather(np.arange(len(self.lengths)))[1], strict=True))


def run_positions(starts: Array, lengths: Array) -> Numbers:
    """The positions of runs that start at `starts` and are `lengths` long, end to end."""
    ends = np.cumsum(lengths, dtype=np.int64)
    positions = np.repeat(starts - (ends - lengths), lengths)
    positions += np.arange(len(positions))
    return positions


class ColumnTable:
    """Columns of one length, by name.

    >>> table = ColumnTable({"kind": np.int16, "count": np.int32})
    >>> table.append(2, kind=[5, 6]), len(table), table["count"].tolist()
    (0, 2, [0, 0])
    >>> table["count"][1] += 3
    >>> table["count"].tolist()
    [0, 3]
    """

    def __init__(self, columns: Mapping[str, npt.DTypeLike], arrays: Mapping[str, Array] | None = None) -> None:
        self._columns = {
            name: Column(np.empty(0, dtype) if arrays is None else arrays[name]) for name, dtype in columns.items()
        }

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    def __getitem__(self, name: str) -> Array:
        return self._columns[name].values

    def append(self, count: int, /, **values: npt.ArrayLike) -> int:
        """Add rows at the end; columns that are not given hold 0. The number of the first new row."""
        first = len(self)
        for name, column in self._columns.items():
            if name in values:
                column.append(values[name])
            else:
                column.resize(first + count)
        return first

    def arrays(self) -> dict[str, Array]:
        """All columns by name."""
        return {name: column.values for name, column in self._columns.items()}
