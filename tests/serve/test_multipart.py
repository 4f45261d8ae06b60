"""Forms of type multipart/form-data, as clients send them and as nobody should."""

import pytest

from pocketmt.serving.multipart import LONGEST_HEADERS, Part, form_parts

TYPE = 'multipart/form-data; boundary="x y"'


def form(*parts: bytes) -> bytes:
    return b"".join(b"--x y\r\n" + part + b"\r\n" for part in parts) + b"--x y--\r\n"


def field(name: str, content: bytes, headers: str = "") -> bytes:
    return f'Content-Disposition: form-data; name="{name}"{headers}\r\n\r\n'.encode() + content


def test_fields_and_files() -> None:
    content = bytes(range(256)) + b"\r\n--x\r\n\r\n--\r\n"
    body = form(
        field("q", "Zwei Hündchen".encode()),
        field("file", content, '; filename="Hündchen.txt"\r\nContent-Type: text/plain'),
        field("empty", b""),
        b"\r\nno name",
    )
    assert form_parts(TYPE, b"preamble\r\n" + body + b"epilogue", 4) == [
        Part("q", None, "Zwei Hündchen".encode()),
        Part("file", "Hündchen.txt", content),
        Part("empty", None, b""),
        Part(None, None, b"no name"),
    ]


def test_a_transfer_encoding_is_decoded() -> None:
    body = form(field("q", b"VHdvIGRvZ3Mu", "\r\nContent-Transfer-Encoding: base64"))
    assert form_parts(TYPE, body, 1) == [Part("q", None, b"Two dogs.")]


def test_a_declared_encoding_is_told() -> None:
    body = form(field("q", b"Gr\xfc\xdfe", "\r\nContent-Type: text/plain; charset=ISO-8859-1"))
    assert form_parts(TYPE, body, 1) == [Part("q", None, b"Gr\xfc\xdfe", "iso-8859-1")]


def test_a_part_that_is_itself_of_several_parts_is_not_divided() -> None:
    inner = b"--inner\r\n\r\ntext\r\n--inner--"
    body = form(b"Content-Type: multipart/mixed; boundary=inner\r\n" + field("q", inner))
    assert form_parts(TYPE, body, 1) == [Part("q", None, inner)]


@pytest.mark.parametrize("sign", ['"', "(", "[] ", "\\"])
def test_the_time_is_proportional_to_the_headers(sign: str) -> None:
    """A quadratic one, of a hundred parts in many forms, would take minutes."""
    headers = f"; x={sign * (8_000 // len(sign))}"
    for _ in range(20):
        assert form_parts(TYPE, form(*[field("q", b"a", headers)] * 100), 100) == [Part("q", None, b"a")] * 100


@pytest.mark.parametrize("headers", ["; \xff*0*", f"; filename*{'9' * 10}=a", "; =", "; filename"])
def test_malformed_parameters_are_ignored(headers: str) -> None:
    [part] = form_parts(TYPE, form(field("q", b"a", headers)), 1)
    assert (part.name, part.content) == ("q", b"a")


@pytest.mark.parametrize(
    ("type_", "body", "named"),
    [
        ("multipart/form-data", form(field("q", b"a")), "no boundary"),
        (TYPE, b"", "last delimiter"),
        (TYPE, b"--x y\r\n" + field("q", b"a"), "last delimiter"),
        (TYPE, form(*[field("q", b"a")] * 3), "more than 2 parts"),
        (TYPE, form(b'Content-Disposition: form-data; name="q"'), "headers and an empty line"),
        (TYPE, b"--x yz\r\n" + field("q", b"a") + b"\r\n--x y--", "headers and an empty line"),
        (TYPE, form(field("q", b"a", ";" * 20)), "headers have more than 20 semicolons"),
        (f"{TYPE}{';' * 20}", form(field("q", b"a")), "headers have more than 20 semicolons"),
        (TYPE, form(b"A: " + b"a" * LONGEST_HEADERS + b"\r\n\r\na"), "headers have more"),
        ("multipart/form-data; boundary=" + "a" * LONGEST_HEADERS, b"", "headers have more"),
    ],
)
def test_other_bodies_are_refused(type_: str, body: bytes, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        form_parts(type_, body, 2)
