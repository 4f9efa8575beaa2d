"""The networks against timm's own in float64 with the same weights, and checkpoints of timm's training."""

import argparse
import contextlib
import importlib
import io
import json
import tempfile
import unittest
from pathlib import Path

import torch
from safetensors.torch import load_file

from dermafusion_training.__main__ import main
from dermafusion_training.commands.export import told_transform
from dermafusion_training.fixtures.formula_networks import formula_model
from dermafusion_training.model import architecture
from dermafusion_training.model.build import build_config, build_model
from dermafusion_training.model.checkpoint import Checkpoint, read_checkpoint

timm = architecture.timm()
utils = importlib.import_module("timm.utils")
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

    def test_operators_that_torchvision_lacks_do_not_keep_timm_from_being_imported(self):
        def function(x):
            return x

        with architecture.without_operators():
            self.assertIs(torch.library.register_fake("torchvision::missing")(function), function)
            with self.assertRaises(RuntimeError):
                torch.library.register_fake("elsewhere::missing")(function)
        with self.assertRaises(RuntimeError):
            torch.library.register_fake("torchvision::missing")(function)

    def test_networks_of_timm_are_exported_whatever_names_stand_before_theirs(self):
        for name, last in (
            ("tf_efficientnetv2_b0", "classifier"), ("mobilenetv4_conv_small", "classifier"), ("resnet26d", "fc"),
            ("regnety_002", "head.fc"), ("densenet121", "classifier"), ("convnext_atto", "head.fc"),
            ("vit_tiny_patch16_224", "head"), ("swin_tiny_patch4_window7_224", "head.fc"),
        ):  # fmt: skip
            state = timm.create_model(name, num_classes=len(CLASSES)).state_dict()
            own = {f"net.backbone.{key}": value for key, value in state.items() if not key.startswith(f"{last}.")}
            own |= {f"net.head.{kind}": state[f"{last}.{kind}"] for kind in ("weight", "bias")}
            with self.subTest(name=name), tempfile.TemporaryDirectory() as folder:
                torch.save(own, Path(folder) / "last.pth")
                words = ["export", "--checkpoint", f"{folder}/last.pth", "--architecture", name, "--dtype", "float32"]
                words += ["--classes", ",".join(CLASSES), "--output", f"{folder}/model"]
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                    main(words)
                written = load_file(f"{folder}/model/model.safetensors")
                expected = {key: value for key, value in state.items() if not key.endswith(".num_batches_tracked")}
                self.assertEqual(sorted(written), sorted(expected))
                for key, value in expected.items():
                    self.assertTrue(torch.equal(written[key], value), key)
                preprocessing = json.loads((Path(folder) / "model" / "config.json").read_text())["preprocessing"]
                settings = timm.get_pretrained_cfg(name)
                for key in ("crop_pct", "interpolation", "crop_mode"):
                    self.assertEqual(preprocessing[key], getattr(settings, key))
                self.assertEqual(preprocessing["mean"], list(settings.mean))
                self.assertEqual(preprocessing["size"], settings.input_size[-1])

    def test_what_timm_was_not_told_is_that_of_the_network(self):
        for told, found in (({"interpolation": ""}, "bilinear"), ({"interpolation": "lanczos"}, "lanczos")):
            checkpoint = Checkpoint({}, arguments=told | {"crop_pct": None, "img_size": 160})
            transform = told_transform(checkpoint, "resnext101_32x4d")
            self.assertEqual((transform["interpolation"], transform["size"]), (found, 160))

    def exported(self, name, edit=None, **settings):
        """The config.json of the export of a network as timm saves it: of its state dict alone, and of its folder.

        `edit` changes the folder's config.json.
        """
        network = timm.create_model(name, num_classes=len(CLASSES), **settings)
        found = []
        with tempfile.TemporaryDirectory() as folder:
            timm.models.save_for_hf(network, f"{folder}/hub", {"label_names": CLASSES}, safe_serialization=True)
            path = Path(folder) / "hub" / "config.json"
            config = json.loads(path.read_text())
            if edit is not None:
                edit(config)
            path.write_text(json.dumps(config))
            torch.save(network.state_dict(), Path(folder) / "last.pth")
            for source in ("last.pth", "hub"):
                words = ["export", "--checkpoint", f"{folder}/{source}", "--architecture", name]
                words += ["--classes", ",".join(CLASSES), "--output", f"{folder}/{source}-model"]
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                    main(words)
                found.append(json.loads((Path(folder) / f"{source}-model" / "config.json").read_text()))
        return found

    def test_a_vision_transformer_keeps_its_size_and_its_pooling(self):
        for settings, size, pooling in (
            ({"img_size": 256}, 256, "token"), ({"global_pool": "avg"}, 224, "avg"),
            ({"global_pool": "avg", "img_size": 96}, 96, "avg"),
        ):  # fmt: skip
            for config in self.exported("vit_tiny_patch16_224", **settings):
                with self.subTest(settings=settings):
                    self.assertEqual((config["preprocessing"]["size"], config["global_pool"]), (size, pooling))

    def test_a_transformer_of_dinov3_keeps_the_pooling_of_its_configuration(self):
        for pooling, told in (("token", "token"), ("avg", None)):
            _, config = self.exported("vit_small_patch16_dinov3", global_pool=pooling)
            self.assertEqual(config.get("global_pool"), told)
            self.assertEqual(build_model(config).global_pool, pooling)

    def test_the_size_of_a_network_of_one_size_is_that_of_its_arguments(self):
        def older(config):  # as versions before 1.0.31 wrote it
            config["pretrained_cfg"]["input_size"] = [3, 224, 224]

        for config in self.exported("vit_tiny_patch16_224", edit=older, img_size=256):
            self.assertEqual(config["preprocessing"]["size"], 256)

    def test_another_network_than_the_names_is_refused(self):
        def ended(arguments, **more):
            def edit(config):
                config["model_args"] |= arguments
                config |= more

            with self.assertRaises(SystemExit) as caught:
                self.exported("resnet18", edit=edit)
            return str(caught.exception)

        self.assertIn("act_layer silu: changes the network", ended({"act_layer": "silu"}))
        self.assertIn("bn_eps 0.001: changes the network", ended({"bn_eps": 1e-3}))
        for arguments, more in (({"global_pool": "max"}, {}), ({"global_pool": None}, {"global_pool": "max"})):
            self.assertIn("global_pool max: resnet18 can be run with avg only", ended(arguments, **more))
        for arguments in ({"drop_path_rate": 0.1, "in_chans": 3}, {"zero_init_last": False, "act_layer": None}):
            self.exported("resnet18", edit=lambda config, told=arguments: config["model_args"].update(told))

    def test_the_average_is_read_from_a_checkpoint_that_timm_saved(self):
        torch.manual_seed(42)
        network = timm.create_model("mobilenetv3_small_100", num_classes=8)
        optimizer = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9)
        average = utils.ModelEmaV3(network, decay=0.5)
        network(torch.randn(2, 3, 64, 64)).square().sum().backward()
        optimizer.step()
        average.update(network)
        arguments = argparse.Namespace(model="mobilenetv3_small_100", img_size=64, num_classes=8)
        with tempfile.TemporaryDirectory() as folder:
            saver = utils.CheckpointSaver(
                network, optimizer, args=arguments, model_ema=average, checkpoint_dir=folder, recovery_dir=folder
            )
            saver.save_checkpoint(0, metric=0.5)
            checkpoint = read_checkpoint(Path(folder) / "model_best.pth.tar")
        self.assertEqual(checkpoint.taken_from, ["state_dict_ema"])
        self.assertEqual(checkpoint.arguments["img_size"], 64)
        self.assertFalse(torch.equal(checkpoint.state["classifier.weight"], network.state_dict()["classifier.weight"]))
        for name, tensor in average.module.state_dict().items():
            if not name.endswith(".num_batches_tracked"):
                self.assertTrue(torch.equal(checkpoint.state[name], tensor), name)

    def close(self, found, expected):
        self.assertEqual(found.shape, expected.shape)
        self.assertLess(float((found - expected).abs().max()), 1e-10 * float(expected.abs().max()))


if __name__ == "__main__":
    unittest.main()
