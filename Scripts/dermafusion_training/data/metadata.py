"""Age, sex and body site as the network's metadata vector."""

import numpy as np

from dermafusion_training.model.config import SEXES, SITES

MINIMUM_AGE = 0
MAXIMUM_AGE = 130


def encode_metadata(age=None, sex=None, site=None):
    """Encodes what is known of a patient.

    age: years in 0...130, or None; sex: one of SEXES, or None; site: one of SITES, or None.
    Returns (vector, missing): float32 [4] = [age / 100 clamped to 0...1 or 0, 1 when the age is missing else 0,
    sex index, site index], and the names of what was not given. Raises ValueError outside these ranges.
    """
    if age is not None and not MINIMUM_AGE <= age <= MAXIMUM_AGE:
        raise ValueError(f"age {age}: must be from {MINIMUM_AGE} to {MAXIMUM_AGE}")
    if sex is not None and sex not in SEXES:
        raise ValueError(f"sex {sex!r}: must be one of {SEXES}")
    if site is not None and site not in SITES:
        raise ValueError(f"site {site!r}: must be one of {SITES}")
    vector = np.array(
        [
            0.0 if age is None else min(age / 100, 1.0),
            1.0 if age is None else 0.0,
            SEXES.index(sex or "unknown"),
            SITES.index(site or "unknown"),
        ],
        dtype=np.float32,
    )
    missing = [name for name, value in (("age", age), ("sex", sex), ("site", site)) if value in (None, "unknown")]
    return vector, missing


def encode_row(row):
    """Encodes a row of metadata.csv, where an empty age means missing.

    Some sources name coarser sites than the fifteen, `head/neck` for example. Such a site is unknown.
    """
    age = float(row["age"]) if row["age"] not in ("", "nan") else None
    site = row["localization"] if row["localization"] in SITES else None
    return encode_metadata(age, row["sex"] or None, site)[0]
