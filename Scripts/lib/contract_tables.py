"""Section 7 of the contract: tables of patients, by the cases of table_cases.py; resuming, abstention, reports."""

import json

from contract import DISCLAIMER, check, parsed, passes, plain, refuses
from table_cases import CASES, REFUSED

import checks
from checks import run


def tables_of_patients(photograph, folder):
    for number, case in enumerate(CASES):
        below = folder / f"case-{number}"
        paths = [below / name for name in case.names]
        for path in paths:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(photograph.read_bytes())
        table = below / "table.csv"
        table.write_bytes(case.table)
        done = run("classify", *paths, "--metadata", table, "--format", "json")
        results = [json.loads(line) for line in done.stdout.splitlines()]
        known = {one["image"]: tuple(one["metadata"][key] for key in ("age", "sex", "site")) for one in results}
        found = [known.get(str(path), REFUSED) for path in paths]
        check(f"tables: {case.title}", found == [case.wanted(name) for name in case.names], f"{found} {done.stderr}")
        missing = [word for word in case.words if word not in done.stderr.decode()]
        check(f"tables: {case.title}: what is said", not missing, f"{missing} in {done.stderr}")
        check(f"tables: {case.title}: the status", done.returncode == (REFUSED in found), done.returncode)


def own_table(photograph, folder):
    """The output of classify is metadata, with all names apart, and no labels."""
    images = folder / "own"
    images.mkdir()
    names = ["patient.Smith", "patient.Jones", "a.b.jpg", "1.2.840.5", "=x.jpg", "'=x.jpg", "q .jpg", "q.jpg"]
    for name in names:
        (images / name).write_bytes(photograph.read_bytes())
    table = folder / "own.csv"
    passes("own", "classify", images, "--format", "csv", "--age", "50", "--output", table, "--quiet")
    again = passes("own again", "classify", images, "--format", "csv", "--metadata", table)
    check("own table: it is metadata", again == table.read_bytes(), again)
    for words in (["evaluate"], ["calibrate", "--output", folder / "own-model"]):
        refuses(f"own table: {words[0]}", 1, *words, "--labels", table, "--images", images, said="written by classify")
    refuses(
        "own table: compare", 1, "compare", images, "--against", "int8", "--labels", table, said="written by classify"
    )


def resuming(photograph, folder):
    output = folder / "resumed.jsonl"
    words = ["classify", photograph, "--format", "json", "--output", output]
    passes("resume", *words, "--quiet")
    text = output.read_text()
    result = json.loads(text)
    for key, other in (("instructionSet", "other"), ("precision", "bfloat16")):
        changed = text.replace(f'"{key}":{json.dumps(result[key])}', f'"{key}":"{other}"')
        check(f"resume: {key} is in the JSON", changed != text, text)
        output.write_text(changed)
        refuses(f"resume: another {key}", 1, *words, "--resume", said="resumed.jsonl")
        check(f"resume: another {key}: the file stays", output.read_text() == changed)
    eight = parsed("int8", passes("int8", "classify", photograph, "--format", "json", "--model", "int8"))
    check("instructionSet: null in 8 bits", eight["instructionSet"] is None and eight["precision"] == "int8", eight)


def abstention(photograph, folder):
    for name in ("black", "white", "solid"):
        image = checks.IMAGES / f"{name}.png"
        result = parsed(name, passes(name, "classify", image, "--format", "json"))
        check(f"abstention: {name}", result["abstain"] and result["prediction"] is None, result)
    kind = parsed("info", passes("info", "info", "--format", "json"))["abstention"]
    check("abstention: info says which", kind in ("fitted", "basic"), kind)


def reports(photograph, folder):
    labels = folder / "lesson.csv"
    labels.write_text(f"image_id,dx\n{photograph.stem},nv\n")
    seen = set()
    for language in ("en", "de", "fr"):
        page = folder / f"{language}.html"
        words = [
            "--title",
            "Lesson <1>",
            "--labels",
            labels,
            "--hide-answers",
            "--class",
            "all",
            "--language",
            language,
        ]
        passes(f"report {language}", "report", photograph, *words, "--output", page)
        text = page.read_text()
        check(f"report {language}: the disclaimer", plain(DISCLAIMER) in plain(text))
        holds = f'<html lang="{language}">' in text and "Lesson &lt;1&gt;" in text and text.count("<details") >= 1
        check(f"report {language}: its options", holds)
        seen.add(text[text.index("<details") : text.index("</summary>")])
    check("report: each language has its words", len(seen) == 3, seen)


PARTS = (tables_of_patients, own_table, resuming, abstention, reports)
