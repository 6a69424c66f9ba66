"""The studio's server: one page on the loopback address, behind a token, for the browser of this machine alone.

Starlette and uvicorn, with WebSockets: together below 2 MB, all Python, and the connection is one line of messages in
both directions, which a live simulation needs.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import secrets
import socket
from collections.abc import AsyncIterator, Callable
from html import escape
from importlib.resources import files

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from kinegraph.studio.folder import Folder
from kinegraph.studio.session import Session
from kinegraph.studio.workers import Spares

#: Pages at the same time, connections at the same time, seconds for which the work of a closed page is stored.
MOST_SESSIONS = 6
MOST_CONNECTIONS = 60
RETENTION = 600.0
_LARGEST_MESSAGE = 8 * 2**20

_TYPES = {"studio.js": "text/javascript; charset=utf-8", "studio.css": "text/css; charset=utf-8"}


class Guard:
    """Refuses whatever is not the page itself: another host name (DNS rebinding), another origin, a wrong token."""

    def __init__(self, app: ASGIApp, token: str, hosts: frozenset[str]) -> None:
        self.app, self.token, self.hosts = app, token, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        reason = self._refused(scope)
        if not reason:
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": reason})
        else:
            status = 404 if reason == "not found" else 403
            await PlainTextResponse(reason, status, headers=_HEADERS)(scope, receive, send)

    def _refused(self, scope: Scope) -> str:
        given: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            given.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        if len(given.get("host", [])) != 1 or given["host"][0].lower() not in self.hosts:
            return "wrong host: open the address that the studio printed"
        origins = given.get("origin", [])
        if scope["type"] == "websocket" and len(origins) != 1:
            return "a connection needs an origin"
        if any(origin.lower() not in {f"http://{host}" for host in self.hosts} for origin in origins):
            return "another page may not use the studio"
        token = str(scope["path"]).split("/")[1]
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            return "not found"
        return ""


_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def _policy(nonce: str, host: str) -> str:
    """Only the studio's own script and style; nothing from a model can run."""
    return (
        f"default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data: blob:; "
        f"connect-src 'self' ws://{host}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


class Studio:
    """What one running studio has: folder, token, sessions. store: that of the versions, by default the user's."""

    def __init__(self, folder: Folder, first: str = "", token: str = "", store: str | None = None) -> None:
        self.folder, self.first, self.store = folder, first, store
        self.token = token or secrets.token_urlsafe(24)
        self.spares = Spares()
        self.sessions: dict[str, Session] = {}
        self._endings: dict[str, asyncio.TimerHandle] = {}

    def app(self, port: int) -> Starlette:
        """The server as an ASGI application for a port of the loopback address."""
        hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})
        base = f"/{self.token}"
        routes = [
            Route(f"{base}/", self._page),
            Route(f"{base}/{{name}}", self._asset),
            WebSocketRoute(f"{base}/socket", self._socket),
        ]
        guard = Middleware(Guard, token=self.token, hosts=hosts)
        return Starlette(routes=routes, middleware=[guard], lifespan=self._life)

    @contextlib.asynccontextmanager
    async def _life(self, app: Starlette) -> AsyncIterator[None]:
        self.spares.prepare()
        yield
        for session in self.sessions.values():
            session.close()
        await self.spares.close()

    async def _page(self, request: Request) -> Response:
        nonce = secrets.token_urlsafe(16)
        text = asset("studio.html").replace("{{nonce}}", nonce).replace("{{title}}", escape(self.folder.root.name))
        policy = _policy(nonce, request.headers["host"])
        headers = {**_HEADERS, "Content-Security-Policy": policy}
        return Response(text, media_type="text/html; charset=utf-8", headers=headers)

    async def _asset(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _TYPES:
            return PlainTextResponse("not found", 404, headers=_HEADERS)
        return Response(asset(name), media_type=_TYPES[name], headers=_HEADERS)

    async def _socket(self, websocket: WebSocket) -> None:
        session = self._session(str(websocket.query_params.get("session", ""))[:80])
        if session is None:
            await websocket.close(1013, "too many pages: close one first")
            return
        await websocket.accept()
        session.connected = True
        helpers = [asyncio.create_task(_send(websocket, session)), asyncio.create_task(session.watch())]
        try:
            while True:
                text = await websocket.receive_text()
                message = _parsed(text)
                if message is not None:
                    session.receive(message)
        except (WebSocketDisconnect, RuntimeError, KeyError):
            pass
        finally:
            session.leave()
            for helper in helpers:
                helper.cancel()
            self._keep(session)

    def _session(self, key: str) -> Session | None:
        """The session of a page: its own after a reload, one whose page is gone, or a new one."""
        away = [one for one in self.sessions.values() if not one.connected]
        session = next((one for one in away if one.key == key), away[-1] if away else None)
        if session is None:
            if len(self.sessions) >= MOST_SESSIONS:
                return None
            session = Session(key or secrets.token_hex(8), self.folder, self.first, self.spares, self.store)
            while session.key in self.sessions:
                session.key = secrets.token_hex(8)
            self.sessions[session.key] = session
        if timer := self._endings.pop(session.key, None):
            timer.cancel()
        return session

    def _keep(self, session: Session) -> None:
        """Keep what a closed page has running for a while."""
        self._endings[session.key] = asyncio.get_running_loop().call_later(RETENTION, self._end, session)

    def _end(self, session: Session) -> None:
        self._endings.pop(session.key, None)
        self.sessions.pop(session.key, None)
        session.close()


async def _send(websocket: WebSocket, session: Session) -> None:
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while True:
            await websocket.send_text(await session.outbox.take())


def _parsed(text: str) -> dict[str, object] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def asset(name: str) -> str:
    """A file of the studio's page; studio.js and studio.css are built from `web/`."""
    return (files("kinegraph.studio") / "assets" / name).read_text("utf-8")


def serve(studio: Studio, port: int = 0, started: Callable[[str], None] | None = None) -> None:
    """Serve a studio until Ctrl-C. port: 0 takes a free one. started: called with the address to open."""
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        listening.listen(128)  # who comes before the server is ready waits
        port = listening.getsockname()[1]
        config = uvicorn.Config(
            studio.app(port), log_level="error", limit_concurrency=MOST_CONNECTIONS, ws_max_size=_LARGEST_MESSAGE,
            server_header=False, timeout_graceful_shutdown=2, ws="websockets-sansio",
        )  # fmt: skip
        server = uvicorn.Server(config)
        if started is not None:
            started(f"http://127.0.0.1:{port}/{studio.token}/")
        server.run(sockets=[listening])
