"""What the checks share that are written in Python: the repository's folders, the program, the environment."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "ParityFixtures/images"
LIBRARY = ROOT / "Scripts/lib"


def shell(*words):
    """Runs a function of setup.sh, core.sh or python.sh; ends with its status where it fails."""
    source = 'set -euo pipefail; for file in setup core python; do source "$0/$file.sh"; done; "$@"'
    done = subprocess.run(["bash", "-c", source, str(LIBRARY), *map(str, words)], stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        sys.exit(done.returncode)


def program():
    """The program to check: DERMAFUSION_PROGRAM, or the one that this builds in release."""
    named = os.environ.get("DERMAFUSION_PROGRAM")
    if named:
        return Path(named).resolve()
    shell("set_up")
    shell("build_release")
    return ROOT / ".build/release/dermafusion"


def enter_environment():
    """Goes on in the training package's environment, which it makes where it is missing."""
    folder = ROOT / ".build/python"
    if Path(sys.prefix) != folder:
        if {"-h", "--help"} & set(sys.argv):
            print(sys.modules["__main__"].__doc__)  # that needs no environment
            sys.exit()
        shell("make_environment", folder)
        os.execv(folder / "bin/python", [str(folder / "bin/python"), *sys.argv])
