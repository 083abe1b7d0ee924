"""Random damage to any file of a knowledge base: the same answers, or `check` says that something is wrong."""

import random
import shutil
import traceback
from collections import Counter

import pytest

from hopweave import Document, KnowledgeBase, Query
from hopweave.errors import HopweaveError

NAMES = ("MV Skua", "North Quay", "Ingrid Falk", "Hallow", "Great Tern", "Tide Gate", "Harbour Office")
QUESTIONS = ("Who repaired MV Skua at North Quay?", "tide gate of Hallow", "storm 17", "Ingrid Falk", "Great Tern 5")


def ship(number, note=""):
    chance = random.Random(number)
    one, other = chance.sample(NAMES, 2)
    text = f"{one} {number} met {other} in storm {number % 23}. {note} It carried rope, mast and sail {number % 7}."
    return Document(
        f"d{number}", text, {"title": f"{one} {number}", "owner": "ab"[number % 2]}, source=f"s{number % 3}"
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A file with images, with changes after them, and a log that is not in the file yet."""
    folder = tmp_path_factory.mktemp("sound")
    with KnowledgeBase.open(folder / "a.db", analyzers=["nlp", "code"]) as kb:
        kb.add(ship(n) for n in range(70))
        kb.delete([f"d{n}" for n in range(0, 70, 9)])
        kb.compact()
        kb.add(ship(n, "Later.") for n in range(60, 90))
        kb.delete([f"d{n}" for n in range(1, 70, 9)])
    with KnowledgeBase.open(folder / "a.db") as kb:
        kb.add(ship(n, "At last.") for n in range(95, 105))
        kb.delete(["d3", "d62"])
        shutil.copytree(folder, folder / "copy", ignore=shutil.ignore_patterns("copy", "*-shm"))
    return folder / "copy"


def answers(kb):
    """All that a file can be asked."""
    found = [kb.ids(), kb.sources(), kb.graph.node_count, sorted(filter(None, kb.graph.ids))]
    for question in QUESTIONS:
        for tenant in (None, {"owner": "a"}):
            for recipe in ("multihop", "hybrid"):
                hits = kb.search(Query(question, tenant=tenant), recipe=recipe, top_k=8).hits
                found.append([(hit.id, round(hit.score, 4), hit.text, dict(hit.metadata)) for hit in hits])
        words = " OR ".join(f'"{word}"' for word in question.split())
        found.append([(key, round(score, 4)) for key, score in kb.rank_full_text(words, top_k=20)])
        found.append(kb.rank_words(question, analyzer="code", top_k=20))
        vector = kb.embed(question)[1]
        found.append([(key, round(score, 4)) for key, score in kb.rank_vectors(vector, top_k=20)])
    found.append({key: vector.tobytes() for key, vector in kb.vectors(kb.ids()).items()})
    return found


def damaged(file, chance):
    """Flip a bit, overwrite a few bytes, or a whole block of a file; what was done."""
    data = bytearray(file.read_bytes())
    place = chance.randrange(len(data))
    kind = chance.choice(("bit", "byte", "some", "zero", "block", "cut", "swap"))
    if kind == "bit":
        data[place] ^= 1 << chance.randrange(8)
    elif kind == "byte":
        data[place] = chance.randrange(256)
    elif kind == "some":
        data[place : place + 8] = chance.randbytes(len(data[place : place + 8]))
    elif kind == "zero":
        data[place : place + 16] = bytes(len(data[place : place + 16]))
    elif kind == "block":
        place -= place % 512
        data[place : place + 512] = chance.randbytes(len(data[place : place + 512]))
    elif kind == "cut":
        del data[place:]
    else:
        one, other = sorted(chance.randrange(len(data) // 4096 + 1) * 4096 for _ in range(2))
        place = other + 4095
        if one + 4096 <= len(data) and other + 4096 <= len(data):
            data[one : one + 4096], data[other : other + 4096] = data[other : other + 4096], data[one : one + 4096]
    file.write_bytes(data)
    return f"{kind} at {place} of {file.name}"


def asked(path):
    """The answers of a file, or the error that it raises."""
    try:
        with KnowledgeBase.open(path, read_only=True) as kb:
            return answers(kb)
    except HopweaveError as error:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return traceback.format_exc()


def checked(path):
    try:
        with KnowledgeBase.open(path, read_only=True) as kb:
            return kb.check()
    except HopweaveError as error:
        return [f"{type(error).__name__}: {error}"]


def last_page(what, log):
    """Whether the damage is one that a process leaves that is killed while it writes: the end of the log is missing."""
    kind, _, place = what.split()[:3]
    return what.endswith("-wal") and (kind == "cut" or int(place) >= log - 4120)


def test_no_damage_is_silent(folder, tmp_path, attempts):
    expected, earlier = asked(folder / "a.db"), earlier_states(folder, tmp_path)
    assert isinstance(expected, list)
    assert checked(folder / "a.db") == []
    files = sorted(file.relative_to(folder) for file in folder.rglob("*") if file.is_file() and file.name != "lock")
    log = (folder / "a.db-wal").stat().st_size
    outcomes, silent = Counter(), []
    for seed in range(attempts(20, 1000)):
        chance = random.Random(seed)
        work = tmp_path / "work"
        shutil.copytree(folder, work)
        # half of them in the database, where nothing but its rows can tell what is right
        what = damaged(work / (chance.choice(files) if chance.random() < 0.5 else files[0]), chance)
        problems, found = checked(work / "a.db"), asked(work / "a.db")
        if found != expected and not problems:
            found = asked(work / "a.db")  # a walk may have been cut short by the clock of a busy machine
        bare = isinstance(found, str) and found.startswith("Traceback")
        as_if_killed = last_page(what, log) and found in earlier
        outcomes["same" if found == expected else "other", "said" if problems else "silent"] += 1
        if bare or not (problems or found == expected or as_if_killed):
            silent.append((seed, what, found if bare else ""))
        shutil.rmtree(work)
    assert silent == []
    assert outcomes["other", "said"] > 3


def earlier_states(folder, tmp_path):
    """The answers after each commit that is in the log, from the file without it to the last but one."""
    log, states = (folder / "a.db-wal").read_bytes(), []
    for end in [32, *(place + 4120 for place in range(32, len(log) - 4120, 4120) if any(log[place + 4 : place + 8]))]:
        work = tmp_path / "earlier"
        shutil.copytree(folder, work)
        (work / "a.db-wal").write_bytes(log[:end])
        states.append(asked(work / "a.db"))
        assert checked(work / "a.db") == []
        shutil.rmtree(work)
    return states
