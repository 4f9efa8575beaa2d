"""Servers of folders on this machine, for pages that are not opened as files."""

import contextlib
import functools
import http.server
import threading


class Files(http.server.SimpleHTTPRequestHandler):
    """Serves a folder and notes what it was asked for."""

    asked: list[str] = []

    def do_GET(self):
        self.asked.append(self.path)
        super().do_GET()

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def served(folder, handler=Files):
    """A server of a folder, its address, and what it is asked for."""
    asked: list[str] = []
    answering = functools.partial(type("Noted", (handler,), {"asked": asked}), directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), answering) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server, f"http://127.0.0.1:{server.server_port}/", asked
        server.shutdown()
