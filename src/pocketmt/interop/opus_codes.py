"""Language codes of OPUS-MT models: pieces such as >>deu<<, which a source begins with, and codes of their sides."""

import re
from collections.abc import Iterable
from typing import Final

from pocketmt.errors import ConfigurationError
from pocketmt.model_file.language_pieces import LanguagePieces
from pocketmt.text.languages import check_language

_CODE: Final = re.compile(">>[^<>]{1,64}<<")
# Several languages, and the groups and families of ISO 639-5.
_GROUPS: Final = (
    "aav afa alg alv apa aqa aql art ath auf aus awd azc bad bai bat ber bih bnt btk cai cau cba ccn ccs cdc cdd "
    "cel cmc cpe cpf cpp crp csu cus day dmn dra egx esx euq fiu fox gem gme gmq gmw grk hmx hok hyx iir ijo inc "
    "ine ira iro itc jpx kar kdo khi kro map mkh mno mul mun myn nah nai ngf nic nub omq omv oto paa phi plf poz "
    "pqe pqw pra qwe roa sai sal sdv sem sgn sio sit sla smi son sqj ssa syd tai tbq trk tup tut tuw urj wak wen "
    "xgn xnd ypk zhx zle zls zlw znd"
)


def opus_languages(pieces: Iterable[str]) -> LanguagePieces | None:
    """Return the languages of a source vocabulary, None if it has no codes."""
    codes = {piece[2:-2]: piece for piece in pieces if _CODE.fullmatch(piece)}
    return LanguagePieces(codes, "source") if codes else None


def opus_language(code: object) -> str:
    """Return the language of a model's side, "" if its code stands for several, such as mul, gmw and ROMANCE."""
    if not isinstance(code, str) or code in _GROUPS.split():
        return ""
    try:
        check_language(code)
    except ConfigurationError:
        return ""
    return code
