"""The encodings of HTML documents, as browsers find them."""

import codecs
import re
from typing import Final, NamedTuple

from pocketmt.errors import DataError

HTML_SUFFIXES: Final = (".html", ".htm", ".xhtml", ".xht")
_LONGEST_HEAD: Final = 4096  # bytes in which a charset is declared
_MARK: Final = codecs.BOM_UTF8
_MARKS_OF_UTF_16: Final = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_CONTROLS: Final = range(0x80, 0xA0)  # bytes that Windows' code pages lack, and browsers take for control characters
_AS_BROWSERS: Final = "pocketmt-html"  # name of the handler of errors
_WHOLE: Final = re.compile(rb"(?i)<!doctype|<html")
_COMMENT: Final = re.compile(rb"<!--(?:-?>|.*?(?:-->|\Z))", re.DOTALL)
_DECLARATION: Final = re.compile(
    rb"(?i)(?:<meta\s[^>]*?charset\s*=\s*[\"']?|<\?xml\s[^>]*?encoding\s*=\s*[\"'])\s*([\w.:-]+)", re.ASCII
)
# Python's names of the encodings of https://encoding.spec.whatwg.org, and of those that browsers read as others. A
# document that declares UTF-16 in ASCII is in UTF-8.
_READ_AS: Final = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "euc_kr": "cp949", "shift_jis": "cp932", "big5": "big5hkscs",
    "utf-16": "utf-8", "utf-16-le": "utf-8", "utf-16-be": "utf-8",
}  # fmt: skip
# Labels that Python does not know.
_LABELS: Final = {
    "windows-874": "cp874", "dos-874": "cp874", "x-sjis": "cp932", "windows-31j": "cp932", "windows-949": "cp949",
    "iso-8859-8-i": "iso8859-8", "iso88591": "cp1252", "x-gbk": "gb18030", "gb_2312-80": "gb18030",
    "x-mac-roman": "mac-roman", "x-mac-cyrillic": "mac-cyrillic", "unicode-1-1-utf-8": "utf-8",
    **{f"x-cp125{page}": f"cp125{page}" for page in range(9)},
}  # fmt: skip
_READ_AS_NAMED: Final = {
    "utf-8", "cp866", "cp874", "koi8-r", "koi8-u", "mac-roman", "mac-cyrillic", "gb18030", "big5hkscs", "euc_jp",
    "iso2022_jp", "cp932", "cp949", *(f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)),
    *(f"cp125{page}" for page in range(9)),
}  # fmt: skip


def _as_browsers(error: UnicodeError) -> tuple[str | bytes, int]:
    """Handle what an encoding lacks: bytes of controls in Windows' code pages stay, characters become references."""
    if isinstance(error, UnicodeDecodeError):
        byte = error.object[error.start]
        if error.encoding == "charmap" and byte in _CONTROLS:
            return chr(byte), error.start + 1
    elif isinstance(error, UnicodeEncodeError):
        code = ord(error.object[error.start])
        if error.encoding == "charmap" and code in _CONTROLS:
            return bytes([code]), error.start + 1
        return codecs.xmlcharrefreplace_errors(error)
    raise error


codecs.register_error(_AS_BROWSERS, _as_browsers)


class DocumentEncoding(NamedTuple):
    """How a document is written.

    Attributes:
        name: of Python's codec.
        mark: the byte order mark with which it begins.
    """

    name: str
    mark: bytes = b""

    def encode(self, text: str) -> bytes:
        """Return a text without the mark; what the encoding lacks becomes references such as `&#252;`."""
        return text.encode(self.name, _AS_BROWSERS)


def read_document(content: bytes, name: str) -> tuple[str, DocumentEncoding]:
    """Return a document without its byte order mark, and its encoding: that of the mark, the declared one, or UTF-8.

    A document in ASCII that does not declare one stays in ASCII, as browsers may not expect UTF-8; a part of a document
    becomes UTF-8.

    Args:
        content: HTML.
        name: of the file, for messages.

    Raises:
        DataError: the document is not in its encoding, or declares an unknown one.
    """
    declared, encoding = _encoding(content, name)
    try:
        text = content[len(encoding.mark) :].decode(encoding.name, _AS_BROWSERS)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(f"{name}, line {line}: not {declared} ({error.reason}): save the file in UTF-8") from error
    return text, encoding


def _encoding(content: bytes, name: str) -> tuple[str, DocumentEncoding]:
    """Return the encoding of a document under the name that it declares, and as it is read."""
    if content.startswith(_MARK):
        return "utf-8", DocumentEncoding("utf-8", _MARK)
    for mark, encoding in _MARKS_OF_UTF_16.items():
        if content.startswith(mark):
            return encoding, DocumentEncoding(encoding, mark)
    head = _COMMENT.sub(b"", content[:_LONGEST_HEAD])
    found = _DECLARATION.search(head)
    if found is None:
        stays_ascii = content.isascii() and _WHOLE.search(head)
        return "utf-8", DocumentEncoding("ascii" if stays_ascii else "utf-8")
    declared = found[1].decode("ascii")
    try:
        python_name = codecs.lookup(_LABELS.get(declared.lower(), declared)).name
    except LookupError:
        python_name = ""
    read_as = _READ_AS.get(python_name, python_name)
    if read_as not in _READ_AS_NAMED:
        raise DataError(f"{name} declares the charset {declared!r}, which is unknown: save it in UTF-8")
    return declared, DocumentEncoding(read_as)
