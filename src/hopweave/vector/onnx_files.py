"""The files of an ONNX model: where model and tokenizer are, and what its configuration says."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hopweave.concurrency.once import once
from hopweave.errors import EmbeddingError

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
