"""Proxies that are trusted: their headers name the client, and the address that it asked for."""

import ipaddress
from collections.abc import Iterable
from typing import Final

from pocketmt.errors import ConfigurationError

ALL: Final = "*"
_BITS_OF_MAPPED: Final = 96  # before an IPv4 address in one of IPv6


class TrustedProxies:
    """The addresses of proxies.

    Args:
        values: addresses, networks such as 10.0.0.0/8, or "*" for all.

    Attributes:
        names: the values as uvicorn takes them. Networks of IPv4 are there twice, since a socket of IPv6 shows their
            addresses as some of IPv6.

    Raises ConfigurationError if a value is something else.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        given = tuple(values)
        self._all = ALL in given
        self._networks = tuple(_network(value) for value in given if value != ALL)
        mapped = [
            f"::ffff:{network.network_address}/{_BITS_OF_MAPPED + network.prefixlen}"
            for network in self._networks
            if network.version == 4
        ]
        self.names: Final = [ALL] if self._all else [*map(str, self._networks), *mapped]

    def __contains__(self, address: str) -> bool:
        """Whether an address is that of a trusted proxy."""
        if self._all:
            return True
        try:
            parsed = ipaddress.ip_address(address)
        except ValueError:
            return False
        plain = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
        return any((plain or parsed) in network for network in self._networks)


def _network(value: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        return ipaddress.ip_network(value)
    except ValueError as error:
        raise ConfigurationError(
            f"--trusted-proxy: {error}: give an address such as 10.0.0.1, a network such as 10.0.0.0/8, or *"
        ) from error
