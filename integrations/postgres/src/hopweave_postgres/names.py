"""Names of a graph in PostgreSQL that are similar to words of a question, found with a few statements."""

from collections.abc import Iterable, Sequence

from hopweave.graph_store.backend import (
    ADDRESS,
    STOP_WORDS,
    GraphTimeout,
    GraphUnavailable,
    KnowledgeBaseError,
    ShownKeys,
    SimilarNames,
    normalise_name,
    passage_id,
    without_accents,
    word_key,
)
from hopweave_postgres import trigrams
from hopweave_postgres.connections import Connections, Statement

_MAX_NAMES = 2_000  # of one word that are read
_MAX_BUCKET = 4_000  # words of one length and first letter

_COUNTS = """
SELECT w.word, c.names FROM unnest(%s::text[]) AS w (word) CROSS JOIN LATERAL (
    SELECT count(DISTINCT n.name_key) AS names FROM name_words JOIN nodes n ON n.id = name_words.node
    WHERE name_words.word = w.word
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
    WHERE %s OR NOT EXISTS (SELECT 1 FROM vocabulary WHERE vocabulary.word = a.word)
) b CROSS JOIN LATERAL (
    SELECT word FROM vocabulary WHERE vocabulary.bucket = b.bucket ORDER BY word LIMIT %s
) w
"""


class PostgresNames(SimilarNames):
    """The words of the names of a graph, read when they are first asked for.

    What is asked for is noted while spans are compared with what is known already; then all of it is read with one
    statement, and the spans are compared again, until nothing was missing.
    """

    def __init__(self, connections: Connections, count: int, trigram_schema: str | None) -> None:
        """`trigram_schema` is that of the extension pg_trgm, if the words of names have an index by it."""
        self._connections = connections
        self._count = max(count, 1)  # names may come between two statements
        self._trigram_schema = trigram_schema
        self._frequencies: dict[str, int] = {}
        self._keys: dict[str, list[str]] = {}
        self._buckets: dict[str, set[str]] = {}
        self._closest: dict[str, list[tuple[str, float]]] = {}
        self._missing: set[str] = set()
        self._missing_keys: set[str] = set()

    def nearest_of_each(
        self, spans: Sequence[Sequence[str]], threshold: float, shown: ShownKeys | None
    ) -> list[tuple[str, float] | None]:
        """For each span what `nearest` finds."""
        self.prepare(spans, hidden=shown is not None)
        allowed = None if shown is None else _AskedTogether(shown)
        if allowed is not None:  # or every word would be taken for a misspelt one at first
            allowed([key for keys in self._keys.values() for key in keys])
            allowed.ask()
        while True:
            found = [self.nearest(words, threshold=threshold, shown=allowed) for words in spans]
            if not self._missing and not self._missing_keys and not (allowed and allowed.unknown):
                return found
            self._load()
            if allowed is not None:
                allowed([key for keys in self._keys.values() for key in keys])
                allowed.ask()

    def prepare(self, spans: Iterable[Sequence[str]], *, hidden: bool = False) -> None:
        """Read what `nearest` asks for first: names with the words of these spans, and words like those of no name.

        With `hidden`, names may not be shown, so that words like any of these are read.
        """
        words = {word for words in spans for word in words if word not in STOP_WORDS}
        self._missing, self._missing_keys = set(words), set(words)
        self._buckets.update({bucket: set() for word in words for bucket in trigrams.buckets_near(word)})
        try:
            self._load(self._near_statements(words, hidden))
        except (GraphTimeout, GraphUnavailable):
            raise
        except KnowledgeBaseError as error:
            if self._trigram_schema is None:
                raise
            trigrams.log_once(self._connections.where, str(error))  # somebody has dropped the extension
            self._trigram_schema = None
            self.prepare(spans, hidden=hidden)

    def _near_statements(self, words: Iterable[str], hidden: bool) -> list[Statement]:
        """Statements that find words of names like these words: by trigrams where these narrow them down."""
        plain = {word: without_accents(word) for word in words}
        narrowed = {word for word in plain if self._trigram_schema and trigrams.min_similarity(plain[word])}
        asked = [(word, bucket) for word in plain if word not in narrowed for bucket in trigrams.buckets_near(word)]
        columns = [list(column) for column in zip(*asked, strict=True)] or [[], []]
        statements: list[Statement] = [(_WORDS, [*columns, hidden, _MAX_BUCKET])]
        if self._trigram_schema and narrowed:
            pairs = {word: plain[word] for word in sorted(narrowed)}
            statements += trigrams.similar_words(self._trigram_schema, pairs, hidden, _MAX_BUCKET)
        return statements

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
        return ((without_accents(word), word) for word in self._buckets.get(trigrams.bucket(letter, length), ()))

    def _closest_words(self, word: str) -> list[tuple[str, float]]:
        if word not in self._closest:
            self._closest[word] = super()._closest_words(word)
            self._missing_keys.update(near for near, _ in self._closest[word] if near not in self._keys)
            self._missing.update(self._missing_keys.difference(self._frequencies))
        return self._closest[word]

    def _load(self, near: Sequence[Statement] = ()) -> None:
        """Read all that was missing, with one round trip."""
        words, named = sorted(self._missing), sorted(self._missing_keys)
        if not (words or named or near):
            return
        statements: list[Statement] = [(_COUNTS, [words]), (_KEYS, [named, _MAX_NAMES]), *near]
        counts, keys, *alike = self._connections.read_together(*statements)
        self._missing, self._missing_keys = set(), set()
        self._frequencies.update(dict.fromkeys(words, 0) | dict(counts))
        self._keys.update({word: [] for word in named})
        for word, key in keys:
            self._keys[word].append(key)
        for bucket, word in (row for rows in alike for row in rows if len(row) == 2):
            if bucket in self._buckets:
                self._buckets[bucket].add(word)


class _AskedTogether:
    """Which keys may be found. Those that are not known yet are noted, and then all asked for at once."""

    def __init__(self, shown: ShownKeys) -> None:
        self._shown = shown
        self._known: dict[str, bool] = {}
        self.unknown: dict[str, None] = {}

    def __call__(self, keys: Sequence[str]) -> list[str]:
        self.unknown.update(dict.fromkeys(key for key in keys if key not in self._known))
        return [key for key in keys if self._known.get(key)]

    def ask(self) -> None:
        """Find out about all that were not known."""
        keys, self.unknown = list(self.unknown), {}
        if keys:
            shown = set(self._shown(keys))
            self._known.update({key: key in shown for key in keys})


def stored_keys(id_: str) -> list[str]:
    """The keys under which the node with an id may be stored, best first."""
    kind, _, rest = id_.partition(":")
    if rest and not id_.startswith((passage_id(""), ADDRESS)) and rest == normalise_name(rest):
        return [id_, f"{kind}:{word_key(rest)}"]
    return [id_]
