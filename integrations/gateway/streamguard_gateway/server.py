"""The gateway behind uvicorn."""

from __future__ import annotations

import contextlib
import copy
import logging
import socket
from typing import Any

import uvicorn
from uvicorn.config import LOGGING_CONFIG

from streamguard_gateway.gateway import Gateway

__all__ = ["serve"]

log = logging.getLogger("streamguard.gateway")


def serve(gateway: Gateway, /, *, host: str = "127.0.0.1", port: int = 8080, grace: float = 30.0) -> None:
    """Serve until SIGTERM or SIGINT, then let the answers that have begun come to their end.

    Args:
        gateway: what to serve.
        host: the address to listen on; only this machine reaches the default.
        port: the port; 0 takes any that is free.
        grace: seconds that running answers get; after them they are broken off.

    Raises:
        OSError: the address cannot be listened on.
    """
    _allow_files()
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family, backlog=2048) as listening:
        server = server_of(gateway, grace=grace)
        place = f"[{host}]" if ":" in host else host
        log.info("http://%s:%d guards %s", place, listening.getsockname()[1], gateway.upstream)
        server.run(sockets=[listening])


def server_of(gateway: Gateway, /, *, grace: float) -> uvicorn.Server:
    """Make the server, which listens on nothing yet.

    Args:
        gateway: what to serve.
        grace: seconds that running answers get when it is told to stop.
    """
    logs: dict[str, Any] = copy.deepcopy(LOGGING_CONFIG)
    logs["loggers"]["streamguard.gateway"] = {"handlers": ["default"], "level": "INFO", "propagate": False}
    config = uvicorn.Config(
        gateway,
        log_config=logs,
        http="h11",
        ws="none",
        lifespan="on",
        access_log=False,  # its lines hold paths and queries
        proxy_headers=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=max(1, round(grace)),
    )
    return uvicorn.Server(config)


def _allow_files() -> None:
    """Allow as many open files as the system lets this process have: each request takes two."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
