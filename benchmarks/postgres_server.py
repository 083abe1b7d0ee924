"""A PostgreSQL server for examples, tests and benchmarks, on a free port of the loopback interface.

Its programs come from the wheel `pgserver`, with pgvector, or else from Debian, without.

pip install pgserver
python benchmarks/postgres_server.py      prints the URL and runs until Ctrl-C
"""

import contextlib
import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path


class PostgresServer:
    """A server with data in a folder of its own. PostgreSQL refuses to run as root, so root runs it as nobody."""

    def __init__(self, programs: Path | None = None, folder: Path | None = None, **settings: str) -> None:
        """`programs` is a folder with the programs of PostgreSQL, in place of those of the wheel.

        `folder` keeps the data: a server with the same folder finds it again.
        """
        self._is_kept = folder is not None
        self._folder = Path(tempfile.mkdtemp(prefix="hopweave-postgres-")) if folder is None else folder.absolute()
        self._folder.mkdir(parents=True, exist_ok=True)
        secret = self._folder / "password"
        self._password = secret.read_text() if secret.exists() else secrets.token_hex(8)
        self._settings = {"fsync": "off", "shared_buffers": "256MB", **settings}
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0
        try:
            self._programs = programs or _programs(self._folder)
            if not (self._folder / "data" / "PG_VERSION").exists():
                self._initialise()
            self.start()
        except BaseException:
            self.close()
            raise

    @property
    def url(self) -> str:
        return f"postgresql://hopweave:{self._password}@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        """Start the server, on the same port as before if it ran."""
        for _ in range(20):
            port = self.port or _free_port()
            with (self._folder / "log").open("ab") as log:
                self._process = subprocess.Popen(self._command(port), stdout=log, stderr=log, **_unprivileged())
            if self._answers(port):
                self.port = port
                return
            self.kill()
        raise RuntimeError(f"PostgreSQL does not start:\n{(self._folder / 'log').read_text()[-2000:]}")

    def kill(self) -> None:
        """Kill it without warning, all its processes at once."""
        if self._process is None:
            return
        pids = [self._process.pid, *_children(self._process.pid)]
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self._process.wait()
        self._process = None

    def close(self) -> None:
        """Stop the server and remove its data, unless they are kept."""
        if self._is_kept and self._process is not None:
            self._process.send_signal(signal.SIGINT)  # so that it writes down what is in memory
            self._process.wait()
            self._process = None
        self.kill()
        if not self._is_kept:
            shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> "PostgresServer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _initialise(self) -> None:
        secret = self._folder / "password"
        secret.write_text(self._password)
        if os.getuid() == 0:
            for path in (self._folder, secret):
                os.chown(path, _nobody().pw_uid, _nobody().pw_gid)
        program = [str(self._programs / "initdb"), "--pgdata", str(self._folder / "data"), "--username", "hopweave"]
        options = [
            "--auth",
            "scram-sha-256",
            "--pwfile",
            str(secret),
            "--encoding",
            "UTF8",
            "--locale",
            "C",
            "--no-sync",
        ]
        made = subprocess.run([*program, *options], capture_output=True, text=True, check=False, **_unprivileged())
        if made.returncode:
            raise RuntimeError(f"initdb failed:\n{made.stdout}{made.stderr}")

    def _command(self, port: int) -> list[str]:
        settings = {**self._settings, "listen_addresses": "127.0.0.1", "unix_socket_directories": "", "port": str(port)}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return [str(self._programs / "postgres"), "-D", str(self._folder / "data"), *options]

    def _answers(self, port: int) -> bool:
        """Whether it accepts connections before long; recovery after a kill takes a moment."""
        ready = [str(self._programs / "pg_isready"), "--quiet", "--host", "127.0.0.1", "--port", str(port)]
        for _ in range(600):
            if self._process is None or self._process.poll() is not None:
                return False
            if subprocess.run(ready, check=False).returncode == 0:
                return True
            time.sleep(0.05)
        return False


@contextlib.contextmanager
def postgres_server() -> Iterator[str]:
    """The URL of a server that runs as long as the block."""
    with PostgresServer() as server:
        yield server.url


def debian_programs(extension: str = "plpgsql") -> Path | None:
    """The programs of the newest PostgreSQL of Debian that has an extension; None without."""
    found = Path("/usr/share/postgresql").glob(f"*/extension/{extension}.control")
    folders = [Path("/usr/lib/postgresql", path.parts[-3], "bin") for path in sorted(found)]
    return next((folder for folder in reversed(folders) if (folder / "initdb").exists()), None)


def _programs(folder: Path) -> Path:
    spec = importlib.util.find_spec("pgserver")
    if spec is None or spec.origin is None:
        if (programs := debian_programs()) is None:
            raise RuntimeError("this needs a PostgreSQL server: pip install pgserver, or apt-get install postgresql")
        return programs
    package = Path(spec.origin).parent
    if os.getuid() == 0 and not _can_run(package / "pginstall" / "bin" / "initdb"):
        package = _copied(package, folder / "programs")
        if not _can_run(package / "pginstall" / "bin" / "initdb"):
            raise RuntimeError(
                f"{folder}: the user {_nobody().pw_name} cannot enter it; set TMPDIR to a folder for all"
            )
    return package / "pginstall" / "bin"


def _can_run(program: Path) -> bool:
    """Whether the user of the server may run a program, which may lie in a folder that only root may enter."""
    try:
        ran = subprocess.run([str(program), "--version"], capture_output=True, check=False, **_unprivileged())
    except PermissionError:
        return False
    return ran.returncode == 0


def _copied(package: Path, folder: Path) -> Path:
    """The programs in a folder of the server's user, with the libraries that the wheel keeps beside its package."""
    for part in (package / "pginstall", package.with_name("pgserver.libs")):
        if part.exists():
            without = shutil.ignore_patterns("include")
            shutil.copytree(part, folder / part.relative_to(package.parent), ignore=without, dirs_exist_ok=True)
    for path in (folder.parent, folder, *folder.rglob("*")):
        os.chown(path, _nobody().pw_uid, _nobody().pw_gid)
    return folder / package.name


def _unprivileged() -> dict:
    return (
        {"user": _nobody().pw_uid, "group": _nobody().pw_gid, "extra_groups": [], "cwd": "/"}
        if os.getuid() == 0
        else {}
    )


def _nobody() -> pwd.struct_passwd:
    return pwd.getpwnam("nobody")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in found.read_text().split()] if found.exists() else []


if __name__ == "__main__":
    with PostgresServer() as server:
        print(server.url, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            signal.pause()
