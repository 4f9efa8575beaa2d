"""Every view of the page, one after the other, in any of its languages."""

from conftest import FIXTURES
from make_page import languages

LOCALES = {"en": "en-GB", "de": "de-DE", "fr": "fr-FR"}


class Words:
    """The texts of a language by their path, up to their first value: `words("scan.choose")`."""

    def __init__(self, language: str):
        self.texts = languages()[language]

    def __call__(self, path: str) -> str:
        text = self.texts
        for part in path.split("."):
            text = text[part]
        return (text if isinstance(text, str) else text["other"]).split("{")[0].strip()


def screens(on, language: str = "en"):
    """Every view, with its name. The page is at its disclaimer, in that language."""
    words = Words(language)
    yield from before_the_result(on, words)
    yield from around_the_result(on, words)
    yield from around_the_history(on, words)
    yield from words_alone(on)
    yield from around_the_list(on, words)
    yield from around_the_lock(on, words)


def button(on, name: str):
    return on.page.get_by_role("button", name=name).first


def hold_messages(page):
    """The engine gets its messages when `deliver` is called, as on a slow device."""
    page.evaluate("""() => {
      const own = Worker.prototype.postMessage;
      const held = [];
      Worker.prototype.postMessage = function (...message) { held.push([this, message]); };
      window.deliver = () => {
        Worker.prototype.postMessage = own;
        for (const [worker, message] of held) own.apply(worker, message);
      };
    }""")


def before_the_result(on, words):
    page = on.page
    yield "disclaimer"
    page.locator(".gate .primary").click()
    on.wait_until_ready()
    page.locator("main h1").wait_for()
    yield "scan"
    button(on, words("scan.camera")).click()
    page.locator(".camera-advice:not(:empty)").wait_for()
    yield "camera"
    page.keyboard.press("Escape")
    on.open_image(FIXTURES / "refused_text.png")
    page.locator(".message.danger").wait_for()
    yield "unreadable"
    on.go("history")
    yield "history-off"
    on.go("scan")
    on.open_image(FIXTURES / "phantom_brown.jpg")
    page.locator(".crop-stage").wait_for()
    yield "review"
    page.locator(".actions .primary").click()
    age = page.locator(".age-number")
    age.fill("0")
    yield "details"
    age.fill("70")
    page.locator(".site-list input[value='face']").check()
    hold_messages(page)
    button(on, words("scan.analyse")).click()
    page.locator(".waiting").wait_for()
    yield "working"
    button(on, words("common.cancel")).click()
    page.evaluate("() => window.deliver()")


def around_the_result(on, words):
    page = on.page
    page.locator(".metadata-form").wait_for()
    button(on, words("scan.analyse")).click()
    page.wait_for_selector(".heatmap figcaption p")
    page.locator(".result .table").wait_for()
    for details in page.locator("details.card > summary").all():
        details.click()
    yield "result"
    page.locator(".age-number").first.fill("71")
    page.locator(".message.warning").first.wait_for()
    yield "stale"
    page.locator(".age-number").first.fill("70")
    page.locator(".heatmap .switch").first.click()
    yield "result-without-map"
    page.locator(".heatmap .switch").first.click()
    hold_messages(page)
    button(on, words("heatmap.check")).click()
    page.locator(".heatmap progress").wait_for()
    yield "checking"
    button(on, words("common.cancel")).click()
    page.evaluate("() => window.deliver()")
    button(on, words("scan.discard")).click()
    page.get_by_role("dialog").wait_for()
    yield "confirmation"
    page.keyboard.press("Escape")
    button(on, words("result.save")).click()
    page.get_by_role("dialog").wait_for()
    yield "turning-on"
    page.get_by_role("dialog").locator(".primary").click()
    button(on, words("result.saved")).wait_for()
    button(on, words("result.next")).click()
    on.open_image(FIXTURES / "noise.png")
    page.locator(".crop-stage").wait_for()
    page.locator(".actions .primary").click()
    page.locator(".metadata-form").wait_for()
    button(on, words("scan.analyse")).click()
    page.wait_for_selector(".heatmap figcaption p")
    yield "abstention"
    button(on, words("result.save")).click()
    button(on, words("result.saved")).wait_for()


def around_the_history(on, words):
    page = on.page
    on.go("history")
    page.locator(".scan-row").nth(1).wait_for()
    for details in page.locator("details.card > summary").all():
        details.click()
    yield "history"
    button(on, words("history.exportSealed")).click()
    page.get_by_role("dialog").wait_for()
    yield "passphrase"
    page.keyboard.press("Escape")
    page.set_input_files("[data-role=import]", FIXTURES / "refused_text.png")
    page.locator(".message.danger").wait_for()
    yield "import-refused"
    for box in page.locator(".scan-row input").all():
        box.check()
    button(on, words("history.compare")).click()
    page.locator(".compare").wait_for()
    yield "compare"
    on.go("history")
    page.locator("a.scan-card").last.click()
    page.wait_for_selector(".heatmap figcaption p")
    yield "record"
    page.locator("input[maxlength]").fill("left ear")
    page.get_by_text(words("record.stored")).wait_for()
    on.go("lesion/left%20ear")
    page.locator(".film-strip").wait_for()
    yield "lesion"


def words_alone(on):
    """Views of text, and what stands where a scan is missing."""
    on.go("history/00000000000000000000000000000000")
    yield "record-missing"
    for name in ("learn", "learn/mel", "about"):
        on.go(name)
        yield name.replace("/", "-")


def around_the_list(on, words):
    page = on.page
    page.locator(".tab").first.click()
    button(on, words("scan.discard")).click()
    page.locator(".drop-zone").wait_for()
    table = {"name": "table.csv", "mimeType": "text/csv", "buffer": b"image,age\nphantom_brown.jpg,40\nother.jpg,3\n"}
    on.open_image([FIXTURES / "phantom_brown.jpg", FIXTURES / "refused_text.png"])
    page.locator(".batch-rows .field-error").wait_for()
    page.locator("[data-item]").wait_for()
    page.set_input_files("[data-role=table]", table)
    page.locator(".message").first.wait_for()
    page.wait_for_function(
        "() => document.querySelector('[data-item]') && !document.querySelector('[data-action=stop]')"
    )
    yield "list"


def around_the_lock(on, words):
    page = on.page
    on.go("history")
    button(on, words("lock.set")).click()
    for field in page.locator("dialog input").all():
        field.fill("correct horse")
    page.locator("dialog .primary").click()
    page.get_by_text(words("lock.isSet")).wait_for()
    yield "unlocked"
    button(on, words("lock.now")).click()
    page.get_by_role("heading", name=words("lock.title")).wait_for()
    on.wait_until_ready()
    yield "locked"
