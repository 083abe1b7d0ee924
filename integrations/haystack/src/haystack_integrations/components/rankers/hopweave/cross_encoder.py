"""A model that reads question and passage together."""

from haystack import component

from haystack_integrations.components.rankers.hopweave.stage_ranker import StageRanker
from hopweave.stages.rerank.cross_encoder import CrossEncoder

_CORE = CrossEncoder()


@component
class CrossEncoderRanker(StageRanker):
    """
    Rescores the first documents with a sentence-transformers cross-encoder; the rest follow behind them.

    score = blend * sigmoid(logit) + (1 - blend) * original, or the logit itself with `output="logit"`. A document
    without an original score takes the model's alone. The rest keep their order and get at most the lowest score
    of those that were read. The model is loaded at the first use, once per process, and shared by all threads.
    Needs the extra `hopweave[sentence-transformers]`.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import CrossEncoderRanker

    ranker = CrossEncoderRanker(candidates=20)
    documents = [Document(content="The Skua sails hourly.", score=0.8)]
    result = ranker.run(documents=documents, query="Why is the ferry down?")["documents"]
    ```
    """

    def __init__(
        self,
        *,
        model: str = _CORE.model,
        device: str | None = _CORE.device,
        candidates: int = _CORE.candidates,
        batch_size: int = _CORE.batch_size,
        output: str = _CORE.output,
        blend: float = _CORE.blend,
        include_title: bool = _CORE.include_title,
        optional: bool = False,
        top_k: int | None = None,
    ) -> None:
        """
        Create the ranker.

        :param model: Model name or folder.
        :param device: cpu, cuda, mps ...; chosen automatically if not given.
        :param candidates: Number of documents, from the top, that the model scores.
        :param batch_size: Pairs per forward pass.
        :param output: unit: a probability; logit: the model's raw score.
        :param blend: Share of the model's score; the rest is the original score.
        :param include_title: Whether the model reads the title in the metadata, too.
        :param optional: Go on with the documents as they were if this stage fails.
        :param top_k: How many documents to return, all of them when not given.
        """
        stage = CrossEncoder(
            optional=optional,
            model=model,
            device=device,
            candidates=candidates,
            batch_size=batch_size,
            output=output,
            blend=blend,
            include_title=include_title,
        )
        StageRanker.__init__(self, stage, top_k=top_k)
