"""Convolutions whose gradients are computed faster than PyTorch computes them on a CPU.

Depthwise convolutions of 5x5, and those of stride 2, by gradients.cpp, which is compiled when it is first needed. 1x1
convolutions, where bfloat16 is asked for, as products of bfloat16 values with float32 sums; maps stay float32.
"""

import ctypes
import hashlib
import subprocess
import sys
from functools import partial
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

from dermafusion_training.model.timms import SameConv2d

SOURCE = Path(__file__).with_name("gradients.cpp")
FLAGS = ["-O3", "-march=native", "-ffast-math", "-fopenmp", "-shared", "-fPIC"]


def compiled_library(folder):
    """The library of gradients.cpp for this processor, compiled into `folder` unless it is there; None without a
    compiler."""
    try:
        # Which processor `native` is stands in the commands that the compiler would run.
        target = subprocess.run(["c++", *FLAGS, "-###", "-E", "-x", "c++", "-"], check=True, capture_output=True).stderr
        path = Path(folder) / f"gradients-{hashlib.sha256(SOURCE.read_bytes() + target).hexdigest()[:12]}.so"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["c++", *FLAGS, SOURCE, "-o", path], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"note: training goes on with PyTorch's own gradients, {SOURCE.name}: {error}", file=sys.stderr)
        return None
    library = ctypes.CDLL(str(path))
    library.depthwise_gradients.argtypes = [ctypes.c_void_p] * 5 + [ctypes.c_long] * 9
    library.depthwise_gradients.restype = None
    return library


class Depthwise(torch.autograd.Function):
    """A depthwise convolution of float32 [N, C, H, W], channels last, C a multiple of 16."""

    @staticmethod
    def forward(context, x, weight, bias, stride, padding, library):
        x = x.contiguous(memory_format=torch.channels_last)
        context.save_for_backward(x, weight)
        context.stride, context.padding, context.library = stride, padding, library
        return F.conv2d(x, weight, bias, stride, padding, 1, weight.shape[0])

    @staticmethod
    def backward(context, gradient):
        x, weight = context.saved_tensors
        gradient = gradient.contiguous(memory_format=torch.channels_last)
        weights = weight.detach().contiguous()
        weights_gradient = torch.empty_like(weights)
        if context.stride == 1:
            # A convolution with the taps turned round, which PyTorch computes fast.
            padding = weight.shape[2] - 1 - context.padding
            input_gradient = F.conv2d(gradient, weights.flip(2, 3), padding=padding, groups=weight.shape[0])
            written = None
        else:
            input_gradient = torch.empty_like(x)
            written = input_gradient.data_ptr()
        context.library.depthwise_gradients(
            *(t.data_ptr() for t in (x, gradient, weights)),
            written,
            weights_gradient.data_ptr(),
            *(x.shape[0], x.shape[2], x.shape[3], x.shape[1], gradient.shape[2], gradient.shape[3]),
            *(weight.shape[2], context.stride, context.padding),
        )
        bias_gradient = gradient.sum((0, 2, 3)) if context.needs_input_grad[2] else None
        return input_gradient, weights_gradient, bias_gradient, None, None, None


class Pointwise(torch.autograd.Function):
    """A 1x1 convolution of float32 [N, C, H, W], multiplied in bfloat16."""

    @staticmethod
    def forward(context, x, weight, bias):
        images, inputs, height, width = x.shape
        pixels = x.permute(0, 2, 3, 1).reshape(-1, inputs).bfloat16()
        matrix = weight.flatten(1).bfloat16()
        context.save_for_backward(pixels, matrix)
        context.shape = x.shape
        result = torch.empty((images, len(weight), height, width), memory_format=torch.channels_last)
        product = torch.mm(pixels, matrix.t())
        rows = result.permute(0, 2, 3, 1).view(-1, len(weight))
        if bias is None:
            rows.copy_(product)
        else:
            torch.add(product, bias, out=rows)
        return result

    @staticmethod
    def backward(context, gradient):
        pixels, matrix = context.saved_tensors
        images, inputs, height, width = context.shape
        rows = gradient.permute(0, 2, 3, 1).reshape(-1, len(matrix))
        rounded = rows.bfloat16()
        input_gradient = None
        if context.needs_input_grad[0]:
            product = torch.mm(rounded, matrix).float()
            input_gradient = product.view(images, height, width, inputs).permute(0, 3, 1, 2)
        weight_gradient = torch.mm(rounded.t(), pixels).float().view(len(matrix), inputs, 1, 1)
        return input_gradient, weight_gradient, rows.sum(0) if context.needs_input_grad[2] else None


def depthwise_forward(convolution, library, x, weight, bias):
    x, padding = convolution.padded(x) if isinstance(convolution, SameConv2d) else (x, convolution.padding)
    return Depthwise.apply(x, weight, bias, convolution.stride[0], padding[0], library)


def pointwise_forward(x, weight, bias):
    return Pointwise.apply(x, weight, bias)


def make_gradients_fast(model, folder, bfloat16):
    """Replaces the gradients of a network on the CPU; its tensors keep their names. `folder` takes the library."""
    library = compiled_library(folder)
    for convolution in model.modules():
        if not isinstance(convolution, nn.Conv2d):
            continue
        is_depthwise = convolution.groups == convolution.in_channels == convolution.out_channels > 1
        size, stride = convolution.kernel_size[0], convolution.stride[0]
        if bfloat16 and size == 1 and stride == 1 and convolution.groups == 1:
            convolution._conv_forward = pointwise_forward
        elif (
            library is not None
            and is_depthwise
            and convolution.in_channels % 16 == 0
            and (size, stride) in ((5, 1), (5, 2), (3, 2))
        ):
            convolution._conv_forward = partial(depthwise_forward, convolution, library)
