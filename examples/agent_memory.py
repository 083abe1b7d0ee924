"""The long-term memory of an agent: it remembers, recalls, takes corrections, forgets, and keeps users apart.

    python examples/agent_memory.py

Built on the recipe `memory`. A gate keeps out messages that need no memory; recent and important memories count more,
old ones fade, small talk is left out. Time is handed in, so half a year passes in a moment. No LLM, no download.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from hopweave import Document, KnowledgeBase, Pipeline, Query, Result, read_documents

CORPUS = Path(__file__).parent / "memory" / "corpus.jsonl"
NOW = datetime(2026, 9, 20, 8, tzinfo=UTC)
QUESTION = "When should the summary of the week reach me?"


class AgentMemory:
    """The memory of an agent: keep, recall, forget."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb = kb
        self._pipeline = Pipeline("memory", kb)

    def remember(self, key: str, text: str, *, user: str, at: datetime, importance: float = 0.7) -> None:
        """Keep a memory; it replaces one that has the same key."""
        self._kb.add([Document(key, text, {"user": user, "timestamp": at.isoformat(), "importance": importance})])

    def recall(self, message: str, *, user: str, at: datetime, top_k: int = 2) -> Result:
        """Memories for a message; those of other users are never searched."""
        return self._pipeline.run(Query(message, now=at, tenant={"user": user}), top_k=top_k)

    def forget(self, key: str) -> None:
        """Drop a memory and all that was derived from it."""
        self._kb.delete([key])


def show(message: str, result: Result) -> None:
    print(f"  > {message}")
    if result.gate and not result.gate.retrieve:
        print(f"    nothing is looked up: {result.gate.reason}")
    for hit in result.hits:
        print(f"    {hit.score:.2f}  {hit.metadata['timestamp'][:10]}  {hit.text}")
    print()


def main() -> None:
    with KnowledgeBase.open(builders=[]) as kb:
        kb.add(Document(one.id, one.text, {**one.metadata, "user": "ines"}) for one in read_documents(CORPUS))
        memory = AgentMemory(kb)
        print(f"{kb.count()} memories of Ines, who has a bakery. It is {NOW:%d %B %Y}.\n")
        show("Good morning!", memory.recall("Good morning!", user="ines", at=NOW))
        show(QUESTION, memory.recall(QUESTION, user="ines", at=NOW))

        print("She corrects it. A correction is just a newer memory; what it corrects falls behind:\n")
        correction = "Send the summary of the week on Tuesday at noon. Mondays have become too busy."
        memory.remember("summary-tuesday", correction, user="ines", at=NOW, importance=0.9)
        show(QUESTION, memory.recall(QUESTION, user="ines", at=NOW))

        print("Time passes, and a memory that nobody renews fades:\n")
        for days in (0, 14, 60, 180):
            hits = memory.recall(QUESTION, user="ines", at=NOW + timedelta(days=days)).hits
            best = next(hit for hit in hits if hit.id == "summary-tuesday")
            why = {receipt.stage: receipt.details for receipt in best.receipts}
            bonus, factor = why["recency_boost"]["bonus"], why["time_decay"]["factor"]
            print(f"    {days:>3} days later  {best.score:.2f}  bonus for being new {bonus:.3f}, faded to {factor:.2f}")

        print("\nAnother user shares nothing with her:\n")
        memory.remember("tomas-summary", "Tomas wants no summary of the week at all.", user="tomas", at=NOW)
        show(QUESTION, memory.recall(QUESTION, user="tomas", at=NOW))

        memory.forget("summary-tuesday")
        best = memory.recall(QUESTION, user="ines", at=NOW).hits[0]
        print(f"Forgetting leaves no trace. {best.id} ranks first again.")


if __name__ == "__main__":
    main()
