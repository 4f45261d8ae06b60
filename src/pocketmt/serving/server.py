"""The server: a socket, the application and uvicorn."""

import logging
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import uvicorn
from starlette.applications import Starlette
from uvicorn.server import HANDLED_SIGNALS

from pocketmt.errors import ConfigurationError, ModelFileError
from pocketmt.serving.allocator import limit_arenas
from pocketmt.serving.application import make_application
from pocketmt.serving.browser_page import make_browser_application
from pocketmt.serving.connection import connection_class
from pocketmt.serving.models.catalogue import Catalogue
from pocketmt.serving.proxies import TrustedProxies
from pocketmt.serving.settings import ServerSettings

SECONDS_TO_FINISH: Final = 10  # for requests that are under way when the server is told to end
_WAITING_CONNECTIONS: Final = 512


class _Server(uvicorn.Server):
    """Ends at signals, except those that the caller has told this process to ignore: shells do so for `command &`."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals in the block."""
        ignored = [number for number in HANDLED_SIGNALS if signal.getsignal(number) == signal.SIG_IGN]
        with super().capture_signals():
            for number in ignored:
                signal.signal(number, signal.SIG_IGN)
            yield


def open_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0: a free one. The host :: takes connections of IPv4, too.

    Raises ConfigurationError if the address cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    both = host == "::" and socket.has_dualstack_ipv6()
    try:
        listener = socket.create_server((host, port), family=family, backlog=_WAITING_CONNECTIONS, dualstack_ipv6=both)
    except (OSError, TypeError) as error:  # TypeError: the text cannot be the name of a host.
        reason = error.strerror or error if isinstance(error, OSError) else error
        raise ConfigurationError(
            f"cannot listen at {host} port {port}: {reason}. Give another --port or --host"
        ) from error
    # Connections inherit it. Otherwise the body of an answer would wait 40 ms for the client to confirm the head.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def address_of(listener: socket.socket) -> str:
    """Return the address of a listening socket, as a browser takes it."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run_server(
    listener: socket.socket,
    places: Sequence[Path],
    settings: ServerSettings,
    report: Callable[[str], None],
    proxies: TrustedProxies,
    ready: Callable[[], None],
) -> None:
    """Serve translations until a signal ends the process; requests under way are finished first.

    Args:
        listener: listening socket.
        places: model files and folders of model files.
        settings: of the server.
        report: is told what the operator should know; never a text.
        proxies: whose headers X-Forwarded-... are believed.
        ready: called when the models are known.

    Raises ModelFileError if there is no model.
    """
    limit_arenas(settings.workers + 1)
    application = make_application(_catalogue(places, report), settings, report)
    ready()
    _run(listener, application, settings, proxies)


def run_browser_page(
    listener: socket.socket,
    folder: Path,
    places: Sequence[Path],
    settings: ServerSettings,
    report: Callable[[str], None],
    ready: Callable[[], None],
) -> None:
    """Serve the page that translates in the browser, and model files, until a signal ends the process.

    Args:
        listener: listening socket.
        folder: of the built page.
        places: model files and folders of model files.
        settings: of the server; those of translation are not used.
        report: is told what the operator should know.
        ready: called when the models are known.

    Raises ModelFileError if there is no model.
    """
    application = make_browser_application(
        _catalogue(places, report, by_languages=False), folder, settings.allowed_origin
    )
    ready()
    _run(listener, application, settings, TrustedProxies())


def _catalogue(places: Sequence[Path], report: Callable[[str], None], *, by_languages: bool = True) -> Catalogue:
    catalogue = Catalogue(places, report, by_languages=by_languages)
    if not catalogue.models:
        advice = "the lines above say why" if catalogue.refused else "give *.pocketmt files"
        raise ModelFileError(f"no model that can be served in {', '.join(map(str, places))}: {advice}")
    return catalogue


def _run(listener: socket.socket, application: Starlette, settings: ServerSettings, proxies: TrustedProxies) -> None:
    # Its messages could be caused by any client, again and again.
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    config = uvicorn.Config(
        application,
        http=connection_class(settings, proxies),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(proxies.names),
        forwarded_allow_ips=proxies.names,
        timeout_graceful_shutdown=SECONDS_TO_FINISH,
    )
    _Server(config).run(sockets=[listener])
