"""The networks against timm's own, where timm can be imported; PyTorch in float64, the same weights on both sides."""

import unittest

import torch

from dermafusion.fixtures.formula_networks import formula_model
from dermafusion.model.build import build_config

try:
    import timm
except (ImportError, RuntimeError):  # the second where its torchvision is for another torch
    timm = None

CLASSES = ["a", "b", "c", "d", "e"]
# Ours -> timm's. Lite is TensorFlow's here, which timm calls tf_.
NAMES = {
    "mobilenetv3_small_100": "mobilenetv3_small_100",
    "mobilenetv3_large_100": "mobilenetv3_large_100",
    "resnet18": "resnet18",
    "resnet50": "resnet50",
    "efficientnet_b0": "efficientnet_b0",
    "efficientnet_lite0": "tf_efficientnet_lite0",
}


@unittest.skipIf(timm is None, "timm cannot be imported: the networks are not compared with its own")
class TimmTests(unittest.TestCase):
    def pair(self, name):
        """Our formula network in float64 and timm's network with its weights."""
        own = formula_model(build_config(name, CLASSES, fusion=False, size=64)).double()
        theirs = timm.create_model(NAMES[name], num_classes=len(CLASSES)).double().eval()
        # Strict: every name and every shape is the same.
        theirs.load_state_dict(own.state_dict(), strict=True)
        return own, theirs

    def test_the_same_weights_give_the_same_features_and_logits(self):
        generator = torch.Generator().manual_seed(41)
        for name in NAMES:
            own, theirs = self.pair(name)
            for height, width in ((64, 64), (75, 91)):
                with self.subTest(name=name, size=(height, width)), torch.no_grad():
                    image = torch.randn(2, 3, height, width, generator=generator, dtype=torch.float64)
                    expected = theirs.forward_features(image)
                    pre_logits = theirs.forward_head(expected, pre_logits=True)
                    logits = theirs(image)
                    features = own.features(image)
                    self.close(features, expected)
                    self.close(own.pool(features), pre_logits)
                    self.close(own(image), logits)
                    self.assertGreater(float((logits[0] - logits[1]).abs().max()), 1e-3)

    def close(self, found, expected):
        self.assertEqual(found.shape, expected.shape)
        self.assertLess(float((found - expected).abs().max()), 1e-10 * float(expected.abs().max()))


if __name__ == "__main__":
    unittest.main()
