import logging
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

import hopweave.catalogue  # noqa: F401 - a cascade is complete when every embedder is known
from hopweave.errors import EmbeddingError
from hopweave.vector.embedders import (
    CallableEmbedder,
    Cascade,
    SentenceTransformerEmbedder,
    StaticEmbedder,
    as_embedder,
)


def cosine(one, other):
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def lengths(texts):
    return [[float(len(text)), 1.0] for text in texts]


def broken(texts):
    raise ConnectionError("service unreachable")


def test_static_vectors_mean_something():
    ferry, ship, tax = StaticEmbedder().embed(["a ferry on the sea", "a ship on the ocean", "income tax law"])
    assert cosine(ferry, ship) > cosine(ferry, tax) + 0.2


def test_static_vectors_do_not_depend_on_their_neighbours():
    embedder = StaticEmbedder()
    alone = embedder.embed(["the ferry sails at noon"])
    among = embedder.embed(["x", "the ferry sails at noon", "word " * 500, ""])
    assert alone.dtype == np.float32
    assert np.array_equal(alone[0], among[1])
    assert among.shape == (4, 256)


def test_static_vectors_are_those_of_the_package_itself():
    import wordllama

    texts = ["the ferry sails at noon", "gate"]
    own = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True).embed(texts)
    assert np.allclose(StaticEmbedder().embed(texts), own, atol=1e-5)


def test_a_text_without_tokens_is_a_zero_row_and_no_text_no_row():
    assert not StaticEmbedder().embed([""]).any()
    assert StaticEmbedder().embed([]).shape == (0, 256)


def test_long_texts_go_by_their_beginning():
    embedder = StaticEmbedder(max_characters=10)
    assert np.array_equal(embedder.embed(["0123456789 and more"]), embedder.embed(["0123456789"]))


@pytest.mark.parametrize("text", ["\ud800", "a\udcffb", "\x00", "🛳" * 1000, "\u0301"])
def test_odd_characters_are_no_trouble(text):
    assert np.isfinite(StaticEmbedder().embed([text])).all()


def test_threads_share_the_model():
    embedder, rows = StaticEmbedder(), []
    threads = [threading.Thread(target=lambda: rows.append(embedder.embed(["ferry"]))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(rows) == 8
    assert all(np.array_equal(row, rows[0]) for row in rows)


def test_loading_the_model_leaves_everybodys_logging_alone():
    program = (
        "import logging; from hopweave.vector.embedders import StaticEmbedder; StaticEmbedder().embed(['ferry'])\n"
        "root, other = logging.getLogger(), logging.getLogger('x')\n"
        "print(root.handlers, root.level, other.isEnabledFor(logging.INFO))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == f"[] {logging.WARNING} False\n"
    assert ran.stderr == ""


def test_sentence_transformers_with_real_weights(minilm):
    embedder = SentenceTransformerEmbedder(model=minilm, device="cpu")
    ferry, ship, tax = embedder.embed(["a ferry on the sea", "a ship on the ocean", "income tax law"])
    assert ferry.shape == (384,)
    assert ferry.dtype == np.float32
    assert cosine(ferry, ship) > cosine(ferry, tax) + 0.2
    assert embedder.embed([]).shape[0] == 0
    assert embedder.model_name == "model"  # the folder's name, wherever it lies


@pytest.mark.slow
def test_a_model_that_cannot_be_loaded_is_named():
    pytest.importorskip("sentence_transformers")
    with pytest.raises(EmbeddingError, match="model 'no/such-model' cannot be loaded"):
        SentenceTransformerEmbedder(model="no/such-model").embed(["ferry"])


def test_without_sentence_transformers_the_error_says_what_to_install():
    program = (
        "import sys; sys.modules['sentence_transformers'] = None\n"
        "from hopweave.vector.embedders import SentenceTransformerEmbedder\n"
        "SentenceTransformerEmbedder().embed(['ferry'])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "EmbeddingError: sentence-transformers is not installed; run: pip install" in ran.stderr


def test_any_function_is_an_embedder():
    embedder = CallableEmbedder(name="lengths", function=lengths)
    assert embedder.embed(["ab", ""]).tolist() == [[2.0, 1.0], [0.0, 1.0]]
    assert embedder.embed_named(("abc",))[0] == "lengths"
    assert len(embedder.embed([])) == 0
    assert "function" not in embedder.model_dump()
    assert "lengths at" not in repr(embedder)


@pytest.mark.parametrize(
    "answer",
    [[[1.0, 2.0]], [1.0, 2.0], 3.0, [], [[1.0], [float("nan")]], [[1.0], [float("inf")]], [[[1.0]], [[2.0]]]],
)
def test_an_answer_of_the_wrong_shape_is_refused(answer):
    with pytest.raises(EmbeddingError, match=r"embedder 'odd' gave shape .* for 2 texts; one row of finite numbers"):
        CallableEmbedder(name="odd", function=lambda texts: answer).embed(["a", "b"])


def test_as_embedder_takes_what_embeds():
    class Remote:
        model_name = "remote-3"

        def embed(self, texts):
            return lengths(texts)

    static = StaticEmbedder()
    assert as_embedder(static) is static
    assert as_embedder(lengths).model_name == "lengths"
    assert as_embedder(Remote()).model_name == "remote-3"
    assert as_embedder(Remote()).embed(["ab"]).tolist() == [[2.0, 1.0]]
    for thing in ("MiniLM", 7, None):
        with pytest.raises(TypeError, match=r"embedder: must have a method embed\(list\[str\]\) or be a function"):
            as_embedder(thing)


def test_a_cascade_says_who_answered():
    remote, local = CallableEmbedder(name="remote", function=broken), CallableEmbedder(name="local", function=lengths)
    name, rows = Cascade(embedders=(remote, local)).embed_named(["ab"])
    assert (name, rows.tolist()) == ("local", [[2.0, 1.0]])
    assert Cascade(embedders=(local, remote)).embed_named(["ab"])[0] == "local"
    assert Cascade(embedders=(remote, local)).model_name == "remote"
    assert Cascade(embedders=(remote, local)).embed(["ab"]).tolist() == [[2.0, 1.0]]


def test_a_cascade_goes_on_when_the_shape_is_wrong():
    odd = CallableEmbedder(name="odd", function=lambda texts: [[1.0]])
    local = CallableEmbedder(name="local", function=lengths)
    assert Cascade(embedders=(odd, local)).embed_named(["a", "b"])[0] == "local"


def test_a_cascade_in_a_cascade_names_the_one_at_the_end():
    inner = Cascade(embedders=(CallableEmbedder(name="remote", function=broken), StaticEmbedder()))
    assert Cascade(embedders=(inner,)).embed_named(["ab"])[0] == StaticEmbedder().model_name


def test_when_nobody_answers_every_reason_is_reported(caplog):
    cascade = Cascade(embedders=tuple(CallableEmbedder(name=name, function=broken) for name in ("one", "two")))
    caplog.set_level(logging.DEBUG)
    with pytest.raises(EmbeddingError) as caught:
        cascade.embed(["ab"])
    assert str(caught.value) == "all embedders failed: one: ConnectionError; two: ConnectionError"
    logged = [str(one.exc_info[1]) for one in caplog.records if one.exc_info and one.levelno == logging.DEBUG]
    assert logged == ["service unreachable", "service unreachable"]


def test_a_cascade_can_be_written_in_a_recipe():
    cascade = Cascade.model_validate(
        {"embedders": [{"kind": "sentence_transformers", "model": "m"}, {"kind": "static"}]}
    )
    assert cascade.embedders == (SentenceTransformerEmbedder(model="m"), StaticEmbedder())
    assert Cascade.model_validate(cascade.model_dump()) == cascade
    with pytest.raises(ValidationError, match="embedders"):
        Cascade(embedders=())


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of the process from /proc")
def test_questions_that_were_embedded_are_not_kept():
    program = """
from pathlib import Path
from hopweave.vector.embedders import StaticEmbedder

def megabytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6

def ask(first, last):
    for number in range(first, last):
        StaticEmbedder().embed([f"Which ferry of the northern harbour waits for the tide gate at {number} o'clock?"])

ask(0, 200)
before = megabytes()
ask(200, 6200)
print(megabytes() - before)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert float(ran.stdout) < 5  # 6,000 questions in the cache of the tokenizer take about 18 MB
