"""Diagnosis of a corpus without judged queries: titles, names to link, and whether the embedder knows its language."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf
from random import Random
from statistics import fmean, median
from textwrap import fill
from typing import Any

import numpy as np

from hopweave.component import Embedder, Source
from hopweave.document import Document
from hopweave.graph.build.builders.parts import PartsBuilder
from hopweave.graph.documents import passage_numbers
from hopweave.graph.port import GraphPort
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.language.sentences import sentences
from hopweave.language.words import words
from hopweave.query import Query
from hopweave.sources.bm25 import BM25
from hopweave.sources.vector_search import VectorSearch
from hopweave.vector.embedders import Cascade
from hopweave.vector.graph_embedder import GraphEmbedder

_TOP_K = 5
_OTHERS = 800
"""The number of passages added to the sample, so that finding the sampled ones is not too easy."""

_MIN_WORDS = 4
"""A shorter sentence, such as a heading or a closing bracket, says too little to ask by."""

_MIN_QUESTIONS = 20
_MIN_PASSAGES = 100
"""With fewer passages or questions, a ratio of recalls is mostly chance."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Advice for a figure of the report that is at least `low` and below `high`."""

    figure: str
    low: float
    high: float
    advice: str


_TOO_LITTLE = (
    f"Too little to judge the embedder: this takes {_MIN_PASSAGES} passages, of which {_MIN_QUESTIONS} have two "
    "sentences."
)

RULES: Sequence[Rule] = (
    Rule("documents", 0, 1, "The file holds no documents: `hopweave index FOLDER --kb FILE` adds some."),
    Rule(
        "titled",
        0,
        0.5,
        "Most passages have no title. A title is searched along with the text and says what a passage is about: give "
        "`title` in the metadata. If passages are parts of longer documents, keep what the splitter writes there "
        "(`source_id` and `split_id`, or `ref_doc_id`), so that the graph connects the parts.",
    ),
    Rule("words", 400, inf, "Passages are long, and a vector of much text is vague: split them into smaller parts."),
    Rule(
        "named",
        0,
        0.3,
        "Few passages share a name with another one: the graph has little to follow, and `multihop` will rank much as "
        "`hybrid` does. Links between documents or triples of your own add edges.",
    ),
    Rule("named", 0.7, inf, "Names connect most passages: `multihop` can follow them from one passage to another."),
    Rule(
        "ratio",
        0,
        0.5,
        "The embedder is far below BM25: it probably does not know the language or the domain. Take one that does "
        "(docs/guides/embedders.md). `hybrid` and `multihop` give such an embedder little weight.",
    ),
    Rule(
        "ratio",
        0.5,
        0.8,
        "The embedder is below BM25: it knows the language or the domain in part. A larger or multilingual model may "
        "help (docs/guides/embedders.md).",
    ),
    Rule("ratio", 0.8, inf, "The embedder knows the language and the domain: `hybrid` and `multihop` can use it."),
    Rule("questions", 0, _MIN_QUESTIONS, _TOO_LITTLE),
    Rule("passages", 0, _MIN_PASSAGES, _TOO_LITTLE),
)
"""Rules that turn figures of a corpus into advice; unknown figures give none."""


_MEANING = """\
A ratio of about 1 or more: the embedder knows this text. Far below 1: it does not know the language or
the domain. It is an estimate; judged queries of your own tell more."""


@dataclass(frozen=True, slots=True)
class CorpusReport:
    """The result of `diagnose_corpus`; print it to read it. A figure that could not be measured is None.

    `titled` and `parts` are shares of the `passages` that were read, and `words` is the median of their lengths.
    `named` is the share of passages with a name that another passage has too, and `names` how many such names a passage
    has on average. `bm25` and `vector` are recall@5 for `questions` hidden sentences; `skipped` passages were passed
    over because they do not have two sentences of at least four words. `untested` says why vectors were not measured.
    """

    documents: int
    passages: int
    titled: float | None
    parts: float | None
    words: float | None
    named: float | None
    names: float | None
    embedder: str | None
    questions: int
    skipped: int
    bm25: float | None
    vector: float | None
    untested: str = ""

    @property
    def ratio(self) -> float | None:
        """Recall of vectors divided by that of BM25; None if there is too little to tell."""
        if self.questions < _MIN_QUESTIONS or self.passages < _MIN_PASSAGES or not self.bm25 or self.vector is None:
            return None
        return self.vector / self.bm25

    @property
    def advice(self) -> tuple[str, ...]:
        """The advice of `RULES` for these figures."""
        figures = ((rule, getattr(self, rule.figure)) for rule in RULES)
        holding = (rule.advice for rule, one in figures if one is not None and rule.low <= one < rule.high)
        return tuple(dict.fromkeys(holding))

    def as_dict(self) -> dict[str, Any]:
        """The report as plain JSON types."""
        return {**asdict(self), "ratio": self.ratio, "advice": list(self.advice)}

    def __str__(self) -> str:
        figures = (
            f"{self.documents} documents, {self.passages} of them read",
            f"{_percent(self.titled)}  have a title",
            f"{_percent(self.parts)}  are known as parts of longer documents",
            f"{_number(self.words, 0)}  words, the median length (characters in scripts without spaces)",
            "",
            "Names",
            f"{_percent(self.named)}  of passages share a name with another passage",
            f"{_number(self.names, 1)}  such names in a passage, on average",
            "",
            f"Embedder: {self.embedder or 'none'}" + (self.untested and f"; not tested: {self.untested}"),
            f"{self.questions:>8}  passages were searched for by a sentence that was hidden from them",
            f"{self.skipped:>8}  were skipped, as they do not have two sentences of four words or more",
            f"{_number(self.bm25)}  recall@{_TOP_K} of BM25",
            f"{_number(self.vector)}  recall@{_TOP_K} of vectors",
            f"{_number(self.ratio)}  is the ratio of vectors to BM25",
            _MEANING,
            "",
            "Advice",
        )
        advice = (fill(line, 100, initial_indent="- ", subsequent_indent="  ") for line in self.advice)
        return "\n".join([*figures, *advice])


def diagnose_corpus(kb: KnowledgeBase, sample: int = 200, seed: int = 0) -> CorpusReport:
    """Report what a corpus offers to search: titles, names that connect passages, and an embedder that knows it.

    The embedder is tested by inverse cloze: one sentence of up to `sample` passages is hidden, and the passages are
    searched for by it among up to 800 others, with BM25 and with vectors. The passages are embedded anew for that; the
    knowledge base is only read.

    K. Lee, M.-W. Chang, K. Toutanova (2019): Latent Retrieval for Weakly Supervised Open Domain Question Answering.

    >>> with KnowledgeBase.open() as kb:
    ...     _ = kb.add([Document("gate", "The tide gate opens at six. It is never opened in a storm.")])
    ...     report = diagnose_corpus(kb)
    >>> report.titled, report.questions, report.bm25, report.ratio
    (0.0, 1, 1.0, None)
    """
    if sample < 1:
        raise ValueError(f"sample: {sample} is not allowed; it must be at least 1")
    random = Random(seed)  # noqa: S311 - not for secrets
    with kb.one_version():
        ids = kb.ids()
        chosen = random.sample(ids, min(len(ids), sample + _OTHERS))
        stored = {document.id: document for document in kb.documents(chosen)}
        names = _shared_names(kb.graph, chosen[:sample])
    read = [stored[key] for key in chosen if key in stored]
    hidden, skipped = _hidden_sentences(read, sample, random)
    embedder = kb.settings.embedder
    untested = _why_untested(embedder)
    recalls = _inverse_cloze(None if untested else embedder, kb.settings.analyzers, read, hidden)
    parts = PartsBuilder()
    return CorpusReport(
        documents=len(ids),
        passages=len(read),
        titled=_mean([bool(one.title) for one in read]),
        parts=_mean([bool(parts.contribute(one).mentions) for one in read]),
        words=float(median(len(words(one.text)) for one in read)) if read else None,
        named=_mean([count > 0 for count in names]),
        names=_mean(names),
        embedder=embedder.model_name if embedder else None,
        questions=len(hidden),
        skipped=skipped,
        bm25=recalls.get("bm25"),
        vector=recalls.get("vector"),
        untested=untested,
    )


def _why_untested(embedder: Embedder | None) -> str:
    """Why hidden sentences say nothing of an embedder, or an empty string."""
    if embedder is None:
        return "the file cannot embed texts"
    members = embedder.embedders if isinstance(embedder, Cascade) else (embedder,)
    trained = any(isinstance(one, GraphEmbedder) for one in members)
    return "it was trained on these passages, with the sentences that would be hidden" if trained else ""


def _hidden_sentences(read: Sequence[Document], sample: int, random: Random) -> tuple[dict[str, str], int]:
    """A sentence of each of the first `sample` documents that have two, by id, and how many were passed over."""
    hidden: dict[str, str] = {}
    skipped = 0
    for document in read:
        if len(hidden) == sample:
            break
        heading = document.indexed_heading
        found = [one for one in dict.fromkeys(sentences(document.text)) if len(words(one)) >= _MIN_WORDS]
        usable = [one for one in found if one not in heading] if len(found) > 1 else []
        if usable:
            hidden[document.id] = random.choice(usable)
        else:
            skipped += 1
    return hidden, skipped


def _inverse_cloze(
    embedder: Embedder | None, analyzers: Sequence[str], read: Sequence[Document], hidden: Mapping[str, str]
) -> dict[str, float]:
    """Recall of each source for the documents that lack a sentence, asked for by that sentence."""
    if not hidden:
        return {}
    sources: list[Source] = [BM25(analyzer=name, top_k=4 * _TOP_K) for name in analyzers[:1]]
    sources += [VectorSearch(top_k=4 * _TOP_K)] if embedder else []
    with KnowledgeBase.open(embedder=embedder, analyzers=analyzers, builders=[]) as small:
        small.add(_without(document, hidden.get(document.id)) for document in read)
        return {
            source.kind: fmean(_found(source, small, key, sentence) for key, sentence in hidden.items())
            for source in sources
        }


def _without(document: Document, sentence: str | None) -> Document:
    text = document.text.replace(sentence, " ") if sentence else document.text
    return Document(document.id, text, document.metadata, heading=document.heading)


def _found(source: Source, small: KnowledgeBase, key: str, sentence: str) -> bool:
    # parts that overlap have the sentence too, and are no mistake
    hits = [hit.id for hit in source.search(Query(sentence), small) if sentence not in hit.text]
    return key in hits[:_TOP_K]


def _shared_names(graph: GraphPort, ids: Sequence[str]) -> list[int]:
    """Count, for each document, its names in the graph that another document also has."""
    numbers = passage_numbers(graph, ids)
    is_passage, is_whole = graph.nodes_of_kind("passage"), graph.nodes_of_kind("document")
    passages = np.array([numbers[key] for key in ids if key in numbers], np.int64)
    edges = graph.neighbours(passages, "both")
    names_of = [np.unique(part) for part in np.split(edges.targets, edges.offsets[1:-1])] if len(passages) else []
    names_of = [part[~(is_passage[part] | is_whole[part])] for part in names_of]
    names = np.unique(np.concatenate(names_of)) if names_of else np.array([], np.int64)
    back = graph.neighbours(names, "both")
    ends = np.split(back.targets, back.offsets[1:-1]) if len(names) else []
    holders = [len(np.unique(part[is_passage[part]])) for part in ends]
    shared = {name for name, count in zip(names.tolist(), holders, strict=True) if count > 1}
    counts = [len(shared.intersection(part.tolist())) for part in names_of]
    return counts + [0] * (len(ids) - len(counts))


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def _percent(share: float | None) -> str:
    return _number(None) if share is None else f"{100 * share:>6.0f} %"


def _number(value: float | None, digits: int = 3) -> str:
    return f"{'–':>8}" if value is None else f"{value:>8.{digits}f}"
