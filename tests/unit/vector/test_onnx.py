"""The ONNX embedder: hand-computed vectors of tiny models, and real weights against torch."""

import json
import subprocess
import sys
from threading import Thread

import numpy as np
import pytest
from pydantic import ValidationError

from hopweave.document import Document
from hopweave.errors import EmbeddingError, KnowledgeBaseError
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.vector.embedders import Cascade, SentenceTransformerEmbedder, StaticEmbedder
from hopweave.vector.onnx import OnnxEmbedder

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

WORDS = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "ferry": 4, "gate": 5, "query": 6, "passage": 7}
TABLE = np.array([[9, 9], [0, 0], [3, 4], [0, 0], [1, 0], [0, 1], [5, 0], [0, 5]], np.float32)


def write_model(file, *, inputs=("input_ids", "attention_mask"), dtype=None, output="last_hidden_state", table=TABLE):
    """A model whose token vectors are the rows of a table, and whose text vectors are those of the first token."""
    helper, whole = onnx.helper, dtype or onnx.TensorProto.INT64
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])]
    shape = ["batch", "tokens", 2]
    if output == "sentence_embedding":
        nodes.append(helper.make_node("Gather", ["last_hidden_state", "first"], [output], axis=1))
        shape = ["batch", 2]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, whole, ["batch", "tokens"]) for name in inputs],
        [helper.make_tensor_value_info(output, onnx.TensorProto.FLOAT, shape)],
        [onnx.numpy_helper.from_array(table, "table"), onnx.numpy_helper.from_array(np.array(0), "first")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    file.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, file)


def write_tokenizer(folder):
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordLevel(WORDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.enable_padding(length=32)  # as many published tokenizers do; it must not show
    tokenizer.save(str(folder / "tokenizer.json"))


@pytest.fixture
def tiny(tmp_path):
    folder = tmp_path / "tiny"
    write_model(folder / "model.onnx")
    write_tokenizer(folder)
    return folder


def cosine(one, other):
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def test_mean_pooling_by_hand(tiny):
    rows = OnnxEmbedder(model=str(tiny)).embed(["ferry gate", "ferry"])
    both, one = np.array([3 + 1, 4 + 1]) / 4, np.array([3 + 1, 4]) / 3  # [CLS] and [SEP] count
    assert np.allclose(rows, [both / np.linalg.norm(both), one / np.linalg.norm(one)], atol=1e-6)


def test_cls_pooling_by_hand(tiny):
    assert np.allclose(OnnxEmbedder(model=str(tiny), pooling="cls").embed(["ferry gate"]), [[0.6, 0.8]], atol=1e-6)


def test_pooling_prompts_and_limit_come_from_the_folder(tiny):
    (tiny / "1_Pooling").mkdir()
    pooling = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    (tiny / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    assert np.allclose(OnnxEmbedder(model=str(tiny)).embed(["ferry"]), [[0.6, 0.8]], atol=1e-6)
    prompts = {"prompts": {"query": "query ", "passage": "passage "}}
    (tiny / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    mean = OnnxEmbedder(model=str(tiny), pooling="mean")
    plain = OnnxEmbedder(model=str(tiny), pooling="mean", query_prompt="", document_prompt="")
    assert np.allclose(mean.embed(["ferry"]), plain.embed(["passage ferry"]))
    assert np.allclose(mean.embed_queries(["ferry"]), plain.embed(["query ferry"]))
    assert not np.allclose(mean.embed_queries(["ferry"]), mean.embed(["ferry"]))
    (tiny / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 3}))
    assert np.allclose(plain.embed(["ferry gate gate"]), plain.embed(["ferry"]))
    assert not np.allclose(plain.changed(max_tokens=5).embed(["ferry gate gate"]), plain.embed(["ferry"]))


def test_prompts_of_ones_own(tiny):
    embedder = OnnxEmbedder(model=str(tiny), query_prompt="query ", document_prompt="passage ")
    plain = OnnxEmbedder(model=str(tiny))
    assert np.allclose(embedder.embed_queries(["gate"]), plain.embed(["query gate"]))
    assert np.allclose(embedder.embed(["gate"]), plain.embed(["passage gate"]))


def test_vectors_do_not_depend_on_order_or_batch(tiny):
    texts = ["ferry gate ferry", "gate", "", "ferry " * 20, "gate gate", "unknown"]
    alone = np.concatenate([OnnxEmbedder(model=str(tiny)).embed([text]) for text in texts])
    for size in (1, 2, 100):
        assert np.allclose(OnnxEmbedder(model=str(tiny), batch_size=size).embed(texts), alone, atol=1e-6)
    assert alone.dtype == np.float32
    assert np.allclose(np.linalg.norm(alone, axis=1), 1)
    assert len(OnnxEmbedder(model=str(tiny)).embed([])) == 0


def test_a_model_that_pools_itself_is_not_pooled_again(tiny):
    write_model(tiny / "model.onnx", output="sentence_embedding")
    assert np.allclose(OnnxEmbedder(model=str(tiny)).embed(["ferry gate"]), [[0.6, 0.8]], atol=1e-6)


def test_other_inputs(tiny):
    write_model(
        tiny / "model.onnx", inputs=("input_ids", "attention_mask", "token_type_ids"), dtype=onnx.TensorProto.INT32
    )
    assert OnnxEmbedder(model=str(tiny)).embed(["ferry"]).shape == (1, 2)
    write_model(tiny / "model.onnx", inputs=("input_ids",))
    assert OnnxEmbedder(model=str(tiny)).embed(["ferry"]).shape == (1, 2)
    write_model(tiny / "model.onnx", inputs=("input_ids", "pixel_values"))
    with pytest.raises(EmbeddingError, match=r"needs an input 'pixel_values' .* allowed are input_ids, attention_mask"):
        OnnxEmbedder(model=str(tiny)).embed(["ferry"])


def test_where_files_may_be(tmp_path):
    hub = tmp_path / "hub"  # the layout of the Hugging Face Hub
    write_model(hub / "onnx" / "model.onnx")
    write_tokenizer(hub)
    assert OnnxEmbedder(model=str(hub)).embed(["ferry"]).shape == (1, 2)
    assert OnnxEmbedder(model=str(hub / "onnx" / "model.onnx")).model_name.startswith("hub onnx-")
    apart = tmp_path / "apart"
    write_model(apart / "model_int8.onnx")
    with pytest.raises(EmbeddingError, match=r"tokenizer: there is no tokenizer.json in .*apart; give the file"):
        OnnxEmbedder(model=str(apart)).embed(["ferry"])
    for given in (hub, hub / "tokenizer.json"):
        assert OnnxEmbedder(model=str(apart), tokenizer=str(given)).embed(["ferry"]).shape == (1, 2)
    write_model(apart / "model_fp16.onnx")
    with pytest.raises(EmbeddingError, match=r"several .onnx files .* give one of them: model_fp16.onnx, model_int8"):
        OnnxEmbedder(model=str(apart), tokenizer=str(hub)).embed(["ferry"])


@pytest.mark.parametrize("text", ["\ud800", "a\udcffb", "\x00", "🛳" * 1000, "\u0301"])
def test_odd_characters_are_no_trouble(text, tiny):
    assert np.isfinite(OnnxEmbedder(model=str(tiny)).embed([text])).all()


def test_missing_and_broken_files_are_named(tiny, tmp_path):
    with pytest.raises(EmbeddingError, match=r"model: '.*nowhere' is neither a folder nor a file .* never downloaded"):
        OnnxEmbedder(model=str(tmp_path / "nowhere")).embed(["ferry"])
    with pytest.raises(EmbeddingError, match="model: 'intfloat/e5-small' is neither a folder nor a file"):
        OnnxEmbedder(model="intfloat/e5-small").embed(["ferry"])
    with pytest.raises(EmbeddingError, match=r"there is no .onnx file in"):
        OnnxEmbedder(model=str(tmp_path)).embed(["ferry"])
    with pytest.raises(EmbeddingError, match=r"tokenizer: there is no tokenizer.json in"):
        OnnxEmbedder(model=str(tiny), tokenizer=str(tmp_path)).embed(["ferry"])
    (tiny / "tokenizer.json").write_text("{}")
    with pytest.raises(EmbeddingError, match=r"tokenizer .*tokenizer.json: cannot be loaded"):
        OnnxEmbedder(model=str(tiny)).embed(["ferry"])
    (tiny / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(EmbeddingError, match=r"model .*model.onnx: cannot be loaded"):
        OnnxEmbedder(model=str(tiny)).embed(["ferry"])


def test_a_model_with_more_layers_than_its_file_is_refused(tiny):
    modules = [{"type": "sentence_transformers.models.Transformer"}, {"type": "sentence_transformers.models.Dense"}]
    (tiny / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(EmbeddingError, match="has a layer 'Dense' after pooling, which its ONNX file lacks"):
        OnnxEmbedder(model=str(tiny)).embed(["ferry"])
    (tiny / "modules.json").write_text(json.dumps(modules[:1]))
    (tiny / "1_Pooling").mkdir()
    (tiny / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_max_tokens": True}))
    with pytest.raises(EmbeddingError, match="needs pooling_mode_max_tokens; allowed are"):
        OnnxEmbedder(model=str(tiny)).embed(["ferry"])


def test_texts_longer_than_the_model_takes_are_an_error_and_not_a_crash(tiny):
    write_model(tiny / "model.onnx", table=TABLE[:4])  # no row for the words
    with pytest.raises(EmbeddingError, match="1 texts of up to 3 tokens cannot be embedded"):
        OnnxEmbedder(model=str(tiny)).embed(["ferry"])


def test_vectors_that_are_not_finite_are_refused(tiny):
    write_model(tiny / "model.onnx", table=TABLE * np.float32(np.nan))
    with pytest.raises(EmbeddingError, match="gave vectors that are not finite"):
        OnnxEmbedder(model=str(tiny)).embed(["ferry"])


@pytest.mark.parametrize(
    "bad", [{"model": ""}, {"pooling": "max"}, {"max_tokens": 2}, {"batch_size": 0}, {"threads": 0}]
)
def test_bad_parameters_are_named(bad, tiny):
    with pytest.raises(ValidationError, match=next(iter(bad))):
        OnnxEmbedder(**{"model": str(tiny), **bad})


def test_the_name_tells_models_apart_and_not_their_places(tiny, tmp_path):
    own = OnnxEmbedder(model=str(tiny)).model_name
    there = tmp_path / "elsewhere" / "tiny"
    write_model(there / "model.onnx")
    write_tokenizer(there)
    assert OnnxEmbedder(model=str(there)).model_name == own
    for other in ({"pooling": "cls"}, {"max_tokens": 7}, {"document_prompt": "passage "}):
        assert OnnxEmbedder(model=str(tiny), **other).model_name != own
    assert OnnxEmbedder(model=str(tiny), query_prompt="query ", batch_size=1, threads=1).model_name == own
    write_model(there / "model.onnx", table=TABLE + 1)
    assert OnnxEmbedder(model=str(there)).model_name != own


def test_replaced_weights_are_seen_by_a_running_program(tiny):
    embedder = OnnxEmbedder(model=str(tiny), pooling="cls")
    before = embedder.embed_named(["ferry"])
    write_model(tiny / "model.onnx", table=TABLE[:, ::-1].copy())
    after = embedder.embed_named(["ferry"])
    assert before[0] != after[0]
    assert np.allclose(after[1], [[0.8, 0.6]], atol=1e-6)


def test_a_file_records_name_and_path(tiny, tmp_path):
    embedder = OnnxEmbedder(model=str(tiny), query_prompt="query ")
    with KnowledgeBase.open(tmp_path / "kb.db", embedder=embedder) as kb:
        kb.add([Document("ferry", "ferry"), Document("gate", "gate")])
    with KnowledgeBase.open(tmp_path / "kb.db") as kb:
        assert kb.settings.embedder == embedder
        assert kb.settings.model == embedder.model_name
        name, vector = kb.embed("gate")
        assert name == embedder.model_name
        assert np.allclose(vector, embedder.embed_queries(["gate"])[0])
        expected = {text: float(embedder.embed([text])[0] @ vector) for text in ("ferry", "gate")}
        assert dict(kb.rank_vectors(vector, model=name, top_k=2)) == pytest.approx(expected)


def test_a_file_whose_weights_changed_or_went_is_refused(tiny, tmp_path):
    path = tmp_path / "kb.db"
    with KnowledgeBase.open(path, embedder=OnnxEmbedder(model=str(tiny))) as kb:
        kb.add([Document("ferry", "ferry")])
    write_model(tiny / "model.onnx", table=TABLE + 1)
    with pytest.raises(KnowledgeBaseError, match=r"holds vectors of 'tiny onnx-\w+', not of 'tiny onnx-\w+'"):
        KnowledgeBase.open(path, embedder=OnnxEmbedder(model=str(tiny)))
    with KnowledgeBase.open(path) as kb:
        name, vector = kb.embed("ferry")
        with pytest.raises(KnowledgeBaseError, match=name):
            kb.rank_vectors(vector, model=name, top_k=2)
        with pytest.raises(
            KnowledgeBaseError, match=r"its embedder now makes those of 'tiny onnx-.* files have changed"
        ):
            kb.add([Document("gate", "gate")])
        assert kb.count() == 1
    (tiny / "model.onnx").unlink()
    with KnowledgeBase.open(path) as kb, pytest.raises(EmbeddingError, match=r"there is no .onnx file in .*tiny"):
        kb.embed("ferry")


def test_it_can_be_written_in_a_recipe_and_in_a_cascade(tiny):
    cascade = Cascade.model_validate(
        {"embedders": [{"kind": "onnx", "model": "no/such/folder"}, {"kind": "onnx", "model": str(tiny)}]}
    )
    name, rows = Cascade.model_validate(cascade.model_dump()).embed_named(["ferry"])
    assert name == OnnxEmbedder(model=str(tiny)).model_name
    assert rows.shape == (1, 2)


def test_neither_torch_nor_the_network_is_needed(onnx_minilm):
    program = (
        "import socket, sys\n"
        "def refuse(*_): raise AssertionError('network')\n"
        "socket.socket.connect = refuse\n"
        "sys.modules['torch'] = None\n"
        "from hopweave.vector.onnx import OnnxEmbedder\n"
        f"print(OnnxEmbedder(model={onnx_minilm!r}).embed(['ferry']).shape, 'transformers' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.returncode) == ("(1, 384) False\n", 0), ran.stderr


def test_without_onnxruntime_the_error_says_what_to_install(tiny):
    program = (
        "import sys; sys.modules['onnxruntime'] = None\n"
        "from hopweave.vector.onnx import OnnxEmbedder\n"
        f"OnnxEmbedder(model={str(tiny)!r}).embed(['ferry'])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "EmbeddingError: onnxruntime is not installed; run: pip install 'hopweave[onnx]'" in ran.stderr


TEXTS = [
    "a ferry on the sea",
    "a ship on the ocean",
    "income tax law",
    "Wo wurde der Konstrukteur der Fähre geboren?",
    "",
    "def add(a, b): return a + b",
    "The tide gate at Hallow opens at six and closes at nine. " * 40,
]


@pytest.mark.slow
def test_real_weights_agree_with_torch(onnx_minilm, minilm):
    pytest.importorskip("sentence_transformers")
    ours = OnnxEmbedder(model=onnx_minilm).embed(TEXTS)
    torch = SentenceTransformerEmbedder(model=minilm, device="cpu").embed(TEXTS)
    assert min(cosine(one, other) for one, other in zip(ours, torch, strict=True)) >= 0.99
    assert cosine(ours[0], ours[1]) > cosine(ours[0], ours[2]) + 0.2


def test_real_weights_do_not_depend_on_the_batch(onnx_minilm):
    together = OnnxEmbedder(model=onnx_minilm).embed(TEXTS)
    alone = OnnxEmbedder(model=onnx_minilm, batch_size=1).embed(TEXTS)
    assert np.allclose(together, alone, atol=1e-4)


def test_threads_share_the_model(onnx_minilm):
    embedder, rows = OnnxEmbedder(model=onnx_minilm), []
    threads = [Thread(target=lambda: rows.append(embedder.embed(["ferry"]))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(rows) == 8
    assert all(np.allclose(row, rows[0], atol=1e-5) for row in rows)


def test_static_and_onnx_vectors_never_meet(onnx_minilm, tmp_path):
    with KnowledgeBase.open(tmp_path / "kb.db", embedder=OnnxEmbedder(model=onnx_minilm)) as kb:
        kb.add([Document("ferry", "A ferry on the sea.")])
    with pytest.raises(KnowledgeBaseError, match="holds vectors of 'all-MiniLM-L6-v2 onnx-"):
        KnowledgeBase.open(tmp_path / "kb.db", embedder=StaticEmbedder())
