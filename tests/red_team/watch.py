"""Detects harm done by an attack: leaked canaries, stray processes, network connections, live scripts."""

import ctypes
import os
import socket
import threading
from contextlib import suppress
from html.parser import HTMLParser
from pathlib import Path

import psutil

PR_SET_CHILD_SUBREAPER = 36
LIVE_TAGS = {
    "script",
    "iframe",
    "object",
    "embed",
    "form",
    "svg",
    "math",
    "base",
    "meta",
    "link",
    "style",
    "template",
}
LINKS = {
    "href",
    "src",
    "action",
    "formaction",
    "data",
    "srcdoc",
    "srcset",
    "poster",
    "background",
    "style",
    "content",
}


def adopt_orphans() -> None:
    """Make this process the parent of its orphaned descendants from now on."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants() -> dict[int, str]:
    """Return every living process that descends from this one, with its command line."""
    found = {}
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if process.status() != psutil.STATUS_ZOMBIE:
                found[process.pid] = " ".join(process.cmdline())
    return found


def files_with(words: list[str], folders: list[Path]) -> list[tuple[str, str]]:
    """Return (file, word) for each word that occurs in a file under the folders, or in its path."""
    found = []
    for path in (path for folder in folders for path in folder.rglob("*") if path.is_file()):
        text = path.read_bytes()
        found += [(str(path), word) for word in words if word.encode() in text or word in str(path)]
    return found


class Listener:
    """A server on loopback that listens on TCP and on two Unix sockets, and records each connection's address
    family in `heard`.
    """

    def __init__(self, folder: Path):
        self.heard = []
        self.abstract, self.path = f"red-team-{os.getpid()}", str(folder / "s")
        self._servers = [_server(socket.AF_INET, ("127.0.0.1", 0))]
        self._servers += [_server(socket.AF_UNIX, name) for name in ("\0" + self.abstract, self.path)]
        self.port = self._servers[0].getsockname()[1]
        for server in self._servers:
            threading.Thread(target=self._listen, args=(server,), daemon=True).start()

    def _listen(self, server):
        while True:
            try:
                line, _ = server.accept()
            except OSError:
                return
            self.heard.append(server.family)
            with line, suppress(OSError):
                line.settimeout(2)
                line.recv(16)

    def close(self) -> None:
        for server in self._servers:
            server.shutdown(socket.SHUT_RDWR)
            server.close()


def _server(family, address):
    server = socket.socket(family, socket.SOCK_STREAM)
    server.bind(address)
    server.listen()
    return server


class _Live(HTMLParser):
    """Finds `mark` wherever a browser would run it or fetch it."""

    def __init__(self, mark):
        super().__init__(convert_charrefs=True)
        self.mark, self.inside, self.found = mark, [], []

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if self.mark in (value or "") and (name.startswith("on") or name in LINKS):
                self.found.append(f"<{tag} {name}={value[:80]!r}>")
        if tag in LIVE_TAGS:
            self.inside.append(tag)

    def handle_endtag(self, tag):
        if tag in self.inside:
            self.inside.remove(tag)

    def handle_data(self, data):
        if self.mark in data and {"script", "style", "iframe"} & set(self.inside):
            self.found.append(f"<{self.inside[-1]}>{data[:80]}")


def live(html: str, mark: str) -> list[str]:
    """Return every place in a page where a browser would run or fetch `mark`."""
    looked = _Live(mark)
    looked.feed(html)
    looked.close()
    return looked.found
