"""Results as a page that can be read anywhere."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from html import escape

from .errors import DermaFusionError
from .result import Classification

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color-scheme: light dark; max-width: 60rem; margin: 2rem auto }
section { border-top: 1px solid; padding: 1rem 0; break-inside: avoid }
img { max-width: 100%; height: auto }
td, th { padding: 0 0.6em 0 0 }
"""


def page(entries: Iterable[tuple[Classification | DermaFusionError, bytes | None]], disclaimer: str) -> str:
    """One HTML file: each result with its picture (a PNG file), each failure with its reason, the disclaimer first."""
    sections = "".join(f"<section>{_section(result, picture)}</section>\n" for result, picture in entries)
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n<title>DermaFusion report</title>\n'
        f"<style>{_STYLE}</style>\n<h1>DermaFusion report</h1>\n<p>{escape(disclaimer)}</p>\n{sections}</html>\n"
    )


def _section(result: Classification | DermaFusionError, picture: bytes | None) -> str:
    if isinstance(result, DermaFusionError):
        return f"<h2>{escape(result.image or 'An image')}</h2><p>No result: {escape(str(result))}</p>"
    known = result.metadata
    told = ", ".join(f"{name} {known[name]}" for name in ("age", "sex", "site") if name not in known["missing"])
    model = result.model
    facts = [("Patient", told or "nothing is known")]
    facts.append(("Model", f"{model['name']} {model['version']}, {model['sha256']}"))
    if result.image_sha256:
        facts.append(("Image", result.image_sha256))
    rows = "".join(f"<p>{name}: {escape(value)}</p>" for name, value in facts)
    return f"<h2>{escape(result.image or 'Pixels')}</h2>{_image(result, picture)}{result._repr_html_()}{rows}"


def _image(result: Classification, picture: bytes | None) -> str:
    if picture is None:
        return ""
    content = base64.b64encode(picture).decode()
    text = f"The regions of {result.image or 'the image'} that support the likeliest class"
    return f'<img src="data:image/png;base64,{content}" alt="{escape(text)}">'
