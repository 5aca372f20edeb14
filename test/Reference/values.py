# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scalars and blocks of the reference, and the operators between them.

A literal is a plain Python number and computes as Python does; it is *weak*: it takes the type of what it meets. It
becomes a Value when it gets a name (see rewriting.py)."""
import functools
import math
import operator

import dtypes as dt


class Unsupported(Exception):
    """What the reference does not know; not a fault of the kernel."""


class KernelError(Exception):
    """What is an error of the kernel, such as a division by zero."""


WEAK = (bool, int, float)
limit = {"elements": 0}  # elements that may still be computed before a run counts as too long
language = {"is_tile1": False}  # --std=tile1


class BlockType:
    def __init__(self, value):
        self.shape, self.scalar, self.element_ty = value.shape, value.dtype, value.dtype

    def is_block(self):
        return True

    def is_ptr(self):
        return False

    def __getattr__(self, name):
        return getattr(self.scalar, name)

    def __eq__(self, other):
        return isinstance(other, BlockType) and (self.shape, self.scalar) == (other.shape, other.scalar)


def size_of(shape):
    return math.prod(shape)


class Value:
    """A scalar (shape ()) or a block: row-major elements of one type."""
    __slots__ = ("dtype", "shape", "data")

    def __init__(self, dtype, shape, data):
        self.dtype, self.shape, self.data = dtype, tuple(shape), data
        limit["elements"] -= len(data)
        if limit["elements"] < 0:
            raise Unsupported("too many elements to compute")

    @property
    def type(self):
        return BlockType(self) if self.shape else self.dtype

    @property
    def numel(self):
        return len(self.data)

    @property
    def T(self):
        return transpose(self, tuple(reversed(range(len(self.shape)))))

    def __bool__(self):
        if len(self.data) != 1:
            raise BlockCondition("a block is no condition")
        return self.data[0] != 0

    def __index__(self):
        raise TypeError("a run-time value where a constant is expected")

    def __hash__(self):
        return id(self)

    def __repr__(self):
        return f"{self.dtype}{list(self.shape)}({self.data[:8]})"

    def __getitem__(self, subscripts):
        subscripts = subscripts if isinstance(subscripts, tuple) else (subscripts,)
        shape, sizes = [], list(self.shape)
        for subscript in subscripts:
            if subscript is None:
                shape.append(1)
            elif isinstance(subscript, slice) and subscript == slice(None):
                shape.append(sizes.pop(0))
            elif language["is_tile1"]:
                return self.element(subscripts)
            else:
                raise Unsupported("subscripts other than None and ':'")
        return Value(self.dtype, shape + sizes, self.data)

    def element(self, subscripts):
        """x[i], x[i, :]: elements selected by integers; beyond the block they are 0."""
        axis = next(i for i, s in enumerate(subscripts) if not isinstance(s, slice))
        place, size = subscripts[axis], self.shape[axis]
        place = to_value(place + size if isinstance(place, int) and place < 0 else place).data[0]
        order = [axis] + [a for a in range(len(self.shape)) if a != axis]
        count = len(self.data) // size
        row = transpose(self, order).data[place * count:(place + 1) * count] if 0 <= place < size else [0] * count
        picked = Value(self.dtype, [self.shape[a] for a in order[1:]], row)
        others = subscripts[:axis] + subscripts[axis + 1:]
        return picked[others] if others else picked

    def __neg__(self):
        if self.dtype.kind == 2:
            return Value(self.dtype, self.shape, [0.0 - x for x in self.data])
        return Value(self.dtype, self.shape, [self.dtype.wrap(-x) for x in self.data])

    def __pos__(self):
        return self

    def __invert__(self):
        return Value(self.dtype, self.shape, [self.dtype.wrap(~x) for x in self.data])

    def __pow__(self, other):
        raise Unsupported("** of a run-time value")


class BlockCondition(Exception):
    pass


def to_value(x):
    """A scalar of what is not weak any more."""
    if isinstance(x, WEAK):
        dtype = dt.literal_type(x)
        return Value(dtype, (), [dtype.settle(x)])
    if not isinstance(x, Value):
        raise TypeError(f"{x!r} is no value")
    return x


def settle(x):
    """What an assignment binds: numbers become scalars, also in tuples."""
    if isinstance(x, WEAK):
        return to_value(x)
    if isinstance(x, (tuple, list)):
        items = [settle(item) for item in x]
        return type(x)(*items) if hasattr(x, "_fields") else tuple(items)
    return x


@functools.lru_cache(4096)
def broadcast_index(source, target):
    """For each element of the target shape the index of the source's element, or None if they are the same."""
    if source == target:
        return None
    padded = (1,) * (len(target) - len(source)) + source
    if len(padded) != len(target) or any(a not in (1, b) for a, b in zip(padded, target)):
        raise TypeError(f"shape {source} is not broadcast to {target}")
    index, step = [0], 1
    steps = []
    for size in reversed(padded):
        steps.append(0 if size == 1 else step)
        step *= size
    for size, step in zip(target, reversed(steps)):
        index = [i + step * k for i in index for k in range(size)]
    return index


def broadcast_to(x, shape):
    index = broadcast_index(x.shape, tuple(shape))
    return x if index is None else Value(x.dtype, shape, [x.data[i] for i in index])


def common_shape(*values):
    rank = max(len(value.shape) for value in values)
    shape = [1] * rank
    for value in values:
        for i, size in enumerate((1,) * (rank - len(value.shape)) + value.shape):
            if shape[i] == 1:
                shape[i] = size
            elif size not in (1, shape[i]):
                raise TypeError(f"shapes {[v.shape for v in values]} do not agree")
    return tuple(shape)


def elementwise(dtype, function, *values):
    """Broadcasts, and applies a function that gives settled elements."""
    shape = common_shape(*values)
    return Value(dtype, shape, [function(*x) for x in zip(*(broadcast_to(value, shape).data for value in values))])


def permuted_index(shape, order):
    steps, step = [], 1
    for size in reversed(shape):
        steps.insert(0, step)
        step *= size
    index = [0]
    for axis in order:
        index = [i + steps[axis] * k for i in index for k in range(shape[axis])]
    return index


def transpose(x, order):
    return Value(x.dtype, [x.shape[axis] for axis in order], [x.data[i] for i in permuted_index(x.shape, order)])


def cast(x, dtype, fp_downcast_rounding=None, bitcast=False):
    """x.to(dtype)."""
    if isinstance(x, WEAK):
        x = Value(dt.float64, (), [x]) if isinstance(x, float) else to_value(x)
    source = x.dtype
    if source is dtype:
        return x
    if bitcast and not (source.is_ptr() or dtype.is_ptr()):
        return Value(dtype, x.shape, [dt.bitcast(e, source, dtype) for e in x.data])
    if dtype.is_ptr():
        return Value(dtype, x.shape, [e & (2**64 - 1) for e in x.data])
    toward_zero = fp_downcast_rounding == "rtz"
    return Value(dtype, x.shape, [dt.convert(e, source, dtype, toward_zero) for e in x.data])


def promote_integers(a, b):
    if a.signed == b.signed:
        return a if a.primitive_bitwidth > b.primitive_bitwidth else b
    unsigned, signed = (b, a) if a.signed else (a, b)
    return unsigned if unsigned.primitive_bitwidth >= signed.primitive_bitwidth else signed


def promoted_type(a, b, divides=False):
    """The type in which two strong types compute."""
    for dtype in (dt.float64, dt.float32):
        if dtype in (a, b):
            return dtype
    if dt.float16 in (a, b):
        return dt.float32 if divides else dt.float16
    if dt.bfloat16 in (a, b):
        return dt.bfloat16 if a is b and not divides else dt.float32
    if a.kind == 2 or b.kind == 2:
        return a if a is b else dt.float16
    if divides and a.signed != b.signed:
        raise TypeError(f"division of {a} by {b}")
    return promote_integers(a, b)


def weak_type(number, dtype, divides):
    """The type in which a literal computes with a value of this type."""
    kind = 0 if isinstance(number, bool) else 1 if isinstance(number, int) else 2
    if kind <= dtype.kind:
        if kind == 1 and dtype.kind == 1 and not dtype.low <= number <= dtype.high:
            raise TypeError(f"{number} is out of the range of {dtype}")
        return dt.float32 if divides and dtype in (dt.float16, dt.bfloat16) else dtype
    return promoted_type(dt.literal_type(number), dtype, divides)


def pair(x, y, divides=False):
    """Both operands in the type of the operation."""
    if isinstance(x, WEAK) and isinstance(y, Value):
        dtype = weak_type(x, y.dtype, divides)
    elif isinstance(y, WEAK) and isinstance(x, Value):
        dtype = weak_type(y, x.dtype, divides)
    else:
        x, y = to_value(x), to_value(y)
        if x.dtype.is_ptr() or y.dtype.is_ptr():
            return x, y
        dtype = promoted_type(x.dtype, y.dtype, divides)
    return cast(x, dtype), cast(y, dtype)


def divide(a, b):
    if b == 0:
        return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1, b)
    return a / b


def remainder(a, b):
    return math.nan if b == 0 or math.isinf(a) or math.isnan(b) else math.fmod(a, b)


def quotient(a, b):
    if b == 0:
        raise KernelError("integer division by zero")
    return a // b if language["is_tile1"] else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def add(x, y):
    for pointer, offset in ((x, y), (y, x)):
        if isinstance(pointer, Value) and pointer.dtype.is_ptr():
            size = pointer.dtype.element_ty.bytes
            return elementwise(pointer.dtype, lambda p, i: p + i * size, pointer, to_value(offset))
    return arithmetic(operator.add, x, y)


def subtract(x, y):
    if isinstance(x, Value) and x.dtype.is_ptr():
        size = x.dtype.element_ty.bytes
        if isinstance(y, Value) and y.dtype.is_ptr():
            raise Unsupported("difference of pointers")
        return elementwise(x.dtype, lambda p, i: p - i * size, x, to_value(y))
    return arithmetic(operator.sub, x, y)


def arithmetic(function, x, y):
    x, y = pair(x, y)
    dtype = x.dtype
    if dtype.is_fp8():
        raise Unsupported("arithmetic of 8-bit floats")
    return elementwise(dtype, lambda a, b: dtype.settle(function(a, b)), x, y)


def true_divide(x, y):
    x, y = pair(x, y, divides=True)
    if x.dtype.kind < 2:
        x, y = cast(x, dt.float32), cast(y, dt.float32)
    return elementwise(x.dtype, lambda a, b: x.dtype.settle(divide(a, b)), x, y)


def floor_divide(x, y):
    x, y = pair(x, y, divides=True)
    if x.dtype.kind == 2:
        raise Unsupported("// of floats")
    return elementwise(x.dtype, lambda a, b: x.dtype.wrap(quotient(a, b)), x, y)


def modulo(x, y):
    x, y = pair(x, y, divides=True)
    if x.dtype.kind == 2:
        return elementwise(x.dtype, lambda a, b: x.dtype.settle(remainder(a, b)), x, y)
    return elementwise(x.dtype, lambda a, b: x.dtype.wrap(a - b * quotient(a, b)), x, y)


def bits(function, x, y):
    x, y = pair(x, y)
    if x.dtype.kind == 2:
        raise TypeError("bitwise operation on floats")
    return elementwise(x.dtype, lambda a, b: x.dtype.wrap(function(a, b)), x, y)


def shift_left(x, y):
    x, y = pair(x, y)
    width = x.dtype.primitive_bitwidth
    return elementwise(x.dtype, lambda a, n: x.dtype.wrap(a << n) if 0 <= n < width else 0, x, y)


def shift_right(x, y):
    shifted = None if isinstance(x, WEAK) else x.dtype
    x, y = pair(x, y)
    signed = (shifted or x.dtype).is_int_signed()
    width, dtype = x.dtype.primitive_bitwidth, x.dtype
    wide = {8: dt.int8, 16: dt.int16, 32: dt.int32, 64: dt.int64}.get(width, dtype)

    def shift(a, n):
        a = wide.wrap(a) if signed else a & ((1 << width) - 1)
        return dtype.wrap(a >> (n if 0 <= n < width else width))

    return elementwise(dtype, shift, x, y)


def compare(function, x, y):
    if not isinstance(x, (Value, *WEAK)) or not isinstance(y, (Value, *WEAK)):
        return NotImplemented
    x, y = pair(to_value(x), to_value(y))
    return elementwise(dt.int1, lambda a, b: int(function(a, b)), x, y)


def _install():
    functions = {"add": add, "sub": subtract, "mul": functools.partial(arithmetic, operator.mul), "mod": modulo,
                 "truediv": true_divide, "floordiv": floor_divide, "lshift": shift_left, "rshift": shift_right,
                 "and": functools.partial(bits, operator.and_), "or": functools.partial(bits, operator.or_),
                 "xor": functools.partial(bits, operator.xor)}
    for name, function in functions.items():
        setattr(Value, f"__{name}__", lambda x, y, f=function: f(x, y))
        setattr(Value, f"__r{name}__", lambda x, y, f=function: f(y, x))
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        setattr(Value, f"__{name}__", lambda x, y, f=getattr(operator, name): compare(f, x, y))


_install()
