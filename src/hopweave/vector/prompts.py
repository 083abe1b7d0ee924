"""Prompts that families of embedding models were trained with and that their configuration often does not say."""

import re
from collections.abc import Mapping
from typing import NamedTuple

_REPRESENT = "Represent this sentence for searching relevant passages: "


class Prompts(NamedTuple):
    """What is put before a question and before a document."""

    query: str
    document: str


_FAMILIES: tuple[tuple[str, Prompts], ...] = (
    (r"bge-(small|base|large)-en", Prompts(_REPRESENT, "")),
    (r"bge-(small|base|large)-zh", Prompts("为这个句子生成表示以用于检索相关文章：", "")),
    (r"mxbai-embed-(xsmall|large)", Prompts(_REPRESENT, "")),
    (r"arctic-embed-(xs|s|m|l)(-v1|$|-long)", Prompts(_REPRESENT, "")),
    (r"arctic-embed-[ml]-v2", Prompts("query: ", "")),
    (r"e5-(small|base|large)(-v2|$)", Prompts("query: ", "passage: ")),
    (r"nomic-embed-text", Prompts("search_query: ", "search_document: ")),
)


def prompt_for(model: str, given: str | None, stated: Mapping[str, str], *, queries: bool) -> str:
    """The prompt that was given, else the one the model's configuration states, else that of its family, else none.

    >>> prompt_for("BAAI/bge-small-en-v1.5", None, {}, queries=True)
    'Represent this sentence for searching relevant passages: '
    >>> prompt_for("models/multilingual-e5-small", None, {"document": "text: "}, queries=False)
    'text: '
    >>> prompt_for("intfloat/multilingual-e5-small", "", {}, queries=False)
    ''
    """
    if given is not None:
        return given
    names = ("query",) if queries else ("document", "passage")
    # sentence-transformers says "" for a model whose configuration says nothing
    own = next((stated[name] for name in names if stated.get(name)), None)
    family = known_prompts(model)
    return own if own is not None else family.query if queries else family.document


def known_prompts(model: str) -> Prompts:
    """The prompts of a model's family, by its name or folder; empty ones if it is not known.

    >>> known_prompts("sentence-transformers/all-MiniLM-L6-v2")
    Prompts(query='', document='')
    """
    name = re.split(r"[/\\]", model.rstrip("/\\"))[-1].lower()
    return next((prompts for pattern, prompts in _FAMILIES if re.search(pattern, name)), Prompts("", ""))
