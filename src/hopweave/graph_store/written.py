"""What graph stores keep: of each document, prepared in any process, and of the builders that they began with."""

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from typing import Any, NamedTuple, TypeVar, cast

from hopweave.component import registered
from hopweave.document import Document
from hopweave.errors import KnowledgeBaseError
from hopweave.graph.build.builders.builder import GraphBuilder, contribute_all, warn_of_older_rules
from hopweave.graph.model import Contribution
from hopweave.graph.storage import ledger
from hopweave.knowledge_base.documents import Entry
from hopweave.metadata.tenants import MAX_TENANT_CHARACTERS

T = TypeVar("T")
R = TypeVar("R")

STAGED_AT_ONCE = 2_000
"""Documents that a worker prepares at once."""


class Written(NamedTuple):
    """What is kept of a document: its contribution, the source it belongs to, and metadata that tenants go by."""

    contribution: Contribution
    source: str = ""
    metadata: Mapping[str, Any] = {}


def prepared(builders: Sequence[GraphBuilder], documents: Sequence[Document]) -> list[Written]:
    """What is kept of documents, in a process of its own."""
    for document in documents:
        Entry.of(document)  # raises if it cannot be stored
    contributions = contribute_all(builders, documents)
    return [
        Written(one, document.source, kept_metadata(document.metadata))
        for one, document in zip(contributions, documents, strict=True)
    ]


def kept_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata that tenants may go by: short texts, numbers, truth values, and lists of these.

    >>> kept_metadata({"customer": ["acme"], "page": 3, "triples": [("a", "b", "c")], "text": "x" * 5000})
    {'customer': ['acme'], 'page': 3}
    """
    plain = json.loads(Entry.of(Document("-", "", metadata)).metadata)
    return {name: value for name, value in plain.items() if all(map(_is_short, _values(value)))}


def encoded(documents: Sequence[Written]) -> Iterator[tuple[Written, ledger.Encoded]]:
    """Documents with their contributions as they are stored."""
    for one in documents:
        yield one, ledger.encoded(one.contribution)


def stored_builders(
    where: object, stored: Sequence[Mapping[str, Any]], wanted: Sequence[GraphBuilder] | None
) -> tuple[GraphBuilder, ...]:
    """The builders that a graph was begun with, from their dumps; an error if others are `wanted`."""
    import hopweave.catalogue  # noqa: F401 - so that every kind is known

    kinds = registered(GraphBuilder)
    try:
        made = tuple(cast(GraphBuilder, kinds[one["kind"]].model_validate(one)) for one in stored)
    except KeyError as error:
        raise KnowledgeBaseError(f"{where}: was made with {error}, which is not installed") from error
    if wanted is not None and tuple(wanted) != made:
        raise KnowledgeBaseError(
            f"{where}: its graph is built by {', '.join(one.kind for one in made) or 'nothing'}; "
            "open it without naming builders, or use another schema"
        )
    warn_of_older_rules(where, made, stored)
    return made


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items in lists of this many.

    >>> list(batches("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    stream = iter(items)
    while batch := list(islice(stream, size)):
        yield batch


def in_processes(work: Callable[[T], R], items: Iterable[T], workers: int) -> Iterator[R]:
    """What `work` returns for each item, in worker processes a few items ahead; with one worker, in this process."""
    if workers < 1:
        raise ValueError(f"workers: {workers} is not allowed; it must be at least 1")
    if workers == 1:
        yield from map(work, items)
        return
    with ProcessPoolExecutor(workers, get_context("spawn")) as executor:
        waiting: deque[Future[R]] = deque()
        for item in items:
            waiting.append(executor.submit(work, item))
            if len(waiting) > 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _values(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _is_short(value: Any) -> bool:
    return isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= MAX_TENANT_CHARACTERS)
