"""Scripts as character classes for `re`, without brackets."""

SOUTH_EAST_ASIAN = "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
KANA = "\u3040-\u30fa\u30fc-\u30ff"
HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
HANGUL = "\uac00-\ud7a3"
CJK = KANA + HAN + HANGUL + "\u3005-\u3007\u31f0-\u31ff\U00020000-\U0003fffd"  # and signs such as 々, rare characters
UNSPACED = SOUTH_EAST_ASIAN + CJK
"""Scripts that put no space between words, or join small words to names: each character counts as a word."""
