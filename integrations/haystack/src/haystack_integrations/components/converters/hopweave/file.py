"""Documents from files of many kinds, as `hopweave index` reads them."""

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from haystack import Document, component, logging
from haystack.dataclasses import ByteStream

from haystack_integrations.common.hopweave.derived import CoreComponent, derived
from haystack_integrations.common.hopweave.documents import from_passage
from haystack_integrations.common.hopweave.settings import Setting
from hopweave.errors import UnreadableInput
from hopweave.readers.files import read_files

logger = logging.getLogger(__name__)


@derived()
class FileConverter(CoreComponent):
    """
    Reads files of all kinds that hopweave knows into passages: the same as `hopweave index` stores.

    Passages follow the headings, and know their title, the headings above them, what links may call them and where
    their own links lead. So they need no cleaner and no splitter, and every writer of hopweave connects them.

    ```python
    from pathlib import Path
    from haystack_integrations.components.converters.hopweave import FileConverter

    documents = FileConverter().run(sources=sorted(Path("docs").rglob("*.md")))["documents"]
    ```
    """

    settings = (
        Setting(
            "root",
            str | None,
            "The folder to which ids are relative; None for the one that holds all sources of a run.",
            None,
        ),
        Setting("max_characters", int, "How long a passage is at most, about.", 2000),
        Setting(
            "site_url",
            str,
            "The address at which the folder is published, so that links to it are links in the folder.",
            "",
        ),
    )

    root: str | None
    max_characters: int
    site_url: str

    @component.output_types(documents=list[Document])
    def run(
        self, sources: list[str | Path | ByteStream], meta: dict[str, Any] | list[dict[str, Any]] | None = None
    ) -> dict[str, list[Document]]:
        """
        Read files; one that cannot be read is logged and left out.

        :param sources: Paths, or streams that have a `file_name` or `file_path` in their meta.
        :param meta: Metadata for the documents of all sources, or for those of each.
        :returns: `documents`, in the order of the sources.
        :raises ValueError: If there is not one `meta` for each source, or a stream without a name.
        """
        if isinstance(meta, list) and len(meta) != len(sources):
            raise ValueError(f"meta: must be as many as sources, {len(sources)}, but got {len(meta)}")
        with tempfile.TemporaryDirectory() as folder:
            files = [_file(source, Path(folder), number) for number, source in enumerate(sources)]
            streams = all(isinstance(source, ByteStream) for source in sources)
            passages = list(
                read_files(
                    files,
                    root=folder if streams else self.root,
                    on_bad=_skip,
                    max_characters=self.max_characters,
                    site_url=self.site_url,
                )
            )
            extra = [meta or {}] * len(files) if not isinstance(meta, list) else meta
            of_file = {file.absolute().as_posix(): one for file, one in zip(files, extra, strict=True)}
        documents = []
        for one in passages:
            own = next((some for file, some in of_file.items() if file.endswith(f"/{one.source}")), {})
            documents.append(from_passage(replace(one, metadata={**one.metadata, **own})))
        return {"documents": documents}


def _file(source: str | Path | ByteStream, folder: Path, number: int) -> Path:
    if not isinstance(source, ByteStream):
        return Path(source)
    name = source.meta.get("file_path") or source.meta.get("file_name")
    if not isinstance(name, str) or not name:
        raise ValueError(f"sources: stream number {number} needs a file_name in its meta, but has {source.meta!r}")
    file = folder / Path(name.lstrip("/\\")).name
    file.write_bytes(source.data)
    return file


def _skip(error: UnreadableInput) -> None:
    logger.warning("skipped {error}", error=str(error))
