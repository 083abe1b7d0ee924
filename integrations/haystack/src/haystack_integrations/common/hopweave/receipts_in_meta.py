"""Receipts on their way through a pipeline."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from hopweave.hit import Receipt, Scale

RECEIPTS_KEY = "hopweave"
"""Under which name a document's meta gives its receipts."""


class ReceiptsInMeta(dict[str, Any]):
    """
    The meta of a document that one of our components handed on: the user's fields, and beside them the receipts.

    `meta["hopweave"]` gives the receipts as plain data and the scale of the score, unless the user has a field of that
    name. They are no item of the dictionary: a document with receipts equals the same document without, and prompts,
    tools, stores and JSON see the user's fields alone. `receipts` in `haystack_integrations.common.hopweave` reads
    them in either case.
    """

    __slots__ = ("receipts", "scale")

    receipts: tuple[Receipt, ...]
    scale: Scale | None

    def __new__(cls, *values: Any) -> Any:  # noqa: D102
        return dict(*values)  # for `dataclasses.asdict`, which makes a new object of the same class: plain data

    @classmethod
    def of(
        cls, meta: Mapping[str, Any], receipts: tuple[Receipt, ...] = (), scale: Scale | None = None
    ) -> "ReceiptsInMeta":
        """A meta of the user's fields, with the receipts of a hit and the scale of its score."""
        made = dict.__new__(cls)
        made.update(meta)
        made.receipts = receipts
        made.scale = scale
        return made

    def __missing__(self, key: str) -> Any:
        if key != RECEIPTS_KEY:
            raise KeyError(key)
        return {"receipts": [one.as_dict() for one in self.receipts], "scale": self.scale}

    def copy(self) -> "ReceiptsInMeta":
        """A copy of the dictionary, with the receipts."""
        return ReceiptsInMeta.of(self, self.receipts, self.scale)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> "ReceiptsInMeta":
        # receipts are never changed: ten components would spend more time on copying them than on ranking
        return ReceiptsInMeta.of({key: deepcopy(value, memo) for key, value in self.items()}, self.receipts, self.scale)

    def __reduce_ex__(self, protocol: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return ReceiptsInMeta.of, (dict(self), self.receipts, self.scale)
