"""A PostgreSQL server with pgvector for as long as a block runs, from the wheel `pgserver`."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp


@contextmanager
def postgres_server() -> Iterator[str]:
    """Start a server in a folder of its own on a free loopback port; gives the URL of its database.

    PostgreSQL refuses to run as root, so root starts it as `nobody`.
    """
    package = find_spec("pgserver")
    if package is None or package.origin is None:
        raise SystemExit("PostgreSQL is needed: pip install pgserver")
    binaries = Path(package.origin).parent / "pginstall" / "bin"
    folder = Path(mkdtemp(prefix="postgres"))
    account = {}
    if os.geteuid() == 0:
        account = {"user": "nobody", "group": "nogroup", "extra_groups": []}
        shutil.chown(folder, "nobody", "nogroup")

    def run(program: str, *arguments: str) -> None:
        # no pipe: the server would inherit it, and the call would wait for the server to end
        with (folder / "output").open("ab") as output:
            command = [str(binaries / program), "-D", str(folder / "data"), *arguments]
            subprocess.run(command, check=True, stdout=output, stderr=output, cwd=folder, **account)

    try:
        run("initdb", "--auth=trust", "--encoding=utf8", "-U", "postgres", "--no-sync")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        run("pg_ctl", "-w", "-o", f"-h 127.0.0.1 -p {port} -k {folder} -F", "-l", str(folder / "log"), "start")
        try:
            yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
        finally:
            run("pg_ctl", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
