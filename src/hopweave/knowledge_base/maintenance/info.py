"""What a knowledge base holds, and how much room it takes."""

from pathlib import Path
from typing import Any

import numpy as np

from hopweave.graph.storage.table_graph import TableGraph
from hopweave.knowledge_base.indexes.images import ImageFolder
from hopweave.knowledge_base.settings import Settings


def facts(path: Path, settings: Settings, graph: TableGraph) -> dict[str, Any]:
    """The size of the graph, the settings, and the bytes of the file, its log and its images."""
    parts = [path, Path(f"{path}-wal"), *sorted(ImageFolder(path).folder.glob("*.image"))]
    return {
        "nodes": graph.node_count,
        "edges": len(graph.neighbours(np.arange(graph.size)).targets),
        "embedder": settings.model,
        "analyzers": list(settings.analyzers),
        "builders": [builder.kind for builder in settings.builders],
        "bytes": {part.name: part.stat().st_size for part in parts if part.exists()},
    }
