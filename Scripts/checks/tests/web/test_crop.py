"""The square that the model sees: a view of the photograph that is moved and enlarged, in every way that there is."""

import numpy as np
import pytest
from conftest import FIXTURES
from PIL import Image


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A photograph of a phone: 12 megapixels, more bytes than the history keeps as they are."""
    path = tmp_path_factory.mktemp("large") / "phone.jpg"
    image = np.asarray(Image.open(FIXTURES / "phantom_brown.jpg").convert("RGB").resize((4032, 3024)), int)
    noise = np.random.default_rng(5).integers(-18, 19, image.shape)
    Image.fromarray(np.clip(image + noise, 0, 255).astype(np.uint8)).save(path, quality=88)
    assert path.stat().st_size > 1_500_000
    return path


def square(page) -> tuple[int, int, int]:
    """Left, top and side, in pixels of the photograph."""
    return tuple(int(text) for text in page.locator(".crop-stage").get_attribute("data-square").split())


def opened(visit, path=FIXTURES / "phantom_brown.jpg", **options):
    on = visit(**options)
    on.open_image(path)
    on.page.get_by_role("button", name="Next").wait_for()
    return on


def test_the_wheel_scrolls_and_with_ctrl_enlarges_what_lies_under_it(visit):
    on = opened(visit, viewport={"width": 1000, "height": 500})
    page = on.page
    before = square(page)
    box = page.locator(".crop-stage").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.wheel(0, 150)
    # Until it lies still: the browser scrolls over several frames.
    page.evaluate("() => { window.before = -1; }")
    page.wait_for_function(
        "() => { const still = scrollY > 50 && scrollY === window.before; window.before = scrollY; return still; }",
        polling=100,
    )
    assert square(page) == before, "the wheel alone changes the square"
    box = page.locator(".crop-stage").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -120)
    page.keyboard.up("Control")
    page.wait_for_function(
        "(side) => Number(document.querySelector('.crop-stage').dataset.square.split(' ')[2]) < side", arg=before[2]
    )
    # The frame stays as large as it is on the screen: the photograph has grown under it.
    frame = page.locator(".crop-square").bounding_box()
    assert abs(frame["width"] - 0.86 * min(box["width"], box["height"])) < 2


def test_dragging_moves_the_photograph_and_never_leaves_it(visit):
    on = opened(visit)
    page = on.page
    page.get_by_role("button", name="Zoom in").click(click_count=4)
    left, top, side = square(page)
    box = page.locator(".crop-stage").bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0] - 40, middle[1], steps=4)
    page.mouse.up()
    assert square(page)[0] > left + 10 and square(page)[1:] == (top, side), "the photograph does not follow the pointer"
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0] + 4000, middle[1] + 4000, steps=4)
    page.mouse.up()
    assert square(page) == (0, 0, side), "the square leaves the photograph"
    page.get_by_role("button", name="Reset").click()
    assert square(page) == (75, 0, 450)
    # The focus is not lost with the button that is needed no more.
    page.wait_for_function("() => document.activeElement !== document.body")


def test_two_fingers_enlarge_about_their_middle(visit):
    on = opened(visit)
    page = on.page
    before = square(page)
    found = page.evaluate("""() => {
      const stage = document.querySelector('.crop-stage');
      const box = stage.getBoundingClientRect();
      stage.setPointerCapture = () => {};
      const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
      const send = (kind, pointerId, dx) => stage.dispatchEvent(new PointerEvent(kind,
        { pointerId, pointerType: 'touch', clientX: x + dx, clientY: y, bubbles: true, button: 0 }));
      const seen = [];
      const now = () => seen.push(stage.dataset.square.split(' ').map(Number));
      send('pointerdown', 1, -30);
      send('pointerdown', 2, 30);
      send('pointermove', 1, -60);
      send('pointermove', 2, 60);
      now();
      // One finger is lifted: the other goes on from there and throws nothing.
      send('pointerup', 2, 60);
      now();
      send('pointermove', 1, -61);
      now();
      send('pointerup', 1, -61);
      return seen;
    }""")
    pinched, lifted, moved = found
    assert abs(pinched[2] - before[2] / 2) <= 2, "twice the distance is half the square"
    centre = before[0] + before[2] / 2, before[1] + before[2] / 2
    assert abs(pinched[0] + pinched[2] / 2 - centre[0]) < 8 and abs(pinched[1] + pinched[2] / 2 - centre[1]) < 8
    assert lifted == pinched
    assert moved[2] == pinched[2] and abs(moved[0] - pinched[0]) <= 2


def test_the_keyboard_does_all_of_it(visit):
    on = opened(visit)
    page = on.page
    page.locator(".crop-stage").focus()
    page.keyboard.press("+")
    left, top, side = square(page)
    assert side < 450
    page.keyboard.press("ArrowRight")
    assert square(page)[0] > left
    page.keyboard.press("Shift+ArrowDown")
    assert square(page)[1] == top + 1
    page.keyboard.press("-")
    assert square(page)[2] > side
    page.keyboard.press("Home")
    assert square(page) == (75, 0, 450)
    # The least that the engine takes, whatever is asked for.
    page.get_by_label("Zoom of the square").fill("100")
    page.keyboard.press("+")
    assert square(page)[2] == 32


def test_what_is_enlarged_is_drawn_from_the_photographs_own_pixels(visit, large):
    on = opened(visit, large)
    page = on.page
    page.get_by_label("Zoom of the square").fill("95")
    # 40 pixels of the photograph across the view are 16 of the preview: their noise is seen only in its own pixels.
    contrast = """() => {
      const canvas = document.querySelector('.crop-stage canvas');
      const row = new OffscreenCanvas(canvas.width, 1).getContext('2d', { willReadFrequently: true });
      row.drawImage(canvas, 0, -(canvas.height >> 1));
      const { data } = row.getImageData(0, 0, canvas.width, 1);
      let sum = 0;
      for (let at = 4; at < data.length; at += 4) sum += Math.abs(data[at] - data[at - 4]);
      return sum / canvas.width;
    }"""
    before = page.evaluate(contrast)
    page.wait_for_function(f"(before) => ({contrast})() > 1.3 * before", arg=before)


def test_result_record_and_report_show_every_pixel_that_the_model_saw(visit, large):
    on = opened(visit, large)
    page = on.page
    page.evaluate("() => { window.print = () => {}; }")
    page.get_by_label("Zoom of the square").fill("40")
    left, top, side = square(page)
    assert 400 < side < 600
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Analyse").click()
    page.wait_for_selector(".heatmap figcaption p")
    width = "(selector) => document.querySelector(selector).width"
    assert page.evaluate(width, ".heatmap-stage canvas") == side
    page.get_by_role("button", name="Print or PDF").click()
    assert page.evaluate(width, ".report-pictures > figure > canvas") == side
    on.save()
    on.go("history")
    page.locator("a.scan-card").click()
    page.wait_for_selector(".heatmap figcaption p")
    assert page.evaluate(width, ".heatmap-stage canvas") == side
    # Analysed again from what was kept, the square is still told in the photograph's own pixels.
    page.get_by_role("button", name="Correct and analyse again").click()
    page.get_by_label("Age", exact=True).fill("30")
    page.get_by_role("button", name="Analyse").click()
    page.wait_for_selector(".result")
    text = page.locator(".result").text_content()
    assert f"{side} by {side} pixels from {left:,}, {top:,} of 4,032 by 3,024" in text
