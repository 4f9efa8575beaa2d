"""Prints the ten slowest tests of JUnit's reports: slowest_tests.py FILE.xml..."""

import sys
import xml.etree.ElementTree as xml
from pathlib import Path

tests = []
for path in map(Path, sys.argv[1:]):
    try:
        cases = xml.parse(path).iter("testcase")
    except (OSError, xml.ParseError):
        continue  # the step ended before it wrote its report
    step = path.stem.removesuffix("-swift-testing")
    # A skipped test has no time.
    tests += [(float(case.get("time", 0)), step, case.get("classname"), case.get("name")) for case in cases]
if tests:
    print("The slowest tests:")
    for seconds, step, suite, name in sorted(tests, reverse=True)[:10]:
        print(f"{seconds:8.1f} s  {step}: {suite}.{name}")
    print()
