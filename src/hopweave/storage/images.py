"""Index images: numeric arrays in one file that is never changed once written, so that processes can share its pages.

Layout: eight bytes that name the format, the length of the header, the header as JSON (what the caller says about
the image, and of each array its name, type, shape and place), then the arrays, each at a multiple of 64 bytes. All
numbers are little-endian.

An image may come from elsewhere, so nothing in it is trusted: there is no type but plain numbers, every place and
size is checked against the size of the file, and the checksum, which is kept outside, before an array is handed out.
"""

import json
import math
import mmap
import os
import stat
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from hopweave.errors import InvalidImage

Array = npt.NDArray[Any]

TEMPORARY = ".unfinished"
_MAGIC = b"hopwimg1"
_ALIGNMENT = 64
_BLOCK_BYTES = 1 << 20
_MAX_HEADER_BYTES = 1 << 24
_TYPES = ("<i1", "<i2", "<i4", "<i8", "<u1", "<u2", "<u4", "<u8", "<f4", "<f8", "|i1", "|u1")


@dataclass(frozen=True, slots=True)
class Image:
    """An opened image: its header, and its arrays by name."""

    header: dict[str, Any]
    arrays: dict[str, Array]


def write_image(path: Path, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> str:
    """Write arrays to a file, whole or not at all, and give the checksum that `open_image` asks for.

    The file is written under another name, brought to the disk and then renamed, so that a process that is killed
    leaves at most a file whose name ends in `.unfinished`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     checksum = write_image(Path(folder, "a.image"), {"kind": "text"}, {"rows": np.arange(3)})
    ...     image = open_image(Path(folder, "a.image"), checksum)
    ...     image.header, image.arrays["rows"].tolist()
    ({'kind': 'text'}, [0, 1, 2])
    """
    plain = {name: _plain(name, array) for name, array in arrays.items()}
    places: dict[str, dict[str, Any]] = {}
    position = 0
    for name, array in plain.items():
        places[name] = {"type": array.dtype.str, "shape": list(array.shape), "offset": position}
        position += _aligned(array.nbytes)
    text = json.dumps({"header": dict(header), "arrays": places}).encode()
    if len(text) > _MAX_HEADER_BYTES:
        raise ValueError(f"header takes {len(text)} bytes, but at most {_MAX_HEADER_BYTES} are allowed")
    start = _aligned(16 + len(text))
    unfinished = path.with_name(f"{path.name}-{uuid4().hex[:8]}{TEMPORARY}")
    try:
        with unfinished.open("xb") as file:
            file.write((_MAGIC + len(text).to_bytes(8, "little") + text).ljust(start, b"\0"))
            for array in plain.values():
                file.write(array.data.cast("B") if array.size else b"")
                file.write(bytes(_aligned(array.nbytes) - array.nbytes))
            file.flush()
            os.fsync(file.fileno())
        with unfinished.open("rb") as file:
            checksum = _checksum(file)
        unfinished.replace(path)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)
    return checksum


def open_image(path: Path, checksum: str, *, writable: bool = False) -> Image:
    """Map a file of arrays into memory after checking all of it; `InvalidImage` says what is wrong with it.

    The arrays cannot be written to. With `writable` they can, in the memory of this process alone: pages are
    copied when written, and the file stays as it is.
    """
    try:
        with open(path, "rb", opener=_open_plainly) as file:
            size = _size(path, file)
            header, places, start = _read_header(path, file, size)
            views = {name: _checked(path, name, place, start, size) for name, place in places.items()}
            if _checksum(file) != checksum:
                raise InvalidImage(f"{path}: its checksum is not the one that was noted when it was written")
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY if writable else mmap.ACCESS_READ)
    except OSError as error:
        raise InvalidImage(f"{path}: cannot be read: {error}") from error
    arrays = {
        name: np.frombuffer(mapped, dtype, math.prod(shape), offset).reshape(shape)
        for name, (dtype, shape, offset) in views.items()
    }
    return Image(header, arrays)


def _open_plainly(path: str, flags: int) -> int:
    # neither led elsewhere by a link, nor held up by a pipe; both flags are missing on Windows
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def _size(path: Path, file: IO[bytes]) -> int:
    found = os.fstat(file.fileno())
    if not stat.S_ISREG(found.st_mode):
        raise InvalidImage(f"{path}: is not a plain file")
    return found.st_size


def _plain(name: str, array: Array) -> Array:
    kept = np.ascontiguousarray(array)
    kept = kept.astype(kept.dtype.newbyteorder("<"), copy=False)
    if kept.dtype.str not in _TYPES:
        raise ValueError(f"array {name!r}: type {array.dtype} is not allowed; plain integers and floats are")
    return kept


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _read_header(path: Path, file: IO[bytes], size: int) -> tuple[dict[str, Any], dict[str, Any], int]:
    first = file.read(16)
    length = int.from_bytes(first[8:], "little")
    if len(first) < 16 or first[:8] != _MAGIC or length > min(size - 16, _MAX_HEADER_BYTES):
        raise InvalidImage(f"{path}: is not an index image")
    try:
        content = json.loads(file.read(length))
        header, places = content["header"], content["arrays"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InvalidImage(f"{path}: its header cannot be read") from error
    if not isinstance(header, dict) or not isinstance(places, dict):
        raise InvalidImage(f"{path}: its header cannot be read")
    return header, places, _aligned(16 + length)


def _checked(path: Path, name: str, place: Any, start: int, size: int) -> tuple[np.dtype[Any], tuple[int, ...], int]:
    try:
        kind, shape, offset = place["type"], place["shape"], place["offset"]
    except (KeyError, TypeError) as error:
        raise InvalidImage(f"{path}: array {name!r} has no type, shape or offset") from error
    numbers = [offset, *shape] if isinstance(shape, list) else [None]
    if kind not in _TYPES or not all(type(number) is int and 0 <= number < 1 << 62 for number in numbers):
        raise InvalidImage(f"{path}: array {name!r} has type {kind!r}, shape {shape!r} and offset {offset!r}")
    dtype = np.dtype(kind)
    if offset % _ALIGNMENT or start + offset + math.prod(shape) * dtype.itemsize > size:
        raise InvalidImage(f"{path}: array {name!r} does not fit the file of {size} bytes")
    return dtype, tuple(shape), start + offset


def _checksum(file: IO[bytes]) -> str:
    # read, not mapped: what is only checked must not count as memory of this process; CRC-32 because a sum over a
    # gigabyte is taken whenever a process opens an index, and damage is what it has to find
    whole = sha256()
    for block in _blocks(file):
        whole.update(zlib.crc32(block).to_bytes(4, "little"))
    return whole.hexdigest()


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    file.seek(0)
    while block := file.read(_BLOCK_BYTES):
        yield block


def _sync_folder(folder: Path) -> None:
    if hasattr(os, "O_DIRECTORY"):  # elsewhere a folder cannot be opened
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
