from hopweave.graph.model import ADDRESS, Contribution, Edge, Node
from hopweave.graph.references import follow_references


def follow(edges, *contributions):
    nodes = {node.id: node for node in (Node.passage(one.document_id) for one in contributions)}
    found, made = follow_references(edges, nodes, contributions)
    return sorted((edge.source, edge.type, edge.target) for edge in found), sorted(made)


def refers(id_, to, type_="links_to"):
    return Edge(f"passage:{id_}", ADDRESS + to, type_)


def test_edges_without_references_stay():
    assert follow([Edge("entity:a", "entity:b")]) == ([("entity:a", "relates_to", "entity:b")], [])
    assert follow([]) == ([], [])


def test_an_id_is_an_address_and_is_taken_literally():
    contributions = Contribution("a"), Contribution("B"), Contribution("b")
    assert follow([refers("a", "B")], *contributions) == ([("passage:a", "links_to", "passage:B")], [])


def test_other_addresses_do_not_mind_case():
    contributions = Contribution("a"), Contribution("b", addresses=("Time Table",))
    assert follow([refers("a", "time  TABLE")], *contributions) == ([("passage:a", "links_to", "passage:b")], [])


def test_a_reference_to_nobody_waits():
    # the edge stays, but its end is no node, so the graph leaves it out
    edges, made = follow([refers("a", "b")], Contribution("a"))
    assert made == []
    assert edges == [("passage:a", "links_to", "address:b")]


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
