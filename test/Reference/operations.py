# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of tl that make values of values: creation, shapes, elementwise functions, reductions, scans, products."""
import math

import dtypes as dt
from values import WEAK, Value, broadcast_to, cast, common_shape, elementwise, pair, size_of, to_value, transpose


def shape_of(shape):
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape = shape[0]
    return tuple(int(size) for size in shape)


# Creation and shapes


def arange(start, end):
    size = end - start
    if size <= 0 or size & (size - 1):
        raise TypeError(f"arange of {size} elements")
    return Value(dt.int32, (size,), list(range(start, end)))


def full(shape, value, dtype):
    shape = shape_of((shape,)) if isinstance(shape, (tuple, list)) else (shape,)
    return Value(dtype, shape, cast(value, dtype).data * size_of(shape))


def zeros(shape, dtype):
    return full(shape, 0, dtype)


def zeros_like(input):
    return full(input.shape, 0, input.dtype)


def reshape(input, *shape, can_reorder=False):
    shape = shape_of(shape)
    if size_of(shape) != input.numel:
        raise TypeError(f"reshape of {input.shape} to {shape}")
    return Value(input.dtype, shape, input.data)


def ravel(x, can_reorder=False):
    return reshape(x, x.numel)


def expand_dims(input, axis):
    axes = axis if isinstance(axis, (tuple, list)) else [axis]
    shape = list(to_value(input).shape)
    rank = len(shape) + len(axes)
    for a in sorted(a % rank for a in axes):
        shape.insert(a, 1)
    return Value(to_value(input).dtype, shape, to_value(input).data)


def trans(input, *dims):
    rank = len(input.shape)
    dims = shape_of(dims) if dims else tuple(range(rank - 2)) + (rank - 1, rank - 2)
    return transpose(input, dims)


def broadcast_to_shape(input, *shape):
    return broadcast_to(to_value(input), shape_of(shape))


def broadcast(input, other):
    shape = common_shape(to_value(input), to_value(other))
    return broadcast_to(to_value(input), shape), broadcast_to(to_value(other), shape)


def join(a, b):
    a, b = broadcast(*pair(a, b))
    return Value(a.dtype, a.shape + (2,), [x for both in zip(a.data, b.data) for x in both])


def split(a):
    return Value(a.dtype, a.shape[:-1], a.data[::2]), Value(a.dtype, a.shape[:-1], a.data[1::2])


def interleave(a, b):
    joined = join(a, b)
    shape = joined.shape
    return reshape(joined, (*shape[:-2], shape[-2] * 2) if len(shape) > 1 else shape)


def cat(input, other, can_reorder=False, dim=0):
    (rows, shape), (others, _) = lines(input, dim), lines(other, dim)
    return from_lines(input.dtype, [a + b for a, b in zip(rows, others)], shape, dim)


def lines(x, axis):
    """The elements along an axis, a list for each of the other positions; and the shape of these positions."""
    axis %= len(x.shape)
    order = [a for a in range(len(x.shape)) if a != axis]
    moved = transpose(x, order + [axis]).data
    size = x.shape[axis]
    return [moved[i:i + size] for i in range(0, len(moved), size)], tuple(x.shape[a] for a in order)


def from_lines(dtype, rows, shape, axis):
    """The inverse of `lines`: rows become the given axis."""
    rank = len(shape) + 1
    axis %= rank
    moved = Value(dtype, shape + (len(rows[0]),), [x for row in rows for x in row])
    order = list(range(rank - 1))
    order.insert(axis, rank - 1)
    return transpose(moved, order)


def flip(x, dim=None):
    rows, shape = lines(x, -1 if dim is None else dim)
    return from_lines(x.dtype, [row[::-1] for row in rows], shape, -1 if dim is None else dim)


def sort(x, dim=None, descending=False):
    axis = -1 if dim is None else dim
    rows, shape = lines(x, axis)
    return from_lines(x.dtype, [sorted(row, reverse=bool(descending)) for row in rows], shape, axis)


def topk(x, k, dim=None):
    rows, shape = lines(x, -1)
    return from_lines(x.dtype, [sorted(row, reverse=True)[:k] for row in rows], shape, -1)


def gather(src, index, axis):
    rows, shape = lines(src, axis)
    places, _ = lines(index, axis)
    return from_lines(src.dtype, [[row[i] for i in place] for row, place in zip(rows, places)], shape, axis)


def histogram(input, num_bins, mask=None):
    counts = [0] * num_bins
    wanted = broadcast_to(to_value(True if mask is None else mask), input.shape)
    for x, m in zip(input.data, wanted.data):
        if m and 0 <= x < num_bins:
            counts[x] += 1
    return Value(dt.int32, (num_bins,), counts)


def item(input):
    return reshape(input, ())


# Elementwise functions


def where(condition, x, y):
    condition = to_value(condition)
    x, y = pair(x, y)
    return elementwise(x.dtype, lambda c, a, b: a if c else b, condition, x, y)


def widen(x):
    x = to_value(x)
    return cast(x, dt.float32) if x.dtype is dt.bfloat16 else x


def extremum(larger, x, y, propagate_nan=False):
    x, y = pair(widen(x), widen(y))

    def choose(a, b):
        if a != a or b != b:
            return math.nan if propagate_nan or (a != a and b != b) else b if a != a else a
        if a == b == 0 and x.dtype.kind == 2:
            return a if (math.copysign(1, a) > 0) == larger else b
        return a if (a > b) == larger else b

    return elementwise(x.dtype, choose, x, y)


def minimum(x, y, propagate_nan=False):
    return extremum(False, x, y, propagate_nan)


def maximum(x, y, propagate_nan=False):
    return extremum(True, x, y, propagate_nan)


def clamp(x, min, max, propagate_nan=False):
    return minimum(maximum(x, min, propagate_nan), max, propagate_nan)


def absolute(x):
    if isinstance(x, WEAK):
        return abs(x)
    return Value(x.dtype, x.shape, [x.dtype.settle(abs(e)) for e in x.data])


def fma(x, y, z):
    from fractions import Fraction
    x, y = pair(to_value(x), to_value(y))
    x, z = pair(x, to_value(z))
    x, y = pair(x, y)

    def fused(a, b, c):
        if not all(map(math.isfinite, (a, b, c))):
            return a * b + c
        exact = Fraction(a) * Fraction(b) + Fraction(c)
        return x.dtype.settle(float(exact)) if exact else a * b + c

    return elementwise(x.dtype, fused, x, y, z)


def fdiv(x, y, ieee_rounding=False):
    return to_value(x) / to_value(y)


def cdiv(x, div):
    return (x + (div - 1)) // div


def swizzle2d(i, j, size_i, size_j, size_g):
    ij = i * size_j + j
    group = ij // (size_g * size_j)
    first = group * size_g
    rows = minimum(size_i - first, size_g)
    ij = ij % (size_g * size_j)
    return first + ij % rows, ij // rows


def safe(function, *x):
    """A function of doubles with the infinities and NaN of IEEE 754."""
    try:
        return function(*x)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.nan


def exponential(base):
    def exp(x):
        result = safe(base, x)
        return 0.0 if result < 2.0**-126 else result
    return exp


def logarithm(base):
    return lambda x: -math.inf if x == 0 else safe(base, x)


def unary(function, floats=(dt.float32, dt.float64)):
    def apply(x, _semantic=None):
        x = to_value(x)
        if x.dtype not in floats:
            raise TypeError(f"a function of {x.dtype}")
        return Value(x.dtype, x.shape, [x.dtype.settle(function(e)) for e in x.data])
    return apply


def rounding(function):
    return lambda x: math.copysign(function(x), x) if math.isfinite(x) else x


exp = unary(exponential(math.exp))
exp2 = unary(exponential(lambda x: math.pow(2.0, x)))
log = unary(logarithm(math.log))
log2 = unary(logarithm(math.log2))
sqrt = unary(lambda x: safe(math.sqrt, x))
rsqrt = unary(lambda x: math.copysign(math.inf, x) if x == 0 else safe(lambda y: 1 / math.sqrt(y), x))
sin = unary(lambda x: safe(math.sin, x))
cos = unary(lambda x: safe(math.cos, x))
erf = unary(math.erf)
tanh = unary(math.tanh)
floor = unary(rounding(math.floor))
ceil = unary(rounding(math.ceil))


def typed(x, y, function):
    """Arguments of `elementwise` for a function of two floats."""
    x, y = pair(to_value(x), to_value(y))
    return x.dtype, lambda a, b: x.dtype.settle(safe(function, a, b)), x, y


def classify(test):
    return lambda x: Value(dt.int1, x.shape, [int(test(e)) for e in x.data])


def sigmoid(x):
    return 1 / (1 + exp(-x))


def umulhi(x, y):
    x, y = pair(x, y)
    width = x.dtype.primitive_bitwidth
    ones = (1 << width) - 1
    return elementwise(x.dtype, lambda a, b: x.dtype.wrap((a & ones) * (b & ones) >> width), x, y)
