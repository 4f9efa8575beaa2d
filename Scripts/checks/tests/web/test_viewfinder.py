"""The live camera says what to change, and the frame that is kept is answered as the command line answers it."""

import base64
import io
import json

import pytest
from conftest import FIXTURES, SHIPPED_PAGE, Visit, launch_arguments, run_program
from PIL import Image, ImageChops, ImageDraw, ImageFilter
from playwright.sync_api import expect

SIDES = (640, 480)


def room(_photograph: Image.Image) -> Image.Image:
    """A drawn room, which no dermatoscope took."""
    picture = Image.new("RGB", SIDES, (200, 190, 170))
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, 300, 640, 480), fill=(120, 90, 70))
    draw.rectangle((200, 120, 330, 330), fill=(170, 60, 40))
    draw.ellipse((380, 180, 520, 320), fill=(220, 160, 90))
    return picture


GOOD = "Nothing to change"
SCENES = {
    "sharp": (lambda photograph: photograph, GOOD),
    "blurred": (lambda photograph: photograph.filter(ImageFilter.GaussianBlur(3)), "Blurred"),
    "dark": (lambda photograph: Image.eval(photograph, lambda value: value // 9), "Too dark"),
    "bright": (lambda photograph: Image.eval(photograph, lambda value: min(255, value + 150)), "Too bright"),
    "shifted": (lambda photograph: ImageChops.offset(photograph, 190, 120), "Move the lesion to the middle"),
    "room": (room, "This does not look like a picture through a dermatoscope"),
}


@pytest.fixture
def camera(playwright, chromium, tmp_path):
    """Opens the shipped model's page in a browser whose camera shows a scene, with its camera open."""
    opened = []

    def show(scene: str, script: str = "") -> Visit:
        with Image.open(FIXTURES / "phantom_brown.jpg") as photograph:
            picture = SCENES[scene][0](photograph.convert("RGB").resize(SIDES))
        picture.save(frame := io.BytesIO(), "JPEG", quality=95, subsampling=0)
        film = tmp_path / f"{scene}.mjpeg"
        film.write_bytes(frame.getvalue() * 30)
        fake = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
        browser = playwright.chromium.launch(
            executable_path=chromium,
            args=[*launch_arguments(), *fake, f"--use-file-for-fake-video-capture={film}"],
        )
        on = Visit(browser, file=SHIPPED_PAGE, script=script)
        opened.append((browser, on))
        on.page.get_by_role("button", name="Take a photograph").click()
        return on

    yield show
    for browser, on in opened:
        browser.close()
        assert on.complaints == []


@pytest.mark.parametrize("scene", SCENES)
def test_one_sentence_says_what_to_change(camera, scene):
    on = camera(scene)
    advice = on.page.get_by_role("dialog").get_by_role("status")
    expect(advice).to_contain_text(SCENES[scene][1])
    expect(on.page.locator(".camera-stage.good")).to_have_count(1 if scene == "sharp" else 0)


# Counts what is asked of the engine, and what is said.
COUNTING = """
  window.asked = [];
  window.actions = [];
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message, ...more) {
    window.actions.push(message.action);
    if (message.action === 'judge') window.asked.push([performance.now(), message.job.wasUnfamiliar]);
    return post.call(this, message, ...more);
  };
  window.said = [];
  new MutationObserver((changes) => {
    const advice = changes.filter(({ target }) => target.classList?.contains('camera-advice'));
    window.said.push(...advice.map(({ target }) => target.textContent));
  }).observe(document, { childList: true, subtree: true });
"""


def test_frames_are_judged_at_most_five_times_a_second_until_the_camera_is_left(camera):
    on = camera("sharp", COUNTING)
    page = on.page
    expect(page.get_by_role("dialog").get_by_role("status")).to_contain_text(GOOD)
    page.wait_for_function("() => window.asked.length >= 12")
    times, network = zip(*page.evaluate("() => window.asked"), strict=True)
    assert all(later - earlier > 150 for earlier, later in zip(times, times[1:], strict=False)), times
    # The network judges the first frame, and then seldom.
    assert network[0] is None
    assert network.count(None) <= len(network) / 2
    assert page.evaluate("() => window.said") == ["Nothing to change: take the photograph."], "said once, not each time"
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    asked = page.evaluate("() => window.asked.length")
    page.wait_for_timeout(1000)
    assert page.evaluate("() => window.asked.length") == asked


def test_an_analysis_has_the_engine_for_itself(camera):
    on = camera("sharp", COUNTING)
    page = on.page
    page.get_by_role("dialog").wait_for()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    on.open_image([FIXTURES / f"phantom_{name}.jpg" for name in ("brown", "melanoma", "pale", "vascular", "keratosis")])
    page.locator(".batch-rows").wait_for()
    page.evaluate("() => { window.actions = []; location.hash = '#scan'; }")
    page.get_by_role("button", name="Take a photograph").click()
    expect(page.get_by_role("dialog").get_by_role("status")).to_contain_text(GOOD)
    actions = page.evaluate("() => window.actions")
    assert "judge" not in actions[: max(at for at, action in enumerate(actions) if action == "classify")], actions
    page.keyboard.press("Escape")
    on.go("scan/list")
    page.get_by_text("5 of 5 done").wait_for()


def test_the_kept_frame_is_answered_as_the_command_line_answers_it(camera, tmp_path):
    on = camera("sharp")
    page = on.page
    expect(page.get_by_role("dialog").get_by_role("status")).to_contain_text(GOOD)
    page.get_by_role("dialog").get_by_role("button", name="Take photograph").click()
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Analyse").click()
    page.wait_for_selector(".heatmap figcaption p")
    on.save()
    on.go("history")
    scan = json.loads(on.export_history().splitlines()[1])
    kept = tmp_path / "kept.png"
    kept.write_bytes(base64.b64decode(scan["photograph"].split(",")[1]))
    with Image.open(kept) as image:
        assert image.size == SIDES
    expected = json.loads(run_program("classify", str(kept), "--format", "json"))
    assert scan["result"]["prediction"]["class"] == expected["prediction"]["class"]
    for name, value in expected["probabilities"].items():
        assert scan["result"]["probabilities"][name] == pytest.approx(value, abs=1e-5), name
