"""What callers say about results, one JSON object per line."""

import json
from pathlib import Path

from search_service.messages import Feedback


def keep(folder: Path, feedback: Feedback, caller: str) -> None:
    """Append one judgement; lines of several workers do not mix."""
    line = json.dumps({**feedback.model_dump(), "caller": caller}, ensure_ascii=True) + "\n"
    with (folder / "feedback.jsonl").open("ab", buffering=0) as file:
        file.write(line.encode())
