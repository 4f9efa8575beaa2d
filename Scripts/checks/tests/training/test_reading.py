"""Checkpoints as others save them: what is taken, what is ignored, what is refused and why."""

import argparse
import unittest
import zipfile
from pathlib import Path

import torch
from test_checkpoints import Folder

from dermafusion_training.model.checkpoint import read_checkpoint
from dermafusion_training.model.folder import CheckpointError


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

    def test_an_average_is_found_where_people_keep_it(self):
        counted = {"module": self.average, "updates": 9}
        for name, value, taken in (
            ("ema.module", {"model": self.weights, "ema": counted}, self.average),
            ("ema.shadow", {"model": self.weights, "ema": {"decay": 0.99, "shadow": self.average}}, self.average),
            (
                "ema_model.state_dict",
                {"state_dict": self.weights, "ema_model": {"state_dict": self.average}},
                self.average,
            ),
            ("averaged_model", {"state_dict": self.weights, "averaged_model": self.average}, self.average),
            (
                "callbacks.EMACallback.ema_state_dict",
                {"state_dict": self.weights, "callbacks": {"EMACallback": {"ema_state_dict": self.average}}},
                self.average,
            ),
            ("model", {"model": self.weights, "ema": None}, self.weights),
            ("model", {"model": self.weights, "ema": {}, "ema_decay": 0.99}, self.weights),
            ("model", {"model": self.weights, "ema1": self.average, "ema2": self.average}, self.weights),
        ):
            checkpoint = self.read(value)
            self.holds(checkpoint, taken)
            self.assertIn(f"took {name}, ", checkpoint.description())
        with self.assertRaisesRegex(
            CheckpointError, r"holds 2 averages of the weights \(ema1, ema2\); choose one by --take"
        ):
            self.read({"ema1": self.average, "ema2": self.average})

    def test_half_an_average_is_refused_and_the_whole_weights_can_be_taken(self):
        half = {"module.conv_stem.weight": self.average["conv_stem.weight"]}
        value = {
            "state_dict": {f"module.{name}": tensor for name, tensor in self.weights.items()},
            "state_dict_ema": half,
        }
        message = r"state_dict_ema lacks 1 of the tensors of state_dict \(classifier.bias\); .* --take state_dict"
        with self.assertRaisesRegex(CheckpointError, message):
            self.read(value)
        checkpoint = read_checkpoint(self.folder / "checkpoint.pth", "state_dict")
        self.holds(checkpoint, self.weights)
        beside = {f"net.{name}": tensor for name, tensor in self.weights.items()}
        beside |= {f"other.{name}": tensor for name, tensor in self.average.items()}
        torch.save({"state_dict": beside}, self.folder / "two.pth")
        self.holds(read_checkpoint(self.folder / "two.pth", "other."), self.average)
        with self.assertRaisesRegex(CheckpointError, "--take nothing: no such key and no such prefix"):
            read_checkpoint(self.folder / "two.pth", "nothing")

    def test_a_head_of_several_labels_is_known_by_any_of_its_words(self):
        for arguments in ({"task": "multilabel"}, {"multi_label": True}, {"loss": "zlpr"}, {"activation": "sigmoid"}):
            for kept in (argparse.Namespace(**arguments), arguments):
                self.assertTrue(self.read({"state_dict": self.weights, "args": kept}).is_multi_label)
        lightning = {"state_dict": self.weights, "hyper_parameters": {"task": "multi-label"}}
        self.assertTrue(self.read(lightning).is_multi_label)
        with self.assertRaisesRegex(CheckpointError, "args.problem_type is regression: the outputs are measurements"):
            self.read({"state_dict": self.weights, "args": {"problem_type": "regression"}})
        for arguments in ({"bce_loss": True}, {"multi_label": False}, {"task": "multiclass"}, {"loss": "bce"}):
            checkpoint = self.read({"state_dict": self.weights, "args": argparse.Namespace(**arguments)})
            self.holds(checkpoint, self.weights)
            self.assertFalse(checkpoint.is_multi_label)

    def test_other_files_say_the_way_out(self):
        with zipfile.ZipFile(self.folder / "model.zip", "w") as archive:
            archive.writestr("net/config.json", "{}")
        with zipfile.ZipFile(self.folder / "script.pt", "w") as archive:
            archive.writestr("net/data.pkl", b"")
            archive.writestr("net/constants.pkl", b"")
        (self.folder / "net.onnx").write_bytes(b"\x08\x09")
        (self.folder / "pointer.safetensors").write_text("version https://git-lfs.github.com/spec/v1\n")
        (self.folder / "a.tar.gz").write_bytes(b"\x1f\x8b\x08")
        for name, words in {
            "model.zip": "a ZIP archive: unzip it",
            "script.pt": "a TorchScript program, whose code is not run; save the weights alone",
            "net.onnx": "an ONNX model; export the PyTorch checkpoint",
            "pointer.safetensors": "run git lfs pull",
            "a.tar.gz": "an archive: unpack it",
        }.items():
            with self.assertRaises(CheckpointError) as raised:
                read_checkpoint(self.folder / name)
            self.assertIn(words, str(raised.exception))

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


if __name__ == "__main__":
    unittest.main()
