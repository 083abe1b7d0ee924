"""An assistant for people on call, over the code, deployment files, runbooks and chat of twelve services.

    python examples/operations_assistant.py
    python examples/operations_assistant.py "How do I deploy booking-api and roll it back?"

Built on the recipe `operations`. Shows what is found and what each stage made of its score, which services are around
it, and an answer made of the best sentences, each with its source. No LLM, no download; a model of yours would be given
`result.context.prompt(question)`.
"""

import sys
from datetime import UTC, datetime
from pathlib import Path

from hopweave import Hit, KnowledgeBase, Query, read_documents
from hopweave.context.extractive_answer import ExtractiveAnswer
from hopweave.graph.build.builders.services import ServicesBuilder

CORPUS = Path(__file__).parent / "operations" / "corpus.jsonl"
NOW = datetime(2026, 10, 5, 12, tzinfo=UTC)
QUESTION = "Incident: all captures through Borealis fail with BX-403. What do they need from us?"


def main(question: str) -> None:
    with KnowledgeBase.open(analyzers=["nlp", "code"], builders=[ServicesBuilder()]) as kb:
        kb.add(read_documents(CORPUS))
        result = kb.search(Query(question, now=NOW), recipe="operations", top_k=5)

    print(f"{question}\n")
    for hit in result.hits:
        print(f"{hit.score:.3f}  {hit.metadata['corpus_type']:<12} {hit.id}\n       {story(hit)}")

    print("\nServices around it, the most concerned last:")
    for line in result.neighbourhood.lines:
        print(f"  {line}")

    answer = ExtractiveAnswer(max_sentences=2).answer(question, result.context.citations)
    print("\nAnswer:")
    for quote in answer.quotes:
        print("  " + quote.sentence.replace("\n", "\n  ") + f" [{quote.number}]")
    print("\nSources:")
    for citation in result.context.citations:
        if citation.number in {quote.number for quote in answer.quotes}:
            print(f"  [{citation.number}] {citation.title} ({citation.source})")


def story(hit: Hit) -> str:
    """How the score came about, step by step, from its receipts."""
    by_stage = {receipt.stage: receipt for receipt in hit.receipts}
    steps = [f"by rank {by_stage['scale'].after:.3f}"]
    if fresh := by_stage.get("freshness"):
        steps.append(f"{fresh.details['age_days']:.0f} days old {fresh.after:.3f}")
    if boost := by_stage.get("corpus_boost"):
        phrases = " and ".join(boost.details["phrases"])
        steps.append(f"its kind × {boost.details['multiplier']:g} for {phrases!r} {boost.after:.3f}")
    return " → ".join(steps)


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]) or QUESTION)
