// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Helper modules that generated kernels import but that projects do not contain. Their functions are implemented here
// in the tile language, and are parsed like any imported file.
//
// torch._inductor.runtime.triton_helpers: helpers of the kernels that PyTorch's compiler generates. NaN wins in minimum
// and maximum; between equal values the smaller index wins.

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
    remaining = a % b
    return tl.where((remaining != 0) & ((remaining < 0) != (b < 0)), remaining + b, remaining)

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

@triton.jit
def frexp(x):
    exponent = tl.where(x == 0, 0, libdevice.ilogb(x) + 1)
    return libdevice.ldexp(x, -exponent), exponent

# Returns the number of sorted boundaries below each value, or not above it, by binary search.
@triton.jit
def bucketize_binary_search(values, boundaries_ptr, BOUNDARIES_SIZE, BOUNDARIES_UNDERLYING_NUMEL, BOUNDARIES_STRIDE,
                            boundary_indices, indexing_dtype, right, sorter_ptr, SORTER_STRIDE, sorter_indices):
    low = tl.zeros(values.shape, indexing_dtype)
    high = tl.full(values.shape, BOUNDARIES_SIZE, indexing_dtype)
    left_over = tl.to_tensor(BOUNDARIES_SIZE)
    while left_over > 0:
        middle = (low + high) // 2
        is_open = low < high
        place = middle
        if sorter_ptr is not None:
            place = tl.load(sorter_ptr + sorter_indices + middle * SORTER_STRIDE, is_open, 0)
        address = boundaries_ptr + (place * BOUNDARIES_STRIDE + boundary_indices)
        boundary = tl.load(address, is_open, 0)
        is_above = (values >= boundary) if right else (values > boundary)
        low = tl.where(is_open & is_above, middle + 1, low)
        high = tl.where(is_open & is_above, high, middle)
        left_over = left_over // 2
    return low

# Synchronizes all programs along the first dimension of the grid. Together they add 2^31, so the topmost bit flips when
# the last one arrives, and the semaphore can be reused.
@triton.jit
def x_grid_barrier(sem):
    tl.debug_barrier()
    topmost = tl.full([], 2**31, tl.uint32)
    others = (tl.num_programs(0) - 1).to(tl.uint32)
    mine = tl.where(tl.program_id(0) == 0, topmost - others, 1).to(tl.uint32)
    before = tl.atomic_add(sem, mine, sem="release")
    now = before
    while ((before ^ now) & topmost) == 0:
        now = tl.atomic_add(sem, tl.full([], 0, tl.uint32), sem="acquire")
    tl.debug_barrier()

# One step of the scans below: prepends a block's value to the prefix, and returns the next index.
@triton.jit
def _look_back(prefix, is_empty, value, flag, place, combine_fn):
    if is_empty:
        prefix = value
    else:
        prefix = combine_fn(value, prefix)
    return prefix, tl.where(flag == 2, -1, place - 1)

# Returns the combination of all earlier programs. A program first publishes the value of its block with flag 1, and
# then the inclusive prefix with flag 2, at which the look-back of later programs ends. Value and flag are halves of one
# word, which is written atomically.
@triton.jit
def exclusive_scan_decoupled_lookback(scratch_base, block_value, index, combine_fn, DTYPE_VALUE_AS_UINT: tl.constexpr,
                                      DTYPE_PACK: tl.constexpr):
    half: tl.constexpr = DTYPE_PACK.primitive_bitwidth // 2
    own = block_value.to(DTYPE_VALUE_AS_UINT, bitcast=True).to(DTYPE_PACK)
    if index > 0:
        tl.atomic_xchg(scratch_base + index, own | (tl.full([], 1, DTYPE_PACK) << half), sem="relaxed")
    prefix = block_value
    is_empty = True
    place = index - 1
    while place >= 0:
        word = tl.atomic_add(scratch_base + place, tl.full([], 0, DTYPE_PACK), sem="relaxed")
        flag = word >> half
        if flag > 0:
            value = word.to(DTYPE_VALUE_AS_UINT).to(block_value.dtype, bitcast=True)
            prefix, place = _look_back(prefix, is_empty, value, flag, place, combine_fn)
            is_empty = False
    inclusive = block_value
    if index > 0:
        inclusive = combine_fn(prefix, block_value)
    whole = inclusive.to(DTYPE_VALUE_AS_UINT, bitcast=True).to(DTYPE_PACK)
    tl.atomic_xchg(scratch_base + index, whole | (tl.full([], 2, DTYPE_PACK) << half), sem="relaxed")
    return prefix

# The same for 64-bit values: three words per program, the flag and the values of its two states.
@triton.jit
def exclusive_scan_decoupled_lookback_64(scratch_base, block_value, index, combine_fn):
    words = scratch_base + 3 * index
    if index > 0:
        tl.store(words + 1, block_value.to(tl.uint64, bitcast=True))
        tl.debug_barrier()
        tl.atomic_xchg(words, tl.full([], 1, tl.uint64), sem="release")
    prefix = block_value
    is_empty = True
    place = index - 1
    while place >= 0:
        flag = tl.atomic_add(scratch_base + 3 * place, tl.full([], 0, tl.uint64), sem="acquire")
        if flag > 0:
            value = tl.load(scratch_base + (3 * place + flag.to(tl.int32)), volatile=True).to(block_value.dtype, bitcast=True)
            prefix, place = _look_back(prefix, is_empty, value, flag, place, combine_fn)
            is_empty = False
    inclusive = block_value
    if index > 0:
        inclusive = combine_fn(prefix, block_value)
    tl.store(words + 2, inclusive.to(tl.uint64, bitcast=True))
    tl.debug_barrier()
    tl.atomic_xchg(words, tl.full([], 2, tl.uint64), sem="release")
    return prefix

@triton.jit
def _partners(x, distance: tl.constexpr):
    pairs = tl.reshape(x, [x.numel // (2 * distance), 2, distance])
    return tl.reshape(tl.flip(pairs, 1), x.shape)

# Bitonic sort along the last dimension. NaN is the largest value; indices from rnumel on are sorted last.
@triton.jit
def sort_with_index(x, idx, rnumel, dim: tl.constexpr = None, stable: tl.constexpr = False,
                    descending: tl.constexpr = False):
    size: tl.constexpr = x.shape[len(x.shape) - 1]
    place = tl.reshape(tl.arange(0, x.numel) % size, x.shape)
    for stage in tl.static_range(1, size.bit_length()):
        for step in tl.static_range(stage - 1, -1, -1):
            is_upper = (place & 2**step) != 0
            x_partner = _partners(x, 2**step)
            idx_partner = _partners(idx, 2**step)
            lower = tl.where(is_upper, x_partner, x)
            upper = tl.where(is_upper, x, x_partner)
            lower_idx = tl.where(is_upper, idx_partner, idx)
            upper_idx = tl.where(is_upper, idx, idx_partner)
            smaller = upper < lower
            larger = lower < upper
            if x.dtype.is_floating():
                smaller |= (lower != lower) & (upper == upper)
                larger |= (upper != upper) & (lower == lower)
            swaps = larger if descending else smaller
            if stable:
                swaps |= (smaller == larger) & (lower_idx > upper_idx)
            if rnumel is not None:
                swaps = tl.where((lower_idx >= rnumel) == (upper_idx >= rnumel), swaps, lower_idx >= rnumel)
            swaps ^= (place & 2**stage) != 0
            x = tl.where(swaps, x_partner, x)
            idx = tl.where(swaps, idx_partner, idx)
    return x, idx
)";

std::string_view helperModule(std::string_view path) {
  if (path == "torch._inductor.runtime.triton_helpers" || path == "torch._inductor.triton_helpers")
    return inductorHelpers;
  return {};
}

} // namespace tile::frontend
