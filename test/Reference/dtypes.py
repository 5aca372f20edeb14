# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types of the reference: names, rounding, wrapping, and their bytes in memory.

An element is a Python number: an int within the range of its type (0 or 1 for int1), a float that the type can hold, or
the address of a pointer. `DType.settle` brings the exact result of an operation into the type."""
import ctypes
import functools
import math
import struct

FLOATS = {  # name: (bits of the significand, smallest normal exponent, largest finite value)
    "fp16": (11, -14, 65504.0),
    "bf16": (8, -126, (2 - 2**-7) * 2.0**127),
    "fp32": (24, -126, (2 - 2**-23) * 2.0**127),
    "fp64": (53, -1022, (2 - 2**-52) * 2.0**1023),
    "fp8e4nv": (4, -6, 448.0),
    "fp8e5": (3, -14, 57344.0),
}


def round_float(x, bits, lowest, largest, saturates=False, toward_zero=False):
    """Rounds a double to nearest even (or towards zero) in a format with `bits` significant bits."""
    if x == 0 or math.isnan(x):
        return x
    if math.isinf(x):
        return math.copysign(largest, x) if saturates else x
    quantum = max(math.frexp(x)[1], lowest + 1) - bits
    scaled = math.ldexp(x, -quantum)
    whole = math.trunc(scaled) if toward_zero else round(scaled)
    overflow = largest if saturates or toward_zero else math.inf
    try:
        result = math.ldexp(whole, quantum)
    except OverflowError:
        result = math.inf
    return math.copysign(overflow if abs(result) > largest else abs(result), x)


def round_integer(n, bits, toward_zero=False):
    """Rounds an integer of any size to `bits` significant bits, so that converting it is a single rounding."""
    excess = abs(n).bit_length() - bits
    if excess <= 0:
        return n
    whole, tail = divmod(abs(n), 1 << excess)
    half = 1 << (excess - 1)
    if not toward_zero and (tail > half or (tail == half and whole & 1)):
        whole += 1
    return (whole << excess) * (1 if n >= 0 else -1)


class DType:
    """A scalar type. kind: 0 for bool, 1 for integers, 2 for floats, as promotion orders them."""

    def __init__(self, name, kind, bits, signed):
        self.name, self.kind, self.primitive_bitwidth, self.signed = name, kind, bits, signed
        self.bytes = max(bits // 8, 1)
        self.low = -(1 << (bits - 1)) if signed else 0
        self.high = (1 << (bits - (1 if signed else 0))) - 1
        self.scalar = self
        self.element_ty = self
        self.itemsize = self.bytes
        if kind == 2:
            self.format = FLOATS[name]
            self.saturates = bits == 8
        else:
            self.int_bitwidth = bits

    def settle(self, x):
        """The element for the exact result x (a double for floats, an int of any size for integers)."""
        if self.kind == 2:
            if self.name == "fp32":
                return ctypes.c_float(x).value
            return x if self.name == "fp64" else round_float(x, *self.format, self.saturates)
        return self.wrap(x)

    def wrap(self, n):
        """The low bits of an integer, read as this type."""
        n &= (1 << self.primitive_bitwidth) - 1
        return n - (1 << self.primitive_bitwidth) if n > self.high else n

    def is_floating(self):
        return self.kind == 2

    def is_int(self):
        return self.kind < 2

    def is_int_signed(self):
        return self.kind == 1 and self.signed

    def is_int_unsigned(self):
        return self.kind < 2 and not self.signed

    def is_bool(self):
        return self.kind == 0

    def is_ptr(self):
        return False

    def is_block(self):
        return False

    def is_fp8(self):
        return self.kind == 2 and self.primitive_bitwidth == 8

    def __getattr__(self, name):  # is_fp16() and the like
        if name.startswith("is_"):
            return lambda: self.name == {"bf16": "bf16"}.get(name[3:], name[3:])
        raise AttributeError(name)

    def __repr__(self):
        return self.name


class PointerType:
    kind, signed, primitive_bitwidth, int_bitwidth, bytes, itemsize, name = 1, True, 64, 64, 8, 8, "pointer"

    def __init__(self, element_ty):
        self.element_ty = element_ty
        self.scalar = self

    def settle(self, x):
        return x

    def is_ptr(self):
        return True

    def __getattr__(self, name):
        if name.startswith("is_"):
            return lambda: False
        raise AttributeError(name)

    def __repr__(self):
        return f"pointer<{self.element_ty}>"


@functools.lru_cache(None)
def pointer_type(element_ty, address_space=1, const=False):
    return PointerType(element_ty)


int1 = DType("int1", 0, 1, False)
int8, int16, int32, int64 = (DType(f"int{n}", 1, n, True) for n in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (DType(f"uint{n}", 1, n, False) for n in (8, 16, 32, 64))
float16, bfloat16, float32, float64, float8e4nv, float8e5 = (
    DType(name, 2, bits, True)
    for name, bits in (("fp16", 16), ("bf16", 16), ("fp32", 32), ("fp64", 64), ("fp8e4nv", 8), ("fp8e5", 8)))

ALL = (int1, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16, float32, float64, float8e4nv,
       float8e5)
NAMES = {dtype.name: dtype for dtype in ALL}  # spellings of annotations and signatures
NAMES.update({f"i{n}": NAMES[f"int{n}"] for n in (1, 8, 16, 32, 64)})
NAMES.update({f"u{n}": NAMES[f"uint{n}"] for n in (8, 16, 32, 64)})
NAMES.update({"f16": float16, "f32": float32, "f64": float64, "f8e4m3": float8e4nv, "f8e5m2": float8e5, "int": int32,
              "float": float32, "bool": int1, "float16": float16, "bfloat16": bfloat16, "float32": float32,
              "float64": float64, "float8e4nv": float8e4nv, "float8e5": float8e5})


def literal_type(x):
    """The type of the scalar that a Python number becomes when it gets a name."""
    if isinstance(x, bool):
        return int1
    if isinstance(x, int):
        for dtype, fits in ((int32, -2**31 <= x < 2**31), (uint32, 0 <= x < 2**32), (int64, -2**63 <= x < 2**63),
                            (uint64, 0 <= x < 2**64)):
            if fits:
                return dtype
        raise OverflowError(f"{x} has no integer type")
    outside = x != 0 and math.isfinite(x) and not 2.0**-126 <= abs(x) <= FLOATS["fp32"][2]
    return float64 if outside else float32


def float_to_integer(x, source, target):
    """Rounds towards zero and saturates; NaN and types of 8 bits as tools/docs/pages/numerics.md says."""
    through = target
    if target.primitive_bitwidth == 8:
        through = int16 if target.signed else uint16
    if math.isnan(x):
        wide = source.primitive_bitwidth == 64 or target.primitive_bitwidth == 64
        clamped = 1 << (through.primitive_bitwidth - 1) if wide else 0
    elif math.isinf(x):
        clamped = through.high if x > 0 else through.low
    else:
        clamped = min(max(math.trunc(x), through.low), through.high)
    return target.wrap(clamped)


def convert(x, source, target, toward_zero=False):
    """One element converted from one scalar type to another."""
    if target.kind == 0:
        return int(x != 0)
    if source.kind == 2:
        if target.kind == 2:
            return round_float(x, *target.format, target.saturates, True) if toward_zero else target.settle(x)
        return float_to_integer(x, source, target)
    if target.kind == 2:
        exact = round_integer(x, target.format[0], toward_zero)
        return target.settle(float(exact))
    return target.wrap(x)


@functools.lru_cache(None)
def _codes8(name):
    """The value of each byte of an 8-bit float format."""
    values = []
    fraction_bits, bias = (3, 7) if name == "fp8e4nv" else (2, 15)
    for code in range(256):
        exponent, fraction = code % 128 >> fraction_bits, code & ((1 << fraction_bits) - 1)
        top = exponent == (15 if fraction_bits == 3 else 31)
        if top and fraction_bits == 2:
            value = math.inf if fraction == 0 else math.nan
        elif top and fraction == 7:
            value = math.nan
        else:
            significand = fraction + ((1 << fraction_bits) if exponent else 0)
            value = math.ldexp(significand, max(exponent, 1) - bias - fraction_bits)
        values.append(-value if code & 128 else value)
    return values


@functools.lru_cache(None)
def _code_of8(name):
    return {(value, math.copysign(1, value)): code for code, value in reversed(list(enumerate(_codes8(name))))
            if not math.isnan(value)}


STRUCT = {"int1": "b", "int8": "b", "int16": "h", "int32": "i", "int64": "q",
          "uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q",
          "fp16": "e", "fp32": "f", "fp64": "d", "pointer": "Q"}


def encode(dtype, x):
    """The bytes of one element."""
    if dtype.name == "bf16":
        return b"\xff\x7f" if math.isnan(x) else struct.pack("<f", x)[2:]
    if dtype.name in ("fp8e4nv", "fp8e5"):
        return bytes([0x7F if math.isnan(x) else _code_of8(dtype.name)[(x, math.copysign(1, x))]])
    return struct.pack("<" + STRUCT[dtype.name], x)


def decode(dtype, data):
    """The element of these bytes."""
    if dtype.name == "bf16":
        return struct.unpack("<f", b"\0\0" + bytes(data))[0]
    if dtype.name in ("fp8e4nv", "fp8e5"):
        return _codes8(dtype.name)[data[0]]
    x = struct.unpack("<" + STRUCT[dtype.name], data)[0]
    return int(x != 0) if dtype is int1 else x


def bitcast(x, source, target):
    """The element whose bits are those of x."""
    if source.primitive_bitwidth != target.primitive_bitwidth:
        raise TypeError(f"bitcast of {source} to {target}")
    return decode(target, encode(source, x))
