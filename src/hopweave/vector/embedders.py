"""Embedders: from texts to vectors. Weights are loaded at the first use and shared within the process."""

import logging
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import ConfigDict, Field, PrivateAttr

from hopweave.component import Embedder
from hopweave.concurrency.once import once
from hopweave.errors import EmbeddingError, reason_of
from hopweave.extras import of_extra
from hopweave.vector.prompts import prompt_for

Matrix = npt.NDArray[np.float32]

logger = logging.getLogger(__name__)
_MODULE_TYPE = re.compile(r'"type"\s*:\s*"([^"]*)"')  # in modules.json of sentence-transformers


class StaticEmbedder(Embedder):
    """WordLlama: the mean of static token vectors. The weights are inside its wheel: no download, no torch.

    >>> StaticEmbedder().embed(["ferry", "ship"]).shape
    (2, 256)
    """

    kind: Literal["static"] = "static"
    max_characters: int = Field(default=20_000, ge=1, description="Longer texts are embedded by their beginning.")

    @property
    def model_name(self) -> str:
        """The name that identifies the vectors of this model."""
        return "wordllama-l2-supercat-256"

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One row per text; a text without any token gives a zero row."""
        model = _load_wordllama()
        table = model.embedding
        # pooled one by one: padding changes the order of summation, and a vector must not depend on the batch
        encode = getattr(model.tokenizer, "encode_batch_fast", model.tokenizer.encode_batch)  # without offsets
        encoded = encode(
            [without_surrogates(text[: self.max_characters]) for text in texts],
            add_special_tokens=False,
        )
        rows = np.zeros((len(encoded), table.shape[1]), np.float32)
        for row, entry in zip(rows, encoded, strict=True):
            ids = entry.ids
            if ids:
                np.divide(table[ids].sum(axis=0), np.float32(len(ids)), out=row)
        return rows


class SentenceTransformerEmbedder(Embedder):
    """Any sentence-transformers model, by name or folder. Needs the extra `hopweave[sentence-transformers]`.

    >>> SentenceTransformerEmbedder(model="sentence-transformers/all-MiniLM-L6-v2").model_name
    'sentence-transformers/all-MiniLM-L6-v2'
    """

    kind: Literal["sentence_transformers"] = "sentence_transformers"
    model: str = Field(
        default="sentence-transformers/all-MiniLM-L6-v2", min_length=1, description="Model name or folder."
    )
    device: str | None = Field(default=None, description="cpu, cuda, mps ...; chosen automatically when not given.")
    batch_size: int = Field(default=32, ge=1, description="Texts per forward pass.")
    query_prompt: str | None = Field(
        default=None,
        description="Put before a question, such as 'query: '; if not given, as the model's configuration says, or "
        "else as its family is known to need (bge, e5, nomic, mxbai, arctic).",
    )
    document_prompt: str | None = Field(
        default=None, description="Put before a document, such as 'passage: '; by the same rule if not given."
    )

    _local_files_only: bool = PrivateAttr(default=False)

    @property
    def model_name(self) -> str:
        """The name that identifies the vectors of this model."""
        # the folder's own name, so that a file can be moved between machines
        name = Path(self.model).name if Path(self.model).is_dir() else self.model
        return name if self.document_prompt is None else f"{name} {self.document_prompt!r}"

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One row per text, as of a document."""
        return self._encoded(texts, self.document_prompt, queries=False)

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """One row per text, as of a question."""
        return self._encoded(texts, self.query_prompt, queries=True)

    def named_by_file(self) -> "SentenceTransformerEmbedder":
        """The same embedder, which takes weights from this machine only."""
        named = self.model_copy()
        named._local_files_only = True
        return named

    def _encoded(self, texts: Sequence[str], prompt: str | None, *, queries: bool) -> Matrix:
        if not texts:
            return np.empty((0, 0), np.float32)
        model = _load_sentence_transformer(self.model, self.device, self._local_files_only)
        prompt = prompt_for(self.model, prompt, model.prompts or {}, queries=queries)
        rows = model.encode(
            list(texts), prompt=prompt, batch_size=self.batch_size, convert_to_numpy=True, show_progress_bar=False
        )
        return np.asarray(rows, np.float32)


class CallableEmbedder(Embedder):
    """Any function from a list of texts to an array: model2vec's `encode`, a remote service, a framework's embedder.

    It cannot be written to a file; pass it when the knowledge base is opened.

    >>> CallableEmbedder(name="lengths", function=lambda texts: [[len(text)] for text in texts]).embed(["ab"]).tolist()
    [[2.0]]
    """

    kind: Literal["callable"] = "callable"
    name: str = Field(min_length=1, description="Name that identifies the vectors of this model.")
    function: Callable[[list[str]], Any] = Field(exclude=True, repr=False, description="Embeds documents.")
    query_function: Callable[[list[str]], Any] | None = Field(
        default=None, exclude=True, repr=False, description="Embeds questions; the same function if not given."
    )

    @property
    def model_name(self) -> str:
        """The name that identifies the vectors of this model."""
        return self.name

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One row per text, as of a document."""
        return self._rows(self.function, texts)

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """One row per text, as of a question."""
        return self._rows(self.query_function or self.function, texts)

    def _rows(self, function: Callable[[list[str]], Any], texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.empty((0, 0), np.float32)
        rows = np.asarray(function(list(texts)), np.float32)
        if rows.ndim != 2 or len(rows) != len(texts) or not np.isfinite(rows).all():
            raise EmbeddingError(
                f"embedder {self.name!r} gave shape {rows.shape} for {len(texts)} texts; "
                "one row of finite numbers each is needed"
            )
        return rows


class Cascade(Embedder):
    """Tries embedders in order and reports which one succeeded. Vectors of different models are never mixed.

    A knowledge base keeps the vectors of every one of its models, so that a question which the first cannot embed is
    still answered, by the vectors of the next; the receipt names the model. That takes the time and space of each.
    What a model could not embed when documents were added, `KnowledgeBase.check` names and `repair` makes up for.

    >>> def broken(texts):
    ...     raise ConnectionError("service unreachable")
    >>> cascade = Cascade(embedders=(CallableEmbedder(name="remote", function=broken), StaticEmbedder()))
    >>> cascade.embed_named(["ferry"])[0]
    'wordllama-l2-supercat-256'
    """

    model_config = ConfigDict(defer_build=True)  # until every embedder is known

    kind: Literal["cascade"] = "cascade"
    embedders: tuple[Embedder, ...] = Field(min_length=1, description="Embedders in the order in which they are tried.")

    @property
    def model_name(self) -> str:
        """The name of the first choice."""
        return self.embedders[0].model_name

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One row per text, from the first embedder that succeeds."""
        return self.embed_named(texts)[1]

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """One row per question, from the first embedder that answers."""
        return self.embed_named(texts, queries=True)[1]

    def named_by_file(self) -> "Cascade":
        """The same cascade, of embedders that a file names."""
        return self.model_copy(update={"embedders": tuple(one.named_by_file() for one in self.embedders)})

    def embed_named(self, texts: Sequence[str], *, queries: bool = False) -> tuple[str, Matrix]:
        """The vectors of documents, or of questions, and the name of the model that made them."""
        failures: list[str] = []
        for embedder in self.embedders:
            try:
                name, rows = embedder.embed_named(texts, queries=queries)
            except Exception as error:  # the next embedder is tried after any error
                failures.append(_failure(embedder, error))
                continue
            if failures:
                logger.warning("%s embeds in place of what failed: %s", name, "; ".join(failures))
            return name, rows
        raise EmbeddingError("all embedders failed: " + "; ".join(failures))

    def embed_every(self, texts: Sequence[str]) -> dict[str, Matrix]:
        """The vectors of documents by every model that can make them; an error if none can."""
        vectors: dict[str, Matrix] = {}
        failures: list[str] = []
        for embedder in self.embedders:
            try:
                vectors = {**embedder.embed_every(texts), **vectors}
            except Exception as error:  # what it cannot do now can be repaired later
                failures.append(_failure(embedder, error))
        if not vectors:
            raise EmbeddingError("all embedders failed: " + "; ".join(failures))
        if failures:
            logger.warning("documents are embedded by %s alone, as others failed: %s", ", ".join(vectors), failures)
        return vectors

    @property
    def model_names(self) -> tuple[str, ...]:
        """The names of all its models; one whose files are missing has none."""
        names: dict[str, None] = {}
        for embedder in self.embedders:
            with suppress(EmbeddingError):
                names |= dict.fromkeys(embedder.model_names)
        return tuple(names)


def _failure(embedder: Embedder, error: Exception) -> str:
    logger.debug("%s failed", _label(embedder), exc_info=error)
    return f"{_label(embedder)}: {reason_of(error)}"


def _label(embedder: Embedder) -> str:
    try:
        return embedder.model_name
    except EmbeddingError:  # the name of a model whose files are missing
        return embedder.kind


def as_embedder(thing: Any) -> Embedder:
    """An embedder from anything that has `embed(list[str])`, or from a function.

    >>> as_embedder(lambda texts: [[1.0]] * len(texts)).kind
    'callable'
    >>> as_embedder("MiniLM")
    Traceback (most recent call last):
        ...
    TypeError: embedder: must have a method embed(list[str]) or be a function, but got 'MiniLM'
    """
    if isinstance(thing, Embedder):
        return thing
    if hasattr(thing, "get_text_embedding_batch"):
        raise TypeError(
            f"embedder: {type(thing).__name__} is an embedding model of LlamaIndex; give "
            "llama_index.hopweave.to_embedder(model), which embeds questions and documents as it does"
        )
    function = getattr(thing, "embed", thing)
    if not callable(function):
        raise TypeError(f"embedder: must have a method embed(list[str]) or be a function, but got {thing!r}")
    name = getattr(thing, "model_name", None) or getattr(thing, "__name__", None) or type(thing).__name__
    return CallableEmbedder(name=str(name), function=function)


def without_surrogates(text: str) -> str:
    r"""The text with question marks for lone surrogates, which tokenizers reject.

    >>> without_surrogates("a\ud800b")
    'a?b'
    """
    return text if text.isascii() else text.encode(errors="replace").decode()


@once()
def _load_wordllama() -> Any:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    import wordllama

    root.handlers = handlers  # importing it enables log messages of all libraries
    root.setLevel(level)
    # 0.4.0.post1 looks for its tokenizer in the wrong folder unless the cache is its own package
    model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    model.tokenizer.no_padding()
    # it takes a whole text for one word, and would keep the pieces of 10,000 of them: 34 MB that nobody asks for again
    if hasattr(model.tokenizer.model, "_resize_cache"):  # older ones cannot
        model.tokenizer.model._resize_cache(0)
    return model


@once()
def _load_sentence_transformer(model: str, device: str | None, local_files_only: bool) -> Any:
    library = of_extra("sentence-transformers", "sentence_transformers", EmbeddingError)
    if local_files_only:
        _refuse_code(Path(model))
    try:
        return library.SentenceTransformer(model, device=device, local_files_only=local_files_only)
    except Exception as error:
        if local_files_only:
            raise EmbeddingError(
                f"model {model!r}, which the file names, cannot be loaded from this machine, and a file never starts a "
                f"download; open it with embedder=... to allow that: {error}"
            ) from error
        raise EmbeddingError(f"model {model!r} cannot be loaded: {error}") from error


def _refuse_code(folder: Path) -> None:
    """Raise if a model folder that a file names would run code of its own, as sentence-transformers lets folders do."""
    if not folder.is_dir():
        return
    own = [file.name for file in sorted(folder.rglob("*.py"))]
    parts = folder / "modules.json"
    if parts.is_file():
        own += [
            kind
            for kind in _MODULE_TYPE.findall(parts.read_text("utf-8", "replace")[:100_000])
            if not kind.startswith("sentence_transformers.")
        ]
    if own:
        raise EmbeddingError(
            f"model {str(folder)!r}, which the file names, has code of its own ({own[0]}), and a file never makes "
            "hopweave run code; open it with embedder=... to allow that"
        )
