# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory of the reference: buffers at addresses far apart, accesses, block pointers, descriptors."""
import dtypes as dt
import operations as ops
from values import KernelError, Unsupported, Value, broadcast_to, cast, common_shape, to_value

SPACING = 40  # buffer n begins at address n << SPACING
buffers = {}


class Buffer:
    def __init__(self, name, number, dtype, size):
        self.name, self.dtype = name, dtype
        self.address = number << SPACING
        self.bytes = bytearray(size)
        self.written = bytearray(size)
        self.readable = True  # an output is poisoned until something is written
        buffers[number] = self


def place(address, size):
    """The buffer and the offset of an access."""
    buffer = buffers.get(address >> SPACING)
    offset = address & ((1 << SPACING) - 1)
    if buffer is None or offset + size > len(buffer.bytes):
        raise KernelError(f"an access outside of its buffer ({buffer and buffer.name}, byte {offset})")
    return buffer, offset


def read(address, dtype):
    buffer, offset = place(address, dtype.bytes)
    if not buffer.readable and not all(buffer.written[offset:offset + dtype.bytes]):
        raise KernelError(f"a read of '{buffer.name}' before it is written")
    return dt.decode(dtype, buffer.bytes[offset:offset + dtype.bytes])


def write(address, dtype, element):
    buffer, offset = place(address, dtype.bytes)
    buffer.bytes[offset:offset + dtype.bytes] = dt.encode(dtype, element)
    buffer.written[offset:offset + dtype.bytes] = b"\1" * dtype.bytes


def load(pointer, mask=None, other=None, boundary_check=(), padding_option="", cache_modifier="", eviction_policy="",
         volatile=False):
    if isinstance(pointer, BlockPointer):
        pointer, mask = pointer.access(boundary_check)
        other = float("nan") if padding_option == "nan" else 0
        mask = True if mask is None else mask
    if isinstance(pointer, Descriptor):
        raise Unsupported("tl.load of a descriptor")
    dtype = pointer.dtype.element_ty
    if mask is None:
        return Value(dtype, pointer.shape, [read(p, dtype) for p in pointer.data])
    mask = broadcast_to(to_value(mask), pointer.shape)
    other = broadcast_to(cast(0 if other is None else other, dtype), pointer.shape)
    elements = zip(pointer.data, mask.data, other.data)
    return Value(dtype, pointer.shape, [read(p, dtype) if m else o for p, m, o in elements])


def store(pointer, value, mask=None, boundary_check=(), cache_modifier="", eviction_policy=""):
    if isinstance(pointer, BlockPointer):
        pointer, mask = pointer.access(boundary_check)
    dtype = pointer.dtype.element_ty
    value = to_value(value)
    if dtype.is_ptr() or value.dtype.is_ptr():
        raise Unsupported("stores of pointers")
    value = broadcast_to(cast(value, dtype), pointer.shape)
    mask = broadcast_to(to_value(True if mask is None else mask), pointer.shape)
    for p, v, m in zip(pointer.data, value.data, mask.data):
        if m:
            write(p, dtype, v)


def order_of(x):
    """What atomic max and min compare: of floats the bits, so that -0 is less than 0, and NaN beyond infinity."""
    if not isinstance(x, float):
        return x
    bits = dt.bitcast(x, dt.float64, dt.int64)
    return bits if bits >= 0 else -(bits & 2**63 - 1) - 1


def atomic(change):
    def apply(pointer, val, mask=None, sem=None, scope=None):
        dtype = pointer.dtype.element_ty
        val = cast(to_value(val), dtype)
        shape = common_shape(pointer, val)
        pointer, val = broadcast_to(pointer, shape), broadcast_to(val, shape)
        mask = broadcast_to(to_value(True if mask is None else mask), shape)
        old = []
        for p, v, m in zip(pointer.data, val.data, mask.data):
            old.append(read(p, dtype) if m else 0)
            if m:
                write(p, dtype, dtype.settle(change(old[-1], v)))
        return Value(dtype, shape, old)
    return apply


atomic_add = atomic(lambda a, b: a + b)
atomic_max = atomic(lambda a, b: max(a, b, key=order_of))
atomic_min = atomic(lambda a, b: min(a, b, key=order_of))
atomic_and = atomic(lambda a, b: a & b)
atomic_or = atomic(lambda a, b: a | b)
atomic_xor = atomic(lambda a, b: a ^ b)
atomic_xchg = atomic(lambda a, b: b)


def atomic_cas(pointer, cmp, val, sem=None, scope=None):
    dtype = pointer.dtype.element_ty
    cmp, val = (broadcast_to(cast(to_value(x), dtype), pointer.shape) for x in (cmp, val))
    old = []
    for p, c, v in zip(pointer.data, cmp.data, val.data):
        old.append(read(p, dtype))
        if old[-1] == c:
            write(p, dtype, v)
    return Value(dtype, pointer.shape, old)


def wide(x):
    return cast(to_value(x), dt.int64)


def strided(base, sizes, strides, offsets, block, checked):
    """Pointers to a block of a strided tensor, and which of them are inside along the checked dimensions."""
    pointer, mask = base, None
    for i, size in enumerate(block):
        shape = [size if j == i else 1 for j in range(len(block))]
        position = wide(offsets[i]) + wide(ops.reshape(ops.arange(0, size), shape))
        pointer = pointer + position * wide(strides[i])
        if i in checked:
            inside = (position >= 0) & (position < wide(sizes[i]))
            mask = inside if mask is None else mask & inside
    return pointer, mask


class BlockPointer:
    def __init__(self, base, shape, strides, offsets, block_shape, order=None):
        self.base, self.shape, self.strides, self.offsets, self.block_shape = base, shape, strides, offsets, block_shape
        self.dtype = base.dtype
        self.type = base.dtype

    def advance(self, offsets):
        moved = [wide(a) + b for a, b in zip(self.offsets, offsets)]
        return BlockPointer(self.base, self.shape, self.strides, moved, self.block_shape)

    def access(self, boundary_check):
        return strided(self.base, self.shape, self.strides, self.offsets, self.block_shape,
                       [boundary_check] if isinstance(boundary_check, int) else boundary_check)


class Descriptor:
    def __init__(self, base, shape, strides, block_shape, padding_option="zero"):
        self.base, self.shape, self.strides, self.block_shape = base, shape, strides, tuple(block_shape)
        self.padding, self.dtype = padding_option, base.dtype.element_ty

    def access(self, offsets):
        return strided(self.base, self.shape, self.strides, offsets, self.block_shape, range(len(self.block_shape)))

    def load(self, offsets):
        pointer, mask = self.access(offsets)
        return load(pointer, mask, float("nan") if self.padding == "nan" else 0)

    def store(self, offsets, value):
        pointer, mask = self.access(offsets)
        store(pointer, value, mask)

    def __getattr__(self, name):
        raise Unsupported(f"{name} of descriptors")


def advance(base, offsets):
    return base.advance(offsets)
