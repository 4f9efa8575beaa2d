# ruff: noqa: E501  the scripts for the page are written as they are read there
"""The page inside another page: in a frame of its own origin, and in one of another origin that sends messages."""

import json
import shutil

import pytest
from conftest import FIXTURES, SHIPPED_PAGE
from servers import served

IMAGE = "phantom_brown.jpg"
# A host's own file, fetched by the host's own page.
HOST = """<!doctype html><title>host</title><iframe src="{frame}" style="width: 600px; height: 400px"></iframe>"""


@pytest.fixture
def folder(tmp_path):
    shutil.copy(SHIPPED_PAGE, tmp_path / "dermafusion.html")
    shutil.copy(FIXTURES / IMAGE, tmp_path / IMAGE)
    return tmp_path


def test_a_host_of_the_same_origin_hands_over_its_own_files(folder, empty_page):
    (folder / "host.html").write_text(HOST.format(frame="dermafusion.html"))
    with served(folder) as (_, address, _):
        empty_page.goto(address + "host.html")
        empty_page.wait_for_function("() => frames[0].dermafusion")
        found = empty_page.evaluate(
            """async (name) => {
          const bytes = await (await fetch(name)).arrayBuffer();
          const engine = frames[0].dermafusion;
          const told = (promise) => promise.then((result) => result, (error) => error.message);
          const [file, blob] = [new File([bytes], name), new Blob([bytes])];
          return { file: await told(engine.classify(file, { age: 50 })), blob: await told(engine.classify(blob)),
            map: (await engine.heatmap(file)).values.length, none: await told(engine.classify({ size: 3, arrayBuffer() {} })) };
        }""",
            IMAGE,
        )
    assert found["file"]["image"] == IMAGE and found["file"]["metadata"]["age"] == 50
    assert found["blob"]["image"] == "image"
    assert found["blob"]["imageSHA256"] == found["file"]["imageSHA256"]
    assert found["map"] > 0
    assert found["none"] == "an image is a Blob or a File"


ASK = """async ({ name, asked }) => {
  const bytes = await (await fetch(name)).arrayBuffer();
  const frame = frames[0];
  const answers = {};
  addEventListener('message', ({ data }) => { if (data.dermafusion === 1) answers[data.id] = data; });
  // A frame hears nothing before its script runs: `ready` is asked for until it is answered.
  for (let turn = 0; answers.ready === undefined && turn < 40; turn += 1) {
    frame.postMessage({ dermafusion: 1, id: 'ready', call: 'ready' }, '*');
    await new Promise((resolve) => setTimeout(resolve, asked ? 500 : 100));
  }
  if (answers.ready === undefined) return answers;
  frame.postMessage({ dermafusion: 1, id: 'one', call: 'classify', image: bytes, name, age: 50 }, '*');
  while (!answers.one) await new Promise((resolve) => setTimeout(resolve, 50));
  frame.postMessage({ dermafusion: 1, id: 'map', call: 'heatmap', image: bytes }, '*');
  frame.postMessage({ dermafusion: 1, id: 'text', call: 'classify', image: 'a.jpg' }, '*');
  frame.postMessage({ dermafusion: 1, id: 'call', call: 'pixels', image: bytes }, '*');
  frame.postMessage({ id: 'other', call: 'classify', image: bytes }, '*');
  while (!answers.map || !answers.text || !answers.call) await new Promise((resolve) => setTimeout(resolve, 50));
  return { ...answers, map: { values: answers.map.answer.values.length } };
}"""


def test_a_host_of_another_origin_sends_messages(folder, empty_page):
    with served(folder) as (_, frame, _), served(folder) as (_, host, _):
        (folder / "host.html").write_text(HOST.format(frame=f"{frame}dermafusion.html?embedder={host.rstrip('/')}"))
        empty_page.goto(host + "host.html")
        found = empty_page.evaluate(ASK, {"name": IMAGE, "asked": True})
    assert found["ready"]["answer"]["classes"][0]["class"] == "akiec"
    assert found["one"]["answer"]["image"] == IMAGE and found["one"]["answer"]["metadata"]["age"] == 50
    assert found["map"]["values"] > 0
    assert found["text"]["error"]["message"] == "an image is an ArrayBuffer with the bytes of its file"
    assert found["call"]["error"]["message"] == "a call is one of ready, classify, heatmap, and not pixels"
    assert "other" not in found, json.dumps(found["other"])


def test_an_origin_that_is_not_named_gets_no_answer(folder, empty_page):
    with served(folder) as (_, frame, _), served(folder) as (_, host, _):
        (folder / "host.html").write_text(HOST.format(frame=f"{frame}dermafusion.html?embedder=http://127.0.0.1:1"))
        empty_page.goto(host + "host.html")
        empty_page.frame_locator("iframe").get_by_role("button", name="I understand").wait_for()
        assert empty_page.evaluate(ASK, {"name": IMAGE, "asked": False}) == {}
