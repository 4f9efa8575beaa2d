"""Makes the README's picture of the page from a phantom; Scripts/checks/pictures runs it."""

import sys

from conftest import Visit, launch_arguments, shutil, sync_playwright


def main(output: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=launch_arguments())
        on = Visit(browser, viewport={"width": 1180, "height": 1000})
        on.scan("phantom_brown.jpg")
        # The effect of age, sex and place comes last.
        on.page.locator(".result .table").wait_for()
        on.page.screenshot(path=output)
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
