"""Runs `pocketmt` commands in forks of one process that has imported PyTorch, which saves seconds for each command.

`serve` listens until its process is killed. `write_client` writes a `pocketmt` program that sends its arguments, its
folder, its limit of file sizes and its standard streams to the server, and exits with the status of the command.
"""

import array
import atexit
import json
import os
import resource
import signal
import socket
import stat
import sys
from pathlib import Path

CLIENT = """#!{python} -IS
import array, json, os, resource, socket, sys
connection = socket.socket(socket.AF_UNIX)
connection.connect({path!r})
message = json.dumps([os.getcwd(), resource.getrlimit(resource.RLIMIT_FSIZE), sys.argv[1:]]).encode()
streams = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))]
connection.sendmsg([message], streams)
connection.shutdown(socket.SHUT_WR)
status = connection.recv(16)
sys.exit(int(status) if status else "the command died")
"""


def write_client(path: Path, socket_path: Path) -> None:
    """Write the program that stands for `pocketmt`."""
    path.write_text(CLIENT.format(python=sys.executable, path=str(socket_path)))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def serve(path: str) -> None:
    """Accept commands until this process is killed, each in a fork."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            _run(connection)
        connection.close()


def _run(connection: socket.socket) -> None:
    """Run the command of a connection with the client's folder and streams, and end this process."""
    from pocketmt.cli.process import main

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    message, (rights, *_), _, _ = connection.recvmsg(1 << 20, socket.CMSG_SPACE(3 * array.array("i").itemsize))
    streams = array.array("i")
    streams.frombytes(rights[2])
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115  # That of this process is closed.
    folder, limit, arguments = json.loads(message)
    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    sys.argv = ["pocketmt", *arguments]
    status = 1
    try:
        main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        atexit._run_exitfuncs()  # As Python does where a process ends in the usual way.
        sys.stdout.flush()
        sys.stderr.flush()
        connection.send(str(status).encode())
        os._exit(status)
