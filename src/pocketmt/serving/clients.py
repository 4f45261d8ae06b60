"""Clients: their API keys, addresses and rates of requests."""

import hashlib
import ipaddress
import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pocketmt.errors import ConfigurationError, unreadable
from pocketmt.serving.errors import RequestError
from pocketmt.serving.settings import ServerSettings

MOST_CLIENTS: Final = 10_000  # whose rates are remembered
SHORTEST_KEY: Final = 8  # characters
_BITS_OF_NETWORK: Final = 64  # of an IPv6 address; the rest is free to choose for one client


def key_digest(key: str) -> str:
    """Return the digest by which a key is found, so that the time of the search tells nothing of other keys."""
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


def read_keys(path: Path) -> frozenset[str]:
    """Read a file with one key in each line, and return their digests; lines that begin with # are left out.

    The server reads it once: a change needs a restart.

    Raises ConfigurationError if it cannot be read, holds no key, or a key is short.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise ConfigurationError(unreadable(path, error)) from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: not UTF-8 ({error}): save it as UTF-8") from error
    numbered = [(number, line.strip()) for number, line in enumerate(lines, 1)]
    keys = {number: line for number, line in numbered if line and not line.startswith("#")}
    for number, key in keys.items():
        if len(key) < SHORTEST_KEY:
            raise ConfigurationError(f"{path}, line {number}: a key has at least {SHORTEST_KEY} characters")
    if not keys:
        raise ConfigurationError(f"{path}: holds no key: write one in each line")
    return frozenset(map(key_digest, keys.values()))


def network_of(address: str) -> str:
    """Return what stands for the client at an address: the address, or the network of one of IPv6."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 6:
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((int(parsed), _BITS_OF_NETWORK), strict=False))
    return str(parsed)


@dataclass(slots=True)
class _Allowance:
    requests: float
    time: float


class Clients:
    """Says who asks, and refuses who may not."""

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        self._allowances: dict[str, _Allowance] = {}

    def identify(self, address: str, key: str | None) -> str:
        """Return the name of a client: its key or its network.

        Raises RequestError (403) if the key is unknown, or missing although it is needed, and (429) if the client has
        sent more requests than it may. Requests that are refused count for their address, so that guesses of keys are
        limited, too.
        """
        digest, known = key_digest(key or ""), self._settings.api_keys
        client = f"key {digest}" if key and digest in known else f"address {network_of(address)}"
        self._charge(client)
        if key and known and digest not in known:
            raise RequestError(403, "the api_key is unknown: ask the operator of this server for one")
        if not key and self._settings.keys_required:
            raise RequestError(403, "an api_key is needed: ask the operator of this server for one")
        return client

    def count_unreadable(self, address: str) -> None:
        """Count a request whose key could not be read, for its address; raises RequestError (429) as `identify`."""
        self._charge(f"address {network_of(address)}")

    def _charge(self, client: str) -> None:
        rate = self._settings.requests_per_minute
        if not rate:
            return
        now = time.monotonic()
        allowance = self._allowances.pop(client, None) or _Allowance(rate, now)
        allowance.requests = min(rate, allowance.requests + (now - allowance.time) * rate / 60) - 1
        allowance.time = now
        if len(self._allowances) >= MOST_CLIENTS:
            del self._allowances[next(iter(self._allowances))]
        self._allowances[client] = allowance
        if allowance.requests < 0:
            allowance.requests += 1
            wait = max(1, math.ceil((1 - allowance.requests) * 60 / rate))
            raise RequestError(429, f"more than {rate} requests in a minute: send fewer", wait)
