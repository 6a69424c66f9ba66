"""A session: one page, its processes and its open file. It outlives the connection, so that a reload loses nothing."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from kinegraph import library
from kinegraph.errors import KinegraphError, ModelError
from kinegraph.studio.folder import Folder
from kinegraph.studio.model_text import described
from kinegraph.studio.requests import LANES, OPERATIONS
from kinegraph.studio.workers import Lane, Message, Spares

#: Answers stored for a page that is away.
_MOST_STORED = 100
#: Requests that steer the live simulation while it is being answered.
_STEERING = frozenset({"steer"})


@dataclass
class Outbox:
    """What a page still has to be told. Of the frames of a simulation only the newest waits."""

    messages: deque[str] = field(default_factory=lambda: deque(maxlen=_MOST_STORED))
    frame: str | None = None
    ready: asyncio.Event = field(default_factory=asyncio.Event)

    def put(self, kind: str, text: str) -> None:
        """Add what a process wrote."""
        if kind == "F":
            self.frame = text
        else:
            self.messages.append(text)
        self.ready.set()

    async def take(self) -> str:
        """The next message, or the newest frame."""
        while True:
            if self.messages:
                return self.messages.popleft()
            if self.frame is not None:
                text, self.frame = self.frame, None
                return text
            self.ready.clear()
            await self.ready.wait()


class Session:
    """One page and what it has running."""

    def __init__(self, key: str, folder: Folder, first: str, spares: Spares, store: str | None = None) -> None:
        self.key, self.folder, self.first, self.store = key, folder, first, store
        self.outbox = Outbox()
        self.connected = False
        self._drafts: dict[str, str] = {}
        self._file = ""
        self._finished = ""  # the answer of a run that ended while the page was away
        self._lanes = {
            name: Lane(spares, self._tell, seconds, newest_only=name == "model") for name, seconds in LANES.items()
        }

    def receive(self, message: Message) -> None:
        """Answer a request of the page, or pass it to a process."""
        do = message.get("do")
        if not isinstance(do, str) or not isinstance(message.get("id"), int):
            return
        given = message.get("with")
        arguments = dict(given) if isinstance(given, Mapping) else {}
        if do in OPERATIONS:
            self._compute(message, do, arguments)
        elif do in _STEERING:
            self._lanes["live"].steer({**message, "with": arguments})
        elif do == "cancel":
            self._lanes[str(arguments.get("lane")) if arguments.get("lane") in self._lanes else "work"].cancel()
        else:
            self._answer(message, do, arguments)

    def _compute(self, message: Message, do: str, arguments: dict[str, object]) -> None:
        name = str(arguments.get("file", ""))
        if do == "scene":
            self._drafts[name] = str(arguments.get("text", ""))
        try:
            path = self.folder.path(name) if name else self.folder.root / "model.kg"
        except ModelError as error:
            self._say({"id": message["id"], "do": do, "error": described(error)})
            return
        located = {**arguments, "path": str(path), "root": str(self.folder.root), "store": self.store}
        self._lanes[OPERATIONS[do].lane].submit({"id": message["id"], "do": do, "with": located})

    def _answer(self, message: Message, do: str, arguments: dict[str, object]) -> None:
        answer: dict[str, object] = {"id": message["id"], "do": do}
        try:
            match do:
                case "hello":
                    answer["result"] = self._hello()
                case "files":
                    answer["result"] = {"files": self.folder.names(), "library": list(library.names())}
                case "open":
                    answer["result"] = self._open(str(arguments.get("name", "")))
                case "template":
                    answer["result"] = {"text": library.text(str(arguments.get("name", "")))}
                case "save":
                    answer["result"] = self._save(arguments)
                case _:
                    answer["error"] = {"message": f"unknown request {do[:50]!r}"}
        except KinegraphError as error:
            answer["error"] = described(error)
        except OSError as error:
            answer["error"] = {"message": error.strerror or str(error)}
        self._say(answer)

    def _hello(self) -> dict[str, object]:
        """What the page begins with: the file or template named on the command line, and what was not saved."""
        name = self._file or self.first
        found: dict[str, object] = {"files": self.folder.names(), "library": list(library.names())}
        found |= {"folder": str(self.folder.root), "first": name}
        if self._file:
            found |= {"draft": self._drafts.get(self._file)}
        elif "" in self._drafts:
            found |= {"draft": self._drafts[""]}
        if self._finished:
            found |= {"finished": json.loads(self._finished).get("result")}
            self._finished = ""
        return found

    def _open(self, name: str) -> dict[str, object]:
        found = self.folder.read(name)
        self._file = name
        return {"name": name, "text": found.text, "stamp": found.stamp}

    def _save(self, arguments: Mapping[str, object]) -> dict[str, object]:
        name, text = str(arguments.get("name", "")), str(arguments.get("text", ""))
        stamp = self.folder.write(name, text, str(arguments.get("stamp", "")))
        self._file = name
        self._drafts[name] = text
        return {"name": name, "stamp": stamp, "files": self.folder.names()}

    async def watch(self, seconds: float = 0.4) -> None:
        """Tell the page when its file changes on disk."""
        told = ""
        while True:
            await asyncio.sleep(seconds)
            if not self._file:
                continue
            try:
                stamp = self.folder.stamp(self._file)
                if stamp and stamp != told:
                    told = stamp
                    found = self.folder.read(self._file)
                    self._say({"event": "disk", "name": found.name, "text": found.text, "stamp": found.stamp})
            except (KinegraphError, OSError):
                continue

    def _say(self, content: Mapping[str, object]) -> None:
        self._tell("D", json.dumps(content))

    def _tell(self, kind: str, text: str) -> None:
        if not self.connected and kind == "D" and '"do": "run"' in text[:200]:
            self._finished = text
        elif self.connected or kind == "D":
            self.outbox.put(kind, text)

    def leave(self) -> None:
        """The page is gone. What it computes goes on, but nobody watches a live simulation."""
        self.connected = False
        self._lanes["live"].cancel()

    def close(self) -> None:
        """End all processes of the session."""
        for lane in self._lanes.values():
            lane.close()
