"""Embedders: texts in, vectors out. Weights load when first used and are shared by the whole process."""

import logging
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import ConfigDict, Field

from hopweave.component import Embedder
from hopweave.errors import EmbeddingError

Matrix = npt.NDArray[np.float32]

_loading = Lock()


class StaticEmbedder(Embedder):
    """WordLlama: the mean of static token vectors. The weights are inside its wheel: no download, no torch.

    >>> StaticEmbedder().embed(["ferry", "ship"]).shape
    (2, 256)
    """

    kind: Literal["static"] = "static"
    most_characters: int = Field(20_000, ge=1, description="Longer texts are embedded by their beginning.")

    @property
    def model_name(self) -> str:
        """What tells this model's vectors from those of any other."""
        return "wordllama-l2-supercat-256"

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One row per text; a text without any token gives a zero row."""
        model = _loaded(_load_wordllama)
        table = model.embedding
        # pooled one by one: a padded batch sums in another order, and a vector must not depend on its neighbours
        encoded = model.tokenizer.encode_batch(
            # half of a surrogate pair, which the tokenizer refuses, counts as a question mark
            [text[: self.most_characters].encode(errors="replace").decode() for text in texts],
            add_special_tokens=False,
        )
        rows = [
            table[entry.ids].mean(axis=0) if entry.ids else np.zeros(table.shape[1], np.float32) for entry in encoded
        ]
        return np.stack(rows) if rows else np.empty((0, table.shape[1]), np.float32)


class SentenceTransformerEmbedder(Embedder):
    """Any sentence-transformers model, by name or folder. Needs the extra `hopweave[sentence-transformers]`.

    >>> SentenceTransformerEmbedder(model="sentence-transformers/all-MiniLM-L6-v2").model_name
    'sentence-transformers/all-MiniLM-L6-v2'
    """

    kind: Literal["sentence_transformers"] = "sentence_transformers"
    model: str = Field("sentence-transformers/all-MiniLM-L6-v2", min_length=1, description="Model name or folder.")
    device: str | None = Field(None, description="cpu, cuda, mps ...; chosen automatically when not given.")
    batch_size: int = Field(32, ge=1, description="Texts per forward pass.")

    @property
    def model_name(self) -> str:
        """What tells this model's vectors from those of any other."""
        # the folder's own name, so that a file can be moved between machines
        return Path(self.model).name if Path(self.model).is_dir() else self.model

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One row per text."""
        if not texts:
            return np.empty((0, 0), np.float32)
        model = _loaded(_load_sentence_transformer, self.model, self.device)
        rows = model.encode(list(texts), batch_size=self.batch_size, convert_to_numpy=True, show_progress_bar=False)
        return np.asarray(rows, np.float32)


class CallableEmbedder(Embedder):
    """Any function from a list of texts to an array: model2vec's `encode`, a remote service, a framework's embedder.

    It cannot be written to a file; pass it when the knowledge base is opened.

    >>> CallableEmbedder(name="lengths", function=lambda texts: [[len(text)] for text in texts]).embed(["ab"]).tolist()
    [[2.0]]
    """

    kind: Literal["callable"] = "callable"
    name: str = Field(min_length=1, description="What tells this model's vectors from those of any other.")
    function: Callable[[list[str]], Any] = Field(exclude=True, repr=False)

    @property
    def model_name(self) -> str:
        """What tells this model's vectors from those of any other."""
        return self.name

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One row per text."""
        if not texts:
            return np.empty((0, 0), np.float32)
        rows = np.asarray(self.function(list(texts)), np.float32)
        if rows.ndim != 2 or len(rows) != len(texts) or not np.isfinite(rows).all():
            raise EmbeddingError(
                f"embedder {self.name!r} gave shape {rows.shape} for {len(texts)} texts; "
                "one row of finite numbers each is needed"
            )
        return rows


class Cascade(Embedder):
    """Tries embedders in order and says which one answered. Vectors of different models never mix.

    >>> def broken(texts):
    ...     raise ConnectionError("service unreachable")
    >>> cascade = Cascade(embedders=(CallableEmbedder(name="remote", function=broken), StaticEmbedder()))
    >>> cascade.embed_named(["ferry"])[0]
    'wordllama-l2-supercat-256'
    """

    model_config = ConfigDict(defer_build=True)  # until every embedder is known

    kind: Literal["cascade"] = "cascade"
    embedders: tuple[Embedder, ...] = Field(min_length=1, description="In the order in which they are tried.")

    @property
    def model_name(self) -> str:
        """The name of the first choice."""
        return self.embedders[0].model_name

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One row per text, from the first embedder that answers."""
        return self.embed_named(texts)[1]

    def embed_named(self, texts: Sequence[str]) -> tuple[str, Matrix]:
        """The vectors and the name of the model that made them."""
        failures = []
        for embedder in self.embedders:
            try:
                return embedder.embed_named(texts)
            except Exception as error:  # whatever stops one embedder, the next is tried
                failures.append(f"{embedder.model_name}: {type(error).__name__}: {error}")
        raise EmbeddingError("no embedder answered: " + "; ".join(failures))


def as_embedder(thing: Any) -> Embedder:
    """An embedder from anything that has `embed(list[str])`, or from a function.

    >>> as_embedder(lambda texts: [[1.0]] * len(texts)).kind
    'callable'
    >>> as_embedder("MiniLM")
    Traceback (most recent call last):
        ...
    TypeError: an embedder has a method embed(list[str]) or is a function, but got 'MiniLM'
    """
    if isinstance(thing, Embedder):
        return thing
    function = getattr(thing, "embed", thing)
    if not callable(function):
        raise TypeError(f"an embedder has a method embed(list[str]) or is a function, but got {thing!r}")
    name = getattr(thing, "model_name", None) or getattr(thing, "__name__", None) or type(thing).__name__
    return CallableEmbedder(name=str(name), function=function)


def _loaded(load: Callable[..., Any], *arguments: Any) -> Any:
    with _loading:
        return load(*arguments)


@cache
def _load_wordllama() -> Any:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    import wordllama

    root.handlers = handlers  # it turns on everybody's log messages when imported
    root.setLevel(level)
    # 0.4.0.post1 looks for its tokenizer in the wrong folder unless the cache is its own package
    model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    model.tokenizer.no_padding()
    return model


@cache
def _load_sentence_transformer(model: str, device: str | None) -> Any:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise EmbeddingError(
            "sentence-transformers is not installed; run: pip install 'hopweave[sentence-transformers]'"
        ) from error
    try:
        return SentenceTransformer(model, device=device)
    except Exception as error:
        raise EmbeddingError(f"model {model!r} cannot be loaded: {error}") from error
