"""Fits a bias for each class and a temperature to the logits of lesions that a model was not trained on."""

import numpy as np
from scipy.optimize import minimize

from dermafusion_training.evaluation.metrics import MELANOMA, softmax

TEMPERATURES = np.exp(np.linspace(np.log(0.4), np.log(2.5), 181))
WORTH_FITTING = 0.002  # of negative log-likelihood; less is noise on a thousand lesions
EVENNESS = 0.5  # 0: every photograph weighs the same; 1: every class does
MISSED_MELANOMA = 2.0  # weight of a melanoma beside other lesions, unless another is asked for
SMALL_BIAS = 0.02  # weight of the biases' mean square
# Penalties beside the sum of the negative log-likelihoods: on the biases' squares and on the square of the
# relative change of the scale.
BIAS_PENALTY, SCALE_PENALTY = 10.0, 40.0
FOLDS = 5
DEALS = 20  # of lesions into folds: by one alone the calibration error moves by half of itself


def fit_temperature(logits, labels):
    """The temperature with the least negative log-likelihood; 1 where none lowers it by more than WORTH_FITTING."""
    losses = []
    for temperature in TEMPERATURES:
        probabilities = softmax(logits / temperature)
        losses.append(-np.log(probabilities[np.arange(len(labels)), labels] + 1e-12).mean())
    best = int(np.argmin(losses))
    at_one = int(np.argmin(abs(TEMPERATURES - 1)))
    return float(TEMPERATURES[best]) if losses[at_one] - losses[best] > WORTH_FITTING else 1.0


def fit_bias(logits, labels, melanoma=MELANOMA, melanoma_weight=MISSED_MELANOMA):
    """The bias of each class's logit, float64 [classes]; 0 for a class that no photograph shows.

    The least negative log-likelihood, in which a class weighs less than its photographs are many (EVENNESS) so that the
    rare ones are not given up for it, and a melanoma weighs `melanoma_weight` times as much, because a missed one costs
    more than a false alarm. Small values are preferred. `melanoma` is the class's index; None where no class is it.
    """
    sizes = np.bincount(labels, minlength=logits.shape[1])
    shown, sizes = sizes > 0, np.maximum(sizes, 1)
    weights = (sizes**-EVENNESS)[labels]
    if melanoma is not None:
        weights[labels == melanoma] *= melanoma_weight
    weights /= weights.mean()

    def loss_and_slope(bias):
        probabilities = softmax(logits + bias)
        of_label = probabilities[np.arange(len(labels)), labels]
        loss = -(weights * np.log(of_label + 1e-12)).mean() + SMALL_BIAS * (bias**2).mean()
        slope = (weights @ probabilities - np.bincount(labels, weights, len(bias))) * shown
        return loss, slope / len(labels) + 2 * SMALL_BIAS * bias / len(bias)

    return minimize(loss_and_slope, np.zeros(logits.shape[1]), jac=True).x


def fit_calibration(logits, labels, melanoma=MELANOMA, melanoma_weight=MISSED_MELANOMA):
    """(bias [classes], temperature): probabilities are softmax((logits + bias) / temperature)."""
    bias = fit_bias(logits, labels, melanoma, melanoma_weight)
    return bias, fit_temperature(logits + bias, labels)


def fit_likelihood(logits, labels, temperature):
    """(bias [classes], temperature) of the least penalised negative log-likelihood, every photograph weighing the same.

    What `dermafusion calibrate` fits to a collection of its user's: it prefers the `temperature` of the present model
    and no bias, and leaves the bias of a class that no photograph shows at 0.
    """
    shown = np.bincount(labels, minlength=logits.shape[1]) > 0

    def loss(place):
        values = logits * (1 + place[0]) / temperature + np.where(shown, place[1:], 0)
        likelihood = np.log(softmax(values)[np.arange(len(labels)), labels]).sum()
        penalty = SCALE_PENALTY / 2 * place[0] ** 2 + BIAS_PENALTY / 2 * (place[1:] ** 2).sum()
        return (penalty - likelihood) / len(labels)

    bounds = [(-0.99, None)] + [(None, None)] * logits.shape[1]
    options = {"maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-10}
    place = minimize(loss, np.zeros(1 + logits.shape[1]), bounds=bounds, options=options).x
    scale = (1 + place[0]) / temperature
    return np.where(shown, place[1:], 0) / scale, 1 / scale


def cross_fitted(logits, labels, lesions, deal=0, melanoma_weight=MISSED_MELANOMA):
    """Probabilities of each fold of the lesions under the calibration fitted on the others; `deal` is the number of the
    way in which they are dealt out to the folds."""
    names = np.random.default_rng(deal).permutation(sorted(set(lesions)))
    order = {lesion: i for i, lesion in enumerate(names)}
    fold = np.array([order[lesion] % FOLDS for lesion in lesions])
    probabilities = np.empty_like(logits)
    for held in range(FOLDS):
        bias, temperature = fit_calibration(logits[fold != held], labels[fold != held], melanoma_weight=melanoma_weight)
        probabilities[fold == held] = softmax((logits[fold == held] + bias) / temperature)
    return probabilities
