"""Language codes: ISO 639, with an optional script and region as in BCP 47."""

import re
from collections.abc import Sequence
from typing import Final

from pocketmt.errors import ConfigurationError
from pocketmt.text.language_tags import primary_subtag, standard_tag

# ISO 639-1, with English names.
_NAMES: Final = (
    "aa afar, ab abkhazian, ae avestan, af afrikaans, ak akan, am amharic, an aragonese, ar arabic, as assamese, av "
    "avaric, ay aymara, az azerbaijani, ba bashkir, be belarusian, bg bulgarian, bh bihari languages, bi bislama, "
    "bm bambara, bn bengali, bo tibetan, br breton, bs bosnian, ca catalan, ce chechen, ch chamorro, co corsican, "
    "cr cree, cs czech, cu church slavic, cv chuvash, cy welsh, da danish, de german, dv divehi, dz dzongkha, ee "
    "ewe, el greek, en english, eo esperanto, es spanish, et estonian, eu basque, fa persian, ff fulah, fi finnish, "
    "fj fijian, fo faroese, fr french, fy western frisian, ga irish, gd gaelic, gl galician, gn guarani, gu "
    "gujarati, gv manx, ha hausa, he hebrew, hi hindi, ho hiri motu, hr croatian, ht haitian, hu hungarian, hy "
    "armenian, hz herero, ia interlingua, id indonesian, ie interlingue, ig igbo, ii sichuan yi, ik inupiaq, io "
    "ido, is icelandic, it italian, iu inuktitut, ja japanese, jv javanese, ka georgian, kg kongo, ki kikuyu, kj "
    "kuanyama, kk kazakh, kl kalaallisut, km central khmer, kn kannada, ko korean, kr kanuri, ks kashmiri, ku "
    "kurdish, kv komi, kw cornish, ky kirghiz, la latin, lb luxembourgish, lg ganda, li limburgan, ln lingala, lo "
    "lao, lt lithuanian, lu luba-katanga, lv latvian, mg malagasy, mh marshallese, mi maori, mk macedonian, ml "
    "malayalam, mn mongolian, mr marathi, ms malay, mt maltese, my burmese, na nauru, nb bokmål, nd north ndebele, ne "
    "nepali, ng ndonga, nl dutch, nn norwegian nynorsk, no norwegian, nr south ndebele, nv navajo, ny chichewa, oc "
    "occitan, oj ojibwa, om oromo, or oriya, os ossetian, pa panjabi, pi pali, pl polish, ps pushto, pt portuguese, "
    "qu quechua, rm romansh, rn rundi, ro romanian, ru russian, rw kinyarwanda, sa sanskrit, sc sardinian, sd "
    "sindhi, se northern sami, sg sango, sh serbo-croatian, si sinhala, sk slovak, sl slovenian, sm samoan, sn "
    "shona, so somali, sq albanian, sr serbian, ss swati, st sotho, su sundanese, sv swedish, sw swahili, ta tamil, "
    "te telugu, tg tajik, th thai, ti tigrinya, tk turkmen, tl tagalog, tn tswana, to tonga, tr turkish, ts tsonga, "
    "tt tatar, tw twi, ty tahitian, ug uighur, uk ukrainian, ur urdu, uz uzbek, ve venda, vi vietnamese, vo "
    "volapük, wa walloon, wo wolof, xh xhosa, yi yiddish, yo yoruba, za zhuang, zh chinese, zu zulu "
)
_CODES: Final = {entry.partition(" ")[2]: entry.partition(" ")[0] for entry in _NAMES.strip().split(", ")}
_KNOWN: Final = frozenset(_CODES.values())
_ENGLISH: Final = {code: name for name, code in _CODES.items()}
# Codes of countries and old codes that are often taken for those of their languages.
_MISTAKEN: Final = {"jp": "ja", "cn": "zh", "kr": "ko", "cz": "cs", "gr": "el", "ua": "uk", "dk": "da", "iw": "he"}
_TAG: Final = re.compile(
    r"[a-z]{2,3}([-_][a-z]{4})?([-_]([a-z]{2}|\d{3}))?([-_][a-z\d]{5,8})*|x([-_][a-z\d]{1,8})+", re.I
)
_WITH_SCRIPT: Final = re.compile("[a-z]{3}[-_][A-Z][a-z]{3}")
# de_score and doc_id are names of other columns: scripts and regions are written in capitals.
_NAME: Final = re.compile(r"([a-z]{2,3}|[A-Z]{2,3})([-_][A-Z][a-z]{3})?([-_]([A-Z]{2}|\d{3}))?")


def is_language_name(text: str) -> bool:
    """Return whether the name of a column or field has the form of a language code; there may be no such language."""
    return _NAME.fullmatch(text) is not None


def names_known_language(text: str) -> bool:
    """Return whether a text is the code of a language in ISO 639-1, by two or three letters, or has a script.

    A word with a capital letter, such as "No", is not taken for a code.
    """
    if not is_language_name(text):
        return False
    return primary_subtag(text) in _KNOWN or _WITH_SCRIPT.match(text) is not None


def check_language(code: str, name: str = "") -> None:
    """Raise ConfigurationError, if possible with a suggestion, if a text cannot be the code of a language.

    The message begins with `name`, such as "the target language".
    """
    if _TAG.fullmatch(code):
        return
    from difflib import get_close_matches

    close = get_close_matches(code.lower(), _CODES, 1, 0.8)
    hint = f"write {_CODES[close[0]]!r}" if close else "write a code of ISO 639 such as 'en', 'pt-BR' or 'zh-Hant'"
    raise ConfigurationError(f"{name}{': ' if name else ''}{code!r} is not the code of a language: {hint}")


def check_same_languages(name: str, languages: Sequence[str], other: str, others: Sequence[str]) -> None:
    """Check that two models or texts have the same source and target language.

    Scripts and regions may differ, and so may the codes of a language: deu_Latn is de. An unknown language, "", is
    no difference.

    Args:
        name: of the first one, for the message.
        languages: its source and target language.
        other: of the second one, for the message.
        others: its source and target language.

    Raises ConfigurationError if they differ.
    """
    for side, own, its in zip(("source", "target"), languages, others, strict=True):
        if own and its and primary_subtag(own) != primary_subtag(its):
            raise ConfigurationError(
                f"the {side} language of {name} is {own}, that of {other} is {its}: choose two of the same languages"
            )


def language_warning(code: str) -> str | None:
    """Return a warning if no language has a code of two letters; codes of three letters are not checked."""
    primary = re.split("[-_]", code.lower())[0]
    if len(primary) != 2 or primary in _KNOWN:
        return None
    hint = f": do you mean {_MISTAKEN[primary]!r}?" if primary in _MISTAKEN else ""
    return f"no language has the code {code!r} (ISO 639){hint}"


def language_name(code: str) -> str:
    """Return the English name of a language, and of its script or region if its code has one that is not the usual one.

    An unknown code stays.
    """
    primary, *others = standard_tag(code).split("-")
    name = _ENGLISH.get(primary)
    if name is None:
        return code
    return f"{name.title()} ({'-'.join(others)})" if others else name.title()
