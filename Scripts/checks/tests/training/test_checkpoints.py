"""The classes that a model is exported with, and the command that exports a checkpoint."""

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
from dermafusion_training.model.classes import ClassesError, choose_classes, read_classes
from dermafusion_training.model.config import CLASSES, class_ids
from dermafusion_training.model.folder import load_folder


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)


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
            '["other"]': "'other' is the other class: name the one",
            "[]": "0 classes: must be 2 to 1000",
            json.dumps([f"c{i}" for i in range(1001)]): "1001 classes: must be 2 to 1000",
            '["a", "b", "a"]': "class 'a' occurs 2 times: must be unique",
            '["a", ""]': 'class 2: class "": must be a string that is not empty',
            '["a", "b\\nc"]': 'class 2: class "b\\nc": must have no control characters',
            '["a", "\\u202eb"]': 'class 2: class "\\u202eb": must have no control characters',
            '[{"class": "a", "name": "A\\u0007"}, "b"]': 'class 1: name "A\\u0007": must have no control',
            json.dumps(["a", "b" * 201]): f'class 2: class "{"b" * 201}": must have at most 200 characters',
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
        self.assertIn("transform: the centre square, bilinear to 380 pixels, mean 0.485 0.456 0.406", errors)
        self.assertIn("colours balanced by Shades of Gray", errors)
        self.assertIn("trained with images of 192 pixels; --image-size is 380", errors)
        self.assertIn("trained with --mean 0.5 0.4 0.3; without the option ImageNet's is taken", errors)
        self.assertNotIn("--std", errors)
        said = ["--image-size", 192, "--mean", 0.5, 0.4, 0.3, "--color-constancy", "none"]
        status, errors = self.run_command(*words, *said)
        self.assertEqual(status, 0, errors)
        for word in ("images of", "--mean", "Shades"):
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
        self.assertIn("the last layer has 3 outputs: say which they are by --classes", errors)

    def test_the_last_layer_tells_the_number_of_classes(self):
        path, state = self.checkpoint("resnet18", CLASSES)
        torch.save(state, path)
        status, errors = self.run_command("--checkpoint", path, "--image-size", 64)
        self.assertEqual(status, 0, errors)
        self.assertIn("note: the outputs are taken as akiec, bcc, bkl, df, mel, nv, vasc, in this order", errors)
        config = json.loads((self.folder / "model" / "config.json").read_text())
        self.assertEqual(class_ids(config["classes"]), CLASSES)

    def test_a_name_that_no_model_may_have_is_wrong_usage(self):
        path, state = self.checkpoint("resnet18", CLASSES)
        torch.save(state, path)
        for option, value in (("--name", "a\nb"), ("--version", "")):
            status, errors = self.run_command("--architecture", "resnet18", "--checkpoint", path, option, value)
            self.assertEqual(status, 2, option)
            self.assertIn(f"argument {option}: {json.dumps(value)}: must ", errors)

    def test_networks_that_cannot_be_run_are_refused_by_what_they_are(self):
        path, state = self.checkpoint("resnet18", CLASSES)
        grey = state | {"conv1.weight": state["conv1.weight"].sum(1, keepdim=True)}
        one = state | {"fc.weight": state["fc.weight"][:1], "fc.bias": state["fc.bias"][:1]}
        for value, arguments, words in (
            (grey, [], "conv1.weight is of a network for images of 1 channel, and photographs have 3"),
            (one, [], "1 output: name the class that its sigmoid is the probability of by --classes"),
            (state, ["--classes", "mel"], "fc has 7 outputs: must be 2"),
            ({"arch": "resnest50d", "state_dict": state}, [], "'resnest50d': not one of the "),
            ({"arch": "resnet34", "state_dict": state}, [], "layer1.2.conv1.weight: missing from the checkpoint"),
            (state, ["--architecture", "resnet19"], "the nearest are resnet18, "),
        ):
            torch.save(value, path)
            status, errors = self.run_command("--checkpoint", path, *arguments)
            self.assertEqual(status, 1)
            self.assertIn(words, errors.splitlines()[-1])
            self.assertFalse((self.folder / "model").exists())

    def test_one_output_becomes_the_named_class_and_another(self):
        path, state = self.checkpoint("resnet18", CLASSES)
        one = state | {"fc.weight": state["fc.weight"][:1], "fc.bias": state["fc.bias"][:1]}
        torch.save({"state_dict": one, "args": argparse.Namespace(activation="sigmoid", num_classes=1)}, path)
        status, errors = self.run_command("--checkpoint", path, "--classes", "melanoma", "--num-classes", 1)
        self.assertEqual(status, 0, errors)
        self.assertIn("note: one output: its sigmoid is the probability of melanoma", errors)
        config, model = load_folder(self.folder / "model")
        named = {"class": "melanoma", "name": "Melanoma", "malignancy": "malignant"}
        self.assertEqual(config["classes"], [named, {"class": "other", "name": "other", "malignancy": "benign"}])
        self.assertNotIn("task", config)
        layer = model.get_submodule("fc")
        self.assertTrue(torch.equal(layer.weight[0], one["fc.weight"][0].half().float()))
        self.assertFalse(layer.weight[1].any() or layer.bias[1].any())
        nevus = {"class": "nevus", "name": "Melanocytic nevi"}
        self.assertEqual(read_classes("nevus"), [nevus, {"class": "other", "name": "other"}])

    def test_the_cache_of_the_hub_gives_its_only_snapshot_and_descriptions(self):
        state = random_state(build_config("resnet18", ["a", "b"], False), seed=63)
        cache = self.folder / "models--me--net"
        snapshot = cache / "snapshots" / "abc"
        snapshot.mkdir(parents=True)
        torch.save({f"timm_model.{name}": tensor for name, tensor in state.items()}, snapshot / "pytorch_model.bin")
        config = {"architecture": "resnet18", "num_classes": 2, "label_names": ["n1", "n2"]}
        config |= {"label_descriptions": {"n1": "Melanoma"}, "pretrained_cfg": {"input_size": [3, 64, 64]}}
        (snapshot / "config.json").write_text(json.dumps(config))
        status, errors = self.run_command("--checkpoint", cache)
        self.assertEqual(status, 0, errors)
        found = json.loads((self.folder / "model" / "config.json").read_text())["classes"]
        self.assertEqual(found, [{"class": "n1", "name": "Melanoma"}, {"class": "n2", "name": "n2"}])
        (snapshot / "config.json").write_text(json.dumps(config | {"problem_type": "multi_label_classification"}))
        status, errors = self.run_command("--checkpoint", cache)
        self.assertIn("note: a multi-label head: each class has a probability of its own", errors)
        self.assertEqual(json.loads((self.folder / "model" / "config.json").read_text())["task"], "multilabel")
        (cache / "snapshots" / "def").mkdir()
        status, errors = self.run_command("--checkpoint", cache)
        self.assertIn("2 snapshots in this folder of the Hub's cache; give one: ", errors)

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

    def test_a_configuration_of_timm_that_the_program_refuses_is_refused(self):
        path, _ = self.checkpoint("resnet18", ["a", "b"])
        config = {"architecture": "resnet18", "num_classes": 2, "label_names": ["a", "b"]}
        for key, value, rule in (
            ("mean", [], "mean []: must be a number for each of three channels"),
            ("std", [], "std []: must be a number for each of three channels"),
            ("std", 0, "std 0: must be a number from 1e-06 to 1e+06"),
            ("mean", [True] * 3, "mean True: must be a number"),
            ("crop_pct", "0.9", "crop_pct '0.9': must be a number from 0.1 to 1"),
            ("crop_pct", 0, "crop_pct 0: must be a number from 0.1 to 1"),
            ("crop_mode", "", "crop_mode '': must be one of center"),
            ("interpolation", "", "interpolation '': must be one of bilinear"),
            ("input_size", [], "input_size []: must be [3, S, S]"),
            ("input_size", [3, 16, 16], "with S from 32 to 2048"),
        ):
            (self.folder / "config.json").write_text(json.dumps(config | {"pretrained_cfg": {key: value}}))
            status, errors = self.run_command("--checkpoint", path)
            self.assertEqual(status, 1, (key, value))
            self.assertIn(rule, errors)
        for key, value in (("label_names", "ab"), ("model_args", 5), ("pretrained_cfg", []), ("architecture", 5)):
            (self.folder / "config.json").write_text(json.dumps(config | {"pretrained_cfg": {}} | {key: value}))
            status, errors = self.run_command("--checkpoint", path)
            self.assertEqual(status, 1, (key, value))
            self.assertIn(f"config.json: {key} {value!r}: must be ", errors)

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
