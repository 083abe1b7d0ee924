"""Receipts on their way through a pipeline."""

from collections.abc import Mapping
from typing import Any

from hopweave.hit import Hit, Receipt


class Carried(dict[str, Any]):
    """
    What a document carries under `meta["hopweave"]`: its receipts as plain data, and the scale of its score.

    Haystack copies documents in front of every component, deeply. What has been told is never changed, so copies share
    it: ten components would otherwise spend more time on copying receipts than on ranking.
    """

    told: tuple[Receipt, ...] = ()

    @classmethod
    def of(cls, hit: Hit, before: Any = None) -> "Carried":
        """
        The receipts of a hit, built on those that its document carried before.

        :param hit: The hit.
        :param before: What the document carried, if anything.
        :returns: What it carries now.
        """
        told = before.told if isinstance(before, Carried) else ()
        known = len(told) if hit.receipts[: len(told)] == told else 0
        written = before["receipts"][:known] if known else []
        carried = cls(receipts=[*written, *(one.as_dict() for one in hit.receipts[known:])], scale=hit.scale)
        carried.told = hit.receipts
        return carried

    def __deepcopy__(self, memo: dict[int, Any]) -> "Carried":
        return self


def receipts_of(carried: Mapping[str, Any]) -> tuple[Receipt, ...]:
    """
    The receipts that a document carries, also where it has been through JSON since.

    :param carried: What stands under `meta["hopweave"]`.
    :returns: The receipts.
    """
    if isinstance(carried, Carried) and len(carried.told) == len(carried["receipts"]):
        return carried.told
    return tuple(Receipt.from_dict(receipt) for receipt in carried["receipts"])
