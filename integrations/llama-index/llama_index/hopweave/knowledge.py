"""Knowledge bases by path."""

from pathlib import Path

from hopweave.knowledge_base.store import KnowledgeBase


def opened(knowledge_base: KnowledgeBase | str | Path) -> KnowledgeBase:
    """
    The knowledge base itself, or the one in that file, for reading.

    Args:
        knowledge_base: An open knowledge base, or the path of its file.

    Returns:
        An open knowledge base.

    """
    if isinstance(knowledge_base, KnowledgeBase):
        return knowledge_base
    return KnowledgeBase.open(knowledge_base, read_only=True)
