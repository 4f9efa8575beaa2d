"""Actions of the tests in a browser that Playwright does not drive."""

import time
from pathlib import Path


class Driven:
    """A browser with one tab. `run` calls a function of the page; downloads lie in `downloads`."""

    patience: float
    downloads: Path

    def run(self, script: str, *values):
        raise NotImplementedError

    def wait(self, condition: str, *values):
        """Until a function of the page returns something that counts as true; what it returns."""
        end = time.monotonic() + self.patience
        while time.monotonic() < end:
            if found := self.run(condition, *values):
                return found
            time.sleep(0.1)
        words = self.run("() => document.body.innerText")[:400]
        raise TimeoutError(f"in vain: {condition} {values}; the page says {words!r}")

    def press(self, name: str) -> None:
        """Clicks on the button or link of that name, once it is there."""
        self.wait(
            """(name) => {
          const all = [...(document.querySelector('dialog[open]') ?? document).querySelectorAll('button, a')];
          const named = (each) => (each.getAttribute('aria-label') ?? each.textContent).trim() === name;
          const found = all.find((each) => named(each) && each.checkVisibility());
          found?.click();
          return Boolean(found);
        }""",
            name,
        )

    def downloaded(self, pattern: str) -> Path:
        """The file that has been downloaded whole."""
        end = time.monotonic() + self.patience
        while time.monotonic() < end:
            found = [path for path in self.downloads.glob(pattern) if path.stat().st_size > 0]
            # Firefox writes a download beside its empty file, WebKit under a name of its own.
            if found and not [*self.downloads.glob("*.part"), *self.downloads.glob("*.wkdownload")]:
                return found[0]
            time.sleep(0.1)
        raise TimeoutError(f"no download {pattern}")
