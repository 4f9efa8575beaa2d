"""Tables of patients that people have, with what each must mean, for the checks of every door (contract.md, section 7).

A case has the names of images in a folder, a table, what the table must say of each image, and words of the notes or
of the error. What is said is (age, sex, site); REFUSED where the image must fail; an image that is left out has no row.
"""

import unicodedata
from dataclasses import dataclass, field

REFUSED = "refused"
NOTHING = (None, "unknown", "unknown")


@dataclass(frozen=True)
class Case:
    title: str
    names: tuple[str, ...]
    table: bytes
    said: dict = field(default_factory=dict)
    words: tuple[str, ...] = ()

    def wanted(self, name):
        return self.said.get(name, NOTHING)


def case(title, names, table, said=None, *words, encoding="utf-8"):
    """`said`: an age alone, or what is said of each name; REFUSED alone is of every image."""
    names = (names,) if isinstance(names, str) else tuple(names)
    if not isinstance(said, dict):
        said = {name: said for name in names} if said is not None else {}
    said = {
        name: (value, "unknown", "unknown") if isinstance(value, (int, float)) else value
        for name, value in said.items()
    }
    return Case(title, names, table if isinstance(table, bytes) else table.encode(encoding), said, words)


def nfc(text):
    return unicodedata.normalize("NFC", text)


def nfd(text):
    return unicodedata.normalize("NFD", text)


def words_of_one_column(title, column, values, place, *words):
    """A table with a row for each word."""
    names = [f"i{index}.jpg" for index in range(len(values))]
    rows = "".join(f'{name[:-4]},"{word}"\n' for name, word in zip(names, values, strict=True))
    said = {}
    for name, value in zip(names, values.values(), strict=True):
        said[name] = value if value == REFUSED else tuple(value if i == place else NOTHING[i] for i in range(3))
    return Case(title, tuple(names), f"image_id,{column}\n{rows}".encode(), said, words)


AGES = {
    "85+": 85, ">85": 85, "> 85": 85, ">=85": 85, "045Y": 45, "45 years": 45, "45 Years": 45, "018M": 1.5, "45y": 45,
    "55,5": 55.5, "55.0": 55, "0": 0, "": None, "NA": None, "nan": None, "<NA>": None, "None": None,
}  # fmt: skip
BAD_AGES = ["45-50", "<5", "old", "131", "-1", "1e1", "inf", "0x20", "85++", ">85+", "45 parsecs"]
SITES = {
    "lower extremity": "lower extremity", "palms/soles": "unknown", "Head/Neck": "unknown", "oral/genital": "unknown",
    "ARM": "upper extremity", "FOREARM": "upper extremity", "THIGH": "lower extremity", "NOSE": "face", "BACK": "back",
    "moon": "unknown", "moon base": "unknown", "": "unknown",
}  # fmt: skip
IMAGE_COLUMNS = [
    "image_id",
    "isic_id",
    "image",
    "image_name",
    "file_name",
    "filename",
    "file",
    "path",
    "img_id",
    "filepath",
    "imagename",
    "Image Name",
    "PATH",
]

CASES = [
    *(case(f"the column {column}", "a.jpg", f"{column},age\na,5\n", 5) for column in IMAGE_COLUMNS),
    words_of_one_column("ages", "age", AGES, 0),
    words_of_one_column("bad ages cost their images", "age", dict.fromkeys(BAD_AGES, REFUSED), 0, *BAD_AGES),
    words_of_one_column("sites", "site", SITES, 2, "'moon' (1)", "'moon base' (1)"),
    words_of_one_column(
        "sexes", "Sex",
        {
            "m": "male", "F": "female", "w": "female", "?": "unknown", "bot": REFUSED, "Männlich": "male",
            "femme": "female",
        },
        1, "bot",
    ),
    # Which row is an image's.
    case("the name with its ending", ("a.jpg", "b.jpg"), "file,age\na.jpg,5\nb.JPG,6\n", {"a.jpg": 5, "b.jpg": 6},
         "with the ending", "letter case"),
    case("the end of the path", ("x/a.jpg", "y/a.jpg"), "path,age\nx/a.jpg,5\ny\\a.jpg,6\n",
         {"x/a.jpg": 5, "y/a.jpg": 6}, "the end of the path"),
    case("a row of two images", ("x/a.jpg", "y/a.jpg"), "image_id,age\na,5\n", REFUSED, "could be that of"),
    case("two rows of an image", "aB.jpg", "image_id,age\nAb,5\nAB,6\n", REFUSED, "could both be"),
    case("the same row twice", "a.jpg", "image_id,age\na,5\na,5\n", REFUSED, "already on line 2"),
    case("an image of a later form takes no row of an earlier one", ("A.jpg", "a.jpg"), "image_id,age\nA,5\n",
         {"A.jpg": 5}, "no row"),
    case("a decomposed name", nfd("müller.jpg"), nfc("image_id,age\nmüller,5\n"), 5, "Unicode form"),
    case("a decomposed row", nfc("müller.jpg"), nfd("image_id,age\nmüller,5\n"), 5, "Unicode form"),
    case("both forms are images", (nfc("é.jpg"), nfd("é.jpg")), f"image_id,age\n{nfc('é')},5\n{nfd('é')},6\n",
         {nfc("é.jpg"): 5, nfd("é.jpg"): 6}),
    case("blanks are part of a name", ("q .jpg", "q.jpg", " .jpg"), 'image_id,age\n"q ",1\nq,2\n" ",3\n',
         {"q .jpg": 1, "q.jpg": 2, " .jpg": 3}),
    case("two names of an image: the stronger form wins", ("a.jpg", "a.jpg.jpg", "b.png"),
         "file,age\na.jpg,1\na,2\nb.png,3\nb,4\n", {"a.jpg": 1, "b.png": 3}, "left out"),
    case("a row of another folder", ("p1/a.jpg", "b.jpg"), "path,age\np2/a.jpg,1\nb,2\n", {"b.jpg": 2}, "no row"),
    case("no row of any image", "a.jpg", "path,age\np2/a.jpg,1\n", REFUSED, "no row is that of"),
    case("rows without an image", ("a.jpg", "b.jpg"), "record_id,image,age\n1,,5\n1,a,\n2,,6\n2,b,7\n",
         {"b.jpg": 7}, "2 rows have no image"),
    case("two columns that disagree", ("a.jpg", "b.jpg"), "image,Age,age\na,5,6\nb,,7\n",
         {"a.jpg": REFUSED, "b.jpg": 7}, "'Age'"),
    case("a column of codes", ("a.jpg", "b.jpg"), "image,sex\na,1\nb,2\n", REFUSED, "has codes and no words"),
    case("R's table", ("a b.jpg", "b.jpg"), '"image" "age"\n"1" "a b" 5\n"2" "b" NA\n', {"a b.jpg": 5}),
    case("rounded numbers", "39089837499752854.jpg", "image,age\n3.91E+16,5\n", REFUSED, "spreadsheet"),
    case("a spreadsheet's formula for a text", "39089837499752854.jpg", 'image,age\n"=""39089837499752854""",5\n', 5),
    case("apostrophes are part of a name", ("=x.jpg", "'=x.jpg"), "image_id,age\n'=x,2\n", {"'=x.jpg": 2}, "no row"),
    case("what is no ending of an image is part of a name", ("patient.Smith", "patient.Jones", "1.2.840.5"),
         "image_id,age\npatient.Jones,6\npatient.Smith,5\n1.2.840.5,7\n",
         {"patient.Smith": 5, "patient.Jones": 6, "1.2.840.5": 7}),
    case("a name is not cut for a row", ("patient.Smith", "1.2.840.5"), "image_id,age\npatient,5\n1.2.840,6\n",
         REFUSED, "no row"),
    case("a point in a name", ("a.b.jpg", "a.c.jpg"), "image_id,age\na.b,5\na,6\n", {"a.b.jpg": 5}, "no row"),
    # The form of the text.
    case("sep=;", "a.jpg", "sep=;\r\nimage_id;age\r\na;5,5\r\n", 5.5),
    case("sep=; as a spreadsheet's row", "a.jpg", '"sep=;";\nimage_id;age\na;5\n', 5),
    case("UTF-16", "ü.jpg", "image_id,age\r\nü,5\r\n", 5, encoding="utf-16"),
    case("a byte-order mark", "a.jpg", "image_id,age\na,5\n", 5, encoding="utf-8-sig"),
    case("Windows-1252", "ü.jpg", "image_id,age\r\nü,5\r\n", 5, "Windows-1252", encoding="cp1252"),
    case("CR ends lines", ("a.jpg", "b.jpg"), "image_id,age\ra,5\rb,6\r", {"a.jpg": 5, "b.jpg": 6}),
    case("line breaks in quotes", ("a.jpg", "b.jpg"), 'image_id,note,age\na,"x\ny",5\nb,,6\n',
         {"a.jpg": 5, "b.jpg": 6}),
    case("no column of images", "a.jpg", "picture,age\na,5\n", REFUSED, "'image_id' is missing"),
    case("a column twice", "a.jpg", "image_id,age,age\na,5,6\n", REFUSED, "more than once"),
    case("the ISIC archive's columns of today", ("ISIC_1.jpg", "ISIC_2.jpg"),
         "isic_id,age_approx,sex,anatom_site_1,anatom_site_2,anatom_site_3,anatom_site_general\n"
         "ISIC_1,60,male,Lower extremity,Foot,,lower extremity\nISIC_2,85+,female,Head and neck,Scalp,,\n",
         {"ISIC_1.jpg": (60, "male", "foot"), "ISIC_2.jpg": (85, "female", "scalp")}),
]  # fmt: skip
