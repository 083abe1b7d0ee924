"""A grammar of texts that parsers, tokenisers and regular expressions dislike."""

# ruff: noqa: E501 - lists

import random
import string

ALPHABETS = (
    "*_`~\"'“”«»‘’", "[](){}<>", "#-=+|>", " \t", "\n", " \n\t\r\u00a0\u2003\u3000", ".!?…,;:", "0123456789.,:-/", "aA",
    string.ascii_letters, "ÀÉÎõüßŁø", "\u0300\u0301\u0323\u200d\u200b\ufeff", "東京は渡し船、。「」『』（）", "กขคงจ่้๊",
    "ابتثجحخ", "😀👩‍🚀🏳️‍🌈", "ﷺﷻ㍿ﬃ", "\u202e\u2066\x00\x1b\x7f\x9b", "𝒜𝓫𝖈", "ーァヴ・", "̸a̸b", "&;#x", "%2F..\\/",
)  # fmt: skip
WORDS = (
    "of", "the", "and", "de", "la", "is", "was", "known as", "born", "called", "St.", "Dr.", "J.", "I.", "MV Skua", "Skua",
    "Port", "A", "O'Neill", "D'Arcy-Łoś", "C++", "e.g.", "1974", "2026-01-01", "http://[::1", "https://a.example/?q=[1]#",
    "//[", "mailto:x", "[[Skua", "[[Skua]]", "](", "[1]", "[a](b)", "<a href='", "<!--", "```", "---", "{{", "${", "x-api-key",
    "kestrel-gateway", "camelCaseHTTPServer", "snake_case_name", "a.b.c.d", "Question:", "|", "||", "\\", "とは", "は、", "—",
)  # fmt: skip
TEMPLATES = (
    "{w} is a {w}, also known as {w}. ", "# {r}\n", "{w} ({r}) was {w}. ", "[{r}]({r}) ", "[[{r}|{r}]] ", "<a href=\"{r}\">{r}</a>",
    "“{r}” ", "\"{r}\" ", "({r}) ", "[{r}]: {r}\n", "> {r}\n", "| {r} | {r} |\n", "{w} {w} {w} ", "{r}", "{r}{r}", "\n\n", "* {r}\n",
    "{w}'s {w}-{w} ", "---\n{r}: {r}\n---\n", "```{r}\n", "http://{r}/{r} ",
)  # fmt: skip


def run(chooser: random.Random) -> str:
    """One or a few characters, or a word, many times over."""
    kind = chooser.random()
    length = int(2 ** chooser.uniform(0, 10))
    if kind < 0.5:
        return chooser.choice(chooser.choice(ALPHABETS)) * length
    if kind < 0.75:
        return "".join(chooser.choices(chooser.choice(ALPHABETS), k=length))
    unit = "".join(chooser.choice([*WORDS, *chooser.choice(ALPHABETS)]) for _ in range(chooser.randint(1, 3)))
    return (unit + chooser.choice(["", " ", "\n"])) * (length // len(unit) + 1)


def nasty_text(chooser: random.Random, min_characters: int, max_characters: int) -> str:
    """Templates filled with words and runs, until the text is long enough."""
    wanted = chooser.randint(min_characters, max_characters)
    text = run(chooser) if chooser.random() < 0.3 else ""
    favourites = chooser.choices(TEMPLATES, k=chooser.randint(1, 4))
    while len(text) < wanted:
        template = chooser.choice(favourites if chooser.random() < 0.8 else TEMPLATES)
        while "{w}" in template:
            template = template.replace("{w}", chooser.choice(WORDS), 1)
        while "{r}" in template:
            template = template.replace("{r}", run(chooser), 1)
        text += template
    return text[:wanted]
