"""pocketmt serve: translate for other programs and in a page."""

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from pocketmt.cli.options import (
    DEFAULT_MODEL,
    FILE,
    EncodableText,
    FileSize,
    beam_size_option,
    is_given,
    workers_option,
)

if TYPE_CHECKING:
    from pocketmt.serving.proxies import TrustedProxies

DEFAULT_PORT: Final = 5000
_OPTIONS_OF_WEB: Final = ("models", "host", "port", "allow_origin", "web")
_SECONDS_OF_DOWNLOAD: Final = 900.0
_ORIGIN: Final = re.compile(r"[a-z][a-z0-9+.-]*://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]+)?")


def _origin(context: click.Context, parameter: click.Parameter, value: str) -> str:
    if not value.isascii():
        raise click.BadParameter("it has other letters than ASCII: give it as browsers send it (xn--...)")
    if value not in ("", "*") and not _ORIGIN.fullmatch(value):
        raise click.BadParameter("give an origin as browsers send it, such as https://example.com:8443, without a path")
    return value


def _host(context: click.Context, parameter: click.Parameter, value: str) -> str:
    if not value:
        raise click.BadParameter("it is empty: give an address such as 127.0.0.1, or 0.0.0.0 for all interfaces")
    return value


def _proxies(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> "TrustedProxies":
    from pocketmt.serving.proxies import TrustedProxies

    return TrustedProxies(values)


@click.command(short_help="Serve translations over HTTP, with a web page.")
@click.argument("models", nargs=-1)
@click.option(
    "--host",
    type=EncodableText(),
    default="127.0.0.1",
    callback=_host,
    show_default=True,
    help="Address to listen on; 0.0.0.0 or :: listens on all interfaces.",
)
@click.option(
    "--port",
    "-p",
    type=click.IntRange(0, 65535),
    default=DEFAULT_PORT,
    show_default=True,
    help="Port to listen on; 0: a free one.",
)
@beam_size_option
@workers_option
@click.option(
    "--model-memory",
    type=FileSize(),
    help="Unload the least recently used models above this total size (default: never).",
)
@click.option(
    "--characters", type=click.IntRange(1), default=100_000, show_default=True, help="Most characters of a request."
)
@click.option("--texts", type=click.IntRange(1), default=1000, show_default=True, help="Most texts of a request.")
@click.option(
    "--requests-per-minute", type=click.IntRange(1), help="Most requests of a client in a minute (default: any number)."
)
@click.option(
    "--deadline",
    type=click.IntRange(1),
    default=60,
    show_default=True,
    metavar="SECONDS",
    help="Refuse a request that takes longer than this.",
)
@click.option("--api-keys", type=FILE, help="File with the API key of a client in each line.")
@click.option("--require-api-key", is_flag=True, help="Refuse clients without an API key.")
@click.option(
    "--allow-origin",
    default="*",
    callback=_origin,
    show_default=True,
    help="Origin whose web pages may use the API; an empty one: only the server's page.",
)
@click.option(
    "--trusted-proxy",
    "trusted_proxies",
    multiple=True,
    callback=_proxies,
    metavar="ADDRESS",
    help="Proxy or network whose X-Forwarded-For names the client; may be repeated.",
)
@click.option(
    "--web", is_flag=True, help="Serve the page that translates in the browser, and the model files, without an API."
)
def serve(
    models: tuple[str, ...],
    host: str,
    port: int,
    beam_size: int,
    workers: int,
    model_memory: int | None,
    characters: int,
    texts: int,
    requests_per_minute: int | None,
    deadline: int,
    api_keys: Path | None,
    require_api_key: bool,
    allow_origin: str,
    trusted_proxies: "TrustedProxies",
    web: bool,
) -> None:
    """Serve translations with MODELS: files, folders, or names of bundled models (default: the everyday models).

    The API is that of LibreTranslate; the page is at the address that is printed. A request names its languages, by
    which the server chooses a model, or two in turn through a third language. A model is loaded when it is first
    needed, and again when its file changes. No text is logged.

    With --web the page translates in the browser of each visitor instead. `make web` builds it from PocketMT's sources.

    \b
    Examples:
      pocketmt serve
      pocketmt serve my-models --workers 4 --model-memory 2GB  # a folder that you made
      pocketmt serve en-de.pocketmt de-fr.pocketmt --port 8080
      pocketmt serve --host 0.0.0.0 --api-keys keys.txt --require-api-key
      pocketmt serve --web everyday-en-de
    """
    from pocketmt.engine.bundled import resolve_model
    from pocketmt.errors import ConfigurationError
    from pocketmt.serving.clients import read_keys
    from pocketmt.serving.server import address_of, open_socket, run_server
    from pocketmt.serving.settings import ServerSettings

    places = [resolve_model(model) for model in models] or _default_models()
    if web:
        _serve_page(places, host, port, allow_origin)
        return
    if require_api_key and api_keys is None:
        raise ConfigurationError("--require-api-key without --api-keys would refuse all clients: give a file of keys")
    settings = ServerSettings(
        workers=workers,
        beam_size=beam_size,
        characters=characters,
        texts=texts,
        requests_per_minute=requests_per_minute or 0,
        deadline=deadline,
        model_memory=model_memory or 0,
        api_keys=frozenset() if api_keys is None else read_keys(api_keys),
        keys_required=require_api_key,
        allowed_origin=allow_origin,
    )
    with open_socket(host, port) as listener:
        run_server(listener, places, settings, _report, trusted_proxies, ready=lambda: _greet(address_of(listener)))


def _default_models() -> list[Path]:
    """Return the default model and, if they are installed, those of the same kind for other languages."""
    from pocketmt.engine.bundled import bundled_models, resolve_model

    kind = DEFAULT_MODEL.partition("-")[0] + "-"
    others = [path for name, path in bundled_models().items() if name.startswith(kind) and name != DEFAULT_MODEL]
    return [resolve_model(DEFAULT_MODEL), *others]


def _serve_page(places: Sequence[Path], host: str, port: int, allow_origin: str) -> None:
    """Serve the page that translates in the browser; refuses options that only the API has."""
    from pocketmt.serving.browser_page import page_folder
    from pocketmt.serving.server import address_of, open_socket, run_browser_page
    from pocketmt.serving.settings import ServerSettings

    for parameter in click.get_current_context().command.params:
        if is_given(parameter.name or "") and parameter.name not in _OPTIONS_OF_WEB:
            raise click.UsageError(f"{parameter.opts[0]} is for the API, which --web does not serve: leave it out.")
    folder = page_folder()
    # A large model may take minutes to download.
    settings = ServerSettings(allowed_origin=allow_origin, send_seconds=_SECONDS_OF_DOWNLOAD)
    with open_socket(host, port) as listener:
        run_browser_page(listener, folder, places, settings, _report, ready=lambda: _greet(address_of(listener)))


def _greet(address: str) -> None:
    _say(f"PocketMT listens at {address} (Ctrl-C ends it)")


def _report(message: str) -> None:
    _say(message, err=True)


def _say(message: str, *, err: bool = False) -> None:
    """Write a message; the server goes on without it if the disk of its log is full, or nobody reads."""
    with suppress(OSError):
        click.echo(message, err=err)
