"""A studio as users start it, and a page that speaks to it without a browser."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import time
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from tests.programs import HANGS


@contextmanager
def studio(folder, source=".", *options):
    """A running studio; gives its address."""
    pytest.importorskip("uvicorn", reason="the studio's packages are not installed: pip install '.[studio]'")
    command = (sys.executable, "-m", "kinegraph", "studio", source, "--no-browser", "--json", *options)
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    try:
        text = ""
        while "}" not in text:
            line = process.stdout.readline()
            assert line, "the studio ended"
            text += line
        yield json.loads(text)["address"]
    finally:
        process.terminate()
        process.wait(HANGS)


def get(address, path=None, headers=(), method="GET"):
    """The status, the headers and the text of an answer; `path` instead of the address's own."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=HANGS)
    connection.putrequest(method, path if path is not None else parts.path, skip_host=True)
    for name, value in {"Host": parts.netloc, **dict(headers)}.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    found = answer.status, dict(answer.getheaders()), answer.read().decode()
    connection.close()
    return found


class Page:
    """A page without a browser: requests and their answers."""

    def __init__(self, address, key="", **settings):
        client = pytest.importorskip("websockets.sync.client")
        parts = urlsplit(address)
        settings = {"origin": f"http://{parts.netloc}", **settings}
        uri = f"ws://{parts.netloc}{parts.path}socket?session={key}"
        self._connecting = client.connect(uri, max_size=None, open_timeout=HANGS, proxy=None, **settings)
        self.socket = self._connecting.__enter__()
        self.number = time.time_ns() // 1000  # what a page before this one asked has other numbers
        self.others = []

    def send(self, what, **given):
        """Send a request, and return its number."""
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "do": what, "with": given}))
        return self.number

    def answer(self, number):
        """The answer to a request; other messages are kept."""
        while True:
            message = json.loads(self.socket.recv(HANGS))
            if message.get("id") == number and ("result" in message or "error" in message):
                return message
            self.others.append(message)

    def ask(self, what, **given):
        """The result of a request."""
        message = self.answer(self.send(what, **given))
        assert "result" in message, message
        return message["result"]

    def refused(self, what, **given):
        """The error of a request."""
        message = self.answer(self.send(what, **given))
        assert "error" in message, message
        return message["error"]

    def event(self, name):
        """The next message of a kind that nobody asked for."""
        while True:
            for message in self.others:
                if message.get("event") == name:
                    self.others.remove(message)
                    return message
            self.others.append(json.loads(self.socket.recv(HANGS)))

    def close(self):
        self.socket.close()


@contextmanager
def page(address, key="", **settings):
    found = Page(address, key, **settings)
    try:
        yield found
    finally:
        found.close()
