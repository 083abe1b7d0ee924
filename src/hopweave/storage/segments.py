"""Segments: an index over numbered rows as one large part and smaller ones for what came later.

A change makes a segment of the new rows and marks the removed ones. Segments are joined as they grow, so that a change
costs its own size and there are never many segments.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self, TypeVar

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_LARGER = 2  # times the size of the next one: as long as a segment is not so much larger, the two are joined


@dataclass(frozen=True, slots=True)
class RowSegment:
    """Some rows of an index, sorted; `gone` marks those that were removed later."""

    rows: Rows
    gone: Flags | None = field(default=None, kw_only=True)

    @property
    def kept(self) -> Flags:
        """The mask of the rows that have not been removed."""
        return np.ones(len(self.rows), np.bool_) if self.gone is None else ~self.gone

    @property
    def size(self) -> int:
        """The number of rows that have not been removed."""
        return len(self.rows) - (0 if self.gone is None else int(np.count_nonzero(self.gone)))

    def without(self, removed: Rows) -> Self:
        """The segment with these rows marked as gone; others than its own do not matter."""
        places = self.find(removed)
        if not len(places):
            return self
        gone = ~self.kept
        gone[places] = True
        return replace(self, gone=gone)

    def find(self, rows: Rows) -> npt.NDArray[np.intp]:
        """Return the positions of those of these rows that the segment holds."""
        found = np.searchsorted(self.rows, rows)
        found = found[found < len(self.rows)]
        return found[np.isin(self.rows[found], rows)]


AnySegment = TypeVar("AnySegment", bound=RowSegment)


def rows_of(segments: Sequence[RowSegment]) -> Rows:
    """The rows of all segments that are not gone, sorted."""
    return np.sort(np.concatenate([np.empty(0, np.int64), *(one.rows[one.kept] for one in segments)]))


def changed(
    segments: Sequence[AnySegment],
    added: AnySegment | None,
    removed: Rows | None,
    join: Callable[[Sequence[AnySegment]], AnySegment],
    size: Callable[[AnySegment], int],
) -> list[AnySegment]:
    """Segments after rows were removed and then others added; `size` is what joining a segment costs."""
    result = list(segments)
    if removed is not None and len(removed):
        result = [one.without(removed) for one in result]
    if added is not None:
        result.append(added)
    while len(result) > 1 and size(result[-2]) <= _LARGER * size(result[-1]):
        result[-2:] = [join(result[-2:])]
    return result
