"""1x1 convolutions in bfloat16: the definition that the Swift engine reproduces to the bit, on a CPU that has them."""

import numpy as np

SMALLEST = np.float32(2**-126)


def rounded(values):
    """The nearest bfloat16 of float32 values, as float32: halves to the even one, 0 for what is too small for a normal
    number."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    nearest = (bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))) & np.uint32(0xFFFF0000)
    return np.where(np.abs(values) < SMALLEST, np.copysign(np.float32(0), values), nearest.view(np.float32))


def pointwise(values, weight, bias):
    """float32 [N, outputs] of float32 values [N, depth], weight [outputs, depth] and bias [outputs].

    Products are exact in float32. Of two neighbours of the depth, 2i and 2i + 1, the second's product is added first,
    and every sum is rounded.
    """
    values, weight = rounded(values), rounded(weight)
    sums = np.tile(bias.astype(np.float32), (len(values), 1))
    for first in range(0, values.shape[1], 2):
        for k in (first + 1, first):
            if k < values.shape[1]:
                sums += values[:, k, None] * weight[:, k]
    return sums
