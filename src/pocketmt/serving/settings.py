"""Settings of the server."""

from dataclasses import dataclass
from typing import Final

_BYTES_OF_CHARACTER: Final = 12  # the longest escape of a character, in JSON and in forms
_BYTES_OF_FIELDS: Final = 1 << 16
_LEAST_QUEUE: Final = 2_000_000
# Cost that the queue may hold for each character of the largest request. In sentences of two characters, one costs 11.
_QUEUE_OF_CHARACTER: Final = 20


@dataclass(frozen=True, kw_only=True)
class ServerSettings:
    """Limits of requests, and how texts are translated.

    Attributes:
        workers: threads that translate.
        beam_size: of the search.
        characters: most of one request.
        texts: most of one request.
        alternatives: most of one text.
        requests_per_minute: of one client; 0: any number.
        queued_requests: most that wait for translation.
        deadline: seconds within which a request is answered or refused.
        model_memory: most bytes of loaded models; 0: any number.
        api_keys: digests of the keys of known clients (`clients.key_digest`).
        keys_required: whether only known clients may translate.
        allowed_origin: the origin whose pages may use the API, "*" for all, "" for none but this server's.
        receive_seconds: within which a client must send the head of a request, and then its body.
        send_seconds: within which a client must take an answer.
        connections: most at the same time.
        connections_per_address: most of one address, but for proxies that are trusted.
    """

    workers: int = 1
    beam_size: int = 4
    characters: int = 100_000
    texts: int = 1_000
    alternatives: int = 8
    requests_per_minute: int = 0
    queued_requests: int = 1_000
    deadline: float = 60.0
    model_memory: int = 0
    api_keys: frozenset[str] = frozenset()
    keys_required: bool = False
    allowed_origin: str = "*"
    receive_seconds: float = 20.0
    send_seconds: float = 30.0
    connections: int = 500
    connections_per_address: int = 250

    @property
    def body_bytes(self) -> int:
        """Most bytes of the body of a request."""
        return self.characters * _BYTES_OF_CHARACTER + _BYTES_OF_FIELDS

    @property
    def queued_characters(self) -> int:
        """Largest cost of the texts that wait: their characters, and 20 for each sentence.

        A client that already waits may add up to a quarter of it.
        """
        return max(_LEAST_QUEUE, self.characters * _QUEUE_OF_CHARACTER)
