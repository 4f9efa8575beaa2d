# ruff: noqa: E501  the scripts for the page are written as they are read there
"""The history keeps photographs without position, camera and time: new ones, imported ones, and those of older versions."""

import base64
import io
import json

import numpy as np
import pytest
from conftest import FIXTURES, base64_of
from PIL import Image, ImageOps
from PIL.PngImagePlugin import PngInfo
from playwright.sync_api import expect


def photograph_with_metadata(path, orientation: int, picture: Image.Image) -> None:
    exif = Image.Exif()
    exif[0x010F], exif[0x0112] = "SecretCamera", orientation
    exif.get_ifd(0x8825).update({1: "N", 2: (48.0, 8.0, 14.0), 29: "2026:01:02"})
    exif.get_ifd(0x8769)[0x9003] = "2026:01:02 03:04:05"
    notes = PngInfo()
    notes.add_text("Comment", "SecretCamera")
    more = (
        {"pnginfo": notes}
        if path.suffix == ".png"
        else {"comment": b"SecretCamera", "xmp": b"<x>SecretCamera</x>", "quality": 90}
    )
    picture.save(path, exif=exif, **more)


def stored_photograph(page) -> bytes:
    """The only photograph of the history, as the browser stores it."""
    return base64.b64decode(
        page.evaluate("""async () => {
      const open = indexedDB.open('dermafusion');
      const database = await new Promise((resolve) => { open.onsuccess = () => resolve(open.result); });
      const all = database.transaction('photographs').objectStore('photographs').getAll();
      const [blob] = await new Promise((resolve) => { all.onsuccess = () => resolve(all.result); });
      database.close();
      return base64Of(blob);
    }""")
    )


def test_a_webp_is_turned_as_other_files_are(visit, tmp_path):
    on = visit()
    picture = Image.open(FIXTURES / "phantom_brown.jpg").convert("RGB").resize((48, 40))
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        path = tmp_path / "turned.webp"
        picture.save(path, exif=exif, lossless=True)
        found = on.page.evaluate(
            """async (text) => {
          const { width, height, data } = await window.dermafusion.pixels(new Blob([bytesOf(text)]));
          return [width, height, btoa(String.fromCharCode(...data))];
        }""",
            base64.b64encode(path.read_bytes()).decode(),
        )
        pixels = np.frombuffer(base64.b64decode(found[2]), np.uint8).reshape(found[1], found[0], 4)
        upright = ImageOps.exif_transpose(Image.open(path)).convert("RGB")
        side = min(upright.size)
        left, top = (upright.width - side) // 2, (upright.height - side) // 2
        wanted = np.asarray(upright.crop((left, top, left + side, top + side)))
        assert np.array_equal(pixels[..., :3], wanted), orientation


@pytest.mark.parametrize(
    ("ending", "orientation"), [("jpg", 1), ("jpg", 6), ("png", 1), ("png", 8), ("webp", 1), ("webp", 6)]
)
def test_a_photograph_is_kept_without_its_metadata(visit, tmp_path, ending, orientation):
    on = visit()
    page = on.page
    path = tmp_path / f"lesion.{ending}"
    picture = Image.open(FIXTURES / "phantom_brown.jpg").convert("RGB").crop((0, 0, 320, 200))
    photograph_with_metadata(path, orientation, picture)
    raw = path.read_bytes()
    assert b"SecretCamera" in raw
    # A part, so that a picture that lies otherwise than its square is noticed.
    on.open_image(path)
    page.get_by_role("button", name="Zoom in").click()
    page.get_by_role("button", name="Move the square right").click()
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Analyse").click()
    page.wait_for_selector(".result .bars")
    bars = page.locator(".bars").inner_text()
    on.save()
    stored = stored_photograph(page)
    on.go("history")
    line = json.loads(on.export_history().splitlines()[1])
    exported = base64.b64decode(line["photograph"].split(",")[1])
    assert exported == stored
    for secret in (b"SecretCamera", b"Exif", b"GPS", b"2026:01:02", b"xmpmeta"):
        assert secret not in stored, secret
    # The same pixels, upright.
    wanted = np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(raw))).convert("RGB"), int)
    kept = np.asarray(Image.open(io.BytesIO(stored)).convert("RGB"), int)
    assert kept.shape == wanted.shape
    assert np.abs(kept - wanted).max() <= (0 if orientation == 1 else 3), (
        "browsers decode JPEG otherwise than Pillow by little"
    )
    page.locator("a.scan-card").click()
    page.get_by_role("button", name="Correct and analyse again").click()
    page.get_by_role("heading", name="What is known").wait_for()
    page.get_by_role("button", name="Analyse").click()
    page.wait_for_selector(".result .bars")
    expect(page.locator(".bars"), "what was kept is not what the model saw").to_have_text(bars, use_inner_text=True)


def test_what_an_older_version_stored_is_exported_without_its_metadata(visit, tmp_path):
    on = visit()
    page = on.page
    on.scan()
    on.save()
    path = tmp_path / "old.jpg"
    photograph_with_metadata(path, 3, Image.open(FIXTURES / "phantom_brown.jpg").convert("RGB"))
    page.evaluate(
        """async (text) => {
      const open = indexedDB.open('dermafusion');
      const database = await new Promise((resolve) => { open.onsuccess = () => resolve(open.result); });
      const change = database.transaction('photographs', 'readwrite');
      const store = change.objectStore('photographs');
      const keys = store.getAllKeys();
      keys.onsuccess = () => store.put(new Blob([bytesOf(text)], { type: 'image/jpeg' }), keys.result[0]);
      await new Promise((resolve) => { change.oncomplete = resolve; });
      database.close();
    }""",
        base64_of(path),
    )
    on.go("history")
    entry = json.loads(on.export_history().splitlines()[1])
    exported = base64.b64decode(entry["photograph"].split(",")[1])
    assert b"SecretCamera" not in exported and Image.open(io.BytesIO(exported)).size == Image.open(path).size
    # A file from such a version is taken without it, too.
    line = entry | {"id": "f" * 32}
    line["photograph"] = "data:image/jpeg;base64," + base64.b64encode(path.read_bytes()).decode()
    archive = tmp_path / "history.jsonl"
    archive.write_text(
        json.dumps({"format": "dermafusion-history", "version": 1, "scans": 1}) + "\n" + json.dumps(line) + "\n"
    )
    page.get_by_role("button", name="Delete all scans").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.get_by_text("There are no scans yet.").wait_for()
    page.set_input_files("[data-role=import]", archive)
    page.get_by_text("Scans added: 1.").wait_for()
    assert b"SecretCamera" not in stored_photograph(page)


OLD_DATABASE = """async ({ files, broken }) => {
  const all = (request) => new Promise((resolve, reject) => { request.onsuccess = () => resolve(request.result); request.onerror = () => reject(request.error); });
  const current = await all(indexedDB.open('dermafusion'));
  const [scan] = await all(current.transaction('scans').objectStore('scans').getAll());
  current.close();
  await all(indexedDB.deleteDatabase('dermafusion'));
  const open = indexedDB.open('dermafusion', 1);
  open.onupgradeneeded = () => {
    open.result.createObjectStore('scans', { keyPath: 'id' });
    open.result.createObjectStore('photographs');
  };
  const old = await all(open);
  const change = old.transaction(['scans', 'photographs'], 'readwrite');
  [...files, broken].forEach((text, index) => {
    const id = index.toString(16).padStart(32, '0');
    change.objectStore('scans').put({ ...scan, id });
    change.objectStore('photographs').put(new Blob([bytesOf(text)], { type: 'image/jpeg' }), id);
  });
  await new Promise((resolve) => { change.oncomplete = resolve; });
  old.close();
}"""

PHOTOGRAPHS = """async () => {
  const all = (request) => new Promise((resolve) => { request.onsuccess = () => resolve(request.result); });
  const database = await all(indexedDB.open('dermafusion'));
  const stores = database.version > 1 ? ['photographs', 'unstripped'] : ['photographs'];
  const [files, rest] = await Promise.all(stores.map((store) => all(database.transaction(store).objectStore(store)[store === 'photographs' ? 'getAll' : 'getAllKeys']())));
  database.close();
  return { rest, files: await Promise.all(files.map(base64Of)) };
}"""


def test_the_first_opening_takes_the_metadata_out_of_what_an_older_version_stored(visit, tmp_path):
    on = visit()
    page = on.page
    on.scan()
    on.save()
    on.go("about")
    picture = Image.open(FIXTURES / "phantom_brown.jpg").convert("RGB").crop((0, 0, 320, 200))
    paths = [tmp_path / "upright.jpg", tmp_path / "turned.jpg", tmp_path / "old.png"]
    for path, orientation in zip(paths, (1, 6, 1), strict=True):
        photograph_with_metadata(path, orientation, picture)
    broken = b"SecretCamera, but no picture"
    page.evaluate(OLD_DATABASE, {"files": [base64_of(path) for path in paths], "broken": base64_of(broken)})
    before = page.evaluate(PHOTOGRAPHS)["files"]
    assert all(b"SecretCamera" in base64.b64decode(file) for file in before)
    page.reload()
    on.go("history")
    page.locator(".scan-row").nth(3).wait_for()
    last = f"{3:032x}"
    for _ in range(100):
        found = page.evaluate(PHOTOGRAPHS)
        if found["rest"] == [last]:
            break
        page.wait_for_timeout(100)
    assert found["rest"] == [last], "what no browser can decode is tried again at the next opening"
    *files, left = map(base64.b64decode, found["files"])
    assert left == broken, "a record that cannot be read is left as it is"
    for path, file in zip(paths, files, strict=True):
        assert not any(secret in file for secret in (b"SecretCamera", b"Exif", b"GPS", b"2026:01:02", b"xmpmeta"))
        upright = ImageOps.exif_transpose(Image.open(path)).convert("RGB")
        difference = np.asarray(upright, int) - np.asarray(Image.open(io.BytesIO(file)).convert("RGB"), int)
        assert np.abs(difference).max() <= 3, path.name
    # Nothing is done a second time to what the page stores now.
    page.reload()
    on.go("history")
    page.locator(".scan-row").nth(3).wait_for()
    assert list(map(base64.b64decode, page.evaluate(PHOTOGRAPHS)["files"])) == [*files, left]
