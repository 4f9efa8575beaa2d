"""The files of the wheel beside its modules."""

from pathlib import Path

import dermafusion


def test_the_licences_of_what_the_library_links_come_with_it():
    text = (Path(dermafusion.__file__).parent / "native" / "THIRD_PARTY_NOTICES").read_text()
    for words in ("Independent JPEG Group", "PNG Reference Library License version 2", "Jean-loup Gailly"):
        assert words in text
