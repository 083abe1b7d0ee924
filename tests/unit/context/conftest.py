import pytest


@pytest.fixture(scope="session")
def toy_encoding():
    """A byte pair vocabulary with a few merges, made here because real ones have to be fetched."""
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {bytes([byte]): byte for byte in range(256)}
    for merged in (b"th", b"the", b" the", b"er", b"in", b" s", b". ", b"\n\n", b"[1", b"a a", b"] "):
        ranks[merged] = len(ranks)
    tiktoken.registry.ENCODINGS["hopweave-toy"] = tiktoken.Encoding(
        "hopweave-toy", pat_str=r"(?s).+", mergeable_ranks=ranks, special_tokens={"<|endoftext|>": len(ranks)}
    )
    return "hopweave-toy"
