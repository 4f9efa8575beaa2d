"""Networks in 8 bits: what the tensors mean, and how they are made."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch
from PIL import Image
from safetensors.torch import save_file
from torch import nn

from dermafusion_training.commands.quantize import settle_limit
from dermafusion_training.fixtures.formula_networks import formula_model, uniform
from dermafusion_training.fixtures.quantized import dump_quantized
from dermafusion_training.model.build import build_config, build_model
from dermafusion_training.model.config import CLASSES
from dermafusion_training.model.exact import ACTIVATIONS
from dermafusion_training.model.export import export
from dermafusion_training.model.folder import load_folder, tensors_of
from dermafusion_training.model.quantization import largest_pair, layers_of, quantized_tensors, replaced_tensors
from dermafusion_training.model.quantized import QUANTIZED, QuantizedConvolution
from dermafusion_training.paths import FIXTURES

ARCHITECTURES = ["efficientnet_lite0", "efficientnet_b0", "mobilenetv3_small_100", "mobilenetv3_large_100"]


def config_of(architecture):
    return build_config(architecture, CLASSES, fusion=False, size=64)


def lite_config():
    return config_of("efficientnet_lite0")


class QuantizedConvolutionTests(unittest.TestCase):
    def layer(self):
        layer = QuantizedConvolution(nn.Conv2d(2, 1, 1, bias=False))
        layer.weight[:] = torch.tensor([100, -50], dtype=torch.int8).view(1, 2, 1, 1)
        layer.weight_scale[:] = 0.5
        layer.bias[:] = 3
        layer.input_scale[:] = 0.25
        layer.input_zero_point[:] = 10
        return layer

    def test_levels_are_the_nearest_whole_numbers_and_halves_go_to_the_even_one(self):
        values = torch.tensor([0.0, 0.125, 0.375, -2.5, -9.0, 61.25, 90.0, 0.1]).view(1, 1, 2, 4)
        levels = self.layer().quantize(values).flatten().tolist()
        self.assertEqual(levels, [10, 10, 12, 0, 0, 255, 255, 10])

    def test_the_zero_point_stands_for_zero(self):
        layer = self.layer()
        layer.input_scale[:] = 0.037
        self.assertEqual(layer.quantize(torch.zeros(1, 2, 1, 1)).flatten().tolist(), [10, 10])

    def test_values_are_those_of_the_weights_and_levels(self):
        levels = torch.tensor([20.0, 14.0]).view(1, 2, 1, 1)
        value = self.layer().values(levels).item()
        self.assertEqual(value, 0.25 * 0.5 * (100 * (20 - 10) - 50 * (14 - 10)) + 3)


class QuantizationTests(unittest.TestCase):
    def test_networks_in_8_bits_are_near_the_float_networks(self):
        for architecture in ARCHITECTURES:
            with self.subTest(architecture):
                self.check_blocks(config_of(architecture))

    def check_blocks(self, config):
        model = formula_model(config)
        images = [torch.from_numpy(uniform(f"image {i}", (2, 3, 64, 64))) for i in range(3)]
        quantized = build_model(config | {"precision": QUANTIZED})
        tensors = {name: tensor for name, tensor in tensors_of(model).items() if name not in replaced_tensors(model)}
        tensors |= quantized_tensors(model, images)
        self.assertEqual(set(tensors), set(tensors_of(quantized)))
        quantized.load_state_dict(tensors, strict=False)
        quantized.eval()
        with torch.inference_mode():
            for image in images:
                x = quantized.stem(image)
                for (name, block), (_, other) in zip(model.named_blocks(), quantized.named_blocks(), strict=True):
                    expected, found = block(x), other(x)
                    error = (expected - found).abs().max() / expected.abs().max()
                    self.assertLess(error, 0.1, name)
                    x = expected

    def test_weights_keep_the_rules_of_the_format(self):
        model = formula_model(lite_config())
        with torch.no_grad():
            # A channel without weights, and one whose bias is all that counts.
            model.blocks[1][0].conv_dw.weight[3] = 0
            model.blocks[1][0].conv_dw.weight[4] *= 1e-9
            model.blocks[1][0].conv_pw.weight[5, :2] = 3
        tensors = quantized_tensors(model, [torch.from_numpy(uniform("image", (1, 3, 64, 64)))])
        for layer in layers_of(model):
            weight = tensors[f"{layer.name}.weight"].double()
            scale = tensors[f"{layer.name}.weight_scale"].double()
            bias = tensors[f"{layer.name}.bias"].double()
            self.assertTrue((scale > 0).all())
            self.assertLessEqual(weight.abs().max(), 127)
            if weight[0].numel() == weight.shape[1]:
                self.assertLessEqual(largest_pair(weight).max(), 128, layer.name)
            steps = bias / (scale * tensors[f"{layer.name}.input_scale"].double())
            if ".conv_dw" in layer.name:
                sums = 255 * weight.abs().flatten(1).sum(1) + steps.abs()
                self.assertLess(sums.max(), 2**24, layer.name)

    def test_a_pair_is_neighbours_of_one_sign(self):
        weight = torch.tensor([[1.0, 2.0, 4.0], [-3.0, 2.0, 1.0], [-3.0, -2.0, 4.0]])[:, :, None, None]
        self.assertEqual(largest_pair(weight).tolist(), [4, 3, 5])


class CommandTests(unittest.TestCase):
    """`quantize` on a formula network and drawn pictures."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        model = formula_model(lite_config())
        export(tensors_of(model), lite_config(), self.folder / "model")
        (self.folder / "model/training").mkdir()
        (self.folder / "model/training/split.csv").write_text(
            "image_id,lesion_id,split\na,1,training\nb,2,validation\n"
        )
        (self.folder / "images").mkdir()
        for name in "ab":
            pixels = (uniform(name, (70, 90, 3)) * 127 + 128).astype(np.uint8)
            Image.fromarray(pixels).save(self.folder / "images" / f"{name}.png")

    def run_command(self, *options):
        command = [sys.executable, "-m", "dermafusion_training", "quantize", "--model", self.folder / "model", *options]
        words = [*command, "--images", self.folder / "images", "--output", self.folder / "int8"]
        return subprocess.run([str(word) for word in words], capture_output=True, text=True)

    def test_the_folder_can_be_loaded_and_says_what_it_is(self):
        split = self.folder / "model/training/split.csv"
        done = self.run_command("--split", split)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("ranges of 1 photographs", done.stderr)
        config, model = load_folder(self.folder / "int8")
        self.assertEqual((config["precision"], config["name"]), ("int8", "efficientnet_lite0-int8"))
        self.assertTrue(torch.isfinite(model(torch.zeros(1, 3, 64, 64))).all())
        self.assertEqual((self.folder / "int8/training/split.csv").read_text(), split.read_text())
        self.assertIn("Its accuracy was not measured.", (self.folder / "int8/README.md").read_text())

    def test_a_model_in_8_bits_is_refused(self):
        config = json.loads((self.folder / "model/config.json").read_text())
        (self.folder / "model/config.json").write_text(json.dumps(config | {"precision": "int8"}))
        done = self.run_command()
        self.assertEqual(done.returncode, 1)
        self.assertIn("must be an EfficientNet or a MobileNetV3 in float32", done.stderr)


class LimitTests(unittest.TestCase):
    """The limit for close-ups, which is not that of the float model."""

    PROBE = "abstention.dermoscopy"

    def settled(self, stages=(3, 4), weights=(1.0, 2.0), ranges=True):
        """(limits, tensors, what is said) of a float model with a probe; the folder of the ranges has another limit."""
        config = {"abstention": {"conformal": {}, "dermoscopy": {"stages": [3, 4], "threshold": 5.5}}}
        tensors = {self.PROBE: torch.tensor([1.0, 2.0])}
        with tempfile.TemporaryDirectory() as folder:
            own = {"abstention": {"dermoscopy": {"stages": list(stages), "threshold": 5.75}}}
            (Path(folder) / "config.json").write_text(json.dumps(own))
            save_file({self.PROBE: torch.tensor(weights)}, Path(folder) / "model.safetensors")
            options = SimpleNamespace(ranges=Path(folder) if ranges else None, model=Path("M"), output=Path("O"))
            said = settle_limit(config, tensors, options)
        return config["abstention"], tensors, said

    def test_the_ranges_folder_has_it_for_the_same_probe(self):
        abstention, tensors, said = self.settled()
        self.assertEqual(abstention["dermoscopy"]["threshold"], 5.75)
        self.assertIn(self.PROBE, tensors)
        self.assertIn("is that of", said)

    def test_otherwise_there_is_none_and_the_command_that_fits_it_is_named(self):
        for options in ({"stages": (2, 4)}, {"weights": (1.0, 2.5)}, {"ranges": False}):
            with self.subTest(options):
                abstention, tensors, said = self.settled(**options)
                self.assertEqual((abstention, tensors), ({"conformal": {}}, {}))
                self.assertIn("fit-dermoscopy --limit-only --model O --probe M --write", said)

    def test_a_model_without_one_needs_none(self):
        self.assertIsNone(settle_limit({}, {}, SimpleNamespace(ranges=None)))


class ExactActivationTests(unittest.TestCase):
    def test_the_sigmoid_is_near_the_true_one(self):
        x = torch.linspace(-100, 100, 20001)
        self.assertLess((ACTIVATIONS[nn.Sigmoid](x) - torch.sigmoid(x.double())).abs().max(), 5e-4)
        self.assertLess((ACTIVATIONS[nn.SiLU](x) - nn.functional.silu(x.double())).abs().max(), 5e-4)

    def test_far_values_have_no_surprises(self):
        x = torch.tensor([1e30, -1e30, 0.0])
        self.assertEqual(ACTIVATIONS[nn.SiLU](x).tolist()[::2], [x[0].item(), 0])
        self.assertLess(abs(ACTIVATIONS[nn.Sigmoid](x)[1].item()), 1e-17)


class FixtureTests(unittest.TestCase):
    def test_the_fixtures_are_those_of_this_definition(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "quantized.json"
            dump_quantized(path)
            self.assertEqual(path.read_text(), (FIXTURES / "quantized.json").read_text())


if __name__ == "__main__":
    unittest.main()
