# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of tl that combine elements: reductions, scans, products; and random numbers (Philox 4x32)."""
import math

import dtypes as dt
from operations import (cos, exp, expand_dims, from_lines, lines, log, maximum, minimum, ravel, reshape, sqrt, widen)
from values import BlockCondition, Unsupported, Value, broadcast_to, cast, common_shape, to_value

# Reductions and scans


def finish(result, x, axis, keep_dims):
    if not keep_dims:
        return result
    return reshape(result, (1,) * len(x.shape)) if axis is None else expand_dims(result, axis)


def fold(combine, columns):
    """Combines a list of tuples of values from left to right."""
    total = columns[0]
    for column in columns[1:]:
        total = as_tuple(combine(*total, *column))
    return total


def as_tuple(x):
    return tuple(to_value(v) for v in (x if isinstance(x, (tuple, list)) else (x,)))


def each(combine, dtypes, left, right):
    """Combines element by element, where the function has branches."""
    out = [[] for _ in dtypes]
    for elements in zip(*(v.data for v in left + right)):
        scalars = [Value(v.dtype, (), [e]) for v, e in zip(left + right, elements)]
        for column, value in zip(out, as_tuple(combine(*scalars))):
            column.append(value.data[0])
    return tuple(Value(dtype, left[0].shape, column) for dtype, column in zip(dtypes, out))


def per_block(combine):
    def apply(*values):
        try:
            return combine(*values)
        except BlockCondition:
            half = len(values) // 2
            return each(combine, [v.dtype for v in values[:half]], values[:half], values[half:])
    return apply


def columns_of(values, axis):
    """Tuples of blocks, one for each position along the axis."""
    rows = [lines(v, axis) for v in values]
    shape = rows[0][1]
    return [tuple(Value(v.dtype, shape, [row[k] for row in r]) for v, (r, _) in zip(values, rows))
            for k in range(values[0].shape[axis])]


def reduce(input, axis, combine_fn, keep_dims=False, reduction_ordering=None):
    values = as_tuple(input)
    flat = [ravel(v) for v in values] if axis is None else values
    total = fold(per_block(combine_fn), columns_of(flat, 0 if axis is None else axis))
    results = tuple(finish(cast(t, v.dtype), v, axis, keep_dims) for t, v in zip(total, values))
    return results if isinstance(input, (tuple, list)) else results[0]


def associative_scan(input, axis, combine_fn, reverse=False):
    values = as_tuple(input)
    axis %= len(values[0].shape)
    columns = columns_of(values, axis)
    columns = columns[::-1] if reverse else columns
    totals = [columns[0]]
    for column in columns[1:]:
        totals.append(as_tuple(per_block(combine_fn)(*totals[-1], *column)))
    totals = totals[::-1] if reverse else totals
    results = []
    for i, value in enumerate(values):
        rows = [list(row) for row in zip(*(cast(t[i], value.dtype).data for t in totals))]
        shape = value.shape[:axis] + value.shape[axis + 1:]
        results.append(from_lines(value.dtype, rows, shape, axis))
    return tuple(results) if isinstance(input, (tuple, list)) else results[0]


def summed_type(dtype):
    if dtype is dt.bfloat16:
        return dt.float32
    if dtype.kind < 2 and dtype.primitive_bitwidth < 32:
        return dt.int32 if dtype.signed else dt.uint32
    return dtype


def sum_of(input, axis=None, keep_dims=False, dtype=None, reduction_ordering=None):
    return reduce(cast(input, dtype or summed_type(input.dtype)), axis, lambda a, b: a + b, keep_dims)


def compared_type(dtype):
    if dtype.primitive_bitwidth >= 32:
        return dtype
    return dt.float32 if dtype.kind == 2 else dt.int32


def with_index(larger, input, axis, keep_dims, tie_break_left=True):
    input = widen(input)
    flat = ravel(input) if axis is None else input
    rows, shape = lines(flat, 0 if axis is None else axis)
    values, places = [], []
    for row in rows:
        numbers = [x for x in row if x == x] or row
        best = (max if larger else min)(numbers)
        equal = [i for i, x in enumerate(row) if x == best or (x != x and best != best)]
        values.append(best)
        places.append(equal[0] if tie_break_left else equal[-1])
    value, place = Value(input.dtype, shape, values), Value(dt.int32, shape, places)
    return finish(value, input, axis, keep_dims), finish(place, input, axis, keep_dims)


def extreme_of(larger):
    def apply(input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False):
        if return_indices:
            return with_index(larger, input, axis, keep_dims, return_indices_tie_break_left)
        return reduce(cast(input, compared_type(input.dtype)), axis, maximum if larger else minimum, keep_dims)
    return apply


maximum_of, minimum_of = extreme_of(True), extreme_of(False)


def argmax(input, axis, tie_break_left=True, keep_dims=False):
    return with_index(True, input, axis, keep_dims, tie_break_left)[1]


def argmin(input, axis, tie_break_left=True, keep_dims=False):
    return with_index(False, input, axis, keep_dims, tie_break_left)[1]


def xor_sum(input, axis=None, keep_dims=False):
    return reduce(input, axis, lambda a, b: a ^ b, keep_dims)


def reduce_or(input, axis=None, keep_dims=False):
    return reduce(input, axis, lambda a, b: a | b, keep_dims)


def cumsum(input, axis=0, reverse=False, dtype=None):
    return associative_scan(cast(input, dtype or summed_type(input.dtype)), axis, lambda a, b: a + b, reverse)


def cumprod(input, axis=0, reverse=False):
    return associative_scan(widen(input), axis, lambda a, b: a * b, reverse)


# Dots


def tf32(x):
    if not math.isfinite(x):
        return x
    quantum = math.frexp(x)[1] - 11 if x else 0
    return math.ldexp(math.copysign(math.floor(abs(math.ldexp(x, -quantum)) + 0.5), x), quantum)


def dot(input, other, acc=None, input_precision=None, allow_tf32=None, max_num_imprecise_acc=None, out_dtype=None):
    a, b = input, other
    if len(a.shape) != 2:
        raise Unsupported("dot of more than two dimensions")
    dtype = acc.dtype if acc is not None else out_dtype or dt.float32
    if a.dtype.kind == 1:
        dtype = dt.int32
    elif a.dtype is dt.float64:
        dtype = dt.float64
    (m, k), n = a.shape, b.shape[1]
    left = [a.data[i * k:(i + 1) * k] for i in range(m)]
    right = [b.data[j::n] for j in range(n)]
    precise = input_precision in ("ieee", "tf32x3", "bf16x6") or allow_tf32 is False
    if a.dtype is dt.float32 and not precise:
        left, right = ([[tf32(x) for x in row] for row in rows] for rows in (left, right))
    start = [0] * (m * n) if acc is None else acc.data
    total = [sum(x * y for x, y in zip(row, column)) for row in left for column in right]
    Value(dt.float32, (), [0] * (m * n * k // 4))  # counts as so many elements
    return Value(dtype, (m, n), [dtype.settle(x + y) for x, y in zip(total, start)])


def softmax(x, dim=None, keep_dims=False, ieee_rounding=False):
    axis = 0 if dim is None else dim
    shifted = exp(x - maximum_of(x, axis, keep_dims=True))
    return shifted / sum_of(shifted, axis, keep_dims=True)


# Random numbers (Philox 4x32)


def philox_rounds(c0, c1, c2, c3, k0, k1, rounds):
    ones = 2**32 - 1
    for _ in range(rounds):
        first, second = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = second >> 32 ^ c1 ^ k0, second & ones, first >> 32 ^ c3 ^ k1, first & ones
        k0, k1 = k0 + 0x9E3779B9 & ones, k1 + 0xBB67AE85 & ones
    return c0, c1, c2, c3


def philox_impl(c0, c1, c2, c3, k0, k1, n_rounds=10):
    words = [to_value(c) for c in (c0, c1, c2, c3, k0, k1)]
    shape = common_shape(*words)
    ones = 2**32 - 1
    elements = zip(*(broadcast_to(w, shape).data for w in words))
    rounds = [philox_rounds(*(e & ones for e in each), n_rounds) for each in elements]
    return tuple(Value(dt.uint32, shape, [word[i] for word in rounds]) for i in range(4))


def philox(seed, c0, c1, c2, c3, n_rounds=10):
    seed = to_value(seed).data[0]
    return philox_impl(c0, c1, c2, c3, seed & 2**32 - 1, seed >> 32 & 2**32 - 1, n_rounds)


def randint4x(seed, offset, n_rounds=10):
    seed, offset = to_value(seed).data[0], to_value(offset)
    ones = 2**32 - 1
    words = [philox_rounds(x & ones, x >> 32 & ones if offset.dtype.primitive_bitwidth == 64 else 0, 0, 0, seed & ones,
                           seed >> 32 & ones, n_rounds) for x in offset.data]
    return tuple(Value(dt.uint32, offset.shape, [word[i] for word in words]) for i in range(4))


def randint(seed, offset, n_rounds=10):
    return randint4x(seed, offset, n_rounds)[0]


def uint_to_uniform_float(x):
    signed = [dt.int32.wrap(e) for e in x.data]
    scale = dt.float32.settle(4.6566127342e-10)
    settle_float = dt.float32.settle
    return Value(dt.float32, x.shape, [settle_float(settle_float(-e - 1 if e < 0 else e) * scale) for e in signed])


def rand(seed, offset, n_rounds=10):
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


def pair_uniform_to_normal(u1, u2):
    radius = sqrt(-2.0 * log(maximum(u1, 1e-7)))
    return radius * cos(6.283185307179586 * u2), radius * sin(6.283185307179586 * u2)


def randn(seed, offset, n_rounds=10):
    first, second, _, _ = rand4x(seed, offset, n_rounds)
    return pair_uniform_to_normal(first, second)[0]


def rand4x(seed, offset, n_rounds=10):
    return tuple(uint_to_uniform_float(x) for x in randint4x(seed, offset, n_rounds))
