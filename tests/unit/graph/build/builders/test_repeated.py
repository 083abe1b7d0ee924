import random

import pytest

from hopweave.graph.build.builders.mentions import repeated_names


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("MV Skua met MV Skua", []),
        ("北京大学位于海淀区。蔡元培领导北京大学。", ["北京大学"]),
        ("作者曹雪芹住在北京。曹雪芹卒于北京。", ["曹雪芹"]),  # two characters are too few
        ("雨城市人民法院判决，雨城市人民法院", ["雨城市人民法院"]),  # not its parts
        ("雨城市人民法院、雨城市人民法院和雨城市的", ["雨城市人民法院", "雨城市"]),  # a part that also stands alone
        ("村上春樹は小説家である。この村上春樹の本", ["村上春樹"]),
        ("東京タワーと東京タワーを", ["東京タワー"]),
        ("セﾙビアとセルビアの", ["セルビア"]),  # half-width
        ("세종대왕은 한글을 만들었다. 세종대왕의 아버지", ["세종대왕"]),
        ("세종대왕은 왔다. 세종대왕은 갔다.", ["세종대왕"]),  # without the particle
        ("그것이 있었습니다. 또한 있었습니다.", []),  # no particle follows: a verb
        ("กรุงเทพมหานครเป็นเมืองหลวง แม่น้ำไหลผ่านกรุงเทพมหานคร", ["กรุงเทพมหานคร"]),
        ("甲北京大学乙。丙北京大学丁。", []),  # nowhere at a mark
    ],
)
def test_repeated_names(text, found):
    assert repeated_names(text) == found


def test_a_passage_has_few():
    characters = [chr(code) for code in range(0x4E00, 0x5200)]
    names = ["".join(random.Random(seed).choices(characters, k=5)) for seed in range(200)]
    assert len(repeated_names("。".join(names + names))) == 50


def test_a_long_text_is_read_from_its_beginning():
    name = "北京大学"
    assert repeated_names(f"{name}。{name}。" + "天" * 100_000) != []
    assert name not in repeated_names("天" * 5000 + f"。{name}。{name}。")


@pytest.mark.parametrize("text", ["東" * 10_000, "東京" * 5000, "가은 " * 5000, "ก" * 10_000, "東京都 京都府 " * 1000])
def test_hostile_text(text):
    assert len(repeated_names(text)) <= 50
