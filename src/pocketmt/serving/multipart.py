"""Parts of a form of type multipart/form-data (RFC 7578).

Only the delimiter of the form divides it. A parser of e-mail would also look for those of multipart contents inside
its parts, in time that grows with their depth times the lines.
"""

from email.message import Message
from email.parser import HeaderParser
from email.policy import compat32
from typing import Final, NamedTuple

LONGEST_HEADERS: Final = 8_192  # bytes of a part's headers, or of the type of the form
MOST_SEMICOLONS: Final = 20  # in them; the time to parse them grows with the square of their number


class Part(NamedTuple):
    """A part of a form; `charset` is the declared encoding in lower case, "" if none is."""

    name: str | None
    file_name: str | None
    content: bytes
    charset: str = ""


def form_parts(content_type: str, body: bytes, most: int) -> list[Part]:
    """Return the parts of a form.

    Args:
        content_type: of the form, with its boundary.
        body: the form.
        most: number of parts.

    Raises ValueError if the body is not such a form, or has more parts.
    """
    boundary = _headers(b"Content-Type: " + content_type.encode("latin-1", "replace")).get_boundary()
    if not boundary:
        raise ValueError("there is no boundary")
    delimiter = b"\r\n--" + boundary.encode("latin-1", "replace")
    _, *sections = (b"\r\n" + body).split(delimiter, most + 1)
    parts: list[Part] = []
    for section in sections:
        if section.startswith(b"--"):
            return parts
        if len(parts) == most:
            raise ValueError(f"there are more than {most} parts")
        parts.append(_part(section))
    raise ValueError("the last delimiter is missing")


def _part(section: bytes) -> Part:
    padding, line_end, rest = section.partition(b"\r\n")
    # An empty line ends the headers; there may be none.
    head, empty_line, content = (line_end + rest).partition(b"\r\n\r\n")
    if padding.strip() or not empty_line:
        raise ValueError("a part does not begin with headers and an empty line")
    headers = _headers(head.removeprefix(b"\r\n"))
    name = headers.get_param("name", header="content-disposition")
    headers.set_payload(content.decode("ascii", "surrogateescape"))
    decoded = headers.get_payload(decode=True)  # by its Content-Transfer-Encoding, if it has one
    assert isinstance(decoded, bytes)
    charset = headers.get_content_charset("")
    return Part(name if isinstance(name, str) else None, headers.get_filename(), decoded, charset)


def _headers(lines: bytes) -> Message:
    if len(lines) > LONGEST_HEADERS:
        raise ValueError(f"headers have more than {LONGEST_HEADERS} bytes")
    if lines.count(b";") > MOST_SEMICOLONS:
        raise ValueError(f"headers have more than {MOST_SEMICOLONS} semicolons")
    # With the newer policies, the time to parse a value grows with the square of its length.
    return HeaderParser(policy=compat32).parsestr(lines.decode("utf-8", "replace") + "\r\n\r\n")
