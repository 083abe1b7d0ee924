"""Checks that the log of a file is whole. SQLite stops reading a log at the first page that is damaged, without a word.

The format is described in https://www.sqlite.org/fileformat2.html#the_write_ahead_log. The checksum of a page is a
linear recurrence over its 32-bit words, so that of many pages is computed at once: after n pairs of words (a, b), the
state s becomes Mⁿ s + Σ Mⁿ⁻¹⁻ⁱ (aᵢ, aᵢ + bᵢ) with M = (1 1; 1 2), modulo 2³².
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]

_HEADER, _FRAME = 32, 24  # bytes
_LITTLE_ENDIAN, _BIG_ENDIAN = 0x377F0682, 0x377F0683
_M = np.array([[1, 1], [1, 2]], np.uint32)


def log_problems(path: Path) -> Iterator[str]:
    """What is wrong with the log of a file, in one sentence.

    A process that is killed may leave pages that belong to no commit, the last of them half written. So a page counts
    as damaged only if a commit of the same round lies behind it.
    """
    try:
        data = Path(f"{path}-wal").read_bytes()
    except OSError:
        return
    if len(data) < _HEADER + _FRAME:
        return
    magic, page_size = (int.from_bytes(data[place : place + 4], "big") for place in (0, 8))
    order = {_LITTLE_ENDIAN: "<u4", _BIG_ENDIAN: ">u4"}.get(magic)
    head = [] if order is None else _state(np.frombuffer(data[:24], order).astype(np.uint32))
    if head != [int.from_bytes(data[place : place + 4], "big") for place in (24, 28)] or not 512 <= page_size <= 65536:
        yield "storage: the head of the log is damaged: changes that are only in the log cannot be read"
        return
    frames = np.frombuffer(data, np.uint8)[_HEADER:]
    frames = frames[: len(frames) // (_FRAME + page_size) * (_FRAME + page_size)].reshape(-1, _FRAME + page_size)
    of_this_round = (frames[:, 8:16] == np.frombuffer(data[16:24], np.uint8)).all(axis=1)
    commits = np.flatnonzero(of_this_round & frames[:, 4:8].any(axis=1))
    written = int(commits[-1]) + 1 if len(commits) else 0
    sound = _sound_frames(frames[:written], str(order), head) if of_this_round[:written].all() else 0
    if sound < written - 1:
        yield "storage: a page of the log is damaged: changes that were written after it cannot be read"


def _sound_frames(frames: npt.NDArray[np.uint8], order: str, state: list[int]) -> int:
    """How many frames from the first on have the checksum that they state."""
    stated = np.ascontiguousarray(frames[:, 16:24]).view(">u4")
    summed = np.ascontiguousarray(np.concatenate([frames[:, :8], frames[:, _FRAME:]], axis=1))
    words = summed.view(order).astype(np.uint32)
    powers = _powers(words.shape[1] // 2)
    first, both = words[:, ::2], words[:, ::2] + words[:, 1::2]
    sums = [
        (first * powers[:-1, row, 0]).sum(axis=1, dtype=np.uint32)
        + (both * powers[:-1, row, 1]).sum(axis=1, dtype=np.uint32)
        for row in (0, 1)
    ]
    whole = powers[-1].tolist()
    for number, (one, other) in enumerate(zip(sums[0].tolist(), sums[1].tolist(), strict=True)):
        state = [
            (whole[0][0] * state[0] + whole[0][1] * state[1] + one) % 2**32,
            (whole[1][0] * state[0] + whole[1][1] * state[1] + other) % 2**32,
        ]
        if state != stated[number].tolist():
            return number
    return len(frames)


def _powers(pairs: int) -> npt.NDArray[np.uint32]:
    """The matrices that the pairs of words are multiplied by, in their order, and last the one for the state before."""
    powers = [np.eye(2, dtype=np.uint32)]
    for _ in range(pairs):
        powers.append((powers[-1] @ _M).astype(np.uint32))
    return np.stack([*powers[-2::-1], powers[-1]])


def _state(words: Words) -> list[int]:
    one, other = 0, 0
    for first, second in words.reshape(-1, 2).tolist():
        one = (one + first + other) % 2**32
        other = (other + second + one) % 2**32
    return [one, other]
