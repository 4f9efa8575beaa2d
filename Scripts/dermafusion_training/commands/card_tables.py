"""Prints the tables of a model's card, as Markdown, from the figures in its folder.

The figures are those that `evaluate` and `fit-abstention` wrote into training/figures.json and
training/abstention.json. With --card the tables of a README.md are replaced in it, those that begin with the same line
but for a version; the other lines stay.
"""

import json
import re
from pathlib import Path

from dermafusion_training.data.dataset import HAM10000
from dermafusion_training.model.config import CLASSES
from dermafusion_training.options import new_parser

NAMES = {
    HAM10000: "HAM10000",
    "isic2018val": "ISIC 2018 task 3, validation",
    "milk10k": "MILK10k",
    "ph2": "PH2, never trained on",
    "bcn84": "BCN20000 at 84 pixels",
    "imperial_acral": "Imperial College, palms and soles",
    "bcn20000": "BCN20000, palms and soles",
}
INTERVALS = ("balanced_accuracy", "balanced_decision", "macro_auroc", "melanoma_auroc")
SENSITIVITY = "melanoma_sensitivity_at_90_specificity"
POINTS = {"at_0.10": "0.10", "at_0.30": "0.30", "at_95_sensitivity": "{:.3f}, of 95 % sensitivity"}


class Folder:
    """The files of a model folder's training."""

    def __init__(self, path):
        self.version = json.loads((path / "config.json").read_text())["version"]
        self.figures = json.loads((path / "training" / "figures.json").read_text())
        self.abstention = json.loads((path / "training" / "abstention.json").read_text())

    def of(self, source, view="calibrated"):
        """The figures of a source."""
        return self.figures[view] if source == HAM10000 else self.figures["other_sources"][source][view]


def number(value):
    return "-" if value is None else f"{value:.3f}"


def percent(share):
    return "-" if share is None else f"{100 * share:.1f} %"


def low_risk(figures):
    return percent(figures["risk"]["melanomas_at_low_risk"])


def between(ends, show="{:.2f}-{:.2f}"):
    """An interval, or a dash where there is none."""
    return f"({show.format(*ends)})" if ends else "-"


def table(*rows):
    """The lines of a table, whose first row is its head."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return [lines[0].replace("|  |", "| |"), "|" + "---|" * len(rows[0]), *lines[1:]]


def figures_table(folders):
    head = "source,version,photographs,balanced accuracy,balanced decision,macro AUROC".split(",")
    head += ["melanoma sensitivity at 90 % specificity", "calibration error", "melanomas at low risk"]
    rows = []
    for source, name in NAMES.items():
        for folder in folders:
            of = folder.of(source)
            shown = [of[key] for key in ("balanced_accuracy", "balanced_decision", "macro_auroc", SENSITIVITY, "ece")]
            rows.append([name, folder.version, str(of["n"]), *map(number, shown), low_risk(of)])
    return table(head, *rows)


def intervals_table(folder):
    head = ["source", "balanced accuracy", "balanced decision", "macro AUROC", "melanoma's AUROC"]
    rows = []
    for source, name in NAMES.items():
        ends = folder.figures["intervals"][source]
        low = [100 * end for end in ends.get("risk.melanomas_at_low_risk", [])]
        rows.append([name, *(between(ends.get(key)) for key in INTERVALS), between(ends.get(SENSITIVITY))])
        rows[-1].append(between(low, "{:.0f}-{:.0f} %"))
    return table([*head, "melanoma sensitivity at 90 % specificity", "melanomas at low risk"], *rows)


def recall_table(folder):
    rows = [[name, *(number(folder.of(source)["recall"].get(c)) for c in CLASSES)] for source, name in NAMES.items()]
    return table(["source", *CLASSES], *rows)


def metadata_table(folder):
    head = ["source", "", "balanced accuracy", "balanced decision", "macro AUROC"]
    head += ["melanoma sensitivity at 90 % specificity", "melanomas at low risk"]
    rows = []
    for source, name in NAMES.items():
        views = [folder.of(source), folder.of(source, "image_alone")]
        if views[0] == views[1]:
            continue
        for view, of in zip(("with metadata", "image alone"), views):
            shown = [of[key] for key in ("balanced_accuracy", "balanced_decision", "macro_auroc", SENSITIVITY)]
            rows.append([name, view, *map(number, shown), low_risk(of)])
    return table(head, *rows)


def threshold_table(folder):
    ends, rows = folder.figures["intervals"][HAM10000], []
    for key, point in folder.of(HAM10000)["melanoma_points"].items():
        shown = [POINTS[key].format(point["threshold"])]
        for figure in ("sensitivity", "specificity"):
            of = between(ends[f"melanoma_points.{key}.{figure}"]) if key.startswith("at_0") else ""
            shown.append(f"{number(point[figure])} {of}".rstrip())
        rows.append(shown)
    return table(["threshold", "sensitivity", "specificity"], *rows)


def abstention_tables(folder, before):
    head = ["validation photographs of", "flagged by quality", "by distance", "either"]
    rows = []
    for source, name in sorted(NAMES.items(), key=lambda item: item[1]):
        of = folder.abstention["validation"][source]
        shown = [of["flagged_by_quality"], of["flagged_by_distance"], of["flagged"]]
        if before:
            shown.append(before.abstention["validation"][source]["flagged"])
        rows.append([name, *map(percent, shown)])
    yield table([*head, *([f"either, {before.version}"] if before else [])], *rows)
    odd = folder.abstention["odd_inputs"].items()
    yield table(
        ["other inputs", "inputs", "flagged"],
        *([name.replace("_", " "), str(of["n"]), percent(of["found"])] for name, of in odd),
    )
    yield table(CLASSES, [number(of) for of in folder.abstention["conformal"]["coverage_by_class"]])


def dermoscopy_table(report):
    """Shares of photographs kept aside, and of a source left out, that the probe of close-ups refuses."""
    rows = []
    for source, name in [("close-ups", "close-ups without a dermatoscope"), *NAMES.items()]:
        if source in report["validation"]:
            own, left = report["validation"][source], report["left_out"].get(source)
            rows.append([name, str(own["n"]), percent(own["beyond"]), percent(left and left["beyond"])])
    rows.append(
        ["melanomas of all sources", str(report["melanomas"]["n"]), percent(report["melanomas"]["beyond"]), "-"]
    )
    return table(["photographs kept aside", "photographs", "refused", "refused if fitted without this source"], *rows)


def tables(folder, before):
    """All of them, lists of lines."""
    folders = [folder, *([before] if before else [])]
    yield figures_table(folders)
    # Figures of before this command have no intervals.
    if "intervals" in folder.figures:
        yield intervals_table(folder)
        yield threshold_table(folder)
    yield recall_table(folder)
    yield metadata_table(folder)
    yield from abstention_tables(folder, before)
    if "dermoscopy" in folder.abstention:
        yield dermoscopy_table(folder.abstention["dermoscopy"])


def without_version(line):
    return re.sub(r"\d+\.\d+\.\d+", "", line)


def with_tables(text, made):
    """The text with its tables replaced by those of the same head, and the heads that it does not have."""
    lines, missing = text.split("\n"), []
    for new in made:
        start = next((i for i, line in enumerate(lines) if without_version(line) == without_version(new[0])), None)
        if start is None:
            missing.append(new[0])
            continue
        end = next(i for i in range(start, len(lines) + 1) if i == len(lines) or not lines[i].startswith("|"))
        lines[start:end] = new
    return "\n".join(lines), missing


def main():
    parser = new_parser(__doc__)
    parser.add_argument("--model", type=Path, required=True, help="a model folder")
    parser.add_argument("--before", type=Path, help="the model folder to show beside it")
    parser.add_argument("--card", type=Path, help="a README.md whose tables are replaced")
    options = parser.parse_args()
    made = list(tables(Folder(options.model), Folder(options.before) if options.before else None))
    if options.card is None:
        print("\n\n".join("\n".join(lines) for lines in made))
        return
    text, missing = with_tables(options.card.read_text(), made)
    options.card.write_text(text)
    for head in missing:
        print(f"{options.card} has no table that begins with {head}")
