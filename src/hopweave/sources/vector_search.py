"""Vector search by cosine similarity, exact or with an inverted file index.

J. Sivic, A. Zisserman (2003): Video Google: a text retrieval approach to object matching in videos.
"""

from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from hopweave.component import Rankings, Source, fetched
from hopweave.hit import Hit, Vector
from hopweave.knowledge import Capability, Knowledge, above_chance, require
from hopweave.query import Query


class VectorSearch(Source):
    """Documents by the cosine between their vector and that of the question.

    The vector of the query is used if it has one, else it is computed by the embedder of the knowledge base: of the
    question, or the mean over `vector_texts` if the query has some. The receipt names the model.

    With an `own_share` below 1, the vector of a document is blended with those of its neighbours in the graph:
    own_share · own + (1 - own_share) · mean, with length 1, where an entity has the mean vector of its documents. That
    helps where edges connect documents directly, as in the recipes `knowledge` and `skills`; the blended vectors are
    made anew after each change of the file.

    >>> VectorSearch(top_k=5).kind
    'vector'
    """

    requires: ClassVar[frozenset[Capability]] = frozenset({Capability.VECTORS})
    in_memory: ClassVar[bool] = True
    reads_documents: ClassVar[bool] = False
    pointwise: ClassVar[bool] = True

    kind: Literal["vector"] = "vector"
    model: str | None = Field(
        default=None,
        description="Model that made the vector which comes with a question; the knowledge base's when not given.",
    )

    own_share: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="Share of a document's own vector, the rest being that of its neighbours in the graph; 1 does not "
        "blend; as settled for the file if not given, which is 1 by default.",
    )

    def search(self, query: Query, knowledge: Knowledge, upstream: Rankings | None = None) -> list[Hit]:  # noqa: ARG002
        """Find hits for a question, best first."""
        self.check_capabilities(knowledge)
        if query.vector is None and not query.text.strip():
            return []
        model, vector = self.of_question(query, knowledge)
        share = knowledge.own_share if self.own_share is None else self.own_share
        if share < 1:
            require(knowledge, Capability.SMOOTHED_VECTORS, self.kind)
            ranking = knowledge.rank_smoothed(
                vector, own_share=share, model=model, top_k=self.top_k, tenant=query.tenant
            )
        else:
            ranking = knowledge.rank_vectors(vector, model=model, top_k=self.top_k, tenant=query.tenant)
        said: dict[str, Any] = {
            "model": model or "given with the question",
            **({"own_share": share} if share < 1 else {}),
        }
        said |= above_chance(ranking, tail="cosine")
        return fetched(ranking, knowledge, query, "vector", "cosine", **said)

    def of_question(self, query: Query, knowledge: Knowledge) -> tuple[str | None, Vector]:
        """The model and the vector of a question; should a cascade change the model, texts of the first one count."""
        if query.vector is not None:
            return self.model, query.vector
        made = [knowledge.embed(text) for text in query.vector_texts or (query.text,)]
        model = made[0][0]
        return model, np.mean([vector for name, vector in made if name == model], axis=0, dtype=np.float32)
