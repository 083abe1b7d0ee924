from hopweave.graph.build.resolve import resolve
from hopweave.graph.model import ADDRESS, Contribution, Edge, Node


def follow(edges, *contributions):
    """The edges that these documents and these references make, and the nodes that are no documents."""
    documents = [
        Contribution(one.document_id, (Node.passage(one.document_id),), addresses=one.addresses)
        for one in contributions
    ]
    resolved = resolve([*documents, Contribution("references", edges=tuple(edges))])
    made = sorted(node.id for node in resolved.nodes if node.kind != "passage")
    return sorted((edge.source, edge.type, edge.target) for edge in resolved.edges()), made


def refers(id_, to, type_="links_to"):
    return Edge(f"passage:{id_}", ADDRESS + to, type_)


def test_nothing_to_follow():
    assert follow([]) == ([], [])


def test_an_id_is_an_address_and_is_taken_literally():
    contributions = Contribution("a"), Contribution("B"), Contribution("b")
    assert follow([refers("a", "B")], *contributions) == ([("passage:a", "links_to", "passage:B")], [])


def test_other_addresses_do_not_mind_case():
    contributions = Contribution("a"), Contribution("b", addresses=("Time Table",))
    assert follow([refers("a", "time  TABLE")], *contributions) == ([("passage:a", "links_to", "passage:b")], [])


def test_a_reference_to_nobody_waits():
    assert follow([refers("a", "b")], Contribution("a")) == ([], [])
    found = follow([refers("a", "b")], Contribution("a"), Contribution("b"))
    assert found == ([("passage:a", "links_to", "passage:b")], [])


def test_two_that_refer_to_the_same_page_meet_there():
    edges, made = follow([refers("a", "x"), refers("b", "x")], Contribution("a"), Contribution("b"))
    assert made == ["address:x"]
    assert edges == [("passage:a", "links_to", "address:x"), ("passage:b", "links_to", "address:x")]


def test_chunks_of_one_file_share_its_address():
    chunks = Contribution("c1", addresses=("f.md",)), Contribution("c2", addresses=("f.md",))
    edges, made = follow([refers("a", "f.md")], Contribution("a"), *chunks)
    assert made == ["address:f.md"]
    assert edges == [
        ("passage:a", "links_to", "address:f.md"),
        ("passage:c1", "located_at", "address:f.md"),
        ("passage:c2", "located_at", "address:f.md"),
    ]


def test_a_document_that_refers_to_itself():
    assert follow([refers("a", "here"), refers("a", "a")], Contribution("a", addresses=("here",))) == ([], [])


def test_references_from_others():
    edges, _ = follow([Edge("address:child", "passage:a", "part_of")], Contribution("a"), Contribution("child"))
    assert edges == [("passage:child", "part_of", "passage:a")]


def test_an_edge_may_name_an_entity_in_any_spelling():
    contributions = [
        Contribution("1", (Node.entity("St. Louis"),)),
        Contribution("2", (Node.entity("Missouri"),), (Edge("entity:st louis", "entity:missouri", "lies_in"),)),
    ]
    assert [(edge.source, edge.target) for edge in resolve(contributions).edges()] == [
        ("entity:st. louis", "entity:missouri")
    ]


def test_ids_that_look_like_names_are_distinguished():
    pages = [Node("https://example.org/a-b", "page", "One"), Node("https://example.org/a.b", "page", "Other")]
    contributions = Contribution("1", tuple(pages), (Edge(pages[0].id, pages[1].id),))
    resolved = resolve([contributions])
    assert sorted(node.name for node in resolved.nodes) == ["One", "Other"]
    assert [(edge.source, edge.target) for edge in resolved.edges()] == [(pages[0].id, pages[1].id)]


def test_the_address_of_a_page_is_written_as_the_smallest_of_those_who_refer():
    edges = [refers("a", "Example.org"), refers("b", "example.org")]
    documents = [Contribution(id_, (Node.passage(id_),)) for id_ in "ab"]
    resolved = resolve([*documents, Contribution("references", edges=tuple(edges))])
    assert [node.name for node in resolved.nodes if node.kind == "address"] == ["Example.org"]
