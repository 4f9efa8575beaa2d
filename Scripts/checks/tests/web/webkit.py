"""WebKit by WebDriver: GTK's MiniBrowser on a screen of its own, driven by a few commands over HTTP."""

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from driven import Driven

# The key of an element's reference (W3C WebDriver, 12.1).
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class WebKit(Driven):
    """A running browser with one tab."""

    # WebDriver reports neither requests nor complaints.
    requests: list[str] = []
    complaints: list[str] = []

    def __init__(self, patience: float):
        self.patience = patience
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        home = Path(self.folder.name)
        self.downloads = home / "Downloads"
        for each in (self.downloads, home / ".config"):
            each.mkdir()
        (home / ".config" / "user-dirs.dirs").write_text('XDG_DOWNLOAD_DIR="$HOME/Downloads"\n')
        read, write = os.pipe()
        self.screen = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x900x24", "-nolisten", "tcp"],
            pass_fds=[write], stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(write)
        with open(read) as number:
            display = number.readline().strip()
        port = free_port()
        self.address = f"http://127.0.0.1:{port}"
        environment = os.environ | {
            "HOME": str(home),
            "DISPLAY": f":{display}",
            "GDK_BACKEND": "x11",
            "LC_ALL": "C.UTF-8",
        }
        environment |= {"LIBGL_ALWAYS_SOFTWARE": "1", "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1"}
        self.driver = subprocess.Popen(
            [self.program(), f"--port={port}"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.session = ""
        end = time.monotonic() + patience
        while True:
            try:
                self.send("GET", "/status")
                break
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)
        self.session = "/session/" + self.send("POST", "/session", capabilities={})["sessionId"]
        milliseconds = int(patience * 1000)
        self.send("POST", "/timeouts", script=milliseconds, pageLoad=milliseconds)

    @staticmethod
    def program() -> str | None:
        return shutil.which("WebKitWebDriver") if shutil.which("Xvfb") else None

    def send(self, method: str, path: str, **parameters):
        """The value of a command's answer."""
        data = json.dumps(parameters).encode() if method == "POST" else None
        request = urllib.request.Request(self.address + self.session + path, data, method=method)
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=self.patience) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{path}: {error.read().decode()}") from None

    def open(self, address: str) -> None:
        self.send("POST", "/url", url=address)

    def reload(self) -> None:
        self.send("POST", "/refresh")

    def run(self, script: str, *values):
        """The result of an async function of the page, as JSON carries it."""
        call = f"""const done = arguments[0];
        (async () => JSON.stringify(await ({script})(...{json.dumps(values)})) ?? 'null')().then(
          (text) => done({{ text }}), (error) => done({{ error: String(error) }}));"""
        answer = self.send("POST", "/execute/async", script=call, args=[])
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return json.loads(answer["text"])

    def choose(self, selector: str, *paths: Path) -> None:
        """Puts files into an input, as a person does."""
        element = self.send("POST", "/element", using="css selector", value=selector)[ELEMENT]
        self.send("POST", f"/element/{element}/value", text="\n".join(map(str, paths)))

    def close(self) -> None:
        self.send("DELETE", "")
        for process in (self.driver, self.screen):
            process.terminate()
            process.wait(30)
        self.folder.cleanup()
