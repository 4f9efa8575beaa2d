"""Draws what a command shows on a terminal as an SVG picture: terminal_picture.py PICTURE.svg TITLE COMMAND...

The command runs on a terminal of 78 columns, so that colours and line breaks are its own. TITLE is what the picture
shows as typed. Needs no packages.
"""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from html import escape
from pathlib import Path

COLUMNS = 78
CELL = 8.4
LINE = 20
MARGIN = 20
COLOURS = {"31": "#ff6b5e", "33": "#ffb340"}
# Eighths of a character, which fonts draw in different ways: they become rectangles.
EIGHTHS = " ▏▎▍▌▋▊▉█"
BAR = "#6db1ff"


def shown_on_a_terminal(command: list[str]) -> str:
    """What the command writes, with its escape sequences."""
    terminal, program_side = pty.openpty()
    fcntl.ioctl(program_side, termios.TIOCSWINSZ, struct.pack("HHHH", 60, COLUMNS, 0, 0))
    environment = os.environ | {"TERM": "xterm", "NO_COLOR": ""}
    program = subprocess.Popen(command, stdin=program_side, stdout=program_side, stderr=program_side, env=environment)
    os.close(program_side)
    written = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # Linux says so when the other side is closed.
            break
        if not part:
            break
        written += part
    if program.wait() != 0:
        sys.exit(f"{command[0]} ended with status {program.returncode}:\n{written.decode()}")
    return written.decode().replace("\r\n", "\n")


def drawn(text: str, column: int, y: int, style: str) -> str:
    """A run of characters of one style."""
    parts = []
    # Columns have two blanks between them; each is a text of its own, which begins where it should.
    for found in re.finditer(f"[{EIGHTHS[1:]}]+|[^ {EIGHTHS[1:]}]+(?: [^ {EIGHTHS[1:]}]+)*", text):
        run, x = found.group(), MARGIN + (column + found.start()) * CELL
        if run[0] in EIGHTHS:
            width = sum(EIGHTHS.index(character) for character in run) * CELL / 8
            parts.append(f'<rect x="{x:.1f}" y="{y - 12}" width="{width:.1f}" height="14" rx="1" fill="{BAR}"/>')
        else:
            parts.append(f'<text x="{x:.1f}" y="{y}" textLength="{len(run) * CELL:.1f}"{style}>{escape(run)}</text>')
    return "".join(parts)


def picture(title: str, text: str) -> str:
    lines = [f"\x1b[1m$ {title}\x1b[0m", "", *text.rstrip("\n").split("\n")]
    y, rows = MARGIN + 40, []
    code = ""
    for line in lines:
        column = 0
        for part in re.split(r"(\x1b\[[0-9;]*[A-Za-z])", line):
            if part.startswith("\x1b"):
                code = "" if part in ("\x1b[0m", "\x1b[K") else part[2:-1]
                continue
            style = f' fill="{COLOURS[code]}"' if code in COLOURS else ' font-weight="700"' if code == "1" else ""
            rows.append(drawn(part, column, y, style))
            column += len(part)
        y += LINE
    width, height = 2 * MARGIN + COLUMNS * CELL, y - LINE + MARGIN
    dots = "".join(
        f'<circle cx="{MARGIN + 6 + 20 * place}" cy="20" r="6" fill="{colour}"/>'
        for place, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" '
        f'height="{height}" role="img" aria-label="{escape(title)}">'
        f'<rect width="100%" height="100%" rx="10" fill="#0e151c"/>{dots}'
        "<g font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" "
        'font-size="14" fill="#e9eef3">\n' + "\n".join(row for row in rows if row) + "\n</g></svg>\n"
    )


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    Path(sys.argv[1]).write_text(picture(sys.argv[2], shown_on_a_terminal(sys.argv[3:])))


if __name__ == "__main__":
    main()
