"""The documents of one source, unchanged."""

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.components.joiners.hopweave.fuser_joiner import FuserJoiner
from hopweave.fusion.passthrough import Passthrough


@derived(Passthrough)
class PassthroughJoiner(FuserJoiner):
    """
    The ranking of one source with its order and scores; other sources only provide rankings that it builds on.

    ```python
    from haystack import Document
    from haystack_integrations.components.joiners.hopweave import PassthroughJoiner

    joiner = PassthroughJoiner(sources=["text", "vector"], source="text")
    documents = joiner.run(text=[Document(id="skua", content="A ferry.", score=7.5)], vector=[])["documents"]
    ```
    """
