"""One source leads, the others confirm."""

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.components.joiners.hopweave.fuser_joiner import FuserJoiner
from hopweave.fusion.confirmatory import Confirmatory


@derived(Confirmatory)
class ConfirmatoryJoiner(FuserJoiner):
    """
    The base source's score counts; what others found as well gets a bonus, what only others found has a minimum score.

    base and confirmed: base · (1 + bonus). base only: base. confirmed only: max(confirming score, min_score), so that
    an exact keyword match is not buried. All are clamped to [0, 1].

    ```python
    from haystack import Document
    from haystack_integrations.components.joiners.hopweave import ConfirmatoryJoiner

    joiner = ConfirmatoryJoiner(sources=["vector", "text"])
    skua = Document(id="skua", content="A ferry.", score=0.8)
    documents = joiner.run(vector=[skua], text=[skua])["documents"]
    ```
    """
