"""Options of commands that can run on a Ray cluster."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from pocketmt.cli.options import LocalFile, is_given
from pocketmt.distributed.storage import is_address

if TYPE_CHECKING:
    from pocketmt.distributed.ray_pool import Cluster

RAY_HELP: Final = "A Ray cluster, such as auto; local starts one."


class FileOrAddress(LocalFile):
    """A path, or an address with ://, such as s3://bucket/file."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a path, or the address as it is; click.BadParameter if the path is empty."""
        if isinstance(value, str) and is_address(value):
            return value
        return super().convert(value, param, ctx)


class FileOrStream(FileOrAddress):
    """A path or an address; `-` is standard input or output, as is no value."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return None for `-`, and other values as `FileOrAddress` does."""
        return None if value == "-" else super().convert(value, param, ctx)


class ClusterOptions(NamedTuple):
    """The options.

    Attributes:
        address: of the cluster; None: no cluster.
        block_lines: number of lines of a block; None: the default.
    """

    address: str | None
    block_lines: int | None

    def cluster(
        self, threads: int | None, format_name: str = "text", output: Path | str | None = None, device: str = "cpu"
    ) -> "Cluster | None":
        """Return the cluster to work on; None: no cluster.

        Args:
            threads: cores of each worker; None: all cores of its node.
            format_name: of the input.
            output: path or address.
            device: see `cluster_of`.

        Raises click.UsageError as `cluster_of` does, if --block-lines or an address is given without --ray, or another
        format with it.
        """
        if self.address is None:
            if self.block_lines is not None:
                raise click.UsageError("--block-lines needs --ray.")
            if isinstance(output, str):
                raise click.UsageError(f"--output {output} is an address, which needs --ray: name a file.")
            return None
        if format_name != "text":
            raise click.UsageError(f"--ray needs --format text, not {format_name}.")
        return cluster_of(self.address, threads, device)

    @property
    def lines(self) -> int:
        """Number of lines of a block."""
        from pocketmt.distributed.blocks import LINES

        return self.block_lines or LINES


def cluster_of(address: str, threads: int | None, device: str) -> "Cluster":
    """Return the cluster to work on.

    Args:
        address: of the cluster.
        threads: cores of each worker; None: all cores of its node.
        device: of the workers. With "cuda" each worker has a GPU for itself, and one core unless `threads` is given.

    Raises click.UsageError if the device has a number.
    """
    from pocketmt.distributed.ray_pool import Cluster

    if device.startswith("cuda:"):
        raise click.UsageError(f"--device {device} does not go with --ray, which chooses the GPU: give --device cuda.")
    if device == "cuda":
        return Cluster(address, threads or 1, gpus=1.0)
    return Cluster(address, threads)


def given_workers(workers: int | None) -> int | None:
    """Return --workers if it was given, None for its default."""
    return workers if is_given("workers") else None


def cluster_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of `ClusterOptions` to a command, which takes them as `on_cluster`."""

    @click.option("--ray", "address", metavar="ADDRESS", default=None, help=RAY_HELP)
    @click.option(
        "--block-lines",
        type=click.IntRange(1),
        default=None,
        help="With --ray: lines per block (10000).",
    )
    @wraps(command)
    def with_cluster(*, address: str | None, block_lines: int | None, **others: Any) -> None:
        command(on_cluster=ClusterOptions(address, block_lines), **others)

    return with_cluster
