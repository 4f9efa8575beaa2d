# ruff: noqa: E501  the scripts for the page are written as they are read there
"""Puts the browser page together: one HTML file with the engine, a model, the styles and the scripts inside.

Uses Python's standard library and esbuild only, so that Scripts/web runs on a machine without a virtual environment.
"""

import argparse
import base64
import gzip
import hashlib
import json
import math
import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "Sources" / "BrowserPage"
# The files that a page may hold besides the model.
SIZE_LIMIT = 1_500_000
NO_HASH = "0" * 64
ICON_SIDES = (192, 512)
# Bytes of the weights in one element, a multiple of three; the browser keeps 65,536 characters of text in one piece.
PART = 49_152


SITE_LINKS = (
    '<link rel="manifest" href="manifest.webmanifest">\n<link rel="apple-touch-icon" href="icon-192.png">\n'
    '<meta name="theme-color" content="#1a73e8">\n'
)


def bundled(entry: Path, file_format: str | None = None) -> str:
    """esbuild's bundle of a script or a style sheet, as small as it gets."""
    command = ["esbuild", str(entry), "--bundle", "--minify", "--log-level=warning", "--charset=utf8"]
    if file_format:
        # es2022: what browsers with WebAssembly's vectors understand.
        command += [f"--format={file_format}", "--target=es2022"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def inline_script(text: str) -> str:
    """A script that ends no script element before its own end."""
    return re.sub(r"</(script)", r"<\\/\1", text, flags=re.IGNORECASE).replace("<!--", "<\\!--")


def palette_styles(palette: dict) -> str:
    """The colours of palette.json as CSS, for the light and the dark theme."""
    colours = dict(palette["classes"]) | {f"other-{index}": colour for index, colour in enumerate(palette["others"])}

    def block(theme: str) -> str:
        return "".join(f"--class-{name}:{colour[theme]};" for name, colour in colours.items())

    risk = "".join(f"--risk-{level}:{colour};" for level, colour in palette["risk"].items())
    return f":root{{{block('light')}{risk}}}@media screen and (prefers-color-scheme:dark){{:root{{{block('dark')}}}}}"


def figures(folder: Path) -> dict | None:
    """The figures that the model's folder states; None where it states none.

    The values are those of the model card: `calibrated` in training/figures.json, where the calibration never saw the
    lesions that it is judged on. The intervals, as in the card, are of the stored calibration: training/evaluation.json, as
    `dermafusion evaluate --format json` wrote it. A folder without figures.json gives the values of that file, and the page
    says so.
    """
    path = folder / "training" / "evaluation.json"
    if not path.is_file():
        return None
    evaluation = json.loads(path.read_text())
    moderate = evaluation.get("risk", {}).get("moderate", {})
    melanoma = moderate.get("melCI")
    stored = {
        "balancedAccuracy": (evaluation.get("balancedAccuracy"), evaluation.get("balancedAccuracyCI")),
        "macroAUROC": (evaluation.get("macroAUROC"), evaluation.get("macroAUROCCI")),
        "melanomaSensitivityAt90Specificity": (
            evaluation.get("melanomaSensitivityAt90Specificity"),
            evaluation.get("melanomaSensitivityAt90SpecificityCI"),
        ),
        "melanomaCalledLow": (
            None if moderate.get("mel") is None else 1 - moderate["mel"],
            melanoma and [1 - melanoma[1], 1 - melanoma[0]],
        ),
        "benignNotLow": (moderate.get("benign"), moderate.get("benignCI")),
    }
    recall = {
        name: (values.get("recall"), values.get("recallCI"), values["n"])
        for name, values in evaluation["perClass"].items()
    }
    card = cross_fitted(folder, evaluation["n"])
    overall = {
        key: {"value": card.get(key, value), "interval": interval}
        for key, (value, interval) in stored.items()
        if value is not None
    }
    return {
        "n": evaluation["n"],
        "lesions": evaluation["lesions"],
        "crossFitted": bool(card),
        "overall": overall,
        "recall": {
            name: {"n": n, "recall": card.get("recall", {}).get(name, value), "interval": interval}
            for name, (value, interval, n) in recall.items()
            if value is not None
        },
    }


def cross_fitted(folder: Path, count: int) -> dict:
    """The model card's values, by the names that `evaluate` gives them; empty where the folder has none of `count`
    photographs."""
    path = folder / "training" / "figures.json"
    values = json.loads(path.read_text())["calibrated"] if path.is_file() else {}
    if values.get("n") != count:
        return {}
    return {
        "balancedAccuracy": values["balanced_accuracy"],
        "macroAUROC": values["macro_auroc"],
        "melanomaSensitivityAt90Specificity": values["melanoma_sensitivity_at_90_specificity"],
        "melanomaCalledLow": values["risk"]["melanomas_at_low_risk"],
        "benignNotLow": values["risk"]["harmless_above"],
        "recall": values["recall"],
    }


def licence(folder: Path) -> str:
    """The licence that the model card names."""
    card = folder / "README.md"
    match = re.search(r"^license:\s*(\S+)\s*$", card.read_text(), re.MULTILINE) if card.is_file() else None
    return match.group(1) if match else "not stated in the model's folder"


def disclaimer() -> str:
    """The disclaimer, word for word: the English text, which a check holds against the engine's."""
    return languages()["en"]["disclaimer"]["text"]


def languages() -> dict:
    """All texts by the language's code, English first: the page's own, and the engine's."""
    parts = [path.read_text() for path in (ROOT / "Sources/DermaFusion/Language").glob("*.swift")]
    engine = {
        found[1]: json.loads(found[2])
        for found in (re.search(r'= Language\(\s*"(\w+)".*?#"""(.*?)"""#', text, re.DOTALL) for text in parts)
        if found
    }
    page = {code: json.loads((SOURCES / "texts" / f"{code}.json").read_text()) for code in engine}
    return {code: page[code] | engine[code] for code in sorted(engine, key=lambda code: (code != "en", code))}


def limits() -> list[float]:
    """The probabilities at which a result gets other words."""
    text = (ROOT / "Sources/DermaFusion/Result/RiskLevel.swift").read_text()
    return [float(value) for value in re.findall(r"Threshold: Float = ([\d.]+)", text)]


def notices() -> str:
    """The notices of the projects whose parts are in the page: those sections of THIRD_PARTY_NOTICES."""
    rule = "=" * 78 + "\n"
    parts = (ROOT / "THIRD_PARTY_NOTICES").read_text().split(rule)[1:]
    sections = [(head, text) for head, text in zip(parts[::2], parts[1::2], strict=True)]
    return "\n".join(rule + head + rule + text for head, text in sections if re.search(r"^In: .*\bpage\b", head, re.M))


def data_block(value: object) -> str:
    """JSON that ends no script element."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def digest(text: str) -> str:
    """The source expression of an inline script or style."""
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def in_parts(weights: bytes) -> str:
    """The weights in base64, in elements of their own, so that the page decodes one while the browser reads the next."""
    return "\n".join(
        f'<script type="text/plain" class="weights">{base64.b64encode(weights[start : start + PART]).decode()}</script>'
        for start in range(0, len(weights), PART)
    )


def patch(old: bytes, new: bytes) -> list[list[int] | str]:
    """The parts of `new` in order: [start, count] for bytes of `old`, and in base64 those that it lacks."""
    size = 24
    places = {old[at : at + size]: at for at in reversed(range(len(old) - size))}
    parts: list[list[int] | str] = []
    at = lacking = 0
    while at < len(new):
        start = places.get(new[at : at + size])
        if start is None:
            at += 1
            continue
        if lacking < at:
            parts.append(base64.b64encode(new[lacking:at]).decode())
        count = size
        while new[at + count : at + count + 1] == old[start + count : start + count + 1] != b"":
            count += 1
        parts.append([start, count])
        at = lacking = at + count
    if lacking < at:
        parts.append(base64.b64encode(new[lacking:]).decode())
    return parts


def page(engine: Path, model: Path, worker_entry: Path, is_site: bool = False) -> str:
    """The file's text, with 64 zeros where its own hash belongs.

    A page for a site names its manifest and may start its service worker; both come from the page's own folder.
    """
    styles = palette_styles(json.loads((SOURCES / "palette.json").read_text())) + bundled(
        SOURCES / "styles" / "page.css"
    )
    script = inline_script(bundled(SOURCES / "scripts" / "main.js", "iife"))
    module = engine.read_bytes()
    # Its products of 8 bits are of other instructions, so a network in floats has no use for it.
    is_int8 = json.loads((model / "config.json").read_text()).get("precision") == "int8"
    relaxed = patch(module, engine.with_suffix(".relaxed.wasm").read_bytes()) if is_int8 else []
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src {digest(script)} 'wasm-unsafe-eval'",
            f"style-src {digest(styles)}",
            *(
                ["img-src blob: data: 'self'", "worker-src blob: 'self'", "manifest-src 'self'"]
                if is_site
                else ["img-src blob: data:", "worker-src blob:"]
            ),
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    weights = (model / "model.safetensors").read_bytes()
    facts = {
        "hash": NO_HASH,
        "weightsByteCount": len(weights),
        "modelLicence": licence(model),
        "notices": notices(),
        "disclaimer": disclaimer(),
        "figures": figures(model),
        "limits": limits(),
        "isSite": is_site,
    }
    values = {
        "POLICY": policy,
        "STYLES": styles,
        "LINKS": SITE_LINKS if is_site else "",
        "FACTS": data_block(facts),
        "TEXTS": data_block(languages()),
        "SCRIPT": script,
        "WORKER": inline_script(bundled(worker_entry, "iife")),
        "CONFIGURATION": base64.b64encode((model / "config.json").read_bytes()).decode(),
        "ENGINE": base64.b64encode(gzip.compress(module, mtime=0)).decode(),
        "RELAXED": data_block(relaxed),
        "WEIGHTS": in_parts(weights),
    }
    return re.sub(r"@@([A-Z]+)@@", lambda match: values[match.group(1)], (SOURCES / "index.html").read_text())


def write_whole(path: Path, content: bytes) -> None:
    """Whole or not at all: a page that is half written would open and fail."""
    draft = path.with_name(f"{path.name}.part")
    draft.write_bytes(content)
    draft.replace(path)


def icon(side: int) -> bytes:
    """The product's mark as a PNG: rings on the brand's colour, each pixel averaged over 3 x 3 points."""

    def colour(x: float, y: float) -> tuple[int, int, int]:
        radius = math.hypot(x - 0.5, y - 0.5) * 32
        return (255, 255, 255) if radius < 3.5 or 7.75 <= radius < 10.25 else (26, 115, 232)

    points = [(a / 3 + 1 / 6, b / 3 + 1 / 6) for a in range(3) for b in range(3)]
    rows = bytearray()
    for y in range(side):
        rows.append(0)
        for x in range(side):
            seen = [colour((x + a) / side, (y + b) / side) for a, b in points]
            rows += bytes(sum(channel) // len(seen) for channel in zip(*seen, strict=True))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(bytes(rows), 9))
        + chunk(b"IEND", b"")
    )


def write_site(folder: Path, text: str) -> None:
    """The page as a site that a browser can install: beside it a manifest, icons and a service worker."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    description = languages()["en"]["about"]["lead"]
    icons = [
        {"src": f"icon-{side}.png", "sizes": f"{side}x{side}", "type": "image/png", "purpose": "any maskable"}
        for side in ICON_SIDES
    ]
    manifest = {
        "name": "DermaFusion",
        "short_name": "DermaFusion",
        "description": description,
        "start_url": "./",
        "scope": "./",
        "display": "standalone",
        "background_color": "#f5f7fa",
        "theme_color": "#1a73e8",
        "icons": icons,
    }
    files = {"manifest.webmanifest": json.dumps(manifest, indent=2).encode()}
    files |= {f"icon-{side}.png": icon(side) for side in ICON_SIDES}
    hashes = {"./": digest} | {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    worker = (SOURCES / "site" / "service-worker.js").read_text()
    worker = worker.replace("@@HASHES@@", json.dumps(hashes))
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        write_whole(folder / name, content)
    # The page last: who opens it in between gets the old one whole.
    write_whole(folder / "index.html", text.replace(NO_HASH, digest).encode())
    write_whole(folder / "service-worker.js", worker.encode())
    print(f"{folder}: a site; serve it over https", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engine", type=Path, required=True, help="the WebAssembly module")
    parser.add_argument("--model", type=Path, required=True, help="a folder with config.json and model.safetensors")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--output", type=Path, help="one file")
    where.add_argument("--site", type=Path, metavar="DIR", help="a folder for a web server, which browsers can install")
    parser.add_argument(
        "--worker", type=Path, default=SOURCES / "scripts" / "engine" / "worker.js", help=argparse.SUPPRESS
    )
    options = parser.parse_args()
    for name in ("config.json", "model.safetensors"):
        if not (options.model / name).is_file():
            sys.exit(f"error: {options.model}: there is no {name}; name a model's folder, not an ensemble's")
    config = json.loads((options.model / "config.json").read_text())
    mode = (config.get("pretrained_cfg") or config.get("preprocessing") or {}).get("crop_mode", "center")
    if mode != "center":
        sys.exit(
            f"error: {options.model}/config.json: crop_mode is {mode!r}; the page shows a square of the photograph, "
            "so it must be 'center'"
        )

    if options.site:
        write_site(options.site, page(options.engine, options.model, options.worker, is_site=True))
        return
    text = page(options.engine, options.model, options.worker)
    text = text.replace(NO_HASH, hashlib.sha256(text.encode()).hexdigest())
    weights = len(base64.b64encode((options.model / "model.safetensors").read_bytes()))
    rest = len(text.encode()) - weights
    if rest > SIZE_LIMIT:
        sys.exit(f"error: the page has {rest} bytes besides the weights; at most {SIZE_LIMIT} are allowed")
    options.output.parent.mkdir(parents=True, exist_ok=True)
    write_whole(options.output, text.encode())
    print(f"{options.output}: {len(text.encode())} bytes, {rest} of them besides the weights", file=sys.stderr)


if __name__ == "__main__":
    main()
