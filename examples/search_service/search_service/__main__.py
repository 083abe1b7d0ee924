"""python -m search_service [serve | index | mcp]."""

import argparse
import asyncio
import logging.config
import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: what makes use of more cores is more workers

import uvicorn
from pydantic import ValidationError

from hopweave import HopweaveError
from search_service.engine import index
from search_service.operation.connections import Connection
from search_service.operation.keys import CALLER, Caller
from search_service.operation.logs import configuration
from search_service.service import Service
from search_service.settings import Settings
from search_service.tools import Tools, over_stdio


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
        print(f"search_service: {words}", file=sys.stderr)
        return 2
    logs = configuration(settings.log_level, "stderr" if what == "mcp" else "stdout")  # stdout is the protocol's
    logging.config.dictConfig(logs)
    try:
        index(settings)
    except HopweaveError as error:
        print(f"search_service: {error}", file=sys.stderr)
        return 1
    if what == "mcp":
        asyncio.run(tools(settings))
    if what == "serve":
        uvicorn.run(
            "search_service.app:create",
            factory=True,
            host=settings.host,
            port=settings.port,
            workers=settings.workers,
            log_config=logs,
            access_log=False,
            server_header=False,
            http=Connection,
            h11_max_incomplete_event_size=settings.max_head_bytes,
            timeout_graceful_shutdown=settings.shutdown_seconds,
        )
    return 0


async def tools(settings: Settings) -> None:
    """Serve the tools to the process that started this one."""
    service = await asyncio.to_thread(Service, settings)
    CALLER.set(Caller("stdio", "read"))
    try:
        await over_stdio(Tools(service.results, settings.mcp))
    finally:
        await service.close()


if __name__ == "__main__":
    sys.exit(main())
