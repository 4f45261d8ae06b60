"""The script in which a language is usually written, which its tag need not name."""

from typing import Final

# ISO 15924 -> ISO 639-1, as the subtag registry of BCP 47 has them (Suppress-Script). Both codes for Korean are in use.
_LANGUAGES: Final = {
    "Arab": "ar fa ps ur",
    "Armn": "hy",
    "Beng": "as bn",
    "Cyrl": "ab be bg kk mk ru uk",
    "Deva": "hi mr ne",
    "Ethi": "am ti",
    "Geor": "ka",
    "Grek": "el",
    "Gujr": "gu",
    "Guru": "pa",
    "Hang": "ko",
    "Hebr": "he yi",
    "Jpan": "ja",
    "Khmr": "km",
    "Knda": "kn",
    "Kore": "ko",
    "Laoo": "lo",
    "Latn": (
        "af ay bs ca ch cs cy da de en eo es et eu fi fj fo fr fy ga gl gn gv hr ht hu id is it kl la lb ln lt lv mg "
        "mh ms mt na nb nd nl nn no nr ny om pl pt qu rm rn ro rw sg sk sl sm so sq ss st sv sw tl tn to tr ts ve vi "
        "xh zu"
    ),
    "Mlym": "ml",
    "Mymr": "my",
    "Orya": "or",
    "Sinh": "si",
    "Taml": "ta",
    "Telu": "te",
    "Thaa": "dv",
    "Thai": "th",
    "Tibt": "dz",
}
USUAL_SCRIPTS: Final = {
    language: tuple(script for script, languages in _LANGUAGES.items() if language in languages.split())
    for language in " ".join(_LANGUAGES.values()).split()
}
