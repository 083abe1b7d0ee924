import pytest

from hopweave.document import Document
from hopweave.graph.build.builders.mentions import MentionsBuilder, register_extractor
from hopweave.graph.build.resolve import resolve


def test_empty_document():
    found = MentionsBuilder().contribute(Document("d", ""))
    assert [node.id for node in found.nodes] == ["passage:d"]
    assert (found.mentions, found.words, found.edges) == ((), "", ())


def test_about_comes_before_mentions_of_the_same_name():
    found = MentionsBuilder().contribute(Document("d", "We like the MV Skua.", {"title": "MV Skua"}))
    named = [(mention.name, mention.type, mention.weight) for mention in found.mentions]
    assert named == [("MV Skua", "about", 4.0), ("Skua", "mentions", 1.0)]


def test_names_in_a_title_count_if_other_passages_mention_them():
    painter = Document("painter", "He died in Prague.", {"title": "Karel"})
    clock = Document("clock", "It was made in 1410.", {"title": "Prague astronomical clock"})
    mention = next(one for one in MentionsBuilder().contribute(clock).mentions if one.name == "Prague")
    assert (mention.is_about, mention.sure) == (False, False)
    edges = {
        (edge.source, edge.target) for edge in resolve(map(MentionsBuilder().contribute, [painter, clock])).edges()
    }
    assert {("passage:painter", "entity:prague"), ("passage:clock", "entity:prague")} <= edges
    alone = resolve([MentionsBuilder().contribute(clock)])
    assert "entity:prague" not in {node.id for node in alone.nodes}


def test_a_repeated_string_is_found_in_other_passages_that_have_it_once():
    repeats = Document("repeats", "北京大学位于海淀区。蔡元培领导北京大学。")
    once = Document("once", "他毕业于北京大学法律系。")
    build = MentionsBuilder().contribute
    edges = {(edge.source, edge.target) for edge in resolve(map(build, [repeats, once])).edges()}
    assert edges == {("passage:once", "phrase:北京大学"), ("passage:repeats", "phrase:北京大学")}
    assert resolve([build(once)]).edges() == []
    without = MentionsBuilder(repeated=False).contribute
    assert resolve(map(without, [repeats, once])).edges() == []


def test_a_repeated_string_that_the_passage_is_about_is_no_mention_of_its_own():
    document = Document("d", "北京大学很大。我爱北京大学。", {"title": "北京大学"})
    assert [mention.kind for mention in MentionsBuilder().contribute(document).mentions] == ["entity"]


def test_a_passage_without_a_title_is_called_after_what_it_is_about():
    texts = {"Skua is a ferry.": "Skua", "MV Tern\nShe sails to Harris.": "MV Tern", "She sails to Harris.": "d"}
    for text, name in texts.items():
        (passage,) = MentionsBuilder().contribute(Document("d", text)).nodes
        assert passage.name == name
    (passage,) = MentionsBuilder().contribute(Document("d", "Skua is a ferry.", {"title": "Ships"})).nodes
    assert passage.name == "Ships"


def test_weights_are_parameters():
    document = Document("d", "Skua is a ferry from 1974.", {"title": "MV Skua"})
    found = MentionsBuilder(title_weight=3, inferred_weight=1, year_weight=0).contribute(document)
    assert [(mention.name, mention.weight) for mention in found.mentions] == [("MV Skua", 3), ("Skua", 1)]


def test_words_can_be_left_out():
    assert MentionsBuilder(search_titles=False).contribute(Document("d", "some text")).words == ""
    assert MentionsBuilder().contribute(Document("d", "Some text.")).words == "Some text ."


def test_a_title_that_is_no_string():
    found = MentionsBuilder().contribute(Document("d", "", {"title": 7, "source": None}))
    assert found.mentions == ()


def test_the_document_is_not_touched():
    metadata = {"title": "MV Skua"}
    MentionsBuilder().contribute(Document("d", "text", metadata))
    assert metadata == {"title": "MV Skua"}


def test_an_extractor_by_name():
    register_extractor("upper", lambda text: [word for word in text.split() if word.isupper()] + [" "])
    found = MentionsBuilder(extractor="upper").contribute(Document("d", "the IMO and Harris"))
    assert [mention.name for mention in found.mentions] == ["IMO"]
    assert MentionsBuilder(extractor="upper").model_dump()["extractor"] == "upper"


def test_an_extractor_nobody_registered():
    with pytest.raises(ValueError, match="allowed are rules"):
        MentionsBuilder(extractor="nobody")


@pytest.mark.parametrize("parameters", [{"title_weight": 0}, {"year_weight": -1}, {"unknown": 1}])
def test_bad_parameters(parameters):
    with pytest.raises(ValueError):
        MentionsBuilder(**parameters)
