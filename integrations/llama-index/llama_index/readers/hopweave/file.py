"""Documents from files of many kinds, as `hopweave index` reads them."""

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from llama_index.core.bridge.pydantic import Field
from llama_index.core.readers.base import BasePydanticReader
from llama_index.core.schema import Document

from hopweave.document import CONTEXT_PREFIX
from hopweave.errors import UnreadableInput
from hopweave.readers.files import read_documents

logger = logging.getLogger(__name__)
_HIDDEN = ["addresses", "links", "next_id", "source_id", CONTEXT_PREFIX]


class FileReader(BasePydanticReader):
    """
    Reads a folder or a file of any kind that hopweave knows into passages: the same as `hopweave index` stores.

    Passages follow the headings, and know their title, the headings above them, what links may call them and where
    their own links lead. So they need no node parser, and every writer of hopweave connects them.

    Examples:
        >>> from pathlib import Path
        >>> _ = Path("skua.md").write_text("# MV Skua")
        >>> [document.id_ for document in FileReader().load_data("skua.md")]
        ['skua.md']

    """

    is_remote: bool = False
    max_characters: int = Field(default=2000, gt=0, description="How long a passage is at most, about.")
    site_url: str = Field(default="", description="The address at which the folder is published, for links.")

    @classmethod
    def class_name(cls) -> str:
        """The name under which LlamaIndex serialises the reader."""
        return "HopweaveFileReader"

    def lazy_load_data(self, path: str | Path, **_: Any) -> Iterable[Document]:
        """
        Read what is at a path; a file that cannot be read is logged and left out.

        Args:
            path: A folder or a file.

        Yields:
            A document per passage.

        """
        passages = read_documents(path, on_bad=_skip, max_characters=self.max_characters, site_url=self.site_url)
        for one in passages:
            yield Document(
                id_=one.id,
                text=one.text,
                metadata=dict(one.metadata),
                excluded_llm_metadata_keys=list(_HIDDEN),
                excluded_embed_metadata_keys=[key for key in _HIDDEN if key != CONTEXT_PREFIX],
            )


def _skip(error: UnreadableInput) -> None:
    logger.warning("skipped %s", error)
