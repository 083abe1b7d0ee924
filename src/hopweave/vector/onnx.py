"""An embedder on ONNX Runtime: transformer models without torch."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from hopweave.component import Embedder
from hopweave.concurrency.once import once
from hopweave.errors import EmbeddingError
from hopweave.extras import of_extra
from hopweave.vector.embedders import without_surrogates
from hopweave.vector.prompts import prompt_for

_MODULES = ("Transformer", "Pooling", "Normalize")  # of sentence-transformers; what this embedder does itself
_POOLING = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}
_USUAL_MAX_TOKENS = 512


@dataclass(frozen=True, slots=True)
class OnnxFiles:
    """A model and its tokenizer. `folders` are searched for configuration, in this order."""

    model: Path
    tokenizer: Path
    folders: tuple[Path, ...]

    @classmethod
    def find(cls, model: str, tokenizer: str | None) -> "OnnxFiles":
        """The files of a model, given by folder or file; an error names what is missing and where it was sought."""
        path = _existing("model", model)
        file = _model_in(path) if path.is_dir() else path
        around = (
            file.parent,
            *([file.parent.parent] if file.parent.name == "onnx" or path == file.parent.parent else []),
        )
        if tokenizer is None:
            found = _first(around, "tokenizer.json")
            if found is None:
                raise EmbeddingError(
                    f"tokenizer: there is no tokenizer.json in {' or '.join(map(str, around))}; "
                    "give the file or its folder"
                )
        else:
            given = _existing("tokenizer", tokenizer)
            found = given / "tokenizer.json" if given.is_dir() else given
            if not found.is_file():
                raise EmbeddingError(f"tokenizer: there is no tokenizer.json in {given}")
        return cls(file, found, tuple(dict.fromkeys((*around, found.parent))))

    @property
    def label(self) -> str:
        """The name of the model's folder."""
        return next((folder.name for folder in self.folders if folder.name != "onnx"), self.model.stem)

    @property
    def pooling(self) -> str:
        """How token vectors become one: what the model's configuration says, else mean."""
        configuration = self._json("1_Pooling/config.json")
        chosen = [name for name, value in configuration.items() if name.startswith("pooling_mode_") and value is True]
        if not chosen:
            return "mean"
        if len(chosen) > 1 or chosen[0] not in _POOLING:
            raise EmbeddingError(f"model {self.model}: needs {' and '.join(chosen)}; allowed are {', '.join(_POOLING)}")
        return _POOLING[chosen[0]]

    @property
    def max_tokens(self) -> int:
        """How many tokens of a text the model takes, as its configuration says."""
        stated = (
            self._json("sentence_bert_config.json").get("max_seq_length"),
            self._json("tokenizer_config.json").get("model_max_length"),
        )
        # tokenizers without a limit state one of 10³⁰ tokens
        return next((one for one in stated if isinstance(one, int) and 0 < one < 1_000_000), _USUAL_MAX_TOKENS)

    @property
    def prompts(self) -> dict[str, str]:
        """Prompts by name, as the model's configuration says."""
        prompts = self._json("config_sentence_transformers.json").get("prompts") or {}
        return {name: text for name, text in prompts.items() if isinstance(text, str)}

    def check_modules(self) -> None:
        """Raise if the model has layers after pooling that are not in its ONNX file."""
        for module in self._json("modules.json", []):
            kind = str(module.get("type", "")).rsplit(".", 1)[-1]
            if kind not in _MODULES:
                raise EmbeddingError(
                    f"model {self.model}: has a layer {kind!r} after pooling, which its ONNX file lacks; export it "
                    "with an output 'sentence_embedding', or use the embedder 'sentence_transformers'"
                )

    @property
    def fingerprint(self) -> str:
        """A checksum of these weights and this tokenizer, the same wherever the files are."""
        digest = hashlib.sha256()
        for file in (*self._weights(), self.tokenizer):
            status = file.stat()
            digest.update(_digest(file, status.st_size, status.st_mtime_ns))
        return digest.hexdigest()[:12]

    def _weights(self) -> Iterator[Path]:
        """The model's file, and the files beside it that hold its larger arrays."""
        yield self.model
        yield from sorted(self.model.parent.glob(f"{self.model.name}?data"))

    def _json(self, name: str, otherwise: Any = None) -> Any:
        file = _first(self.folders, name)
        otherwise = {} if otherwise is None else otherwise
        if file is None:
            return otherwise
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
        except ValueError as error:
            raise EmbeddingError(f"{file}: is not JSON: {error}") from error
        return data if isinstance(data, type(otherwise)) else otherwise


@once(max_entries=64)
def _digest(file: Path, size: int, modified: int) -> bytes:  # noqa: ARG001 - a changed file is read again
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()


def _existing(parameter: str, given: str) -> Path:
    path = Path(given).expanduser().absolute()
    if not path.exists():
        raise EmbeddingError(
            f"{parameter}: {given!r} is neither a folder nor a file (looked for {path}); files are never downloaded"
        )
    return path


def _model_in(folder: Path) -> Path:
    files = sorted(file for place in (folder, folder / "onnx") for file in place.glob("*.onnx"))
    usual = [file for file in files if file.name == "model.onnx"]
    if len(files) == 1 or usual:
        return files[0] if len(files) == 1 else usual[0]
    named = ", ".join(file.relative_to(folder).as_posix() for file in files)
    raise EmbeddingError(
        f"model: {folder} has several .onnx files and none is called model.onnx; give one of them: {named}"
        if files
        else f"model: there is no .onnx file in {folder} or its subfolder onnx"
    )


def _first(folders: tuple[Path, ...], name: str) -> Path | None:
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


Matrix = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]

_PAD_TOKENS = ("[PAD]", "<pad>", "<|endoftext|>")
_TYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


class OnnxEmbedder(Embedder):
    """A transformer model in ONNX format, by folder or file. Needs the extra `hopweave[onnx]`, not torch.

    `model` is a folder with `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`, as `optimum-cli export onnx`
    writes it and as most embedding models on the Hugging Face Hub have it, or one `.onnx` file, such as
    `model_int8.onnx`; weights in int8 take a quarter of the space. Nothing is downloaded. Vectors have length 1.
    Pooling, prompts and the longest text come from the configuration in the folder if it has one. The name of the
    vectors has a checksum of weights and tokenizer, so vectors of different models are never compared, even if their
    folders have the same name.

    >>> OnnxEmbedder(model="models/multilingual-e5-small", query_prompt="query: ", document_prompt="passage: ").kind
    'onnx'
    """

    kind: Literal["onnx"] = "onnx"
    model: str = Field(min_length=1, description="Folder with model and tokenizer, or the model's .onnx file.")
    tokenizer: str | None = Field(
        default=None, description="File tokenizer.json, or its folder; beside the model if not given."
    )
    pooling: Literal["mean", "cls"] | None = Field(
        default=None,
        description="How the vectors of tokens become one: their mean, or that of the first token; as the model's "
        "1_Pooling/config.json says if not given, else mean.",
    )
    query_prompt: str | None = Field(
        default=None,
        description="Put before a question, such as 'query: '; if not given, as the model's configuration says, or "
        "else as its family is known to need (bge, e5, nomic, mxbai, arctic).",
    )
    document_prompt: str | None = Field(
        default=None, description="Put before a document, such as 'passage: '; by the same rule if not given."
    )
    max_tokens: int | None = Field(
        default=None,
        ge=3,
        description="Longer texts are embedded by their beginning; the model's own limit if not given.",
    )
    batch_size: int = Field(
        default=16, ge=1, description="Texts per forward pass; texts of similar length go together."
    )
    threads: int | None = Field(default=None, ge=1, description="Threads per forward pass; one per core if not given.")

    @property
    def model_name(self) -> str:
        """The name that identifies the vectors of this model: folder, and a checksum of all that shapes a vector."""
        files = self._files
        shaping = (files.fingerprint, self._pooling(files), self._max_tokens(files), self._prompt(files, queries=False))
        return f"{files.label} onnx-{hashlib.sha256(repr(shaping).encode()).hexdigest()[:12]}"

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One row per text, as of a document."""
        return self._encoded(texts, queries=False)

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """One row per text, as of a question."""
        return self._encoded(texts, queries=True)

    @property
    def _files(self) -> OnnxFiles:
        return OnnxFiles.find(self.model, self.tokenizer)

    def _pooling(self, files: OnnxFiles) -> str:
        return self.pooling or files.pooling

    def _max_tokens(self, files: OnnxFiles) -> int:
        return self.max_tokens or files.max_tokens

    def _prompt(self, files: OnnxFiles, *, queries: bool) -> str:
        own = self.query_prompt if queries else self.document_prompt
        return prompt_for(files.label, own, files.prompts, queries=queries)

    def _encoded(self, texts: Sequence[str], *, queries: bool) -> Matrix:
        if not texts:
            return np.empty((0, 0), np.float32)
        files = self._files
        session = _session(files, files.fingerprint, self.threads)
        tokenizer = _tokenizer(files.tokenizer, self._max_tokens(files))
        prompt = self._prompt(files, queries=queries)
        encoded = [one.ids for one in tokenizer.encode_batch([prompt + without_surrogates(text) for text in texts])]
        order = sorted(range(len(encoded)), key=lambda place: len(encoded[place]))
        parts = [order[start : start + self.batch_size] for start in range(0, len(order), self.batch_size)]
        rows = [
            _forward(session, [encoded[place] for place in part], _pad(tokenizer), self._pooling(files))
            for part in parts
        ]
        matrix = np.concatenate(rows)[np.argsort(order)]
        if not np.isfinite(matrix).all():
            raise EmbeddingError(f"model {files.model}: gave vectors that are not finite")
        return matrix


def _forward(session: Any, ids: Sequence[Sequence[int]], pad: int, pooling: str) -> Matrix:
    """Unit vectors of one batch."""
    tokens: Integers = np.full((len(ids), max(1, *map(len, ids))), pad, np.int64)
    mask = np.zeros_like(tokens)
    for row, one in enumerate(ids):
        tokens[row, : len(one)] = one
        mask[row, : len(one)] = 1
    known = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
    inputs = {one.name: known[one.name].astype(_TYPES[one.type]) for one in session.get_inputs()}
    name, size = _output(session)
    try:
        output: Matrix = session.run([name], inputs)[0].astype(np.float32)
    except Exception as error:
        raise EmbeddingError(
            f"{len(ids)} texts of up to {tokens.shape[1]} tokens cannot be embedded: {error}"
        ) from error
    if size == 3:
        weights = mask.astype(np.float32)[:, :, None]
        # a text without any token has no vector
        output = (
            output[:, 0] if pooling == "cls" else (output * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1)
        )
    lengths = np.linalg.norm(output, axis=1, keepdims=True)
    return (output / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def _output(session: Any) -> tuple[str, int]:
    """The output to take and its number of dimensions: vectors of texts if the model has them, else of tokens."""
    outputs = {one.name: len(one.shape) for one in session.get_outputs()}
    for name, size in (("sentence_embedding", 2), ("last_hidden_state", 3), ("token_embeddings", 3)):
        if outputs.get(name) == size:
            return name, size
    first = next(iter(outputs))
    return first, outputs[first]


def _pad(tokenizer: Any) -> int:
    ids = (tokenizer.token_to_id(token) for token in _PAD_TOKENS)
    return next((one for one in ids if one is not None), 0)


@once()
def _session(files: OnnxFiles, fingerprint: str, threads: int | None) -> Any:  # noqa: ARG001 - for replaced files
    onnxruntime = of_extra("onnx", "onnxruntime", EmbeddingError)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors; the others come as exceptions
    options.intra_op_num_threads = threads or 0
    try:
        session = onnxruntime.InferenceSession(str(files.model), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise EmbeddingError(f"model {files.model}: cannot be loaded: {error}") from error
    for one in session.get_inputs():
        if one.name not in ("input_ids", "attention_mask", "token_type_ids") or one.type not in _TYPES:
            raise EmbeddingError(
                f"model {files.model}: needs an input {one.name!r} of {one.type}; allowed are "
                "input_ids, attention_mask and token_type_ids of tensor(int64) or tensor(int32)"
            )
    _, size = _output(session)
    if size not in (2, 3):
        raise EmbeddingError(f"model {files.model}: its first output has {size} dimensions; a text model has 2 or 3")
    if size == 3:
        files.check_modules()
    return session


@once()
def _tokenizer(file: Path, max_tokens: int) -> Any:
    library = of_extra("onnx", "tokenizers", EmbeddingError)
    try:
        tokenizer = library.Tokenizer.from_file(str(file))
    except Exception as error:
        raise EmbeddingError(f"tokenizer {file}: cannot be loaded: {error}") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer
