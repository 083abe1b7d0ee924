"""A corpus of any size from a seed: invented words with the frequencies of real ones, titles, and mentions of titles.

Words follow Zipf's law, with English function words in front; each passage has a title of its own, about 80 words,
and names four or five others: half of them nearby (the same topic), half by popularity, so that a few titles are
mentioned everywhere. A question asks for words of one passage and names another one that mentions it.
"""

from dataclasses import dataclass

import numpy as np

_FREQUENT = """
the of and in to a is was for on with as by at from his her it that an are were be which this had not but also or their
has its one first they been who he she after other during when there some all can most into only
"""
FUNCTION_WORDS = tuple(_FREQUENT.split())
CONSONANTS, VOWELS = "bdfghklmnprstvwz", "aeiou"
SYLLABLES = tuple(consonant + vowel for consonant in CONSONANTS for vowel in VOWELS)
ENDINGS = ("n", "r", "s", "l", "t", "m", "nd", "rk")
WORDS = 30_000
SENTENCES, WORDS_PER_SENTENCE = 6, 12
NEARBY = 20  # how far apart, at most, the titles of one topic are


@dataclass(frozen=True, slots=True)
class Corpus:
    """Passages as mappings with id, title and text, and questions with the ids of the two passages each is about."""

    passages: list[dict[str, str]]
    questions: list[dict[str, object]]


def synthetic_corpus(count: int, questions: int = 50, seed: int = 7) -> Corpus:
    """A corpus of `count` passages and questions about it; the same for the same arguments, on every machine."""
    rng = np.random.default_rng([seed, count])
    vocabulary = np.array([*FUNCTION_WORDS, *(_word(number) for number in range(WORDS))], dtype=object)
    frequency = _zipf(len(vocabulary), 1.0)
    titles = _titles(rng, count)
    terms = rng.choice(len(vocabulary), (count, SENTENCES * WORDS_PER_SENTENCE), p=frequency)
    mentioned = _mentions(rng, count)
    years = rng.integers(1850, 2026, count)
    passages = []
    for number in range(count):
        words = vocabulary[terms[number]].reshape(SENTENCES, WORDS_PER_SENTENCE).tolist()
        names = [titles[other] for other in mentioned[number]]
        for sentence, name in zip(words[1:], names, strict=True):
            sentence.insert(len(name) % WORDS_PER_SENTENCE, name)
        words[0] = [titles[number], "was", *words[0][2:], "in", str(years[number])]
        passages.append(
            {
                "id": f"p{number}",
                "title": titles[number],
                "text": " ".join(" ".join([line[0][:1].upper() + line[0][1:], *line[1:]]) + "." for line in words),
            }
        )
    asked = [
        _question(rng, first, mentioned, terms, titles, vocabulary) for first in rng.choice(count, questions).tolist()
    ]
    return Corpus(passages, asked)


def _question(rng, first, mentioned, terms, titles, vocabulary):
    """The first passage is named, the second is reached through it and shares words with the question."""
    second = int(mentioned[first][0])
    content_words = [code for code in dict.fromkeys(terms[second].tolist()) if code >= len(FUNCTION_WORDS)]
    words = vocabulary[rng.choice(content_words, min(3, len(content_words)), replace=False)].tolist()
    text = f"Which {words[0]} {words[-1]} is known to {titles[first]} and {' '.join(words[1:-1]) or 'others'}?"
    return {"question": text, "gold": [f"p{first}", f"p{second}"]}


def _word(number: int) -> str:
    """An invented word; no two numbers share one."""
    number, syllables = number + len(SYLLABLES), []
    while number:
        number, place = divmod(number, len(SYLLABLES))
        syllables.append(SYLLABLES[place])
    return "".join(syllables)


def _titles(rng: np.random.Generator, count: int) -> list[str]:
    """Distinct names of two capitalised words; the words of names are shared, some by many."""
    pool = max(int(4 * count**0.5), 50)
    parts = [(_word(number) + ENDINGS[number % len(ENDINGS)]).capitalize() for number in range(pool)]
    popular = _zipf(pool, 0.5)
    found: dict[str, None] = {}
    while len(found) < count:
        pairs = rng.choice(pool, (count, 2), p=popular).tolist()
        found.update(dict.fromkeys(f"{parts[one]} {parts[other]}" for one, other in pairs))
    return list(found)[:count]


def _mentions(rng: np.random.Generator, count: int) -> np.ndarray:
    """The passages that each passage names: nearby ones first, then popular ones; never itself."""
    nearby = SENTENCES // 2
    itself = np.arange(count)[:, None]
    steps = rng.integers(1, min(NEARBY, count - 1) + 1, (count, nearby))
    popular = rng.permutation(count)[rng.choice(count, (count, SENTENCES - 1 - nearby), p=_zipf(count, 0.9))]
    popular = np.where(popular == itself, (popular + 1) % count, popular)
    return np.concatenate([(itself + steps) % count, popular], axis=1)


def _zipf(size: int, exponent: float) -> np.ndarray:
    weights = np.arange(1.0, size + 1) ** -exponent
    return weights / weights.sum()
