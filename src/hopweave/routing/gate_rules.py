"""The rules of the gate: which messages skip retrieval, which force it, and which count as questions."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from hopweave.language.phrases import Phrase, PhraseMatcher
from hopweave.routing.pattern import Pattern, found, shipped


class GateRule(BaseModel):
    """A pattern of messages and the action for them: `skip` retrieval, `force` it, or count as a `question`.

    `phrases` (see `hopweave.language.phrases`) cover most cases; `patterns` are regular expressions for the others.

    >>> GateRule(name="thanks", action="skip", phrases=("^merci$",), language="fr").fires("Merci !")
    True
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, description="Name of the rule, as it appears in the decision.")
    action: Literal["skip", "force", "question"] = Field(description="What to do when the rule matches.")
    language: str | None = Field(
        default=None, description="The rule applies if the gate has this language; None: always."
    )
    phrases: tuple[Phrase, ...] = Field(
        default=(), description="Words and phrases; the rule matches if the text contains any of them."
    )
    patterns: tuple[Pattern, ...] = Field(
        default=(), description="Regular expressions; the rule matches if any of them is found."
    )
    max_words: int | None = Field(default=None, ge=1, description="The rule never matches longer messages.")
    unless_question: bool = Field(default=False, description="Whether the rule never matches questions.")

    def fires(self, text: str, matcher: PhraseMatcher | None = None) -> bool:
        """Whether the rule matches this text; `unless_question` is applied by the gate."""
        matcher = matcher or PhraseMatcher(text)
        if self.max_words is not None and matcher.word_count > self.max_words:
            return False
        if matcher.first_match(self.phrases) is not None:
            return True
        return any(found(pattern, text) for pattern in self.patterns)


def _whole(phrases: str) -> tuple[str, ...]:
    """Phrases that must be the whole message."""
    return tuple(f"^{phrase}$" for phrase in phrases.split(", "))


def _opening(phrases: str) -> tuple[str, ...]:
    """Phrases that must open the message."""
    return tuple(f"^{phrase}" for phrase in phrases.split(", "))


def _anywhere(phrases: str) -> tuple[str, ...]:
    return tuple(phrases.split(", "))


_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u20e3\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf\u2900-\u297f"
    "\u2b00-\u2bff\u3030\u303d\u3297\u3299\ufe0e\ufe0f\u200d\U0001f000-\U0001faff\U000e0020-\U000e007f"
)

GATE_RULES: tuple[GateRule, ...] = (
    # force retrieval, whatever else matches
    GateRule(
        name="memory",
        action="force",
        language="en",
        phrases=_anywhere("remember*, recall*, forgot*, forget*, memory, memories"),
    ),
    GateRule(name="past", action="force", language="en", phrases=_anywhere("last time, before, previously")),
    GateRule(
        name="personal",
        action="force",
        language="en",
        phrases=_anywhere("my name, my email, my e mail, my preference*, my favourite, my favorite"),
    ),
    GateRule(
        name="memory",
        action="force",
        language="cjk",
        phrases=_anywhere(
            "记得, 記得, 记住, 記住, 忘了, 忘记, 忘記, 回忆, 回憶, 记忆, 記憶, 覚えて, 思い出, 忘れ, 기억"
        ),
    ),
    GateRule(
        name="past",
        action="force",
        language="cjk",
        phrases=_anywhere("之前, 上次, 以前, 上回, 前回, この前, 先日, 지난번, 지난 번, 이전에, 예전에"),
    ),
    GateRule(
        name="personal",
        action="force",
        language="cjk",
        phrases=_anywhere(
            "我的名字, 我叫什么, 我叫什麼, 我的邮箱, 我的郵箱, 我的偏好, 我喜欢什么, 私の名前, 私のメール, 私の好み, "
            "내 이름, 제 이름, 내 이메일, 내 취향"
        ),
    ),
    # skip retrieval
    GateRule(name="slash_command", action="skip", patterns=shipped(r"\A/")),
    GateRule(name="system", action="skip", patterns=shipped(r"\AHEARTBEAT", r"\A\[System")),
    GateRule(name="emoji", action="skip", patterns=shipped(rf"\A(?:[{_EMOJI}\s]|[0-9#*]\ufe0f?\u20e3)++\Z")),
    GateRule(name="no_words", action="skip", patterns=shipped(r"\A[\W_]*+\Z")),
    GateRule(
        name="greeting",
        action="skip",
        language="en",
        phrases=_whole(
            "hi, hello, hey, hiya, howdy, yo, greetings, good morning, good afternoon, good evening, good day, "
            "good night, morning, evening, hi there, hello there, hey there, hi all, hello all, hi everyone, "
            "hello everyone, hey everyone, hi team, hello world, hi again, hello again, how are you, hi how are you, "
            "hello how are you, hey how are you, what s up, whats up, sup, bye, goodbye, see you, cheers, thanks, "
            "thank you, thanks a lot, thank you very much, many thanks, ty, thx, thanks again, ok thanks, okay thanks, "
            "ok thank you, great thanks, perfect thanks, cool thanks, hi bot, hello bot, hey bot, thanks bot, welcome, "
            "you re welcome, nice to meet you, good to see you, see you later, talk to you later, have a nice day"
        ),
    ),
    GateRule(
        name="greeting",
        action="skip",
        phrases=_whole(
            "hallo, moin, servus, guten morgen, guten tag, guten abend, gute nacht, danke, danke schön, vielen dank, "
            "tschüss, bonjour, bonsoir, salut, merci, merci beaucoup, au revoir, hola, buenos días, buenos dias, "
            "buenas tardes, buenas noches, gracias, muchas gracias, adiós, adios, ciao, buongiorno, buonasera, grazie, "
            "olá, ola, bom dia, boa tarde, boa noite, obrigado, obrigada, hej, hei, tak, tack, takk, dzień dobry, "
            "dziękuję, привет, здравствуйте, спасибо, merhaba, teşekkürler, namaste"
        ),
    ),
    GateRule(
        name="small_talk",
        action="skip",
        language="en",
        phrases=_whole(
            "hm, hmm, hmmm, uh, um, ah, oh, oops, wow, lol, haha, hahaha, huh, oh no, oh well, oh ok, i see, ah ok, "
            "please, sorry, no worries, no problem, never mind, nevermind, nvm, forget it, same here, me too, "
            "well done, good job, good bot, good point, awesome, amazing, interesting, anyway, whatever, "
            "this one, that one, these, those, both, neither, none, either, the first, the second, the last, "
            "first one, second one, last one, the first one, the second one, the last one, the other one"
        ),
        patterns=shipped(r"\A\d{1,2}[.)]?\Z"),  # the number of a choice
    ),
    GateRule(
        name="chat_command",
        action="skip",
        language="en",
        phrases=_whole("help, exit, quit, cancel, abort, clear, reset, undo, redo, back, retry, pause, resume"),
    ),
    GateRule(
        name="affirmation",
        action="skip",
        language="en",
        phrases=_whole(
            "yes, yeah, yep, yup, y, no, nope, nah, n, ok, okay, k, kk, sure, sure thing, fine, right, correct, "
            "agreed, great, good, perfect, nice, cool, ok cool, ok great, ok good, got it, sounds good, looks good, "
            "lgtm, of course, absolutely, exactly, indeed, alright, all right, yes please, no thanks, no thank you, "
            "maybe, done, understood"
        ),
    ),
    GateRule(
        name="continuation",
        action="skip",
        language="en",
        phrases=_whole(
            "go ahead, please go ahead, continue, please continue, proceed, please proceed, go on, carry on, "
            "keep going, next, do it, let s go, lets go, go, start, stop, wait, try again, again, more, yes go ahead, "
            "ok go ahead, yes continue, ok continue, yes do it, ok do it, tell me more, show more, show me more"
        ),
    ),
    GateRule(
        name="shell_program",
        action="skip",
        phrases=_opening(
            "git, npm, npx, yarn, pnpm, pip, pip3, kubectl, cargo, sudo, cd, ls, chmod, chown, curl, wget, ssh, scp, "
            "rm, mv, cp, mkdir, grep, apt, apt get, brew, docker, pytest, systemctl, uv, poetry, terraform, helm, "
            "go run, go build, go test, make test, make build, make install, make clean, python m, python3"
        ),
        max_words=12,
        unless_question=True,
    ),
    GateRule(
        name="shell_verb",
        action="skip",
        language="en",
        phrases=_opening("run, build, test, compile, lint, install, deploy, restart, rebuild, rerun, execute"),
        max_words=5,
        unless_question=True,
    ),
    GateRule(
        name="greeting",
        action="skip",
        language="cjk",
        phrases=_whole(
            "你好, 您好, 你好呀, 你好啊, 嗨, 哈喽, 大家好, 早, 早安, 早上好, 上午好, 中午好, 下午好, 晚上好, 晚安, "
            "再见, 再見, 谢谢, 謝謝, 多谢, 你好吗, こんにちは, こんばんは, おはよう, おはようございます, ありがとう, "
            "ありがとうございます, さようなら, 안녕, 안녕하세요, 감사합니다, 고마워"
        ),
    ),
    GateRule(
        name="affirmation",
        action="skip",
        language="cjk",
        phrases=_whole(
            "好, 好的, 好吧, 好啊, 是, 是的, 对, 对的, 對, 嗯, 嗯嗯, 不, 不是, 不要, 不用, 没有, 可以, 行, 没问题, "
            "當然, 当然, 明白, 明白了, 知道了, 收到, はい, いいえ, うん, 了解, 了解です, わかりました, 네, 예, "
            "아니요, 알겠습니다, 좋아요"
        ),
    ),
    GateRule(
        name="continuation",
        action="skip",
        language="cjk",
        phrases=_whole(
            "继续, 請繼續, 繼續, 请继续, 继续吧, 开始, 开始吧, 下一步, 続けて, 続けてください, お願いします, 계속, "
            "계속해, 계속하세요, 진행해"
        ),
    ),
    # count as a question, however short
    GateRule(name="question_mark", action="question", patterns=shipped(r"\w\W{0,3}(?:\?(?!\w)|？)")),
    GateRule(
        name="question_word",
        action="question",
        language="en",
        phrases=_anywhere(
            "who, whose, whom, what, when, where, why, which, how, ^is, ^are, ^was, ^were, ^do, ^does, ^did, ^can, "
            "^could, ^should, ^would, ^will, ^has, ^have"
        ),
    ),
    GateRule(
        name="question_word",
        action="question",
        language="cjk",
        phrases=_anywhere(
            "吗, 嗎, 呢, 什么, 什麼, 谁, 誰, 哪, 怎么, 怎麼, 怎样, 为什么, 為什麼, 几, 多少, 是否, 何, どこ, いつ, "
            "なぜ, どう, ですか, ますか, 무엇, 누구, 어디, 언제, 왜, 어떻게, 몇"
        ),
    ),
)
"""The built-in rules, in the order in which they are tried within each action."""
