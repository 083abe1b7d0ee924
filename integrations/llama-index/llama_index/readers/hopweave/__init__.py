"""hopweave's readers for LlamaIndex."""

from llama_index.readers.hopweave.file import FileReader

__all__ = ["FileReader"]
