"""Dumps what an ensemble of the two formula networks makes of a few pictures: see ParityFixtures/README.md."""

import json
from pathlib import Path

import numpy as np

from ensemble import Ensemble
from formula_networks import formula_model
from metadata import encode_metadata
from network_fixtures import floats, predict
from preprocessing import preprocess

FIXTURES = Path(__file__).parent.parent / "ParityFixtures"

# Formula network -> (weight, temperature), which make members differ whose logits lie close together.
MEMBERS = {"efficientnet_b0": (1.25, 0.15), "efficientnet_lite0": (1.75, 0.2)}
TEMPERATURE = 0.8
CASES = [
    ("phantom_nevus.jpg", (55, "male", "back"), 1),
    ("odd_457x383.jpg", (None, None, None), 1),
    ("noise.png", (31, "female", None), 8),
]


def main():
    networks = json.loads((FIXTURES / "gradcam" / "networks.json").read_text())
    networks = {network["name"]: network["config"] for network in networks}
    configs = {name: networks[name] | {"temperature": temperature} for name, (_, temperature) in MEMBERS.items()}
    config = {
        "format_version": 1,
        "name": "formulas",
        "version": "1.0.0",
        "temperature": TEMPERATURE,
        "members": [{"folder": name, "weight": weight} for name, (weight, _) in MEMBERS.items()],
        "training": {},
    }
    ensemble = Ensemble(config, [(configs[name], formula_model(configs[name])) for name in MEMBERS])
    predictions = []
    for file, (age, sex, site), views in CASES:
        path = FIXTURES / "images" / file
        normalized = preprocess(path, next(iter(configs.values()))["preprocessing"])[0]["normalized"]
        vector, _ = encode_metadata(age, sex, site)
        seen = predict(config, ensemble.mean_logits, normalized, vector, views)
        patient = {"age": age, "sex": sex, "site": site, "vector": floats(vector)}
        predictions.append({"file": f"images/{file}"} | patient | {"views": views} | seen)
    result = {"config": config, "members": configs, "predictions": predictions}
    (FIXTURES / "ensemble.json").write_text(json.dumps(result, indent=1, allow_nan=False) + "\n")
    for prediction in predictions:
        print(prediction["file"], np.round(prediction["probabilities"], 3))


if __name__ == "__main__":
    main()
