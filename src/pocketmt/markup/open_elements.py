"""The elements that are open at a place of a document, where HTML lets end tags be left out.

Source: HTML Standard (WHATWG), sections 13.1.2.4 (optional tags), 13.2.4.2 (the stack of open elements) and 13.2.4.3
(the list of active formatting elements).
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from pocketmt.markup.tokens import VOID, Token


def _names(names: str) -> frozenset[str]:
    return frozenset(names.split())


# Elements within a line; all others end a segment.
INLINE: Final = _names(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark q s samp small span strike "
    "strong sub sup time tt u var wbr"
)
# A tag ends no element around one of these.
_SCOPE: Final = _names(
    "caption html marquee object table td template th "
    "annotation-xml mi mn mo ms mtext "  # MathML
    "desc foreignobject title"  # SVG
)
_TABLE_SCOPE: Final = _names("html table template")
_LIST_SCOPE: Final = _SCOPE | _names("dir dl menu ol ul")
_SELECT_SCOPE: Final = _SCOPE | _names("datalist select")
_TABLE_PARTS: Final = _names("caption colgroup tbody td tfoot th thead tr")
# Browsers continue these after a start tag that ends the paragraph or list item around them, but not in the next cell.
_FORMATTING: Final = _names("a b big code em font i nobr s small strike strong tt u")


class _Rule(NamedTuple):
    """Names of the elements that a start tag ends, if they are not around one of the names of the scope."""

    ended: frozenset[str]
    scope: frozenset[str]


_PARAGRAPH: Final = _Rule(_names("p"), _SCOPE | {"button"})
_RULES: Final[dict[str, tuple[_Rule, ...]]] = {
    **dict.fromkeys(
        _names(
            "address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form "
            "h1 h2 h3 h4 h5 h6 header hgroup listing main menu nav ol p plaintext pre search section summary table ul "
            "xmp"
        ),
        (_PARAGRAPH,),
    ),
    "li": (_Rule(_names("li"), _LIST_SCOPE), _PARAGRAPH),
    **dict.fromkeys(("dd", "dt"), (_Rule(_names("dd dt"), _LIST_SCOPE), _PARAGRAPH)),
    "option": (_Rule(_names("option"), _SELECT_SCOPE),),
    "optgroup": (_Rule(_names("optgroup option"), _SELECT_SCOPE),),
    "hr": (_Rule(_names("optgroup option"), _SELECT_SCOPE), _PARAGRAPH),
    **dict.fromkeys(("td", "th"), (_Rule(_names("caption colgroup td th"), _TABLE_SCOPE),)),
    "tr": (_Rule(_names("caption colgroup td th tr"), _TABLE_SCOPE),),
    **dict.fromkeys(_names("caption col colgroup tbody tfoot thead"), (_Rule(_TABLE_PARTS, _TABLE_SCOPE),)),
    **dict.fromkeys(("rp", "rt"), (_Rule(_names("rb rp rt"), _SCOPE | {"ruby"}),)),
    **dict.fromkeys(("rb", "rtc"), (_Rule(_names("rb rp rt rtc"), _SCOPE | {"ruby"}),)),
    "body": (_Rule(_names("head"), _SCOPE),),
}
# Of end tags; those of other elements have the common scope.
_END_SCOPES: Final = {
    "p": _PARAGRAPH.scope,
    "li": _SCOPE | _names("ol ul"),
    **dict.fromkeys(_TABLE_PARTS | {"table"}, _TABLE_SCOPE),
    "template": frozenset[str](),
}


class OpenElements:
    """The open elements, from the outermost to the innermost. Reads a document in time proportional to its length."""

    def __init__(self) -> None:
        self._open: list[str] = []
        self._places: dict[str, list[int]] = {}  # name -> its indices among the open elements
        self._blocks: list[int] = []  # indices of the elements that are not inline

    def __len__(self) -> int:
        return len(self._open)

    def read(self, token: Token, outside: int | None = None) -> int:
        """Take note of a token, and return how many of the elements that were open before it stay open.

        Args:
            token: the next of the document.
            outside: number of elements around one that is copied; None: none is copied. An end tag always ends the
                copied element or one in it, even if badly nested, so that no more is copied than must be. A start tag
                ends a copied formatting element only if it begins another part of the table around the element. All
                else ends as in browsers.
        """
        if not token.name:
            return len(self)
        if token.closing:
            self._end(token.name, outside)
            return len(self)
        formatting = outside if outside is not None and self._open[outside] in _FORMATTING else -1
        for rule in _RULES.get(token.name, ()):
            first = self._innermost(rule.scope)
            while (place := self._innermost(rule.ended)) > first:
                if place < formatting and rule.scope != _TABLE_SCOPE:
                    self._end_only(place)
                else:
                    self._cut(place)
        kept = len(self)
        if token.name not in VOID:
            self._places.setdefault(token.name, []).append(kept)
            if token.name not in INLINE:
                self._blocks.append(kept)
            self._open.append(token.name)
        return kept

    def _end(self, name: str, outside: int | None) -> None:
        place = self._innermost((name,))
        if outside is None or place < outside:
            blocks = self._blocks[-1] if self._blocks else -1
            if place < (blocks if name in INLINE else self._innermost(_END_SCOPES.get(name, _SCOPE))):
                return
        if place >= 0:
            self._cut(place)

    def _innermost(self, names: Iterable[str]) -> int:
        """Return the index of the innermost open element with one of some names; -1: there is none."""
        return max((places[-1] for name in names if (places := self._places.get(name))), default=-1)

    def _end_only(self, place: int) -> None:
        """End the innermost open element of its name; those in it stay open, and it keeps its place, without a name."""
        self._places[self._open[place]].pop()
        self._places.setdefault("", []).append(place)
        self._open[place] = ""

    def _cut(self, place: int) -> None:
        """End all elements from an index on."""
        for name in self._open[place:]:
            self._places[name].pop()
        while self._blocks and self._blocks[-1] >= place:
            self._blocks.pop()
        del self._open[place:]
