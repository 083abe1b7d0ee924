# Written by `make fix`.
from pathlib import Path
from typing import Any

from haystack.dataclasses.byte_stream import ByteStream
from haystack.dataclasses.document import Document

from haystack_integrations.common.hopweave.derived import CoreComponent

class FileConverter(CoreComponent):
    r"""
    Reads files of all kinds that hopweave knows into passages: the same as `hopweave index` stores.

    Passages follow the headings, and know their title, the headings above them, what links may call them and where
    their own links lead. So they need no cleaner and no splitter, and every writer of hopweave connects them.

    ```python
    from pathlib import Path
    from haystack_integrations.components.converters.hopweave import FileConverter

    documents = FileConverter().run(sources=sorted(Path("docs").rglob("*.md")))["documents"]
    ```
    """

    root: str | None
    max_characters: int
    site_url: str
    def run(
        self, sources: list[str | Path | ByteStream], meta: dict[str, Any] | list[dict[str, Any]] | None = None
    ) -> dict[str, list[Document]]:
        r"""
        Read files; one that cannot be read is logged and left out.

        :param sources: Paths, or streams that have a `file_name` or `file_path` in their meta.
        :param meta: Metadata for the documents of all sources, or for those of each.
        :returns: `documents`, in the order of the sources.
        :raises ValueError: If there is not one `meta` for each source, or a stream without a name.
        """
    def __init__(self, *, root: str | None = None, max_characters: int = 2000, site_url: str = "") -> None:
        r"""
        Create the component; what it needs is opened on first use.

        :param root: The folder to which ids are relative; None for the one that holds all sources of a run.
        :param max_characters: How long a passage is at most, about.
        :param site_url: The address at which the folder is published, so that links to it are links in the folder.
        """

__all__ = [
    "FileConverter",
]
