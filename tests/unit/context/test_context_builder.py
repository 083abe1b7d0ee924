import copy

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from hopweave.context.context_builder import ContextBuilder
from hopweave.hit import Hit
from hopweave.language.sentences import sentence_spans


def builder(budget, **more):
    return ContextBuilder(budget_tokens=budget, **{"counter": "words", **more})


SKUA = Hit("skua", 0.9, "The Skua sails hourly. It was built in 1974. It is red.", {"title": "MV Skua"})
TERN = Hit("tern", 0.5, "The Tern rests.", {"title": "MV Tern", "source": "ferries.md"})


def test_empty():
    context = builder(10).build([])
    assert (context.text, context.citations, context.tokens, context.dropped) == ("", (), 0, ())


def test_everything_fits():
    context = builder(100).build([SKUA, TERN])
    assert context.text == (
        "[1] MV Skua\nThe Skua sails hourly. It was built in 1974. It is red.\n\n[2] MV Tern\nThe Tern rests."
    )
    assert context.tokens == 3 + 12 + 3 + 3
    assert [(found.number, found.id, found.cut) for found in context.citations] == [
        (1, "skua", False),
        (2, "tern", False),
    ]
    assert context.sources == "[1] MV Skua\n[2] MV Tern (ferries.md)"
    assert context.dropped == ()


def test_the_last_one_is_cut_at_a_sentence():
    # the header has 3 words, the sentences 4, 5 and 3: 14 words hold two of them, 15 all three
    context = builder(14).build([SKUA, TERN])
    assert context.text == "[1] MV Skua\nThe Skua sails hourly. It was built in 1974."
    assert context.citations[0].cut
    assert context.citations[0].text == "The Skua sails hourly. It was built in 1974."
    assert (context.tokens, context.dropped) == (12, ("tern",))
    assert not builder(15).build([SKUA]).citations[0].cut


def test_after_a_cut_nothing_follows():
    small = Hit("x", text="Yes.")
    assert [found.id for found in builder(14).build([SKUA, small]).citations] == ["skua"]


def test_what_does_not_fit_at_all_makes_room_for_the_next():
    context = builder(6).build([SKUA, TERN])  # 3 + 4 words are too many
    assert context.text == "[1] MV Tern\nThe Tern rests."
    assert context.dropped == ("skua",)


def test_nothing_fits():
    context = builder(2).build([SKUA, TERN])
    assert (context.text, context.tokens, context.dropped) == ("", 0, ("skua", "tern"))


def test_hits_without_text_and_twice():
    context = builder(100).build([Hit("blank", text=" \n"), TERN, TERN])
    assert [found.id for found in context.citations] == ["tern"]
    assert context.dropped == ("blank",)


def test_paths_come_first_best_last():
    paths = ["one two three", "skua -> tern", "tern -> gull"]
    context = builder(40).build([TERN], paths)  # a quarter of 40: 1 + 3 + 3 + 3 words
    assert context.text == "Connections:\none two three\nskua -> tern\ntern -> gull\n\n[1] MV Tern\nThe Tern rests."
    fewer = builder(40, paths_share=0.2).build([TERN], paths)  # 8 words: the two best
    assert fewer.text.startswith("Connections:\nskua -> tern\ntern -> gull\n\n[1]")
    assert builder(40, paths_share=0).build([TERN], paths).text == "[1] MV Tern\nThe Tern rests."
    assert builder(40).build([], paths).text.startswith("Connections:")


def test_header_and_separator():
    made = builder(100, header="<{number}|{id}|{source}|{title}> ", separator="\n---\n")
    assert made.build([TERN, SKUA]).text.startswith("<1|tern|ferries.md|MV Tern> The Tern rests.\n---\n<2|")


def test_braces_in_what_is_filled_in_do_no_harm():
    odd = Hit("{id}", text="{0} {number!r}", metadata={"title": "{title}"})
    assert builder(100).build([odd]).text == "[1] {title}\n{0} {number!r}"


@pytest.mark.parametrize(
    "header", ["no number", "{title}", "{number} {score}", "{number.real}", "{number} {}", "{number"]
)
def test_bad_headers(header):
    with pytest.raises(ValidationError, match="header"):
        ContextBuilder(header=header)


def test_bad_parameters():
    for wrong in ({"budget_tokens": 0}, {"counter": "bytes"}, {"paths_share": 2}, {"colour": "red"}):
        with pytest.raises(ValidationError, match=next(iter(wrong))):
            ContextBuilder(**wrong)


def test_round_trip():
    made = builder(5, separator="", paths_share=0.0)
    assert ContextBuilder.model_validate(yaml.safe_load(yaml.safe_dump(made.model_dump(mode="json")))) == made


def test_prompt_and_check():
    context = builder(100).build([TERN])
    assert context.prompt("What does it do?").endswith("The Tern rests.\n\nQuestion: What does it do?")
    assert context.check("It rests [1].").resolves
    assert context.check("It rests [2].").unresolved == (2,)


def test_nothing_is_mutated():
    hits = [copy.deepcopy(SKUA), copy.deepcopy(TERN)]
    builder(14).build(hits)
    assert hits == [SKUA, TERN]


def seams_cost_extra(text):
    """A counter for which the whole is more than its parts."""
    return len(text.split()) + text.count("\n\n") * 3


COUNTERS = {
    "characters": {"counter": "characters"},
    "words": {"counter": "words"},
    "approximate": {"counter": "approximate"},
    "tiktoken": {"counter": "tiktoken", "encoding": "hopweave-toy"},
}
text = st.text(alphabet=st.sampled_from(list("theains .\n?!渡轮。🚢A1[]")), max_size=120)
hit = st.builds(
    lambda key, text, metadata: Hit(key, text=text, metadata=metadata),
    key=st.text(alphabet="abc", min_size=1, max_size=3),
    text=text,
    metadata=st.fixed_dictionaries({}, optional={"title": text, "source": text}),
)


@pytest.mark.usefixtures("toy_encoding")
@pytest.mark.parametrize("name", [*COUNTERS, "seams"])
@settings(max_examples=150, deadline=None)
@given(
    hits=st.lists(hit, max_size=8),
    budget=st.integers(1, 150),
    paths=st.lists(text, max_size=3),
    separator=st.sampled_from(["\n\n", "", " ", "\n\n---\n\n"]),
)
def test_never_over_budget_and_every_number_resolves(name, hits, budget, paths, separator):
    made = ContextBuilder(budget_tokens=budget, separator=separator, **COUNTERS.get(name, {"counter": "words"}))
    counts = {"characters": len, "words": lambda whole: len(whole.split())}
    context = made.build(hits, paths, count=seams_cost_extra if name == "seams" else None)
    assert context.tokens <= budget
    assert counts.get(name, lambda _: context.tokens)(context.text) == context.tokens
    texts = {}
    for found in hits:
        texts.setdefault(found.id, found.text.strip())
    assert [found.number for found in context.citations] == list(range(1, len(context.citations) + 1))
    assert sorted([*context.dropped, *(found.id for found in context.citations)]) == sorted(texts)
    for number, found in enumerate(context.citations, start=1):
        assert f"[{number}] {found.title}\n{found.text}" in context.text
        assert found.cut == (found.text != texts[found.id])
        assert number == len(context.citations) or not found.cut or name == "seams"
        assert len(found.text) in [end for _, end in sentence_spans(texts[found.id])]
        assert texts[found.id].startswith(found.text)


@pytest.mark.usefixtures("toy_encoding")
def test_many_hits_do_not_take_forever():
    import time

    hits = [Hit(str(n), text="The ferry sails in winter. " * 20) for n in range(2000)]
    begun = time.process_time()
    context = ContextBuilder(budget_tokens=20_000).build(hits)
    assert 0.9 * 20_000 < context.tokens <= 20_000
    assert time.process_time() - begun < 5


COMPONENTS = [
    Hit("deploy", 0.9, "Deploys.", {"type": "command"}),
    Hit("notes", 0.8, "Notes."),
    Hit("lint", 0.7, "Lints.", {"type": "skill"}),
    Hit("reviewer", 0.6, "Reviews.", {"type": "agent"}),
    Hit("format", 0.5, "Formats.", {"type": "skill"}),
    Hit("odd", 0.4, "Odd.", {"type": ["skill"]}),
]


def test_hits_can_be_ordered_by_type():
    builder = ContextBuilder(type_order=("agent", "skill", "command", "hook"))
    context = builder.build(COMPONENTS)
    assert [one.id for one in context.citations] == ["reviewer", "lint", "format", "deploy", "notes", "odd"]
    assert context.text.startswith("[1] reviewer\nReviews.\n\n[2] lint")
    assert [hit.id for hit in COMPONENTS] == ["deploy", "notes", "lint", "reviewer", "format", "odd"]
    assert ContextBuilder().build(COMPONENTS).citations[0].id == "deploy"


def test_the_order_is_yours_and_so_is_the_field():
    hits = [Hit("a", 0.9, "A.", {"corpus": "code"}), Hit("b", 0.8, "B.", {"corpus": "docs"})]
    builder = ContextBuilder(type_order=("docs", "code", "docs"), type_field="corpus")
    assert [one.id for one in builder.build(hits).citations] == ["b", "a"]


def test_what_does_not_fit_is_of_the_last_types():
    builder = ContextBuilder(type_order=("agent", "skill"), budget_tokens=6, counter="words")
    context = builder.build(COMPONENTS)
    assert [one.id for one in context.citations] == ["reviewer", "lint"]
    assert context.dropped == ("format", "deploy", "notes", "odd")
