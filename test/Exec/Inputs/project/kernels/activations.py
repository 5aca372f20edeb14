import os

import torch
import triton
import triton.language as tl

try:
    from triton.language.extra.libdevice import rsqrt
except ImportError:
    from triton.language.math import rsqrt

from . import constants
from .constants import *

SCALE = tl.constexpr(2)


class Host(torch.nn.Module):
    def forward(self, x):
        return {name: [y for y in x] for name in os.environ}


@triton.jit
def broken(x):
    # Not in the language, but not used either.
    with tl.async_task():
        return x


@triton.jit
def relu(x, floor=FLOOR):
    return tl.maximum(x, floor) * constants.FACTOR * rsqrt(4.0)
