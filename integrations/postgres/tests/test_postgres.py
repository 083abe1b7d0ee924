"""The graph in PostgreSQL: what a user meets besides the laws that both homes share."""

import logging
import multiprocessing
import traceback

import numpy as np
import pytest

from hopweave.document import Document
from hopweave.errors import GraphTimeout, GraphUnavailable, KnowledgeBaseError, NewerSchema
from hopweave.graph.build.builders.builder import contribute_all
from hopweave.graph.build.builders.mentions import MentionsBuilder
from hopweave.graph.build.builders.triples import TriplesBuilder
from hopweave.graph.build.resolve import resolve
from hopweave.graph.external_documents import ExternalDocuments
from hopweave.graph.flow_pruning import FlowPruning
from hopweave.graph.service_neighbourhood import ServiceNeighbourhood
from hopweave.graph_store.store import GraphStore
from hopweave.hit import Hit
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.pipeline import Pipeline
from hopweave.query import Query
from hopweave.recipe import Recipe
from hopweave.routing.plan import Planner
from hopweave.sources.bm25 import BM25
from hopweave.sources.pagerank import PageRank

psycopg = pytest.importorskip("psycopg")

from hopweave_postgres import edges  # noqa: E402 - needs psycopg

SECRET = "sesame-street"


def shelf(documents):
    hits = {one.id: Hit(one.id, text=one.text, metadata=one.metadata) for one in documents}
    return lambda ids: [hits[key] for key in ids if key in hits]


def test_the_password_is_never_shown(caplog):
    url = f"postgresql://anna:{SECRET}@127.0.0.1:1/kb"
    with caplog.at_level(logging.DEBUG), pytest.raises(GraphUnavailable) as caught:
        GraphStore.open(url, connect_seconds=0.3)
    shown = "".join(traceback.format_exception(caught.value)) + caplog.text
    assert "anna:***@127.0.0.1:1/kb" in shown
    assert SECRET not in shown


def test_a_url_that_is_none_is_refused_without_its_password():
    with pytest.raises(KnowledgeBaseError, match="is no connection URL") as caught:
        GraphStore.open(f"postgresql://anna:{SECRET}@[127.0.0.1/kb")
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_the_password_is_not_in_the_repr(postgres_url, postgres_server):
    with GraphStore.open(postgres_url) as store:
        password = postgres_server.url.split(":")[2].split("@")[0]
        for shown in (repr(store), repr(store.graph), repr(store._connections)):
            assert "***" in shown
            assert password not in shown


def test_a_newer_schema_is_refused(postgres_url):
    GraphStore.open(postgres_url).close()
    with psycopg.connect(postgres_url) as connection:
        connection.execute("COMMENT ON SCHEMA hopweave IS 'hopweave graph, schema 99'")
    with pytest.raises(NewerSchema, match="has graph schema 99, but this hopweave reads schemas up to 5"):
        GraphStore.open(postgres_url)


_TO_VERSION_2 = """
ALTER TABLE hopweave.name_words ADD COLUMN bucket text;
UPDATE hopweave.name_words SET bucket = v.bucket FROM hopweave.vocabulary v WHERE v.word = name_words.word;
DROP TABLE hopweave.vocabulary
"""


_TO_VERSION_4 = "ALTER TABLE hopweave.state ADD COLUMN titled integer NOT NULL DEFAULT 0"


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_an_older_schema_is_brought_up_to_date(postgres_url, isles, version):
    question = [["mv", "petrell"], ["hallwo"]]
    with GraphStore.open(postgres_url) as store:
        store.add(isles)
        before = store.graph.nearest_names(question, 0.7)
    with psycopg.connect(postgres_url) as connection:
        vocabulary = connection.execute("SELECT * FROM hopweave.vocabulary ORDER BY word").fetchall()
        connection.execute(_TO_VERSION_4)
        if version < 3:
            connection.execute(_TO_VERSION_2)
        if version == 1:
            connection.execute("DROP TABLE hopweave.staged")
        connection.execute(f"COMMENT ON SCHEMA hopweave IS 'hopweave graph, schema {version}'")
    with pytest.raises(KnowledgeBaseError, match="open it once for writing"):
        GraphStore.open(postgres_url, read_only=True)
    with GraphStore.open(postgres_url) as store:
        assert store.count() == len(isles)
        assert store.build(isles).unchanged == len(isles)
        assert store.graph.nearest_names(question, 0.7) == before
        assert all(before)
    with psycopg.connect(postgres_url) as connection:
        assert connection.execute("SELECT * FROM hopweave.vocabulary ORDER BY word").fetchall() == vocabulary


def test_edges_that_a_mentioning_document_states_are_no_longer_counted_after_an_update(postgres_url):
    facts = [
        Document("skua", "", {"triples": [["MV Skua", "built by", "Odd Berg"], ["MV Skua", "sails to", "Harris"]]}),
        Document("isle", "", {"title": "Harris", "triples": [["Harris", "has", "Tarbert"]]}),
    ]
    with GraphStore.open(postgres_url, builders=[MentionsBuilder(), TriplesBuilder()]) as store:
        store.add(facts)
        edges = store.edges()
    with psycopg.connect(postgres_url) as connection:
        connection.execute(
            "UPDATE hopweave.nodes n SET edge_ends = "
            "(SELECT count(*) FROM hopweave.stated s WHERE s.source = n.id OR s.target = n.id)"
        )
        connection.execute(_TO_VERSION_4)
        connection.execute("COMMENT ON SCHEMA hopweave IS 'hopweave graph, schema 3'")
    with GraphStore.open(postgres_url) as store:
        assert store.edges() == edges
        store.delete(["isle"])
        assert store.edges() == resolve(contribute_all(store.builders, facts[:1])).edges()


def test_a_schema_of_another_program_is_refused(postgres_url):
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE public.bills (id int)")
    with pytest.raises(KnowledgeBaseError, match="schema 'public' holds tables of another program"):
        GraphStore.open(postgres_url, schema="public")


def test_two_graphs_in_one_database(postgres_url, isles):
    with GraphStore.open(postgres_url, schema="one") as one, GraphStore.open(postgres_url, schema='o"ther') as other:
        one.add(isles)
        assert (one.count(), other.count()) == (len(isles), 0)


def test_a_graph_begun_before_a_builder_had_a_parameter_says_so(postgres_url, caplog):
    with GraphStore.open(postgres_url) as store:
        store._connections.write(
            lambda cursor: cursor.execute("UPDATE state SET settings = settings #- '{builders,0,repeated}'")
        )
        assert not [one for one in caplog.messages if "repeated" in one]
    with GraphStore.open(postgres_url):
        assert [one for one in caplog.messages if "the builder 'mentions' had no repeated" in one]


def test_what_postgresql_cannot_hold_is_refused(postgres_url):
    with GraphStore.open(postgres_url) as store:
        for document in (Document("a\0", "x"), Document("a", "x", {"k": "\0"}), Document("x" * 3000, "y")):
            with pytest.raises(KnowledgeBaseError, match="cannot be stored"):
                store.add([document])
        assert store.graph.find(["passage:\0"]) == store.graph.lookup(["\0", "\ud800"]) == {}
        assert store.delete(["\0"]) == 0
        store.add([Document("b", "x" * 9000 + " sails to MV Skua")])  # a very long word is no reason to refuse
        assert store.ids() == ["b"]


def test_a_statement_that_takes_too_long_is_an_error_that_says_so(postgres_url, isles):
    with GraphStore.open(postgres_url, statement_seconds=0.1) as store:
        store.add(isles)
        graph = store.graph
        with psycopg.connect(postgres_url) as other:
            other.execute("LOCK TABLE hopweave.edges IN ACCESS EXCLUSIVE MODE")
            with pytest.raises(GraphTimeout, match=r"took longer than 0.1 seconds"):
                graph.neighbours(np.array([0]))
        assert len(graph.neighbours(np.array([0]), "both").targets)


EVERY_TYPE = {"type": ["ship", "place", "notice"]}  # a tenant that sees all of the isles


def searched(store, documents, question, tenant=None):
    upstream = {"text": [Hit(documents[0].id, score=1.0), Hit(documents[1].id, score=0.5)]}
    place = ExternalDocuments(store, shelf(documents))
    return PageRank(seeds_from=("text",)).search(Query(question, tenant=tenant), place, upstream)


@pytest.mark.parametrize("tenant", [None, EVERY_TYPE])
@pytest.mark.parametrize(
    ("table", "question"),
    [("near", "Which ferry sails to Hallow?"), ("name_words", "Does MV Skua reach Haloww or Petrell?")],
)
def test_words_and_similar_names_that_take_too_long_are_done_without(postgres_url, isles, table, question, tenant):
    with GraphStore.open(postgres_url) as store, GraphStore.open(postgres_url, statement_seconds=0.5) as hasty:
        store.add(isles)
        before = searched(store, isles, question, tenant)
        with psycopg.connect(postgres_url) as other:
            other.execute(f"LOCK TABLE hopweave.{table} IN ACCESS EXCLUSIVE MODE")
            hits = searched(hasty, isles, question, tenant)
        after = searched(store, isles, question, tenant)
    assert {hit.receipts[-1].details["finished"] for hit in hits} == {False}
    assert "skua" in {hit.id for hit in hits}
    assert all(hits[0].receipts[-1].details["seeds"])
    for one in (before, after):
        assert {hit.receipts[-1].details["finished"] for hit in one} == {True}
    assert [hit.id for hit in before] == [hit.id for hit in after]


def test_words_that_take_too_long_for_the_nodes_reached_are_done_without(postgres_url, isles, monkeypatch):
    monkeypatch.setattr(edges, "MAX_LISTED", 0)
    with GraphStore.open(postgres_url, statement_seconds=0.5) as store:
        store.add(isles)
        graph = store.graph
        graph.cooccurring(["ferry"])
        with psycopg.connect(postgres_url) as other:
            other.execute("LOCK TABLE hopweave.near IN ACCESS EXCLUSIVE MODE")
            found = graph.neighbours(np.arange(graph.size), "both")
        assert graph.truncated
        assert found.targets.tolist() == store.graph.neighbours(np.arange(graph.size), "both").targets.tolist()


def test_names_that_cannot_be_looked_up_in_time(postgres_url, isles, monkeypatch, caplog):
    from hopweave_postgres.graph import PostgresGraph

    def too_slow(*arguments):
        raise GraphTimeout("a statement took longer than 0.2 seconds")

    with GraphStore.open(postgres_url) as store:
        store.add(isles)
        monkeypatch.setattr(PostgresGraph, "lookup", too_slow)
        hits = searched(store, isles, "Where does MV Skua sail?")
        assert "linking: the server that holds the graph took too long" in caplog.text
        assert {hit.receipts[-1].details["finished"] for hit in hits} == {False}
        with pytest.raises(GraphTimeout, match="did not look up the seeds of the walk in time"):
            PageRank(seeds_from=()).search(Query("MV Skua?"), ExternalDocuments(store, shelf(isles)))


@pytest.mark.parametrize("tenant", [None, EVERY_TYPE])
@pytest.mark.parametrize("question", ["Where does MV Skua sail?", "what sails there?"])
@pytest.mark.parametrize("table", ["edges", "nodes", "state"])
def test_upstream_hits_stand_in_for_a_walk_that_takes_too_long(postgres_url, isles, table, question, tenant, caplog):
    with GraphStore.open(postgres_url, statement_seconds=0.15) as hasty:
        hasty.add(isles)
        with psycopg.connect(postgres_url) as other:
            other.execute(f"LOCK TABLE hopweave.{table} IN ACCESS EXCLUSIVE MODE")
            hits = searched(hasty, isles, question, tenant)
            with pytest.raises(GraphTimeout):  # there is nothing else to give
                PageRank(seeds_from=()).search(Query("MV Skua?"), ExternalDocuments(hasty, shelf(isles)))
    assert hits[0].id == "skua"  # which was the best upstream
    assert {hit.receipts[-1].details["finished"] for hit in hits} == {False}
    if table != "edges":
        assert {hit.receipts[-1].details["trust"] for hit in hits} == {0.0}
        assert [hit.id for hit in hits] == ["skua", "petrel"]
        assert "these are the hits of the sources that it starts from" in caplog.text


def test_the_edges_of_names_that_were_read_are_followed_though_those_of_passages_take_too_long(
    postgres_url, isles, monkeypatch
):
    from hopweave_postgres.graph import PostgresGraph

    def too_slow(*arguments):
        raise GraphTimeout("a statement took longer than 0.2 seconds")

    with GraphStore.open(postgres_url) as store:
        store.add(isles)
        monkeypatch.setattr(PostgresGraph, "_read_edges", too_slow)
        hits = searched(store, isles, "Which ferry reaches Hallow?")
    assert {hit.receipts[-1].details["finished"] for hit in hits} == {False}
    assert {"gate", "hallow"} <= {hit.id for hit in hits}  # next to Hallow, and not upstream


def test_a_timeout_counts_for_no_trust_in_a_recipe(postgres_url, isles):
    with GraphStore.open(postgres_url, statement_seconds=0.15) as hasty, KnowledgeBase.open() as base:
        hasty.add(isles)
        base.add(isles)
        pipeline = Pipeline("multihop", ExternalDocuments(hasty, shelf(isles), index=base))
        with psycopg.connect(postgres_url) as other:
            other.execute("LOCK TABLE hopweave.nodes IN ACCESS EXCLUSIVE MODE")
            result = pipeline.run("Which ferry reaches Hallow?")
    assert result.hits
    said = [receipt.details for hit in result.hits for receipt in hit.receipts if receipt.stage == "pagerank"]
    assert said
    assert {one["finished"] for one in said} == {False}


@pytest.mark.parametrize("table", ["edges", "nodes", "state"])
def test_paths_and_neighbourhoods_that_take_too_long_are_done_without(postgres_url, isles, table):
    sources = {"text": BM25(), "graph": PageRank(seeds_from=("text",), prune=FlowPruning(min_hits=2))}
    parts = {"paths": FlowPruning(min_hits=2), "neighbourhood": ServiceNeighbourhood()}
    recipe = Recipe(name="paths", sources=sources, **parts)
    with GraphStore.open(postgres_url, statement_seconds=0.15) as hasty, KnowledgeBase.open() as base:
        hasty.add(isles)
        base.add(isles)
        pipeline = Pipeline(recipe, ExternalDocuments(hasty, shelf(isles), index=base))
        question = "How does the ferry MV Skua reach Hallow and then Great Tern, and why?"
        before = pipeline.run(question)
        assert before.paths is not None
        assert before.paths.finished
        with psycopg.connect(postgres_url) as other:
            other.execute(f"LOCK TABLE hopweave.{table} IN ACCESS EXCLUSIVE MODE")
            result = pipeline.run(question)
            planned = Pipeline(recipe.model_copy(update={"plan": Planner()}), pipeline.knowledge).run(question)
    assert planned.hits
    assert result.hits
    assert not result.paths.finished
    assert "took longer than 0.15 seconds" in result.failures["service_neighbourhood"]


def test_what_was_not_answered_in_time_is_asked_again(postgres_url, isles):
    with GraphStore.open(postgres_url, statement_seconds=0.5) as store:
        store.add(isles)
        graph = store.graph
        with psycopg.connect(postgres_url) as other:
            other.execute("LOCK TABLE hopweave.nodes IN ACCESS EXCLUSIVE MODE")
            for ask in (lambda: graph.lookup(["mv skua"]), lambda: graph.nodes(np.arange(graph.size))):
                with pytest.raises(GraphTimeout):
                    ask()
        assert graph.lookup(["mv skua"])
        assert all(node.id for node in graph.nodes(np.arange(graph.size)))


def test_a_restarted_server_is_found_again(postgres_server, postgres_url, isles):
    with GraphStore.open(postgres_url) as store:
        store.add(isles)
        assert store.version == 1
        postgres_server.kill()
        postgres_server.start()
        assert store.count() == len(isles)
        postgres_server.kill()
        postgres_server.start()
        assert store.delete(["skua"]) == 1


def test_too_many_edges_are_left_out_and_the_receipt_says_so(postgres_url):
    documents = [Document(str(one), f"MV Skua sails to Port{one}.") for one in range(12)]
    query, source = Query("Where does MV Skua sail?"), PageRank(seeds_from=())
    for max_edges, finished in ((5, False), (100, True)):
        with GraphStore.open(postgres_url, max_edges=max_edges) as store:
            store.add(documents)
            hits = source.search(query, ExternalDocuments(store, shelf(documents)))
            assert hits
            assert {hit.receipts[-1].details["finished"] for hit in hits} == {finished}


def test_the_graph_is_live_and_tenants_see_their_own(postgres_url, tmp_path):
    documents = [
        Document("ship", "MV Skua sails to Harris.", {"title": "MV Skua", "customer": "acme"}),
        Document("isle", "Harris is an island. MV Skua calls.", {"title": "Harris", "customer": ["zeta", "acme"]}),
        Document("port", "Harris has a port. MV Skua is seen there.", {"title": "Port", "customer": "zeta"}),
    ]
    source, found = PageRank(seeds_from=()), []
    for where in (postgres_url, tmp_path / "graph.db"):
        with GraphStore.open(where) as store:
            knowledge = ExternalDocuments(store, shelf(documents))
            store.add(documents[:1])
            before = [hit.id for hit in source.search(Query("MV Skua?"), knowledge)]
            store.add(documents[1:])
            after = [hit.id for hit in source.search(Query("MV Skua?"), knowledge)]
            assert before == ["ship"]
            assert set(after) == {"ship", "isle", "port"}
            tenants = [
                {hit.id for hit in source.search(Query("MV Skua?", tenant=tenant), knowledge)}
                for tenant in ({"customer": "acme"}, {"customer": "zeta"}, {"customer": "none"})
            ]
            assert tenants == [{"ship", "isle"}, {"isle", "port"}, set()]
            found.append(after)
    assert found[0] == found[1]


def added_elsewhere(url):
    with GraphStore.open(url) as store:
        store.add([Document("new", "Ingrid Falk designed the tide gate.", {"title": "Ingrid Falk"})])


def test_another_process_adds_and_the_next_query_finds_it(postgres_url, isles):
    with GraphStore.open(postgres_url) as store:
        store.add(isles)
        assert not store.graph.lookup(["ingrid falk"])
        process = multiprocessing.get_context("spawn").Process(target=added_elsewhere, args=(postgres_url,))
        process.start()
        process.join()
        assert process.exitcode == 0
        assert store.graph.lookup(["ingrid falk"])


def test_names_that_go_between_two_statements(postgres_url, isles):
    with GraphStore.open(postgres_url) as store:
        store.add([*isles, Document("new", "Ingrid Falk was here.", {"title": "Ingrid Falk"})])
        graph = store.graph
        graph._names.prepare([["ingrid"]])
        store.delete(["new"])
        assert graph.nearest_names([["ingrid"]], 0.3) == [None]


def test_a_misspelt_name_costs_a_few_round_trips_whatever_the_number_of_names(postgres_url):
    people = ["Falk", "Berg", "Lund", "Dahl", "Holm", "Vik", "Moe", "Strand", "Aas", "Lie", "Rud", "Foss"]
    documents = [Document(one, f"Ingrid {one} was born in Lunn.", {"title": f"Ingrid {one}"}) for one in people]
    with GraphStore.open(postgres_url) as store:
        store.add(documents)
        graph, before = store.graph, store.round_trips
        found = graph.nearest_names([["ingrid", "strnad"], ["ingird", "foss"], ["somebody", "else"]], 0.75)
        names = [None if one is None else graph.nodes(np.array(one[0]))[0].name for one in found]
        assert names == ["Ingrid Strand", "Ingrid Foss", None]
        assert store.round_trips - before <= 5


def test_frequent_words_are_looked_up_for_the_nodes_that_are_reached(postgres_url, tmp_path, isles, monkeypatch):
    monkeypatch.setattr(edges, "MAX_LISTED", 0)
    questions = ["Which ferry was built at the yard?", "Who designed MV Skua?", "Which island does the ferry reach?"]
    with GraphStore.open(postgres_url) as server, GraphStore.open(tmp_path / "graph.db") as file:
        server.add(isles)
        file.add(isles)
        rankings = []
        for store in (server, file):
            knowledge = ExternalDocuments(store, shelf(isles))
            upstream = {"text": [Hit(isles[0].id, score=1.0), Hit(isles[1].id, score=0.5)]}
            source = PageRank(seeds_from=("text",), tolerance=1e-3)
            hits = [source.search(Query(one), knowledge, upstream) for one in questions]
            rankings.append([{hit.id: hit.score for hit in one} for one in hits])
            boosted = {name for one in hits for hit in one for name in hit.receipts[-1].details.get("boosted_by", ())}
            assert boosted
        for one, other in zip(*rankings, strict=True):
            assert one == pytest.approx(other, abs=0.005)


def test_paths_go_over_what_the_walk_has_read(postgres_url, isles):
    with GraphStore.open(postgres_url) as store:
        store.add(isles)
        knowledge, trips = ExternalDocuments(store, shelf(isles)), []
        for explain_top_k in (0, 8):
            before = store.round_trips
            hits = PageRank(seeds_from=(), explain_top_k=explain_top_k).search(
                Query("Who designed MV Skua?"), knowledge
            )
            trips.append(store.round_trips - before)
        assert any("path" in hit.receipts[-1].details for hit in hits)
        assert trips[1] - trips[0] <= 1  # for the names of nodes between


def many(count):
    names = ("MV Skua", "Harris", "Ingrid Falk", "Lunn", "Tide Gate")
    texts = [f"{names[one % 5]} is known in {names[one * 2 % 5]}. {names[one % 3].lower()}" for one in range(count)]
    return [Document(str(one), text, {"title": names[one % 5] if one % 2 else ""}) for one, text in enumerate(texts)]


def test_bulk_loads_merge_in_batches_and_leave_all_indexes(postgres_url):
    documents = [*many(30), Document("silent", "")]
    with GraphStore.open(postgres_url) as store:
        with pytest.raises(ValueError, match="documents_at_once: 0"):
            store.build(documents, documents_at_once=0)
        assert store.build(documents, documents_at_once=20).added == 31  # the second batch meets a graph
        fresh = resolve(contribute_all(store.builders, documents))
        assert (store.nodes(), store.edges()) == (fresh.nodes, fresh.edges())
    with psycopg.connect(postgres_url) as connection:
        assert connection.execute("SELECT count(*) FROM hopweave.staged").fetchone() == (0,)
        indexes = connection.execute(
            "SELECT indexname FROM pg_indexes WHERE schemaname = 'hopweave' ORDER BY 1"
        ).fetchall()
    with GraphStore.open(postgres_url, schema="untouched"), psycopg.connect(postgres_url) as connection:
        assert (
            indexes
            == connection.execute(
                "SELECT indexname FROM pg_indexes WHERE schemaname = 'untouched' ORDER BY 1"
            ).fetchall()
        )


def test_what_a_worker_stages_twice_counts_once_and_what_is_lost_is_noticed(postgres_url, isles):
    with GraphStore.open(postgres_url) as store:

        def stage_twice(job):
            store.stage(job, isles)
            return store.stage(job, isles)

        assert store.merged(stage_twice).added == len(isles)
        with pytest.raises(KnowledgeBaseError, match=r"6 documents were prepared, but 5 are staged"):
            store.merged(lambda job: store.stage(job, many(5)) + 1)
        with pytest.raises(ValueError, match="two of them have the id '0', but differ"):
            store.build([Document("0", "MV Skua"), Document("0", "Harris")])
        with pytest.raises(ValueError, match="workers: 0 is not allowed"):
            store.build(isles, workers=0)
        assert store.count() == len(isles)
    with psycopg.connect(postgres_url) as connection:
        assert connection.execute("SELECT count(*) FROM hopweave.staged").fetchone() == (0,)


def asked_in_a_child(store, answers, passages):
    graph = store.graph
    ids = [node.id for _ in range(20) for node in graph.nodes(np.arange(graph.size)) if node.kind == "passage"]
    answers.put((set(ids) == passages, store._connections._pool.get_stats()["connections_num"]))
    store.close()


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="nothing forks here")
def test_a_forked_process_has_connections_of_its_own(postgres_url, isles):
    with GraphStore.open(postgres_url) as store:
        store.add(isles)
        passages = {f"passage:{one.id}" for one in isles}
        context = multiprocessing.get_context("fork")
        answers = context.Queue()
        children = [context.Process(target=asked_in_a_child, args=(store, answers, passages)) for _ in range(3)]
        for child in children:
            child.start()
        assert [answers.get(timeout=60) for _ in children] == [(True, 1)] * 3
        for child in children:
            child.join()
        assert [child.exitcode for child in children] == [0, 0, 0]
        assert store.count() == len(isles)
        assert store._connections._pool.get_stats()["connections_num"] == 1  # none was lost to a child


def test_names_that_come_between_two_statements(postgres_url, isles):
    with GraphStore.open(postgres_url) as store:
        store.add(isles)
        store.delete(store.ids())
        graph = store.graph  # there are no names yet
        store.add(isles)
        assert graph.nearest_names([["skua"], ["mv", "skau"]], 0.75) == [None, None]
