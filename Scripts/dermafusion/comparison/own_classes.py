"""Checks every command of the program on models of other classes than HAM10000's seven, from a checkpoint as timm's
train.py saves it to the last output. Each check is a method of ModelChecks; what does not hold is collected.
"""

import csv
import io
import json
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dermafusion.comparison.class_cases import PICTURES, Case, call, exported, risk_of, softmax
from dermafusion.fixtures.manifest import dump_fixtures
from dermafusion.model.classes import NAMES
from dermafusion.model.ensemble import vote
from dermafusion.paths import IMAGES

TOLERANCE = 1e-3  # of a logit
METHODS = ("gradcam", "hirescam", "gradcam++", "layercam", "eigencam")
SEEDS = (2026, 2027)
MEMBER_WEIGHTS = (1.0, 2.0)
NO_RISK = "not judged, since the model does not say which of its classes are malignant"


def without_duplicates(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) < len(keys):
        raise ValueError(f"members {', '.join(sorted({key for key in keys if keys.count(key) > 1}))} occur twice")
    return dict(pairs)


def parsed(text):
    return json.loads(text, object_pairs_hook=without_duplicates)


def plain(text):
    return " ".join(text.split())


@dataclass
class ModelChecks:
    """The checks of one model folder or ensemble: `logits` are PyTorch's, float32 [pictures, classes]."""

    program: Path
    case: Case
    model: Path
    logits: np.ndarray
    work: Path
    problems: list = field(default_factory=list)
    count: int = 0
    greatest_difference: float = 0.0

    def holds(self, what, condition, detail=""):
        self.count += 1
        if not condition:
            self.problems.append(f"{what}: {plain(str(detail))[:300]}")

    def run(self, *words):
        words = [str(word) for word in (self.program, words[0], "--model", self.model, *words[1:])]
        return subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)

    def output(self, *words):
        """Standard output of a command that must succeed; names of other classes in it are a problem."""
        done = self.run(*words)
        self.holds(f"{words[0]}: succeeds", done.returncode == 0 and done.stderr == "", f"{words} {done.stderr}")
        known = set(self.case.ids) | {entry["name"] for entry in self.case.entries}
        foreign = [name for pair in NAMES.items() for name in pair if name not in known]
        found = re.findall(rf"\b({'|'.join(map(re.escape, foreign))})\b", done.stdout)
        self.holds(f"{words[0]}: names the model's classes only", not found, f"{words}: {set(found)}")
        return done.stdout

    def json(self, *words):
        try:
            return parsed(self.output(*words, "--format", "json"))
        except ValueError as error:
            self.holds(f"{words[0]}: is JSON without duplicate members", False, error)
            return None

    def refused(self, what, status, said, *words):
        """A refusal is one line that says `said`; of wrong usage, the usage may follow."""
        done = self.run(*words)
        lines = done.stderr.splitlines() or [""]
        is_short = len(lines) == 1 or (status == 64 and lines[1].startswith(("Usage:", "See")))
        is_refused = done.returncode == status and done.stdout == "" and is_short and said in lines[0]
        self.holds(what, is_refused, f"status {done.returncode}: {done.stderr}")

    def check_info(self):
        text, found = self.output("info"), self.json("info")
        self.holds("info: classes", found["classes"] == self.case.ids, found["classes"])
        self.holds("info: labels", found["labels"] == self.case.entries, found["labels"])
        listed = f"{len(self.case.ids)}: {', '.join(self.case.ids)}"
        self.holds("info: text", listed in plain(text) and
                   ("malignancy not told" in text) != self.case.tells_malignancy, text)  # fmt: skip

    def check_classify(self):
        probabilities = softmax(self.logits.astype(np.float64))
        rows = list(csv.DictReader(io.StringIO(self.output("classify", *PICTURES, "--format", "csv"))))
        self.holds("classify: a row of CSV for each image", len(rows) == len(PICTURES), len(rows))
        for picture, logits, expected, row in zip(PICTURES, self.logits, probabilities, rows):
            result, text = self.json("classify", picture), self.output("classify", picture)
            found = list(result["logits"].values())
            self.greatest_difference = max(self.greatest_difference, float(np.abs(found - logits).max()))
            self.holds(
                "classify: logits are PyTorch's", self.greatest_difference <= TOLERANCE, (picture, found, logits)
            )
            self.holds(
                "classify: keys", list(result["logits"]) == list(result["probabilities"]) == self.case.ids, result
            )
            best, risk = self.case.entries[int(np.argmax(expected))], risk_of(self.case, expected)
            prediction = result["prediction"]
            self.holds("classify: the prediction", (prediction["class"], prediction["name"]) ==
                       (best["class"], best["name"]), (prediction, best))  # fmt: skip
            self.holds("classify: the risk", result["risk"] == risk, (result["risk"], risk, expected))
            self.holds("classify: the summary", f"suggests {best['name']} (" in result["summary"], result["summary"])
            self.holds("classify: text has all classes", all(e["name"] in text for e in self.case.entries), text)
            self.holds("classify: text on the risk", (NO_RISK in text) != self.case.tells_malignancy, text)
            self.holds("classify: CSV's answer", (row["class"], row["name"], row["risk"]) ==
                       (best["class"], best["name"], risk or ""), row)  # fmt: skip
            same = all(float(row[name]) == float(value) for name, value in result["probabilities"].items())
            self.holds("classify: CSV's probabilities", same, row)
        table = self.output("classify", *PICTURES)
        for picture, expected in zip(PICTURES, probabilities):
            line = next((line for line in table.splitlines() if line.startswith(str(picture))), "")
            best, risk = self.case.ids[int(np.argmax(expected))], risk_of(self.case, expected) or "-"
            self.holds(
                "classify: the table", re.search(rf" {best} +[<>]?[\d.]+% +{risk}( |$)", line), f"{best} {risk} {line}"
            )

    def check_gradcam(self):
        picture, name = PICTURES[0], self.case.ids[-1]
        for method in METHODS:
            image = self.work / "map.png"
            found = self.json("gradcam", picture, "--class", "all", "--method", method, "--output", image)
            named = [(entry["class"], entry["name"]) for entry in found["maps"]]
            self.holds(f"gradcam: {method} of all classes", named == self.case.named, named)
            self.holds("gradcam: a picture", image.read_bytes()[:4] == b"\x89PNG")
        text = self.output("gradcam", picture, "--class", name, "--output", self.work / "map.png")
        shown = self.case.entries[-1]["name"]
        title = name if shown == name else f"{shown} ({name})"  # an id that is the name too stands there once
        self.holds("gradcam: text", f"\n  {title}, probability" in text, text)
        self.refused("gradcam: another model's class", 64, ", ".join(f"'{i}'" for i in self.case.ids[:-1]),
                     "gradcam", picture, "--class", "akiec", "--output", self.work / "none.png")  # fmt: skip

    def check_parity(self):
        """Stages, logits and the maps of every class against autograd."""
        fixtures = self.work / "fixtures"
        fixtures.mkdir()
        dump_fixtures(fixtures, self.model, ("phantom_nevus.jpg", "phantom_melanoma.jpg"))
        done = self.run("parity", "--fixtures", fixtures)
        self.holds("parity: agrees", done.returncode == 0, done.stdout + done.stderr)

    def check_evaluate(self):
        ids = self.case.ids
        labels = [ids[index % len(ids)] for index in range(len(PICTURES))]
        right = [ids[index] == label for index, label in zip(self.logits.argmax(1), labels)]
        words, one_hot = self.work / "words.csv", self.work / "one-hot.csv"
        words.write_text("image_id,dx\n" + "".join(f"{p.stem},{label}\n" for p, label in zip(PICTURES, labels)))
        # As the ISIC challenges publish their labels, with a column for images of none of the classes.
        one_hot.write_text(f"image,{','.join(ids)},UNK\n" + "".join(
            f"{p.stem},{','.join('1.0' if name == label else '0.0' for name in ids)},0.0\n"
            for p, label in zip(PICTURES, labels)))  # fmt: skip
        predictions = self.work / "predictions.csv"
        common = ["--images", IMAGES, "--predictions", predictions, "--plots", self.work / "plots"]
        report = self.json("evaluate", "--labels", words, *common)
        same = self.json("evaluate", "--labels", one_hot, *common)
        self.holds("evaluate: both forms of labels say the same", report == same, (report, same))
        if report is None:
            return
        self.holds("evaluate: accuracy", report["accuracy"] == sum(right) / len(right), (report["accuracy"], right))
        self.holds("evaluate: classes", list(report["perClass"]) == ids == report["confusionMatrix"]["classes"], report)
        for figure in ("risk", "malignantAUROC"):
            self.holds(f"evaluate: {figure}", (report[figure] is None) != self.case.tells_malignancy, report[figure])
        melanoma = any(name.lower() == "mel" for name in ids)
        sensitivity = report["melanomaSensitivityAt90Specificity"]
        self.holds("evaluate: melanoma", (sensitivity is not None) == melanoma, sensitivity)
        header = predictions.read_text().splitlines()[0].split(",")
        self.holds("evaluate: predictions", header == ["image_id", "label", *ids, "abstain"], header)
        text = self.output("evaluate", "--labels", words, *common)
        rows = [line for line in text.splitlines() if line.split() and line.split()[0] in ids]
        self.holds("evaluate: text", len(rows) >= 2 * len(ids), text)
        words.write_text(f"image_id,dx\n{PICTURES[0].stem},akiec\n")
        self.refused(
            "evaluate: a class that the model lacks", 1, f"{words}: line 2", "evaluate", "--labels", words, *common
        )

    def check_report(self, has_maps=True):
        page = self.work / "page.html"
        self.output("report", *PICTURES[:2], "--output", page)
        text = page.read_text()
        self.holds("report: names", all(entry["name"] in text for entry in self.case.entries), text)
        self.holds("report: risk", ("which of its classes are malignant" in text) != self.case.tells_malignancy, text)

    def check_bench(self):
        found = self.json("bench", "--runs", "1")
        self.holds("bench: members", list(found["latencyMs"]) == ["min", "p50", "p90", "p99"], found)

    def check_doctor(self):
        self.holds("doctor: ready", self.json("doctor")["ready"] is True)

    def check_model(self):
        for check in (self.check_info, self.check_classify, self.check_gradcam, self.check_parity, self.check_evaluate,
                      self.check_report, self.check_bench, self.check_doctor):  # fmt: skip
            check()

    def check_ensemble(self):
        for check in (self.check_info, self.check_classify, self.check_evaluate, self.check_report, self.check_doctor):
            check()
        for command in (("gradcam", PICTURES[0], "--output", self.work / "none.png"), ("bench", "--runs", "1")):
            self.refused(f"{command[0]}: of an ensemble", 1, "member", *command)


def check_case(program, case, folder):
    """The checks of two models of a case and of the ensemble of both, as a list of (name, ModelChecks)."""
    models, checks = [], []
    for index, seed in enumerate(SEEDS):
        model, logits, said = exported(case, folder / f"seed{seed}", seed)
        models.append((model, logits))
        work = folder / f"work{seed}"
        work.mkdir()
        check = ModelChecks(program, case, model, logits, work)
        check.holds("export: takes the average", "took state_dict_ema" in said, said)
        check.holds("export: says that there is no risk", ("gives no risk" in said) != case.tells_malignancy, said)
        if index == 0:
            check.check_model()
            checks.append((case.name, check))
    ensemble, work = folder / "ensemble", folder / "work"
    work.mkdir()
    members = [["--member", f"m{i}={model}:{weight:g}"] for i, ((model, _), weight) in
               enumerate(zip(models, MEMBER_WEIGHTS))]  # fmt: skip
    call("make_ensemble.py", *sum(members, []), "--output", ensemble)
    logits = vote([logits for _, logits in models], MEMBER_WEIGHTS, [1.0] * len(models))
    check = ModelChecks(program, case, ensemble, logits, work)
    check.check_ensemble()
    return [*checks, (f"{case.name}, ensemble", check)]
