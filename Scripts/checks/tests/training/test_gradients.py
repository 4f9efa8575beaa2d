"""The faster gradients of training against PyTorch's own."""

import shutil
import tempfile
import unittest

import torch

from dermafusion_training.model.timms import SameConv2d
from dermafusion_training.training.fast_gradients import Pointwise, compiled_library, make_gradients_fast

SEED = 41


def gradients(convolution, x, gradient):
    """(result, gradients of the argument, the weights) of a convolution."""
    weight = convolution.weight.detach().requires_grad_()
    x = x.detach().requires_grad_()
    result = convolution._conv_forward(x, weight, None)
    return result.detach(), *torch.autograd.grad(result, (x, weight), gradient)


class FastGradientTests(unittest.TestCase):
    def assert_near(self, found, expected, tolerance, what):
        scale = float(expected.abs().max())
        error = float((found - expected).abs().max())
        self.assertEqual(found.shape, expected.shape, what)
        self.assertLess(error, tolerance * scale, f"{what}, seed {SEED}: {error} of {scale}")

    @unittest.skipIf(shutil.which("c++") is None, "no C++ compiler")
    def test_depthwise_convolutions_have_the_gradients_of_pytorch(self):
        generator = torch.Generator().manual_seed(SEED)
        with tempfile.TemporaryDirectory() as folder:
            self.assertIsNotNone(compiled_library(folder))
            for size, stride, side in [(5, 1, 1), (5, 1, 9), (5, 2, 10), (5, 2, 7), (3, 2, 8), (3, 2, 11)]:
                convolution = SameConv2d(32, 32, size, stride, groups=32, bias=False)
                x = torch.randn(3, 32, side, side + 2, generator=generator)
                x = x.contiguous(memory_format=torch.channels_last)
                gradient = torch.randn(convolution(x).shape, generator=generator)
                expected = gradients(convolution, x, gradient)
                make_gradients_fast(convolution, folder, bfloat16=False)
                self.assertIn("_conv_forward", vars(convolution))
                for name, found, wanted in zip(
                    ("result", "input", "weights"), gradients(convolution, x, gradient), expected
                ):
                    self.assert_near(found, wanted, 1e-5, f"{name} of {size}x{size}, stride {stride}, side {side}")

    def test_pointwise_products_in_bfloat16_are_near_those_in_float32(self):
        generator = torch.Generator().manual_seed(SEED)
        x = torch.randn(2, 24, 5, 7, generator=generator).requires_grad_()
        weight = torch.randn(40, 24, 1, 1, generator=generator).requires_grad_()
        bias = torch.randn(40, generator=generator).requires_grad_()
        gradient = torch.randn(2, 40, 5, 7, generator=generator)
        expected = torch.nn.functional.conv2d(x, weight, bias)
        found = Pointwise.apply(x, weight, bias)
        self.assert_near(found.detach(), expected.detach(), 0.02, "result")
        pairs = zip(
            torch.autograd.grad(found, (x, weight, bias), gradient),
            torch.autograd.grad(expected, (x, weight, bias), gradient),
        )
        for name, (own, wanted) in zip(("input", "weights", "bias"), pairs):
            self.assert_near(own, wanted, 0.02, name)
