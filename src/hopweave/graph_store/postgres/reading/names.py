"""Names of a graph in PostgreSQL that are similar to words of a question, found with a few statements."""

from collections.abc import Iterable, Sequence

from hopweave.graph.model import ADDRESS, passage_id
from hopweave.graph.storage.name_index import ShownKeys, SimilarNames, letters_apart, without_accents
from hopweave.graph_store.postgres.connections import Connections
from hopweave.language.stop_words import STOP_WORDS
from hopweave.language.words import normalise_name, word_key

_MAX_NAMES = 2_000  # of one word that are read
_MAX_BUCKET = 4_000  # words of one length and first letter

_COUNTS = """
SELECT w.word, c.names FROM unnest(%s::text[]) AS w (word) CROSS JOIN LATERAL (
    SELECT count(DISTINCT n.name_key) AS names FROM name_words JOIN nodes n ON n.id = name_words.node
    WHERE name_words.word = w.word AND bucket IS NOT NULL
) c
"""
_KEYS = f"""
SELECT w.word, k.name_key FROM ({_COUNTS}) w CROSS JOIN LATERAL (
    SELECT DISTINCT n.name_key FROM name_words JOIN nodes n ON n.id = name_words.node
    WHERE name_words.word = w.word AND (n.flags & 8) > 0 ORDER BY n.name_key
) k WHERE w.names <= %s
"""
_WORDS = """
SELECT b.bucket, w.word FROM (
    SELECT DISTINCT bucket FROM unnest(%s::text[], %s::text[]) AS a (word, bucket)
    WHERE NOT EXISTS (SELECT 1 FROM name_words WHERE name_words.word = a.word AND name_words.bucket IS NOT NULL)
) b CROSS JOIN LATERAL (
    SELECT DISTINCT word FROM name_words WHERE name_words.bucket = b.bucket ORDER BY word LIMIT %s
) w
"""


class PostgresNames(SimilarNames):
    """The words of the names of a graph, read when they are first asked for.

    What is asked for is noted while spans are compared with what is known already; then all of it is read with one
    statement, and the spans are compared again, until nothing was missing.
    """

    def __init__(self, connections: Connections, count: int) -> None:
        self._connections = connections
        self._count = max(count, 1)  # names may come between two statements
        self._frequencies: dict[str, int] = {}
        self._keys: dict[str, list[str]] = {}
        self._buckets: dict[str, list[str]] = {}
        self._closest: dict[str, list[tuple[str, float]]] = {}
        self._missing: set[str] = set()
        self._missing_keys: set[str] = set()

    def nearest_of_each(
        self, spans: Sequence[Sequence[str]], threshold: float, shown: ShownKeys | None
    ) -> list[tuple[str, float] | None]:
        """For each span what `nearest` finds."""
        self.prepare(spans)
        while True:
            found = [self.nearest(words, threshold=threshold, shown=shown) for words in spans]
            if not self._missing and not self._missing_keys:
                return found
            self._load()

    def prepare(self, spans: Iterable[Sequence[str]]) -> None:
        """Read what `nearest` asks for first: names with the words of these spans, and words like those of no name."""
        words = {word for words in spans for word in words if word not in STOP_WORDS}
        self._missing, self._missing_keys = set(words), set(words)
        asked = [(word, bucket) for word in sorted(words) for bucket in _buckets(word)]
        self._buckets.update({bucket: [] for _, bucket in asked})
        self._load([list(column) for column in zip(*asked, strict=True)] or [[], []])

    def count(self) -> int:
        """How many names there are."""
        return self._count

    def frequency(self, word: str) -> int:
        """How many names have this word; 0 for a stop word."""
        if word not in self._frequencies and word not in STOP_WORDS:
            self._missing.add(word)
        return self._frequencies.get(word, 0)

    def keys_with(self, word: str) -> Iterable[str]:
        """The word keys of the names that have this word."""
        if word not in self._keys:
            self._missing_keys.add(word)
        return self._keys.get(word, [])

    def words_like(self, letter: str, length: int) -> Iterable[tuple[str, str]]:
        """Words of names without accents and as they are, by their first letter and length without accents."""
        return ((without_accents(word), word) for word in self._buckets.get(f"{letter}{length}", ()))

    def _closest_words(self, word: str) -> list[tuple[str, float]]:
        if word not in self._closest:
            self._closest[word] = super()._closest_words(word)
            self._missing_keys.update(near for near, _ in self._closest[word] if near not in self._keys)
            self._missing.update(self._missing_keys.difference(self._frequencies))
        return self._closest[word]

    def _load(self, buckets: Sequence[list[str]] = ()) -> None:
        """Read all that was missing, with one round trip."""
        words, named = sorted(self._missing), sorted(self._missing_keys)
        self._missing, self._missing_keys = set(), set()
        statements: list[tuple[str, list[object]]] = [(_COUNTS, [words]), (_KEYS, [named, _MAX_NAMES])]
        if buckets:
            statements.append((_WORDS, [*buckets, _MAX_BUCKET]))
        counts, keys, *alike = self._connections.read_together(*statements)
        self._frequencies.update(dict.fromkeys(words, 0) | dict(counts))
        self._keys.update({word: [] for word in named})
        for word, key in keys:
            self._keys[word].append(key)
        for bucket, word in alike[0] if alike else ():
            self._buckets[bucket].append(word)


def _buckets(word: str) -> list[str]:
    """Where words lie that are a few letters away from a word."""
    plain = without_accents(word)
    apart = letters_apart(plain)
    return [f"{plain[:1]}{length}" for length in range(len(plain) - apart, len(plain) + apart + 1)]


def stored_keys(id_: str) -> list[str]:
    """The keys under which the node with an id may be stored, best first."""
    kind, _, rest = id_.partition(":")
    if rest and not id_.startswith((passage_id(""), ADDRESS)) and rest == normalise_name(rest):
        return [id_, f"{kind}:{word_key(rest)}"]
    return [id_]
