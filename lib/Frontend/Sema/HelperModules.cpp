// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules of helpers that generated kernels import and that no project brings along: their functions in our own words,
// in the language itself, read like any imported file.
//
// torch._inductor.runtime.triton_helpers: what PyTorch's compiler puts beside the kernels that it writes. NaN wins in
// minimum and maximum; of equal values the one with the smaller index counts.

#include "Frontend/Sema/HelperModules.h"

namespace tile::frontend {

static constexpr std::string_view inductorHelpers = R"(
import triton
import triton.language as tl
from triton.language import math
from triton.language.extra import libdevice

@triton.jit
def minimum(a, b):
    first = a < b
    if a.dtype.is_floating():
        first |= a != a
    return tl.where(first, a, b)

@triton.jit
def maximum(a, b):
    first = a > b
    if a.dtype.is_floating():
        first |= a != a
    return tl.where(first, a, b)

@triton.jit
def min2(a, dim):
    return tl.reduce(a, dim, minimum)

@triton.jit
def max2(a, dim):
    return tl.reduce(a, dim, maximum)

@triton.jit
def _either(a, b):
    return a | b

@triton.jit
def any(a, dim):
    return tl.reduce(a, dim, _either)

@triton.jit
def _product(a, b):
    return a * b

@triton.jit
def prod(input, axis):
    return tl.reduce(input, axis, _product)

@triton.jit
def _choose_with_index(wins, a_value, a_index, b_value, b_index):
    equal = a_value == b_value
    if a_value.dtype.is_floating():
        a_nan = a_value != a_value
        b_nan = b_value != b_value
        wins |= a_nan & (b_value == b_value)
        equal |= a_nan & b_nan
        wins = tl.where(b_nan & (a_value == a_value), False, wins)
    wins |= equal & (a_index < b_index)
    return tl.where(wins, a_value, b_value), tl.where(wins, a_index, b_index)

@triton.jit
def minimum_with_index(a_value, a_index, b_value, b_index):
    return _choose_with_index(a_value < b_value, a_value, a_index, b_value, b_index)

@triton.jit
def maximum_with_index(a_value, a_index, b_value, b_index):
    return _choose_with_index(a_value > b_value, a_value, a_index, b_value, b_index)

@triton.jit
def min_with_index(value, index, dim):
    return tl.reduce((value, index), dim, minimum_with_index)

@triton.jit
def max_with_index(value, index, dim):
    return tl.reduce((value, index), dim, maximum_with_index)

@triton.jit
def promote_to_tensor(x):
    return x + tl.zeros((1,), tl.int1)

@triton.jit
def is_floating(x):
    return promote_to_tensor(x).dtype.is_floating()

@triton.jit
def div_floor_integer(a, b):
    quotient = a // b
    differ = (a < 0) != (b < 0)
    return tl.where(differ & (a % b != 0), quotient - 1, quotient)

@triton.jit
def remainder_integer(a, b):
    rest = a % b
    return tl.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)

@triton.jit
def welford_reduce(value, mean, m2, weight, first_iteration):
    if first_iteration:
        new_weight = tl.full(weight.shape, 1, weight.dtype)
        new_mean = value
        new_m2 = tl.zeros_like(m2)
    else:
        delta = value - mean
        new_weight = weight + 1
        new_mean = mean + delta / new_weight
        new_m2 = m2 + delta * (value - new_mean)
    return new_mean, new_m2, new_weight

@triton.jit
def welford_combine(mean_1, m2_1, weight_1, mean_2, m2_2, weight_2):
    delta = mean_2 - mean_1
    weight = weight_1 + weight_2
    part = tl.where(weight == 0.0, 0.0, weight_2 / weight)
    return mean_1 + delta * part, m2_1 + m2_2 + delta * delta * weight_1 * part, weight

@triton.jit
def welford(mean, m2, weight, dim):
    return tl.reduce((mean, m2, weight), dim, welford_combine)

@triton.jit
def exp(x, use_fast_math: tl.constexpr):
    if use_fast_math:
        return math.exp(x)
    else:
        return libdevice.exp(x)

@triton.jit
def online_softmax_combine(lhs_max, lhs_sum, rhs_max, use_fast_math: tl.constexpr):
    out_max = maximum(lhs_max, rhs_max)
    lhs_scale = tl.where(out_max == float("-inf"), 1.0, exp(lhs_max - out_max, use_fast_math))
    rhs_scale = tl.where(out_max == float("-inf"), 1.0, exp(rhs_max - out_max, use_fast_math))
    return out_max, lhs_sum * lhs_scale + rhs_scale

@triton.jit
def online_softmax_reduce(lhs_max, lhs_sum, dim, use_fast_math: tl.constexpr):
    out_max = max2(lhs_max, dim)
    whole = out_max[:, None]
    scale = tl.where(whole == float("-inf"), 0.0, exp(lhs_max - whole, use_fast_math))
    return out_max, tl.sum(lhs_sum * scale, dim)

@triton.jit
def select_one(x, mask, dim, keep_dims=False):
    bits = tl.core.get_int_dtype(x.dtype.primitive_bitwidth, False)
    chosen = tl.sum(x.to(bits, bitcast=True) * mask.to(bits), dim, keep_dims)
    return chosen.to(bits).to(x.dtype, bitcast=True)

@triton.jit
def if_mask(mask, val):
    return mask if val else True

@triton.jit
def device_assert_then(cond, msg, r):
    tl.device_assert(cond, msg)
    return r

@triton.jit
def randint64(seed, offset, low, high):
    low_bits, high_bits, _, _ = tl.randint4x(seed, offset)
    bits = low_bits.to(tl.uint32, bitcast=True).to(tl.uint64) | (high_bits.to(tl.uint32, bitcast=True).to(tl.uint64) << 32)
    size = tl.to_tensor(high - low).to(tl.uint64)
    return (bits % size).to(tl.int64) + low

@triton.constexpr_function
def constexpr_next_power_of_2(n):
    return triton.next_power_of_2(n)
)";

std::string_view helperModule(std::string_view path) {
  if (path == "torch._inductor.runtime.triton_helpers" || path == "torch._inductor.triton_helpers")
    return inductorHelpers;
  return {};
}

} // namespace tile::frontend
