"""Arrays in files: what comes out is what went in, or an error that says what is wrong."""

import json
import os
import random
import subprocess
import sys

import numpy as np
import pytest

from hopweave.errors import InvalidImage
from hopweave.storage.images import open_image, write_image

ARRAYS = {
    "rows": np.array([3, 1, 2], np.int64),
    "matrix": np.arange(12, dtype=np.float32).reshape(3, 4),
    "counts": np.array([7], np.uint8),
    "empty": np.empty((0, 5), np.float64),
}


@pytest.fixture
def written(tmp_path):
    path = tmp_path / "a.image"
    return path, write_image(path, {"kind": "text", "format": 1}, ARRAYS)


def test_what_goes_in_comes_out(written):
    image = open_image(*written)
    assert image.header == {"kind": "text", "format": 1}
    assert image.arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert image.arrays[name].dtype == array.dtype
        assert np.array_equal(image.arrays[name], array)
        assert image.arrays[name].shape == array.shape
        assert image.arrays[name].ctypes.data % 64 == 0


def test_arrays_are_read_only_unless_asked_for_and_the_file_stays(written):
    before = written[0].read_bytes()
    with pytest.raises(ValueError, match="read-only"):
        open_image(*written).arrays["rows"][0] = 9
    own = open_image(*written, writable=True).arrays["rows"]
    own[0] = 9
    assert own.tolist() == [9, 1, 2]
    assert open_image(*written).arrays["rows"].tolist() == [3, 1, 2]
    assert written[0].read_bytes() == before


def test_the_same_content_has_the_same_checksum(written, tmp_path):
    assert write_image(tmp_path / "b.image", {"kind": "text", "format": 1}, ARRAYS) == written[1]
    assert write_image(tmp_path / "c.image", {"kind": "text", "format": 2}, ARRAYS) != written[1]


@pytest.mark.parametrize(
    "array", [np.array(["a"]), np.array([object()]), np.array([1j]), np.array([True]), np.array([(1,)], "i4,")]
)
def test_only_plain_numbers_are_written(array, tmp_path):
    with pytest.raises(ValueError, match=r"array 'odd': type .* is not allowed"):
        write_image(tmp_path / "a.image", {}, {"odd": array})
    assert not list(tmp_path.iterdir())


def test_big_endian_numbers_and_slices_come_out_the_same(tmp_path):
    arrays = {"big": np.array([1, 258], ">i4"), "slice": np.arange(10)[::3], "column": np.arange(6).reshape(2, 3).T}
    checksum = write_image(tmp_path / "a.image", {}, arrays)
    found = open_image(tmp_path / "a.image", checksum).arrays
    assert all(np.array_equal(found[name], array) for name, array in arrays.items())


def test_a_missing_file(tmp_path):
    with pytest.raises(InvalidImage, match="cannot be read"):
        open_image(tmp_path / "none.image", "")


def test_every_cut_and_every_changed_byte_is_noticed(written):
    path, checksum = written
    whole = path.read_bytes()
    chance = random.Random(3)
    for length in {0, 7, 15, 16, 60, len(whole) - 1, *chance.sample(range(len(whole)), 30)}:
        path.write_bytes(whole[:length])
        with pytest.raises(InvalidImage):
            open_image(path, checksum)
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        with pytest.raises(InvalidImage):
            open_image(path, checksum)
    path.write_bytes(whole + b"\0")
    with pytest.raises(InvalidImage, match="checksum"):
        open_image(path, checksum)


@pytest.mark.parametrize(
    "place",
    [
        {"type": "<i8", "shape": [1 << 40], "offset": 0},
        {"type": "<i8", "shape": [1 << 61, 1 << 61], "offset": 0},
        {"type": "<i8", "shape": [-1], "offset": 0},
        {"type": "<i8", "shape": [1], "offset": -64},
        {"type": "<i8", "shape": [1], "offset": 8},
        {"type": "<i8", "shape": [1], "offset": 1 << 50},
        {"type": "<i8", "shape": [True], "offset": 0},
        {"type": "<i8", "shape": 1, "offset": 0},
        {"type": "|O", "shape": [1], "offset": 0},
        {"type": "<U8", "shape": [1], "offset": 0},
        {"type": ["<i8"], "shape": [1], "offset": 0},
        {"shape": [1], "offset": 0},
        7,
    ],
)
def test_a_header_made_by_somebody_else_is_refused_before_anything_is_mapped(place, tmp_path):
    header = json.dumps({"header": {}, "arrays": {"a": place}}).encode()
    path = tmp_path / "a.image"
    path.write_bytes((b"hopwimg1" + len(header).to_bytes(8, "little") + header).ljust(256, b"\0"))
    with pytest.raises(InvalidImage, match="array 'a'"):
        open_image(path, "")


@pytest.mark.parametrize("header", [b"[]", b"{}", b'{"header": 1, "arrays": {}}', b"\xff", b"[" * 100_000])
def test_a_header_that_is_none(header, tmp_path):
    path = tmp_path / "a.image"
    path.write_bytes(b"hopwimg1" + len(header).to_bytes(8, "little") + header)
    with pytest.raises(InvalidImage, match="header"):
        open_image(path, "")


def test_a_process_killed_while_writing_leaves_no_image(tmp_path):
    program = (
        "import os, numpy as np, sys; from pathlib import Path; from hopweave.storage.images import write_image\n"
        "os.fsync = lambda handle: os.kill(os.getpid(), 9)\n"
        "write_image(Path(sys.argv[1]), {}, {'a': np.arange(9)})"
    )
    ran = subprocess.run([sys.executable, "-c", program, str(tmp_path / "a.image")], env=os.environ, check=False)
    assert ran.returncode == -9
    assert [file.suffix for file in tmp_path.iterdir()] == [".unfinished"]
