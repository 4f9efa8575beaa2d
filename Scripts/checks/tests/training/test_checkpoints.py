"""Checkpoints as others save them, and the classes that a model is exported with."""

import argparse
import contextlib
import hashlib
import io
import json
import shutil
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from test_models import random_state

from dermafusion_training.__main__ import main
from dermafusion_training.model.build import build_config
from dermafusion_training.model.checkpoint import read_checkpoint
from dermafusion_training.model.classes import ClassesError, choose_classes, read_classes
from dermafusion_training.model.config import CLASSES, class_ids
from dermafusion_training.model.folder import CheckpointError, load_folder


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)


class Evil:
    """Runs a command where a loader is careless."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


class ReadTests(Folder):
    weights = {"conv_stem.weight": torch.arange(6.0).view(2, 3), "classifier.bias": torch.ones(2)}
    average = {name: tensor + 1 for name, tensor in weights.items()}

    def read(self, value, name="checkpoint.pth"):
        torch.save(value, self.folder / name)
        return read_checkpoint(self.folder / name)

    def holds(self, checkpoint, state):
        self.assertEqual(checkpoint.state.keys(), state.keys())
        for name, tensor in state.items():
            self.assertTrue(torch.equal(checkpoint.state[name], tensor), name)

    def test_what_timms_training_saves_gives_its_average(self):
        counted = self.weights | {"bn1.num_batches_tracked": torch.tensor(7)}
        checkpoint = self.read(
            {
                "epoch": 3,
                "arch": "resnet18",
                "state_dict": {f"module.{name}": tensor for name, tensor in counted.items()},
                "optimizer": {"state": {0: {"exp_avg": torch.ones(2)}}, "param_groups": [{"lr": 0.1}]},
                "version": 2,
                "args": argparse.Namespace(img_size=224, opt="adamw", lr=0.1, mean=None, sched="cosine"),
                "state_dict_ema": {f"module.{name}": tensor for name, tensor in self.average.items()},
                "metric": 0.81,
            }
        )
        self.holds(checkpoint, self.average)
        self.assertEqual(
            checkpoint.description(),
            "took state_dict_ema, without the prefix module., 2 tensors; "
            "ignored: epoch, arch, state_dict, optimizer, version, args, metric",
        )
        self.assertEqual(checkpoint.arguments["img_size"], 224)

    def test_the_state_dict_is_found_where_there_is_no_average(self):
        for wrapped in (
            self.weights,
            {"model": self.weights},
            {"state_dict": self.weights, "epoch": torch.tensor(3)},
            {"epoch": 3, "model": {"state_dict": self.weights}},
            {"state_dict": self.weights, "state_dict_ema": None},
        ):
            self.holds(self.read(wrapped), self.weights)

    def test_prefixes_are_taken_off_in_any_order(self):
        for prefix in ("module.", "model.", "_orig_mod.", "module._orig_mod.", "_orig_mod.module.", "model.module."):
            checkpoint = self.read({"state_dict": {prefix + name: tensor for name, tensor in self.weights.items()}})
            self.holds(checkpoint, self.weights)
            self.assertIn(f"without the prefix {prefix}, 2 tensors", checkpoint.description())

    def test_averaged_weights_are_told_from_those_beside_them(self):
        beside = {f"model.{name}": tensor for name, tensor in self.weights.items()}
        beside |= {f"ema_model.module.{name}": tensor for name, tensor in self.average.items()}
        checkpoint = self.read({"state_dict": beside | {"criterion.weight": torch.ones(2)}})
        self.holds(checkpoint, self.average)
        self.assertEqual(
            checkpoint.description(),
            "took state_dict, without the prefix ema_model.module., 2 tensors; ignored: criterion.*, model.*",
        )
        averaged = {f"module.{name}": tensor for name, tensor in self.average.items()}
        self.holds(self.read(averaged | {"n_averaged": torch.tensor(9)}), self.average)

    def test_two_tensors_of_one_name_are_refused(self):
        with self.assertRaisesRegex(CheckpointError, "classifier.bias: there twice, with and without the prefix"):
            self.read({"module.classifier.bias": torch.ones(2), "classifier.bias": torch.zeros(2)})

    def test_a_file_that_wants_to_run_something_is_refused_and_runs_nothing(self):
        touched = self.folder / "touched"
        with self.assertRaises(CheckpointError) as raised:
            self.read({"state_dict": self.weights, "args": Evil(touched)}, "evil.pth")
        self.assertFalse(touched.exists())
        message = str(raised.exception)
        self.assertRegex(message, r"evil\.pth: its pickle wants [\w.]+; only tensors, plain values and")
        self.assertNotIn("\n", message)

    def test_other_files_are_refused_in_one_line(self):
        (self.folder / "text.pth").write_text("not a checkpoint")
        (self.folder / "empty.pth").write_bytes(b"")
        (self.folder / "text.safetensors").write_text("not a checkpoint")
        torch.save({"epoch": 3}, self.folder / "none.pth")
        torch.save({"state_dict": {"conv_stem.weight": "text", "fc.bias": torch.ones(1)}}, self.folder / "value.pth")
        for name, reason in {
            "text.pth": "not a checkpoint of PyTorch",
            "empty.pth": "not a checkpoint of PyTorch",
            "text.safetensors": "not a safetensors file",
            "none.pth": "the checkpoint holds no state dict",
            "value.pth": "conv_stem.weight: not a tensor but str",
            "absent.pth": "no such file",
        }.items():
            with self.assertRaises(CheckpointError) as raised:
                read_checkpoint(self.folder / name)
            self.assertIn(f"{self.folder / name}: {reason}", str(raised.exception))
            self.assertNotIn("\n", str(raised.exception))


class ClassesTests(Folder):
    def file(self, value, name="classes.json"):
        path = self.folder / name
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        return str(path)

    def test_the_seven_are_known_in_any_order(self):
        for text in (None, ",".join(reversed(CLASSES)), self.file(CLASSES[3:] + CLASSES[:3])):
            entries = choose_classes(text, 7)
            self.assertEqual(set(class_ids(entries)), set(CLASSES))
            by_id = {entry["class"]: entry for entry in entries}
            self.assertEqual(by_id["mel"], {"class": "mel", "name": "Melanoma", "malignancy": "malignant"})
            self.assertEqual(
                {name for name, entry in by_id.items() if entry["malignancy"] != "benign"}, {"mel", "bcc", "akiec"}
            )
            self.assertEqual(by_id["akiec"]["malignancy"], "pre-malignant")
        self.assertEqual(class_ids(choose_classes(",".join(reversed(CLASSES)), None)), CLASSES[::-1])

    def test_other_ids_are_their_own_names_and_have_no_risk(self):
        self.assertEqual(read_classes("benign, malignant"), ["benign", "malignant"])
        self.assertEqual(read_classes(self.file({"classes": ["a", "b"]})), ["a", "b"])
        self.assertEqual(
            read_classes(self.file({"a": "First", "b": "Second"})),
            [{"class": "a", "name": "First"}, {"class": "b", "name": "Second"}],
        )

    def test_names_and_malignancies_are_kept(self):
        entries = [
            {"class": "scc", "name": "Squamous cell carcinoma", "malignancy": "malignant"},
            {"class": "nv", "name": "nv", "malignancy": "benign"},
        ]
        self.assertEqual(read_classes(self.file(entries)), entries)
        self.assertEqual(read_classes(self.file([entries[0], {"class": "nv", "malignancy": "benign"}])), entries)

    def test_each_mistake_is_named(self):
        path = self.file(["a"])
        for value, pattern in {
            '["a"]': "1 classes: must be 2 to 1000",
            json.dumps([f"c{i}" for i in range(1001)]): "1001 classes: must be 2 to 1000",
            '["a", "b", "a"]': "class 'a' occurs 2 times: must be unique",
            '["a", ""]': 'class 2: class "": must be a string that is not empty',
            '["a", 3]': "class 2 3: must be a string or an object",
            '[{"name": "A"}, "b"]': "class 1: the key class is missing",
            '[{"class": "a", "title": "A"}, "b"]': "class 1: key 'title': must be one of class, name, malignancy",
            '[{"class": "a", "malignancy": "bad"}, "b"]': 'class 1: malignancy "bad": must be one of malignant, pre-',
            '[{"class": "a", "malignancy": "benign"}, "b"]': "class 'b' has no malignancy: it stands in all classes",
            '{"a": "A", "a": "B"}': "key 'a' occurs 2 times: must be unique",
            "[": "not JSON",
            "7": "must be a list of classes",
        }.items():
            with self.assertRaises(ClassesError, msg=value) as raised:
                read_classes(self.file(value))
            self.assertIn(f"{path}: {pattern}", str(raised.exception))
        with self.assertRaisesRegex(ClassesError, "no such file"):
            read_classes(str(self.folder / "absent.json"))
        with self.assertRaisesRegex(ClassesError, "--classes a,b: 2 classes: --num-classes is 3"):
            choose_classes("a,b", 3)
        with self.assertRaisesRegex(ClassesError, "--num-classes 8: say which they are by --classes"):
            choose_classes(None, 8)


class CommandTests(Folder):
    """`python -m dermafusion_training export` as people run it."""

    def run_command(self, *arguments):
        """(exit status, standard error); in this process, which has PyTorch loaded. The folder is new each time."""
        shutil.rmtree(self.folder / "model", ignore_errors=True)
        words = [str(word) for word in ("export", "--output", self.folder / "model", *arguments)]
        errors = io.StringIO()
        with unittest.mock.patch("sys.argv", []):
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
                try:
                    main(words)
                    status = 0
                except SystemExit as end:
                    status = end.code if isinstance(end.code, int) else 1
                    errors.write("" if isinstance(end.code, int) else end.code)
        return status, errors.getvalue()

    def checkpoint(self, architecture, classes, fusion=False):
        state = random_state(build_config(architecture, classes, fusion), seed=51)
        path = self.folder / "last.pth.tar"
        torch.save({"state_dict": state, "args": argparse.Namespace(img_size=224), "epoch": 1}, path)
        return path, state

    def test_a_timm_checkpoint_of_eight_classes_becomes_a_folder(self):
        ids = ["mel", "nv", "bcc", "ak", "bkl", "df", "vasc", "scc"]
        for architecture, fusion in (("resnet18", False), ("mobilenetv3_small_100", True)):
            path, state = self.checkpoint(architecture, ids, fusion)
            status, errors = self.run_command(
                "--architecture", architecture, "--checkpoint", path, "--classes", ",".join(ids), "--dtype", "float32"
            )
            self.assertEqual(status, 0, errors)
            self.assertIn(f"last.pth.tar: took state_dict, {len(state)} tensors; ignored: args, epoch", errors)
            self.assertIn("trained with images of 224 pixels; --image-size is 380", errors)
            self.assertIn("gives no risk", errors)
            self.assertIn("Shades of Gray balances the colours of each image", errors)
            config, model = load_folder(self.folder / "model")
            self.assertEqual(config["classes"], ids)
            self.assertEqual((config["padding"], config["batch_norm_epsilon"]), ("symmetric", 1e-5))
            self.assertEqual(config["fusion"] is not None, fusion)
            for name, tensor in state.items():
                self.assertTrue(torch.equal(model.state_dict()[name], tensor), name)

    def test_how_timm_trained_is_told_where_the_options_say_otherwise(self):
        path, state = self.checkpoint("resnet18", ["benign", "malignant"])
        arguments = argparse.Namespace(img_size=None, input_size=[3, 192, 192], mean=[0.5, 0.4, 0.3], std=None)
        torch.save({"state_dict": state, "args": arguments}, path)
        words = ["--architecture", "resnet18", "--checkpoint", path, "--classes", "benign,malignant"]
        status, errors = self.run_command(*words)
        self.assertEqual(status, 0, errors)
        self.assertIn("trained with images of 192 pixels; --image-size is 380", errors)
        self.assertIn("trained with --mean 0.5 0.4 0.3; without the option ImageNet's is taken", errors)
        self.assertNotIn("--std", errors)
        said = ["--image-size", 192, "--mean", 0.5, 0.4, 0.3, "--color-constancy", "none"]
        status, errors = self.run_command(*words, *said)
        self.assertEqual(status, 0, errors)
        for word in ("pixels", "--mean", "Shades"):
            self.assertNotIn(word, errors)
        config = json.loads((self.folder / "model" / "config.json").read_text())
        self.assertEqual(config["preprocessing"]["color_constancy"]["method"], "none")
        self.assertEqual(config["preprocessing"]["mean"], [0.5, 0.4, 0.3])

    def test_digests_are_those_of_the_files(self):
        path, state = self.checkpoint("mobilenetv3_small_100", CLASSES)
        save_file(state, self.folder / "weights.safetensors")
        status, errors = self.run_command(
            "--architecture", "mobilenetv3_small_100", "--checkpoint", self.folder / "weights.safetensors",
            "--num-classes", 7,
        )  # fmt: skip
        self.assertEqual(status, 0, errors)
        lines = [
            f"{hashlib.sha256((self.folder / 'model' / name).read_bytes()).hexdigest()}  {name}\n"
            for name in ("config.json", "model.safetensors")
        ]
        both = b"".join((self.folder / "model" / name).read_bytes() for name in ("config.json", "model.safetensors"))
        lines.insert(0, f"# model: {hashlib.sha256(both).hexdigest()}\n")
        self.assertEqual((self.folder / "model" / "SHA256SUMS").read_text(), "".join(lines))
        stored = load_file(self.folder / "model" / "model.safetensors")
        self.assertEqual({tensor.dtype for tensor in stored.values()}, {torch.float16})
        config = json.loads((self.folder / "model" / "config.json").read_text())
        self.assertEqual(config["classes"][4], {"class": "mel", "name": "Melanoma", "malignancy": "malignant"})

    def test_what_does_not_fit_is_one_line_and_writes_nothing(self):
        path, _ = self.checkpoint("resnet18", ["a", "b", "c"])
        for arguments, message in (
            (["--num-classes", 7], f"{path}: fc has 3 outputs: must be 7, one for each class"),
            (["--num-classes", 3], "--num-classes 3: say which they are by --classes"),
            (["--classes", "a,b,c", "--num-classes", 4], "--classes a,b,c: 3 classes: --num-classes is 4"),
            (["--classes", "a,b,c", "--padding", "same"], "padding 'same': resnet18 has symmetric padding only"),
        ):
            status, errors = self.run_command("--architecture", "resnet18", "--checkpoint", path, *arguments)
            self.assertEqual(status, 1)
            self.assertIn(f"export: {message}", errors.splitlines()[-1])
            self.assertFalse((self.folder / "model").exists())
        status, errors = self.run_command("--architecture", "resnet50", "--checkpoint", path, "--classes", "a,b,c")
        self.assertRegex(errors.splitlines()[-1], f"export: {path}: layer1.0.conv1.weight: shape ")
        status, errors = self.run_command("--architecture", "resnet18", "--checkpoint", path)
        self.assertEqual(status, 1)
        self.assertIn("--num-classes or --classes is needed", errors)

    def test_a_folder_that_holds_a_model_is_refused(self):
        path, _ = self.checkpoint("resnet18", ["a", "b"])
        (self.folder / "other").mkdir()
        (self.folder / "other" / "config.json").write_text("{}")
        status, errors = self.run_command("--checkpoint", path, "--classes", "a,b", "--output", self.folder / "other")
        self.assertEqual(status, 1)
        self.assertIn("other: holds a model already (config.json)", errors)
        self.assertEqual([file.name for file in (self.folder / "other").iterdir()], ["config.json"])

    def test_a_folder_of_timm_gives_architecture_classes_and_transform(self):
        names = ["Nevus", "melanoma", "BKL", "Basal cell carcinoma", "akiec", "Dermatofibroma", "vascular lesion"]
        state = random_state(build_config("mobilenetv3_small_100", CLASSES, False), seed=61)
        hub = self.folder / "hub"
        hub.mkdir()
        settings = {
            "input_size": [3, 192, 192],
            "interpolation": "lanczos",
            "crop_pct": 0.9,
            "mean": [0.5],
            "std": 0.25,
        }
        config = {"architecture": "mobilenetv3_small_100", "num_classes": 7, "label_names": names}
        (hub / "config.json").write_text(json.dumps(config | {"pretrained_cfg": settings}))
        keys = sorted(state)
        shards = {"model-00001-of-00002.safetensors": keys[:40], "model-00002-of-00002.safetensors": keys[40:]}
        for shard, part in shards.items():
            save_file({key: state[key] for key in part}, hub / shard)
        index = {key: shard for shard, part in shards.items() for key in part}
        (hub / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": index}))
        for path in (hub, hub / "model.safetensors.index.json"):
            status, errors = self.run_command("--checkpoint", path, "--dtype", "float32")
            self.assertEqual(status, 0, errors)
            self.assertIn("center crop with crop_pct 0.9, lanczos to 192 pixels, mean 0.5 0.5 0.5", errors)
            config, model = load_folder(self.folder / "model")
            self.assertEqual([entry["class"] for entry in config["classes"]], "nv mel bkl bcc akiec df vasc".split())
            found = config["preprocessing"]
            self.assertEqual((found["crop_mode"], found["crop_pct"], found["size"]), ("center", 0.9, 192))
            self.assertEqual((found["std"], found["color_constancy"]["method"]), ([0.25] * 3, "none"))
            self.assertEqual(model.state_dict().keys() - state.keys() - counters(model), set())
        status, errors = self.run_command(
            "--checkpoint", hub, "--classes", "a,b,c,d,e,f,g", "--interpolation", "bilinear"
        )
        self.assertEqual(status, 0, errors)
        config = json.loads((self.folder / "model" / "config.json").read_text())
        self.assertEqual(config["preprocessing"]["interpolation"], "bilinear")

    def test_the_transform_is_taken_from_arguments_that_tell_it(self):
        path, state = self.checkpoint("resnet18", ["a", "b"])
        told = argparse.Namespace(model="resnet18", interpolation="bicubic", crop_pct=0.95, input_size=(3, 160, 160))
        torch.save({"state_dict": state, "args": told}, path)
        status, errors = self.run_command("--checkpoint", path, "--classes", "a,b")
        self.assertEqual(status, 0, errors)
        found = json.loads((self.folder / "model" / "config.json").read_text())["preprocessing"]
        self.assertEqual((found["size"], found["crop_pct"], found["interpolation"]), (160, 0.95, "bicubic"))
        self.assertNotIn("note: the checkpoint was trained with images", errors)


def counters(model):
    return {name for name in model.state_dict() if name.endswith(".num_batches_tracked")}


if __name__ == "__main__":
    unittest.main()
