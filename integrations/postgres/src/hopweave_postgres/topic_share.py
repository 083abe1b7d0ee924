"""How many passages of a graph in PostgreSQL are about something that tells them apart, judged by a sample."""

from collections.abc import Hashable, Sequence
from typing import Any

from hopweave.graph_store.backend import FILE_NAME, MAX_SHARED, MIN_SHARED
from hopweave_postgres.connections import Connections

_SAMPLED = 1024  # nodes of any kind

_SHARE = """
WITH sample AS (
    SELECT n.id FROM generate_series(0, %s, %s) AS s (id) JOIN nodes n USING (id)
    WHERE (n.flags & 8) > 0 AND n.kind = %s
), topics AS (
    SELECT s.id, e.dst FROM sample s
    CROSS JOIN LATERAL (SELECT DISTINCT dst FROM edges WHERE src = s.id AND code / 4 = %s AND (code & 2) = 0) e
), distinctive AS (
    SELECT dst FROM topics GROUP BY dst HAVING count(*) <= greatest(%s * (SELECT count(*) FROM sample), %s)
)
SELECT count(DISTINCT t.id)::float / greatest((SELECT count(*) FROM sample), 1)
FROM topics t JOIN distinctive USING (dst) JOIN nodes n ON n.id = t.dst WHERE (n.description::json ->> 2) !~ %s
"""


def topic_share(
    connections: Connections,
    shared: dict[Hashable, Any],
    sizes: tuple[int, int, int],
    passage_kind: int,
    edge_types: Sequence[str],
) -> float:
    """The share of a graph, as `graph/storage/topic_share.py` counts it.

    `sizes` are its version and how many passages and nodes it has. In a large graph the share is counted anew only when
    a hundredth of the passages have come or gone; `shared` keeps it between questions.
    """
    version, passages, size = sizes
    if not passages or "about" not in edge_types:
        return 0.0
    counted_at, passages_then, share = shared.get("topic share", (None, 0, 0.0))
    is_like_then = passages >= _SAMPLED and abs(passages - passages_then) * 100 < passages
    if version != counted_at and not is_like_then:
        step = max(1, size // _SAMPLED)
        about = edge_types.index("about")
        parameters = (size - 1, step, passage_kind, about, MAX_SHARED, MIN_SHARED, FILE_NAME)
        ((share,),) = connections.read(_SHARE, parameters)
        shared["topic share"] = version, passages, share
    return float(share)
