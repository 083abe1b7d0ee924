"""What a question and a document pass through, as `benchmarks/house.py` measures it, stays within limits."""

import importlib.util
from pathlib import Path

import pytest

MAX_MODULES = {"question": 48, "document": 28}
MAX_FRAMES_TO_BM25 = 7


@pytest.fixture(scope="module")
def house():
    path = Path(__file__).parents[2] / "benchmarks" / "house.py"
    spec = importlib.util.spec_from_file_location("house", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def walks(house):
    return house.walks()


@pytest.mark.parametrize("walk", MAX_MODULES)
def test_a_walk_passes_through_few_modules(walks, walk):
    assert len(walks[walk]["modules"]) <= MAX_MODULES[walk], "\n".join(walks[walk]["modules"])


def test_few_frames_lead_down_to_bm25(walks):
    frames = walks["question"]["frames_to_bm25"]
    assert 0 < len(frames) - 1 <= MAX_FRAMES_TO_BM25, "\n".join(frames)


def test_no_modules_import_one_another(house):
    assert house.import_cycles() == []
