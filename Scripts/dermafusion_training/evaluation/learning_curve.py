"""The gain by more photographs, and by each source: a linear classifier on features that saw no skin.

It is fitted on a part of the lesions, on all, and on all but those of one source.

A network's own training is limited by its samples long before it is limited by its photographs. A linear classifier on
ImageNet's features is fitted to the end in seconds, on however many photographs. So the curve shows what photographs
bring at its level, which is far below that of a trained network. Fitted without a source, and judged on it, it meets a
camera that it never saw.
"""

import numpy as np
import torch
from PIL import Image
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from dermafusion_training.data.dataset import open_cache, read_records, side_indices
from dermafusion_training.evaluation.inference import pooled_features
from dermafusion_training.evaluation.metrics import figures, mean_figures, rounded
from dermafusion_training.model.build import build_config, build_model
from dermafusion_training.model.config import CLASSES, SEXES, SITES
from dermafusion_training.training.pretrained import imagenet_backbone
from dermafusion_training.training.samples import photograph_weights

PARTS = (0.25, 0.5, 1.0)
DEALS = 3  # ways of drawing a part, of which the mean is taken
STRENGTHS = (0.001, 0.003, 0.01, 0.03)  # inverses of the penalty, of which each fit chooses
ASIDE = 0.2  # of a part's lesions, to choose by
CHUNK = 256  # photographs in memory at a time


def shrunk(image, size):
    return np.asarray(Image.fromarray(image).resize((size, size), Image.Resampling.BILINEAR))


def imagenet_features(architecture, cache, size):
    """Pooled features float32 [N, C] of all photographs at `size` pixels, by ImageNet's weights."""
    config = build_config(architecture, CLASSES, fusion=False, size=size)
    model = build_model(config)
    model.load_state_dict(imagenet_backbone(architecture), strict=False)
    model = model.eval().to(memory_format=torch.channels_last)
    chunks = range(0, len(cache), CHUNK)
    pooled = [pooled_features(config, model, [shrunk(image, size) for image in cache[i : i + CHUNK]]) for i in chunks]
    return torch.cat(pooled).numpy()


def metadata_features(records):
    """float32 [N, 20]: age, whether it is missing, sex and site, each value of these a column."""
    vectors = np.stack([record.metadata for record in records])
    sex, site = vectors[:, 2].astype(int), vectors[:, 3].astype(int)
    return np.hstack([vectors[:, :2], np.eye(len(SEXES))[sex], np.eye(len(SITES))[site]]).astype(np.float32)


def part_of(records, indices, share, seed):
    """The indices of a share of the lesions of each class."""
    rng = np.random.default_rng(seed)
    kept = set()
    for label in range(len(CLASSES)):
        lesions = sorted({records[i].lesion_id for i in indices if records[i].label == label})
        kept.update(rng.permutation(lesions)[: round(share * len(lesions))])
    return [i for i in indices if records[i].lesion_id in kept]


def fit(features, records, indices, strength):
    """Answers features float32 [N, C] with probabilities; photographs weigh as often as training draws them."""
    scaler = StandardScaler().fit(features[indices])
    weights = photograph_weights(records, indices) * len(indices)
    labels = [records[i].label for i in indices]
    classifier = LogisticRegression(C=strength, max_iter=300).fit(scaler.transform(features[indices]), labels, weights)
    return lambda others: classifier.predict_proba(scaler.transform(others))


def best_strength(features, records, indices, seed):
    """The strength with the least negative log-likelihood on lesions of the part itself, kept aside."""
    aside = part_of(records, indices, ASIDE, (seed, 1))
    fitted = sorted(set(indices) - set(aside))
    labels = np.array([records[i].label for i in aside])

    def loss(strength):
        return figures(fit(features, records, fitted, strength)(features[aside]), labels)["negative_log_likelihood"]

    return min(STRENGTHS, key=loss)


def judged(features, records, part, aside, seed):
    """The figures on each source's photographs that were kept aside, of a classifier fitted on a part."""
    answer = fit(features, records, part, best_strength(features, records, part, seed))
    result = {}
    for source in sorted({records[i].source for i in aside}):
        own = [i for i in aside if records[i].source == source]
        result[source] = figures(answer(features[own]), np.array([records[i].label for i in own]))
    return result


def learning_curve(options):
    """A point for each of PARTS, and one without each source: photographs, and figures on each source kept aside."""
    torch.set_num_threads(options.threads)
    records = read_records(options.data)
    config = build_config(options.architecture, CLASSES)
    cache = open_cache(records, options.data, config["preprocessing"], options.cache)
    features = np.hstack([imagenet_features(options.architecture, cache, options.size), metadata_features(records)])
    training = side_indices(records, options.split, "training")
    aside = side_indices(records, options.split)
    points = []
    for share in PARTS:
        parts = [part_of(records, training, share, deal) for deal in range(DEALS if share < 1 else 1)]
        results = [judged(features, records, part, aside, deal) for deal, part in enumerate(parts)]
        photographs = round(np.mean([len(part) for part in parts]))
        points.append({"share": share, "photographs": photographs, "sources": mean_figures(results)})
    for source in sorted({records[i].source for i in training}):
        part = [i for i in training if records[i].source != source]
        points.append(
            {"without": source, "photographs": len(part), "sources": judged(features, records, part, aside, 0)}
        )
    return rounded(points)
