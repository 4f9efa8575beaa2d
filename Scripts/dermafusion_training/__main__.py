"""Runs the commands of training, export, evaluation, fixtures and comparison.

    python -m dermafusion_training COMMAND [OPTION...]

Each command is the file of its name in `commands`; `COMMAND --help` prints its options.
"""

import ast
import importlib
import sys
from pathlib import Path

PROGRAM = "python -m dermafusion_training"
FOLDER = Path(__file__).parent / "commands"
# Commands of these families have names of two words, such as `fixtures stages`.
FAMILIES = ("compare", "fixtures")


def command_modules():
    """The module of each command, under the command's name."""
    modules = {}
    for path in sorted(FOLDER.glob("[a-z]*.py")):
        first, _, rest = path.stem.partition("_")
        name = f"{first} {rest}" if first in FAMILIES else path.stem.replace("_", "-")
        modules[name] = path.stem
    return modules


def described(modules):
    """A line for each command: its name and the first sentence of its help."""
    lines = []
    for name, module in modules.items():
        # Without importing it: that would take the seconds that PyTorch takes.
        text = ast.get_docstring(ast.parse((FOLDER / f"{module}.py").read_text()))
        summary = " ".join(text.split("\n\n")[0].split())
        lines.append(f"  {name:21} {summary.split('. ')[0].split(': ')[0].rstrip('.')}")
    return "\n".join(lines)


def main(words):
    modules = command_modules()
    name = next((" ".join(words[:count]) for count in (2, 1) if " ".join(words[:count]) in modules), None)
    if name is not None:
        sys.argv = [f"{PROGRAM} {name}", *words[len(name.split()) :]]
        importlib.import_module(f"dermafusion_training.commands.{modules[name]}").main()
        return
    if words and words[0] in FAMILIES:
        modules = {name: module for name, module in modules.items() if name.startswith(words[0])}
    is_family = len(words) == 1 and words[0] in FAMILIES
    if not words or is_family or {"-h", "--help"} & set(words):
        print(f"usage: {PROGRAM} COMMAND [OPTION...]\n\n{described(modules)}")
        return
    print(f"{PROGRAM}: '{' '.join(words[:2])}' is not a command; --help lists them", file=sys.stderr)
    sys.exit(64)


if __name__ == "__main__":
    main(sys.argv[1:])
