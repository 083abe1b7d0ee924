"""Stop words: one list for names in the graph, in several European languages, and one per language for BM25.

A name that consists only of stop words is not searched for in text, and a stop word of a question is not linked to a
node.
"""

from pathlib import Path

from hopweave.concurrency.once import once

_LISTS = """
a about above after again against all also although am among an and another any anybody anyone anything are around as
at away be became because become been before being below between both but by came can cannot could did do does doing
done down during each either else even ever every everyone few first for from further gave get give goes going got had
has have having he hence her here hers herself him himself his how however i if in indeed inside instead into is it its
itself just last later least less let like ll made make many may me meanwhile might mine more moreover most much must
my myself nevertheless next no nor not nothing now of off often on once one only onto or other others otherwise our
ours out outside over own per perhaps please put quite rather re really s same say says second see seen several shall
she should since so some someone something sometimes soon still such t than that the their theirs them themselves then
there therefore these they this those though three through throughout thus to together too toward towards two under
unless until up upon us use used using ve very via was we well went were what whatever when whenever where whereas
whether which while who whoever whom whose why will with within without would yes yet you your yours yourself
tell show list find name explain describe

der die das den dem des ein eine einer eines einem einen und oder aber auch auf aus bei bis durch für gegen im in ist
sind war waren wird werden wurde mit nach nicht noch nur ob ohne sich sie er es wir ihr über um unter vom von vor wie
wer was wann warum wo welche welcher welches zu zum zur zwischen als am an haben hat sein seine seiner ihre ihren

le la les un une des du de et ou mais dans par pour sur sous avec sans est sont était ont il elle ils elles nous vous
ce cette ces cet que qui quoi dont où quand comment pourquoi quel quelle quels quelles au aux en ne pas plus son sa ses

el la los las un una unos unas y o pero de del en por para con sin sobre es son era fue ha han que quien cual cuales
donde cuando como cuál quién dónde cuándo cómo qué su sus se no al lo este esta estos estas

il lo la i gli le un uno una e o ma di del della dei delle da dal in nel nella con su per tra fra è sono era che chi cui
dove quando come perché quale quali si non al alla

o a os as um uma uns umas e ou mas de do da dos das em no na nos nas por para com sem sobre é são foi que quem qual
quais onde quando como se não ao à seu sua

de het een en of maar van in op aan met voor door uit bij naar is zijn was waren wordt werd dat die dit deze wie wat
waar wanneer waarom hoe welke er niet ook hij zij ze hun haar

и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня о из
когда кто где это для мы их чем был была были быть до или который какой
"""

STOP_WORDS = frozenset(_LISTS.split())

ARTICLES = frozenset({"the", "a", "an", "der", "die", "das", "le", "la", "les", "el", "los", "las", "il", "lo", "het"})
"""Articles, with which many names begin: Los Angeles, Le Havre."""

_CALENDAR = """
january february march april may june july august september october november december
monday tuesday wednesday thursday friday saturday sunday
januar februar märz mai juni juli oktober dezember
janvier février mars avril juin juillet août septembre octobre novembre décembre
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
"""

CALENDAR_WORDS = frozenset(_CALENDAR.split())
"""Names of months and days: texts that share only these are not related."""


@once()
def bm25_stop_words(language: str) -> frozenset[str]:
    """The words that BM25 leaves out, other than those of the graph; none for a language without a list.

    >>> "the" in bm25_stop_words("english"), bm25_stop_words("finnish")
    (True, frozenset())
    """
    lists = Path(__file__).with_name("bm25_stop_words.txt").read_text(encoding="utf-8")
    found = lists.partition(f"\n{language}:\n")[2]
    return frozenset(found.partition("\n\n")[0].split())
