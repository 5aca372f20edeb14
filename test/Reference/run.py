#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run.py FILE [--kernel=NAME] [--std=tile1] [-D NAME=VALUE] [NAME=VALUE ...] [--save NAME=FILE]
                [--compare [--tilec=TILEC] [--option=WORD]]

Executes a kernel of a .tile file as Python, with inputs as its directives say. --save writes the row-major elements of
a buffer; --compare runs the same inputs in tilec's interpreter and compares the buffers: integers and bits exactly,
floats within --within (a relative error) of the element and of the root mean square of all."""
import argparse
import ast
import math
import os
import subprocess
import sys
import tempfile

import directives
import dtypes as dt
import language
import memory
import values
from values import KernelError, Unsupported, Value

ELEMENTS = 3_000_000  # maximum number of elements that a run computes
WITHIN = {"fp64": 1e-10, "fp32": 2e-5, "fp16": 4e-3, "bf16": 3e-2, "fp8e4nv": 0.13, "fp8e5": 0.26}


class Run:
    """One launch: its parameters, its buffers, and after `execute` what the kernel has written."""

    def __init__(self, path, kernel=None, assignments=(), constants=(), std="triton"):
        self.path, self.std = path, std
        self.module = language.Module(path)
        kernels = directives.kernels_of(self.module.source, path)
        self.name = kernel or next(iter(kernels), None)
        if self.name not in kernels:
            raise Unsupported(f"no kernel {self.name} with directives")
        self.kernel = kernels[self.name]
        if isinstance(self.kernel, Exception):
            raise self.kernel
        self.given = dict(word.split("=", 1) for word in assignments)
        self.constants = dict(word.split("=", 1) for word in constants)
        self.values = self.bind()
        pointers = [p for p in self.kernel.parameters if p.kind == "pointer"]
        self.buffers = {p.name: self.make_buffer(i, p) for i, p in enumerate(pointers)}

    def constant(self, text):
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError):
            return vars(self.module.modules["tl"]).get(text.removeprefix("tl."), text)

    def bind(self):
        """Constants, and scalars in the order of their dependencies."""
        bound, open_ones = {}, {}
        for p in self.kernel.parameters:
            if p.kind == "constexpr":
                if p.name in self.constants:
                    bound[p.name] = self.constant(self.constants[p.name])
                elif p.default is None:
                    raise Unsupported(f"no value for {p.name}")
                else:
                    bound[p.name] = eval(ast.unparse(p.default), self.module.names)
            elif p.kind == "scalar":
                text = self.given.get(p.name, self.kernel.defaults.get(p.name, p.default and ast.unparse(p.default)))
                if text is None:
                    raise Unsupported(f"no value for {p.name}")
                open_ones[p] = text
        while open_ones:
            before = len(open_ones)
            for p, text in list(open_ones.items()):
                try:
                    value = directives.evaluate(text, bound)
                except NameError:
                    continue
                bound[p.name] = p.dtype.settle(float(value)) if p.dtype.kind == 2 else int(value)
                del open_ones[p]
            if len(open_ones) == before:
                raise Unsupported(f"the default {next(iter(open_ones.values()))}")
        return bound

    def make_buffer(self, index, p):
        line = self.kernel.buffers.get(p.name)
        if line is None or p.dtype.is_ptr():
            raise Unsupported(f"no buffer directive for {p.name}")
        shape = directives.evaluate(line.shape, self.values)
        count = math.prod(shape)
        if count > ELEMENTS:
            raise Unsupported("too many elements in a buffer")
        strides = directives.evaluate(line.strides, self.values) if line.strides else None
        if strides is None:
            strides = [math.prod(shape[i + 1:]) for i in range(len(shape))]
        strides = strides if isinstance(strides, (list, tuple)) else (strides,)
        physical = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides)) if count else 0
        buffer = memory.Buffer(p.name, index + 1, p.dtype, physical * p.dtype.bytes)
        offsets = [0]
        for size, stride in zip(shape, strides):
            offsets = [o + stride * i for o in offsets for i in range(size)]
        buffer.offsets, buffer.role = (offsets if count else []), line.role
        text = self.given.get(p.name, self.kernel.defaults.get(p.name, "zeros" if line.role == "zeros" else "random"))
        buffer.is_given = line.role != "output" or p.name in self.kernel.defaults or p.name in self.given
        buffer.readable = buffer.is_given
        if buffer.is_given:
            elements = directives.filling(text, p.dtype, count, self.values, directives.seeded(self.name, p.name))
            for offset, element in zip(buffer.offsets, elements):
                start = offset * p.dtype.bytes
                buffer.bytes[start:start + p.dtype.bytes] = dt.encode(p.dtype, element)
        return buffer

    def dense(self, name):
        """The bytes of the logical elements in row-major order, and for each whether the kernel has written it."""
        buffer = self.buffers[name]
        size = buffer.dtype.bytes
        data = b"".join(buffer.bytes[o * size:(o + 1) * size] for o in buffer.offsets)
        return data, [buffer.written[o * size] for o in buffer.offsets]

    def execute(self):
        values.limit["elements"] = ELEMENTS
        values.language["is_tile1"] = self.std == "tile1"
        arguments = {}
        for p in self.kernel.parameters:
            if p.kind == "pointer":
                arguments[p.name] = Value(dt.pointer_type(p.dtype), (), [self.buffers[p.name].address])
            else:
                value = self.values[p.name]
                arguments[p.name] = Value(p.dtype, (), [value]) if p.kind == "scalar" else value
        grid = directives.evaluate(self.kernel.grid, self.values)
        grid = tuple(grid) if isinstance(grid, tuple) else (grid,)
        self.module.run(self.name, arguments, grid + (1,) * (3 - len(grid)))


def differences(dtype, ours, theirs, written, within):
    """What is different, as texts; theirs and ours are bytes of elements."""
    size = dtype.bytes
    pairs = [(i, dt.decode(dtype, ours[i * size:(i + 1) * size]), dt.decode(dtype, theirs[i * size:(i + 1) * size]))
             for i, is_written in enumerate(written) if is_written]
    if dtype.kind < 2:
        return [f"[{i}] is {b}, in Python {a}" for i, a, b in pairs if a != b]
    finite = [a for _, a, _ in pairs if math.isfinite(a)]
    rms = math.sqrt(sum(a * a for a in finite) / len(finite)) if finite and max(map(abs, finite)) < 1e150 else 0

    def same(a, b):
        if a == b or (a != a and b != b):
            return True
        return math.isfinite(a) and math.isfinite(b) and abs(a - b) <= within * (abs(a) + 10 * rms)

    return [f"[{i}] is {b!r}, in Python {a!r}" for i, a, b in pairs if not same(a, b)]


def compare(run, tilec, options=(), within=None):
    """Runs tilec on the inputs of a Run, executes the Run, and returns the differences."""
    with tempfile.TemporaryDirectory() as folder:
        command = [tilec, "run", run.path, f"--kernel={run.name}", f"--std={run.std}", "--device=interp", "-w"]
        command += options
        command += [word for name, text in run.constants.items() for word in ("-D", f"{name}={text}")]
        for p in run.kernel.parameters:
            if p.kind == "scalar":
                command.append(f"{p.name}={run.values[p.name]!r}")
            elif p.kind == "pointer":
                file = os.path.join(folder, p.name)
                if run.buffers[p.name].is_given:
                    with open(file, "wb") as out:
                        out.write(run.dense(p.name)[0])
                    command.append(f"{p.name}={file}")
                command.append(f"--save={p.name}={file}.out")
        error = None
        try:
            run.execute()
        except KernelError as caught:
            error = caught
        result = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if result.returncode or error:
            if result.returncode and error:
                return []
            return [f"tilec: {result.stderr.strip()}" if result.returncode else f"in Python: {error}"]
        found = []
        for name, buffer in run.buffers.items():
            ours, written = run.dense(name)
            with open(os.path.join(folder, name + ".out"), "rb") as file:
                theirs = file.read()
            tolerance = WITHIN.get(buffer.dtype.name) if within is None else within
            found += [name + text for text in differences(buffer.dtype, ours, theirs, written, tolerance)]
        return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("assignments", nargs="*")
    parser.add_argument("--kernel")
    parser.add_argument("-D", dest="constants", action="append", default=[])
    parser.add_argument("--save", action="append", default=[])
    parser.add_argument("--std", default="triton")
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--tilec", default="tilec")
    parser.add_argument("--option", action="append", default=[])
    parser.add_argument("--within", type=float)
    options = parser.parse_intermixed_args()
    try:
        run = Run(options.file, options.kernel, options.assignments, options.constants, options.std)
        if options.compare:
            found = compare(run, options.tilec, options.option, options.within)
            for text in found[:10]:
                print(f"{options.file}: {text}")
            if found:
                sys.exit(f"{options.file}: {run.name}: {len(found)} differences")
            print(f"{run.name}: as in Python")
        else:
            run.execute()
    except (Unsupported, KernelError) as error:
        sys.exit(f"{options.file}: {error}")
    for word in options.save:
        name, file = word.split("=", 1)
        with open(file, "wb") as out:
            out.write(run.dense(name)[0])


if __name__ == "__main__":
    main()
