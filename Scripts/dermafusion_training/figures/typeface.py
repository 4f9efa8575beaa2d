"""A TrueType font's outlines as the table that Sources/Figures draws captions with."""

from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.ttLib import TTFont

# Printable ASCII without '"' and '\', so that a string literal holds a digit as it is: 91 of them.
DIGITS = [chr(code) for code in range(35, 127) if chr(code) != "\\"]

ASCII = "".join(map(chr, range(32, 127)))
LETTERS = "".join(map(chr, range(0xC0, 0x100)))
SIGNS = "°±·–—‘’“”•…≤≥"


# A delta of a coordinate lies in -LIMIT..<LIMIT; with a flag it fits in two digits.
LIMIT = 2048


def pair(value):
    """Two digits, the higher first."""
    assert 0 <= value < len(DIGITS) ** 2, value
    return DIGITS[value // len(DIGITS)] + DIGITS[value % len(DIGITS)]


def contours(font, glyph_name):
    """Each contour as [(x, y, is on the curve)]; quadratic curves, with the points between two controls left out."""
    pen = DecomposingRecordingPen(font.getGlyphSet())
    font.getGlyphSet()[glyph_name].draw(pen)
    result = []
    for operation, points in pen.value:
        if operation == "moveTo":
            result.append([(*points[0], True)])
        elif operation == "lineTo":
            result[-1].append((*points[0], True))
        elif operation == "qCurveTo":
            if points[-1] is None:
                result.append([(*point, False) for point in points[:-1]])
            else:
                result[-1] += [(*point, False) for point in points[:-1]] + [(*points[-1], True)]
        elif operation != "closePath":
            raise ValueError(f"{glyph_name}: {operation} is not of a TrueType outline")
    for contour in result:
        # A contour is closed, so that its first point need not come again.
        if len(contour) > 1 and contour[0] == contour[-1]:
            contour.pop()
    return result


def encoded(font, character):
    """The advance; then for each contour the number of its points and each point's steps from the one before."""
    name = font.getBestCmap().get(ord(character))
    if name is None:
        raise ValueError(f"the font has no {character!r}")
    text = pair(font["hmtx"][name][0])
    x = y = 0
    for contour in contours(font, name):
        text += pair(len(contour))
        for next_x, next_y, is_on_curve in contour:
            next_x, next_y = round(next_x), round(next_y)
            text += pair((next_x - x + LIMIT) * 2 + is_on_curve) + pair(next_y - y + LIMIT)
            x, y = next_x, next_y
    return text


def table(path, characters):
    """The font's measures and a list of (character, encoded glyph)."""
    font = TTFont(path)
    measures = {
        "unitsPerEm": font["head"].unitsPerEm,
        "ascent": font["hhea"].ascent,
        "descent": -font["hhea"].descent,
        "capHeight": font["OS/2"].sCapHeight,
    }
    return measures, [(character, encoded(font, character)) for character in characters]


def swift_source(regular, medium, origin):
    """The file Typeface+Tables.swift."""
    sources = {"regular": (regular, ASCII + LETTERS + SIGNS), "medium": (medium, ASCII + SIGNS)}
    lines = [
        "// Made by `dermafusion_training typeface`; do not edit. How a glyph is written stands in Typeface.swift.",
        "//",
        *(f"// {line}" for line in origin),
        "",
        "extension Typeface {",
    ]
    for name, (path, characters) in sources.items():
        measures, glyphs = table(path, characters)
        if name == "regular":
            lines += [f"  static let {key}: Float = {value}" for key, value in measures.items()] + [""]
            beyond_ascii = {"letters": LETTERS, "signs": SIGNS}
            for key, text in beyond_ascii.items():
                lines += [f"  static let {key} = Array(", f'    "{text}".unicodeScalars)']
            lines += [""]
        lines += [f"  static let {name}Glyphs: [StaticString] = ["]
        lines += [f'    "{glyph}",' for _, glyph in glyphs]
        lines += ["  ]", ""]
    return "\n".join(lines[:-1] + ["}", ""])
