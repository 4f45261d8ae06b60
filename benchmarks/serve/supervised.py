"""A server that is started again when it ends, as a service manager does, and a clock that leaves out interruptions."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.serve.servers import free_port

LONGEST_PAUSE: Final = 5.0  # seconds between two looks at the clock; more: this process was stopped meanwhile
SECONDS_BETWEEN_LOOKS: Final = 0.25
SECONDS_TO_RESTART: Final = 1.0
_NO_PROCESS: Final = "0"


class Clock:
    """Seconds since the start, without those in which this process and the server were stopped (SIGSTOP).

    Attributes:
        stops: how often that happened.
        stopped: seconds of all stops.
    """

    def __init__(self) -> None:
        self._start = self._last = time.monotonic()
        self.stops = 0
        self.stopped = 0.0

    def now(self) -> float:
        """Return the seconds."""
        now = time.monotonic()
        if now - self._last > LONGEST_PAUSE:
            self.stops += 1
            self.stopped += now - self._last
        self._last = now
        return now - self._start - self.stopped

    async def watch(self) -> None:
        """Look at the clock again and again."""
        while True:
            self.now()
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)


@dataclass
class Life:
    """A process of the server.

    Attributes:
        began: seconds of the clock.
        log: where it writes its messages.
        ended: how; "" if it still runs.
    """

    began: float
    log: Path
    ended: str = ""


class SupervisedServer:
    """Runs `pocketmt serve`, and starts it again when it ends.

    Args:
        arguments: of the command.
        logs: files for the messages of one process after another, in turn.
        clock: of the run.

    Attributes:
        place: host and port.
        lives: processes that listened, in order.
        failed_starts: processes that ended before they listened.
        ready: whether the server listens and was not killed.
    """

    def __init__(self, arguments: Sequence[str | Path], logs: Sequence[Path], clock: Clock) -> None:
        self.place = ("127.0.0.1", free_port())
        self.lives: list[Life] = []
        self.failed_starts = 0
        self.ready = False
        self._arguments = arguments
        self._logs = logs
        self._clock = clock
        self._process: subprocess.Popen[bytes] | None = None

    async def supervise(self) -> None:
        """Run the server until this is cancelled."""
        try:
            while True:
                log = self._logs[len(self.lives) % len(self._logs)]
                await self._live(log)
                self.ready = False
                await asyncio.sleep(SECONDS_TO_RESTART)
        finally:
            self.ready = False
            if self._process is not None and self._process.poll() is None:
                self._process.terminate()
                await asyncio.to_thread(self._process.wait)

    async def _live(self, log: Path) -> None:
        command = Path(sys.executable).with_name("pocketmt")
        arguments = [command, "serve", "--port", str(self.place[1]), *self._arguments]
        with log.open("ab", buffering=0) as messages:
            self._process = subprocess.Popen(arguments, stdout=messages, stderr=messages)
        while self._process.poll() is None and not await self._listens():
            await asyncio.sleep(0.1)
        if self._process.poll() is not None:
            self.failed_starts += 1
            return
        life = Life(self._clock.now(), log)
        self.lives.append(life)
        self.ready = True
        while self._process.poll() is None:
            await asyncio.sleep(0.1)
        life.ended = life.ended or f"status {self._process.returncode}"

    async def _listens(self) -> bool:
        with suppress(OSError):
            _, writer = await asyncio.open_connection(*self.place)
            writer.close()
            return True
        return False

    def kill(self) -> None:
        """Send SIGKILL to the process, if it listens."""
        if self.ready and self._process is not None:
            self.ready = False
            self.lives[-1].ended = "kill -9"
            self._process.kill()

    def memory(self) -> dict[str, int]:
        """Return the bytes in memory of now and the most so far: VmRSS and VmHWM; 0 if no process runs."""
        lines: list[str] = []
        if self._process is not None:
            with suppress(OSError):
                lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        fields = dict(line.split(":", 1) for line in lines if ":" in line)
        return {name: 1024 * int(fields.get(name, _NO_PROCESS).split()[0]) for name in ("VmRSS", "VmHWM")}
