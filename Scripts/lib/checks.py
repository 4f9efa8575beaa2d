"""The common part of the checks in Python: the folders of the repository, the program and its runs, what was found."""

import argparse
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "ParityFixtures/images"
LIBRARY = ROOT / "Scripts/lib"
PHOTOGRAPHS = Path(os.environ.get("DERMAFUSION_PHOTOGRAPHS", ROOT.parent / "shared/data/ham10000/full600x450"))

# The result of read_options: the program, the model's folder, and the options of the check.
options = argparse.Namespace()
# The names of the checks that did not hold.
problems = []


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


TIMM = ["torch==2.13.0", "torchvision==0.28.0", "timm==1.0.31"]


def enter_timm():
    """Goes on in a Python that has timm, which it makes where this one has none."""
    if importlib.util.find_spec("timm") or {"-h", "--help"} & set(sys.argv):
        return
    shell("make_tools", "architectures", *TIMM)
    python = ROOT / ".build/tools/architectures/bin/python"
    os.execv(python, [str(python), *sys.argv])


def read_options(document, *more, model="the model's folder"):
    """Parses the command line: --program, --model and `more`, (name, settings) of other options."""
    parser = argparse.ArgumentParser(description=document, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", help="default: DERMAFUSION_PROGRAM, or the one that this builds")
    parser.add_argument("--model", default=str(ROOT / "Weights"), help=model)
    for name, settings in more:
        parser.add_argument(name, **settings)
    parser.parse_args(namespace=options)
    options.program = options.program or str(program())
    return options


def environment(**more):
    """The program's environment: nothing of the person's own settings."""
    return {"PATH": "/usr/bin:/bin:/sbin:/usr/sbin", "DERMAFUSION_MODEL": options.model, **more}


def run(*words, input=None, timeout=600, **settings):
    """Runs the program with words."""
    stdin = {"stdin": subprocess.DEVNULL} if input is None else {"input": input}
    settings = {"env": environment(), "capture_output": True, "timeout": timeout} | stdin | settings
    return subprocess.run([options.program, *map(str, words)], **settings)


def photographs(count):
    """Photographs if there are any, otherwise drawn ones, repeated."""
    found = sorted(PHOTOGRAPHS.glob("*.jpg")) if PHOTOGRAPHS.is_dir() else []
    found = found or sorted(IMAGES.glob("phantom_*.jpg"))
    return [found[i % len(found)] for i in range(count)]


def check(name, holds, text="", is_silent=False):
    """Says whether something holds, with what was found; a silent one speaks only where it does not."""
    check.count += 1
    if not holds:
        problems.append(name)
    if not holds or not is_silent:
        print(f"{'ok  ' if holds else 'FAIL'} {name}: {str(text)[:300]}", flush=True)


check.count = 0


def finish(said="checks passed."):
    """Ends the program: with what failed, or with the number of checks and what they were."""
    if problems:
        sys.exit(f"{len(problems)} of {check.count} checks failed: {', '.join(problems)}")
    print(f"All {check.count} {said}")
