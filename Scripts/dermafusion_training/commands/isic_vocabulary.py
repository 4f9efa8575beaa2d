"""Writes the ISIC archive's words for the classes as Swift, from the package isic-metadata (pip install isic-metadata).

With --check it writes nothing and fails where the file in the sources is not what the installed version gives.
"""

import importlib.metadata
import sys
import textwrap
from pathlib import Path

from dermafusion_training.options import new_parser

SOURCE = Path(__file__).parents[3] / "Sources/DermaFusion/Result/ISICDiagnoses.swift"
INDENT = " " * 4
WIDTH = 116

# The ids that models give a class, best first, and the places in the archive's hierarchy that are this class: each with
# all that lies below it.
CLASSES = [
    (("mel",), ("Malignant:Malignant melanocytic proliferations (Melanoma)",)),
    (("nv",), ("Benign:Benign melanocytic proliferations:Nevus",)),
    (("bcc",), ("Malignant:Malignant adnexal epithelial proliferations - Follicular:Basal cell carcinoma",)),
    (("akiec", "ak"), ("Indeterminate:Indeterminate epidermal proliferations:Solar or actinic keratosis",)),
    # HAM10000 counts Bowen's disease with actinic keratosis.
    (("akiec", "scc"), ("Malignant:Malignant epidermal proliferations:Squamous cell carcinoma in situ",)),
    (
        ("scc", "sccka"),
        (
            "Malignant:Malignant epidermal proliferations:Squamous cell carcinoma, Invasive",
            "Malignant:Malignant epidermal proliferations:Squamous cell carcinoma, NOS",
        ),
    ),
    (("sccka", "scc"), ("Malignant:Malignant epidermal proliferations:Keratoacanthoma",)),
    (
        ("bkl",),
        (
            "Benign:Benign epidermal proliferations:Lichen planus like keratosis",
            "Benign:Benign epidermal proliferations:Pigmented benign keratosis",
            "Benign:Benign epidermal proliferations:Seborrheic keratosis",
            "Benign:Benign epidermal proliferations:Solar lentigo",
        ),
    ),
    (("df",), ("Benign:Benign soft tissue proliferations - Fibro-histiocytic:Dermatofibroma",)),
    (("vasc",), ("Benign:Benign soft tissue proliferations - Vascular", "Benign:Hemorrhagic lesions")),
]
LOOKUP = """
  private static let idsOfWord = Dictionary(
    uniqueKeysWithValues: table.split(separator: "\\n").flatMap { line in
      let parts = line.split(separator: ":")
      let ids = parts[0].split(separator: " ").map { String($0) }
      return parts[1].split(separator: ";").map { (String($0).trimmed, ids) }
    })

  /// - Parameter word: in lower case.
  static func ids(ofWord word: String) -> [String] { idsOfWord[word] ?? [] }
""".strip("\n").split("\n")
# Earlier names of them in the archive and its challenges.
EARLIER = {
    ("mel",): ("melanoma",),
    ("akiec", "ak"): ("actinic keratosis", "ak"),
    ("scc", "sccka"): ("squamous cell carcinoma",),
    ("bkl",): ("lichenoid keratosis",),
    ("vasc",): ("vascular lesion", "angioma"),
}


def words():
    """The words of each class, in lower case, sorted."""
    from isic_metadata.diagnosis_hierarchical import DiagnosisEnum

    paths = [item.value for item in DiagnosisEnum]
    found = []
    for ids, places in CLASSES:
        below = [path for path in paths for place in places if path == place or path.startswith(place + ":")]
        if not below:
            sys.exit(f"the archive has nothing at {places}")
        found.append((ids, sorted({path.split(":")[-1].lower() for path in below} | set(EARLIER.get(ids, ())))))
    every = [word for _, own in found for word in own]
    if twice := {word for word in every if every.count(word) > 1}:
        sys.exit(f"words of two classes: {sorted(twice)}")
    return found


def swift():
    lines = [
        "import Files",
        "",
        "/// The ISIC archive's words for classes. `python -m dermafusion_training isic-vocabulary` writes this file.",
        "enum ISICDiagnoses {",
        "  /// The version of the package isic-metadata, which holds the vocabulary.",
        f'  static let version = "{importlib.metadata.version("isic-metadata")}"',
        "",
        "  /// A line for each class: the ids that models give it, best first, and its words in lower case.",
        '  private static let table = """',
    ]
    layout = textwrap.TextWrapper(WIDTH, initial_indent=INDENT, subsequent_indent=INDENT, break_on_hyphens=False)
    for ids, own in words():
        # A backslash joins the lines of one class.
        lines.append(layout.fill(f"{' '.join(ids)}: {'; '.join(own)}").replace("\n", " \\\n"))
    return "\n".join([*lines, INDENT + '"""', "", *LOOKUP, "}"]) + "\n"


def main():
    parser = new_parser(__doc__)
    parser.add_argument("--check", action="store_true", help="only compare, and say where the sources are behind")
    if not parser.parse_args().check:
        SOURCE.write_text(swift())
    elif SOURCE.read_text() != swift():
        installed = importlib.metadata.version("isic-metadata")
        sys.exit(f"{SOURCE}: is not what isic-metadata {installed} gives; run isic-vocabulary without --check")
