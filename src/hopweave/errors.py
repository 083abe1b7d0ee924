"""Errors, with messages that a user can act on.

Bad parameters raise pydantic's `ValidationError` (a `ValueError`), which names the field, the value and what is
allowed. Everything else that hopweave raises on purpose is a `HopweaveError`.
"""

import re
from collections.abc import Mapping

from pydantic import ValidationError
from pydantic_core import ErrorDetails

_SECRET = re.compile(r"(?i)key$|token|secret|password|url$")


class HopweaveError(Exception):
    """Any error hopweave raises on purpose."""


class InvalidScore(HopweaveError, ValueError):
    """A hit carries a score that is NaN or infinite."""


class RecipeError(HopweaveError, ValueError):
    """A recipe cannot be read, or asks for something that does not exist."""


class MissingCapability(HopweaveError):
    """A component needs a capability that the knowledge it is used with does not have."""


class SourceFailed(HopweaveError):
    """A source that the recipe cannot do without failed or missed its deadline."""


class SourceTimeout(HopweaveError, TimeoutError):
    """A source did not answer before its deadline."""


class Cancelled(HopweaveError):
    """Nobody waits for the answer any more."""


class EmbeddingError(HopweaveError):
    """No embedder answered, or its vectors have the wrong shape."""


class KnowledgeBaseError(HopweaveError):
    """The knowledge base file cannot be used as asked."""


class AlreadyThere(KnowledgeBaseError):
    """A document that must be new has an id that is taken."""


class OtherTenant(KnowledgeBaseError, ValueError):
    """A tenant writes a document that is not its own, or under an id that is not its own."""


class TenantRequired(KnowledgeBaseError, ValueError):
    """A question does not say which tenant's documents it means, and there are documents of tenants."""


class EmptyFile(KnowledgeBaseError):
    """There is nothing to read yet: the file was just made, or its making was cut short."""


class NewerSchema(KnowledgeBaseError):
    """The file was written by a newer hopweave than this one."""


class KnowledgeBaseBusy(KnowledgeBaseError):
    """Another process is writing and did not finish in time."""


class GraphUnavailable(KnowledgeBaseError):
    """The server that holds the graph cannot be reached, or the connection to it was lost."""


class GraphTimeout(KnowledgeBaseError):
    """The server that holds the graph did not answer a statement in time."""


class InvalidImage(HopweaveError):
    """An index image is damaged, or not what was written; it can always be made again from the documents."""


class UnreadableInput(HopweaveError, ValueError):
    """A file or a line of a file cannot be turned into documents."""


def reason_of(error: BaseException) -> str:
    """What logs, receipts and results say of an error: all of our own, of others the type alone.

    The text of others' errors may hold keys, addresses or the question; it goes to the DEBUG log with the traceback.

    >>> reason_of(SourceTimeout("no answer within 2 s")), reason_of(ConnectionError("POST https://me:secret@host"))
    ('SourceTimeout: no answer within 2 s', 'ConnectionError')
    """
    name = type(error).__name__
    quotes_others = not isinstance(error, HopweaveError) or isinstance(error, SourceFailed)
    return name if quotes_others else f"{name}: {error}"


def explain(error: ValidationError) -> str:
    """Say on one line per fault which parameter has which value and what is allowed.

    >>> from pydantic import BaseModel, Field
    >>> class Window(BaseModel):
    ...     top_k: int = Field(10, ge=1)
    >>> try:
    ...     Window(top_k=0)
    ... except ValidationError as fault:
    ...     explain(fault)
    'top_k: 0 is not allowed: input should be greater than or equal to 1'
    """
    return "\n".join(_sentence(fault) for fault in error.errors(include_url=False))


def _sentence(fault: ErrorDetails) -> str:
    where = ".".join(str(part) for part in fault["loc"])
    if not where and fault["type"] == "value_error":  # of the whole, whose message names what is wrong
        return fault["msg"].removeprefix("Value error, ")
    where = where or "value"
    context = fault.get("ctx", {})
    if fault["type"] == "extra_forbidden":
        return f"{where}: unknown key" + (f"; allowed are {context['allowed']}" if "allowed" in context else "")
    if fault["type"] == "missing":
        return f"{where}: required, but missing"
    if fault["type"] == "union_tag_not_found":
        return f"{where}.kind: required, but missing"
    if fault["type"] == "union_tag_invalid":
        return f"{where}.kind: {context['tag']!r} is not allowed: there are {context['expected_tags']}"
    reason = fault["msg"].removeprefix("Value error, ")
    value = "the value given" if _SECRET.search(where) else _short(fault["input"])
    return f"{where}: {value} is not allowed: {reason[:1].lower()}{reason[1:]}"


def _short(value: object) -> str:
    if isinstance(value, Mapping):  # may hold a key or a password
        return "a mapping"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
