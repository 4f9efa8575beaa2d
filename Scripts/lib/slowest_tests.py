"""Prints the ten slowest tests of a folder with reports of pytest and Swift Testing: slowest_tests.py FOLDER."""

import json
import sys
import xml.etree.ElementTree as xml
from collections import Counter
from pathlib import Path


def of_pytest(path):
    for case in xml.parse(path).iter("testcase"):
        yield f"{case.get('classname')}.{case.get('name')}", float(case.get("time", 0))


def of_swift_testing(path):
    """Times of the tests with arguments, the sums of their cases. Others begin at once: their times tell nothing."""
    seconds = Counter()
    for line in path.read_text().splitlines():
        event = json.loads(line)["payload"]
        sign = {"testCaseStarted": -1, "testCaseEnded": 1}.get(event.get("kind"), 0)
        if sign:
            seconds[event["testID"].rsplit("/", 1)[0]] += sign * event["instant"]["absolute"]
    return seconds.items()


tests = []
for path in Path(sys.argv[1]).iterdir():
    reader = {".xml": of_pytest, ".jsonl": of_swift_testing}.get(path.suffix)
    try:
        found = list(reader(path)) if reader else []
    except (ValueError, xml.ParseError):
        continue  # the step ended before its report was whole
    # A test that crashed has no end.
    tests += [(seconds, f"{path.name.split('.')[0]}: {name}") for name, seconds in found if seconds >= 0]
if tests:
    print("The slowest tests (of those in Swift only the ones with arguments are timed):")
    for seconds, name in sorted(tests, reverse=True)[:10]:
        print(f"{seconds:8.1f} s  {name}")
    print()
