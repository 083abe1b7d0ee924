"""Embeddings that the copies of a document share."""

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import numpy as np

from hopweave.hit import Vector


class SharedEmbedding(list[float]):
    """
    The embedding of a document that one of our components has handed on: a list that can only be read.

    Haystack copies documents in front of every component, deeply, and nearly all of that time goes into embeddings. As
    this one cannot change, copies share it. To give a document another embedding, replace it.
    """

    __slots__ = ("_vector",)

    def __new__(cls, *values: Any) -> Any:  # noqa: D102
        return list(*values)  # for `dataclasses.asdict`, which makes a new object of the same class: plain data

    @classmethod
    def of(cls, embedding: Iterable[float]) -> "SharedEmbedding":
        """An embedding that copies share."""
        made = list.__new__(cls)
        list.extend(made, embedding)
        return made

    @property
    def vector(self) -> Vector:
        """The same as an array, made when it is first asked for."""
        try:
            return self._vector
        except AttributeError:
            self._vector: Vector = np.fromiter(self, np.float32, len(self))  # for lists faster than np.asarray
            self._vector.setflags(write=False)
            return self._vector

    def __copy__(self) -> "SharedEmbedding":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "SharedEmbedding":
        return self

    def __reduce_ex__(self, protocol: Any) -> tuple[Callable[..., Any], tuple[list[float]]]:
        return SharedEmbedding.of, (list(self),)


def _refuse(*_: Any, **__: Any) -> NoReturn:
    raise TypeError("this embedding is shared by copies of its document; replace it instead of changing it")


for _change in ("append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"):
    setattr(SharedEmbedding, _change, _refuse)
for _change in ("__delitem__", "__iadd__", "__imul__", "__setitem__"):
    setattr(SharedEmbedding, _change, _refuse)
