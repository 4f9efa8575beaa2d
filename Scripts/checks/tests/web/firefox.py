"""Firefox by WebDriver BiDi: a page in a profile of its own, driven by a few commands over a socket."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

import websocket
from driven import Driven

PREFERENCES = {
    "browser.shell.checkDefaultBrowser": False,
    "browser.aboutwelcome.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.enabled": False,
    "browser.download.folderList": 2,
    "intl.accept_languages": "en-US",
    "intl.locale.requested": "en-US",
}


class Firefox(Driven):
    """A running browser with one tab."""

    def __init__(self, patience: float):
        self.patience = patience
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.downloads = Path(self.folder.name) / "downloads"
        self.downloads.mkdir()
        profile = Path(self.folder.name) / "profile"
        profile.mkdir()
        preferences = PREFERENCES | {"browser.download.dir": str(self.downloads)}
        (profile / "user.js").write_text(
            "".join(f"user_pref({json.dumps(key)}, {json.dumps(value)});\n" for key, value in preferences.items())
        )
        self.process = subprocess.Popen(
            [self.program(), "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
            env=os.environ | {"HOME": self.folder.name, "MOZ_CRASHREPORTER_DISABLE": "1"},
        )
        lines = iter(self.process.stderr)
        address = next(match.group(1) for line in lines if (match := re.search(r"BiDi listening on (ws://\S+)", line)))
        threading.Thread(target=lambda: list(lines), daemon=True).start()
        self.socket = websocket.create_connection(f"{address}/session", timeout=patience, suppress_origin=True)
        self.serial = 0
        self.complaints: list[str] = []
        self.send("session.new", capabilities={})
        self.send("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])
        self.requests: list[str] = []
        self.tab = self.send("browsingContext.getTree")["contexts"][0]["context"]

    @staticmethod
    def program() -> str | None:
        return shutil.which("firefox-esr") or shutil.which("firefox")

    def send(self, method: str, **parameters):
        """The result of a command; events that come before it are kept."""
        self.serial += 1
        self.socket.send(json.dumps({"id": self.serial, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.socket.recv())
            if answer.get("id") == self.serial:
                if answer["type"] == "error":
                    raise RuntimeError(f"{method}: {answer['error']}: {answer['message']}")
                return answer["result"]
            if answer.get("method") == "log.entryAdded" and answer["params"]["level"] in ("error", "warn"):
                self.complaints.append(answer["params"]["text"])
            elif answer.get("method") == "network.beforeRequestSent":
                self.requests.append(answer["params"]["request"]["url"])

    def open(self, address: str) -> None:
        self.send("browsingContext.navigate", context=self.tab, url=address, wait="complete")

    def reload(self) -> None:
        self.send("browsingContext.reload", context=self.tab, wait="complete")

    def run(self, script: str, *values):
        """The result of an async function of the page, as JSON carries it."""
        call = f"(async () => JSON.stringify(await ({script})(...{json.dumps(values)})) ?? 'null')()"
        answer = self.send("script.evaluate", expression=call, target={"context": self.tab}, awaitPromise=True)
        if answer["type"] == "exception":
            raise RuntimeError(answer["exceptionDetails"]["text"])
        return json.loads(answer["result"]["value"])

    def choose(self, selector: str, *paths: Path) -> None:
        """Puts files into an input, as a person does."""
        found = self.send("browsingContext.locateNodes", context=self.tab, locator={"type": "css", "value": selector})
        element = {"sharedId": found["nodes"][0]["sharedId"]}
        self.send("input.setFiles", context=self.tab, element=element, files=[str(path) for path in paths])

    def close(self) -> None:
        self.socket.close()
        self.process.terminate()
        self.process.wait(30)
        self.folder.cleanup()
