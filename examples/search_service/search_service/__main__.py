"""python -m search_service [serve | index | mcp]."""

import argparse
import asyncio
import logging.config
import os
import signal
import sys
from contextlib import suppress
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: what makes use of more cores is more workers
os.environ.setdefault("MALLOC_ARENA_MAX", "2")  # of the workers: memory that one thread has let go is used by others

import uvicorn
from pydantic import ValidationError

from hopweave import HopweaveError
from search_service.operation.connections import Connection
from search_service.operation.logs import configuration
from search_service.operation.state import InUse, claim
from search_service.settings import Settings


def main() -> int:
    """Index the corpus, and unless that was all, serve it: over HTTP, or to one process as tools of MCP."""
    parser = argparse.ArgumentParser(prog="search_service", description="A search service on hopweave.")
    parser.add_argument("what", nargs="?", choices=["serve", "index", "mcp"], default="serve")
    what = parser.parse_args().what
    try:
        settings = Settings()
    except (ValidationError, FileNotFoundError) as error:
        faults = error.errors(include_input=False, include_url=False) if isinstance(error, ValidationError) else None
        words = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in faults or ()) or str(error)
        return failed(words, 2)
    logs = configuration(settings.log_level, "stderr" if what == "mcp" else "stdout")  # stdout is the protocol's
    logging.config.dictConfig(logs)
    try:
        if what == "serve":
            with claim(settings):
                serve(settings, logs)
        else:
            index(settings)
    except (HopweaveError, InUse) as error:
        return failed(str(error), 1)
    if what == "mcp":
        asyncio.run(tools(settings))
    return 0


def failed(words: str, status: int) -> int:
    """Say why, on one line."""
    print(f"search_service: {words}", file=sys.stderr)
    return status


def index(settings: Settings) -> None:
    """Bring every knowledge base in step with its corpus."""
    from search_service.engine import index  # not before it is known where figures are kept

    index(settings)


def serve(settings: Settings, logs: dict[str, Any]) -> None:
    """Answer until told to stop. Uploads that were under way when the service last ended are begun again."""
    index(settings)
    from search_service.operation.jobs import Jobs

    Jobs(settings.state_folder / "jobs.db", settings.max_jobs).give_back()
    options: dict[str, Any] = {
        "app": "search_service.app:create",
        "factory": True,
        "host": settings.host,
        "port": settings.port,
        "workers": settings.workers,
        "loop": "search_service.operation.balance:Loop",
        "http": Connection,
        "ws": "none",
        "log_config": logs,
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,  # nothing depends on the address of a caller
        "timeout_keep_alive": settings.keep_alive_seconds,
        "timeout_graceful_shutdown": settings.shutdown_seconds,
    }
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # uvicorn raises it once more when all is done
    if settings.workers > 1:
        uvicorn.run(**options)
        return
    config = uvicorn.Config(**options)
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[config.bind_socket()])


async def tools(settings: Settings) -> None:
    """Serve the tools to the process that started this one."""
    from search_service.operation.keys import CALLER, Caller
    from search_service.service import Service
    from search_service.tools import Tools, over_stdio

    service = await asyncio.to_thread(Service, settings)
    CALLER.set(Caller("stdio", "read"))
    try:
        await over_stdio(Tools(service.results, settings.mcp))
    finally:
        await service.close()


if __name__ == "__main__":
    sys.exit(main())
