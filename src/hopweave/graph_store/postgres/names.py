"""Names of a graph in PostgreSQL that are similar to words of a question, found with a few statements."""

from collections.abc import Collection, Iterable, Sequence

from hopweave.graph.storage.name_index import SimilarNames, without_accents
from hopweave.graph_store.postgres.connections import Connections
from hopweave.language.stop_words import STOP_WORDS

_MAX_NAMES = 2_000  # of one word that are read
_MAX_BUCKET = 4_000  # words of one length and first letter

_KEYS = """
SELECT w.word, w.names, k.name_key FROM (
    SELECT word, count(DISTINCT n.name_key) AS names FROM name_words JOIN nodes n ON n.id = name_words.node
    WHERE word = ANY(%s) AND bucket IS NOT NULL GROUP BY word
) w LEFT JOIN LATERAL (
    SELECT DISTINCT n.name_key FROM name_words JOIN nodes n ON n.id = name_words.node
    WHERE name_words.word = w.word AND (n.flags & 8) > 0 AND w.names <= %s ORDER BY n.name_key
) k ON true
"""
_WORDS = """
SELECT b.bucket, w.word FROM unnest(%s::text[]) AS b (bucket) CROSS JOIN LATERAL (
    SELECT DISTINCT word FROM name_words WHERE name_words.bucket = b.bucket ORDER BY word LIMIT %s
) w
"""


class PostgresNames(SimilarNames):
    """The words of the names of a graph, read when they are first asked for; many at once after `prepare`."""

    def __init__(self, connections: Connections, count: int) -> None:
        self._connections, self._count = connections, count
        self._keys: dict[str, tuple[int, list[str]]] = {}
        self._buckets: dict[str, list[str]] = {}

    def prepare(self, spans: Iterable[Sequence[str]]) -> None:
        """Read all that `nearest` will ask for first: the names with the words of these spans."""
        self._load({word for words in spans for word in words if word not in STOP_WORDS})

    def prepare_misspelt(self, spans: Iterable[Sequence[str]]) -> None:
        """Read what `nearest` asks for next: words that are a few letters away from those that no name has."""
        words = {word for span in spans for word in span if word not in STOP_WORDS and not self.frequency(word)}
        plain = [without_accents(word) for word in words]
        buckets = {
            f"{word[:1]}{length}"
            for word in plain
            for length in range(len(word) - _allowed(word), len(word) + _allowed(word) + 1)
        }
        self._load_buckets(buckets)
        self._load({near for bucket in buckets for near in self._buckets[bucket] if _may_be_near(near, plain)})

    def count(self) -> int:
        """How many names there are."""
        return self._count

    def frequency(self, word: str) -> int:
        """How many names have this word; 0 for a stop word."""
        self._load([word])
        return self._keys[word][0]

    def keys_with(self, word: str) -> Iterable[str]:
        """The word keys of the names that have this word."""
        self._load([word])
        return self._keys[word][1]

    def words_like(self, letter: str, length: int) -> Iterable[tuple[str, str]]:
        """Words of names without accents and as they are, by their first letter and length without accents."""
        bucket = f"{letter}{length}"
        self._load_buckets([bucket])
        return ((without_accents(word), word) for word in self._buckets[bucket])

    def _load(self, words: Collection[str]) -> None:
        new = [word for word in words if word not in self._keys]
        if not new:
            return
        self._keys.update({word: (0, []) for word in new})
        for word, names, key in self._connections.read(_KEYS, [new, _MAX_NAMES]):
            known = self._keys[word][1]
            self._keys[word] = (names, known if key is None else [*known, key])

    def _load_buckets(self, buckets: Collection[str]) -> None:
        new = [bucket for bucket in buckets if bucket not in self._buckets]
        if not new:
            return
        self._buckets.update({bucket: [] for bucket in new})
        for bucket, word in self._connections.read(_WORDS, [new, _MAX_BUCKET]):
            self._buckets[bucket].append(word)


def _allowed(word: str) -> int:
    """How many letters may differ."""
    return 0 if len(word) < 4 else 1 if len(word) < 8 else 2


def _may_be_near(word: str, asked: Sequence[str]) -> bool:
    other = set(without_accents(word))
    return any(len(set(one).difference(other)) <= _allowed(one) for one in asked)
