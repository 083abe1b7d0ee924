"""`hopweave train-embedder`: train an embedder on the graph of a file."""

import argparse
import sys
from typing import Any

from hopweave.commands.arguments import command, positive
from hopweave.commands.terminal import show

_EXAMPLES = """\
examples:
  hopweave train-embedder --kb corpus.db
  hopweave train-embedder --kb corpus.db --start static --epochs 10

Learns from the edges of the graph alone: no other model, no download. The weights are kept in the file, and all its
documents are embedded anew. Run it again after many changes. With --start static, training begins with the word
vectors of WordLlama. Measure with `hopweave evaluate` whether it helps on your corpus.
"""


def add_to(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "train-embedder", run, "train an embedder on the graph of a file", _EXAMPLES)
    parser.add_argument("--start", choices=["random", "static"], default="random", help="word vectors to start from")
    parser.add_argument("--epochs", type=positive, default=30, metavar="N", help="at most so many (default: 30)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="random seed (default: 0)")
    parser.add_argument("--quiet", action="store_true", help="no progress bar and no summary")


def run(options: argparse.Namespace) -> int:
    """Train and say how the loss fell."""
    from pathlib import Path

    from tqdm import tqdm

    from hopweave.errors import KnowledgeBaseError
    from hopweave.knowledge_base.embedding.train_embedder import train_embedder
    from hopweave.knowledge_base.store import KnowledgeBase
    from hopweave.vector.contextual.training import Training

    if not Path(options.kb).exists():
        raise KnowledgeBaseError(f"{options.kb}: does not exist")
    shown = not options.quiet and sys.stderr.isatty()
    with (
        KnowledgeBase.open(options.kb) as kb,
        tqdm(total=options.epochs, unit=" epochs", disable=not shown, file=sys.stderr) as bar,
    ):

        def progress(epoch: int, loss: float, held_out: float) -> None:  # noqa: ARG001 - as `Progress` has it
            bar.set_postfix(held_out=f"{held_out:.3f}")
            bar.update()

        settings = Training(epochs=options.epochs, seed=options.seed)
        trained = train_embedder(kb, settings, start=options.start, progress=progress)
        if not options.quiet:
            losses = f"{trained.losses[0]:.3f} to {trained.losses[trained.best_epoch]:.3f}"
            show(
                f"{options.kb}: held-out loss from {losses} after {trained.best_epoch} epochs; {kb.count()} documents "
                f"embedded as {kb.settings.model}"
            )
    return 0
