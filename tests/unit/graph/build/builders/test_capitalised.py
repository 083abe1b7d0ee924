import time

import pytest

from hopweave.graph.build.builders.capitalised import capitalised_names, quoted


def names(text, **options):
    return {mention.name: (mention.weight, mention.sure) for mention in capitalised_names(text, **options)}


def sure(text):
    return sorted(name for name, (_, is_sure) in names(text).items() if is_sure)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("nothing here", []),
        ("we met Ann Lee there", ["Ann Lee"]),
        ("we met Ann Lee, Bob and Eve", ["Ann Lee", "Bob", "Bob and Eve", "Eve"]),
        ("a son of John Smith's", ["John Smith"]),
        ("by J. R. R. Tolkien and St. Louis", ["J. R. R. Tolkien", "J. R. R. Tolkien and St. Louis", "St. Louis"]),
        ("in World War I. It ended", ["World War I"]),
        (
            "with Vincent D'Onofrio at Saxe-Weimar",
            ["Saxe-Weimar", "Vincent D'Onofrio", "Vincent D'Onofrio at Saxe-Weimar"],
        ),
        ("aboard Apollo 11 today", ["Apollo 11"]),
        ("on a Monday in May", []),
        ("and I saw A B", []),
        ("the University of Łódź", ["University", "University of Łódź", "Łódź"]),
        (
            "the Islamic State of Iraq and the Levant",
            ["Iraq", "Islamic State", "Islamic State of Iraq", "Islamic State of Iraq and the Levant", "Levant"],
        ),
        ("he met Ludwig van Beethoven", ["Beethoven", "Ludwig", "Ludwig van Beethoven"]),
        ("на вокзале Москва сегодня", ["Москва"]),
        ("iPhone and camelCase", []),
    ],
)
def test_names_inside_a_sentence(text, found):
    assert sure(text) == found


def test_a_single_word_at_the_start_of_a_sentence_is_not_sure():
    assert names("Later they left. Harris was empty.") == {"Harris": (1.0, False)}
    assert names("Ferries sail. They like Ferries.")["Ferries"] == (1.0, True)


def test_stop_words_at_the_start_are_taken_off():
    assert names("The Skua sailed.") == {"Skua": (1.0, True)}
    assert names("In London Ann Lee sang.") == {"London Ann Lee": (1.0, True)}


def test_articles_that_begin_names_stay():
    assert names("Los Angeles grew.") == {"Los Angeles": (1.0, True), "Angeles": (1.0, False)}


def test_a_run_at_the_start_gives_its_rest_as_well():
    assert names("Captain Lee sailed.") == {"Captain Lee": (1.0, True), "Lee": (1.0, False)}
    assert names("Shot in Harris today.") == {
        "Shot in Harris": (1.0, True),
        "Harris": (1.0, True),
        "Shot": (1.0, False),
    }


def test_parts_of_a_name_weigh_less():
    assert names("the Port of Harris") == {"Port of Harris": (1.0, True), "Port": (0.5, True), "Harris": (0.5, True)}


def test_years_weigh_little():
    assert names("built in 1974, sold in 2019; 1,974 or 19.2019 or 3000") == {
        "1974": (0.25, True),
        "2019": (0.25, True),
    }
    assert names("built in 1974", year_weight=0) == {}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('the song "Cry me a river" played', ["Cry me a river"]),
        ("the song “Cry” played", ["Cry"]),
        ("映画「君の名は」を見た", ["君の名は"]),
        ("小说《红楼梦》", ["红楼梦"]),
        ("« Amélie » est un film", ["Amélie"]),
        ('he said "no way" twice', []),
        ("昨日スカイツリーへ", ["スカイツリー"]),
        ("책은 '훈민정음'이다", ["훈민정음"]),
        ("영화 〈기생충〉을 보았다", ["기생충"]),
        ("【中秋节】的来历", ["中秋节"]),
        ("『ノルウェイの森』を読む", ["ノルウェイ", "ノルウェイの森"]),
        ("ジャン＝ジャック・ルソーの本", ["ジャン=ジャック・ルソー"]),
        ("the sailors' and the captains' cabins", []),
    ],
)
def test_quotation_marks_and_katakana(text, found):
    assert [name for name in sure(text) if name in found] == found
    assert not found or found[0] in names(text)
    assert found or not names(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("他使用ＮＡＳＡ的数据", ["NASA"]),
        ("AIとGPUを使うChatGPTが話題。", ["AI", "ChatGPT", "GPU"]),
        ("삼성전자(Samsung)는 Galaxy S24를", ["Galaxy S24", "Samsung"]),
        ("ใช้Python 3ในกรุงเทพ", ["Python 3"]),
    ],
)
def test_latin_names_end_where_a_script_without_spaces_begins(text, found):
    assert sure(text) == found


def test_quoted_gives_places_without_the_marks():
    text = 'a "b c" d'
    assert [text[begin:end] for begin, end in quoted(text)] == ["b c"]
    assert quoted('"') == []


@pytest.mark.parametrize(
    "text",
    [
        "A. " * 33_000,
        "A of " * 20_000,
        "A'" * 50_000,
        "A-" * 50_000,
        '"' * 100_000,
        "A\u0301" * 50_000,
        " " * 100_000,
        "A of the " * 11_000,
        "'東" * 50_000,
        "ア・" * 50_000,
        "Aア" * 50_000,
    ],
)
def test_hostile_text_takes_linear_time(text):
    started = time.process_time()
    capitalised_names(text)
    assert time.process_time() - started < 2
