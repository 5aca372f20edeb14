# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of a file with their parameters, and what the `#:` lines above them say (tools/docs/pages/directives.md)."""
import ast
import dataclasses
import math
import random
import re

import dtypes as dt
import rewriting
from values import Unsupported


@dataclasses.dataclass(eq=False)
class Parameter:
    name: str
    kind: str  # pointer, scalar or constexpr
    dtype: object = None
    default: object = None


@dataclasses.dataclass
class BufferLine:
    shape: str
    strides: str
    role: str


@dataclasses.dataclass
class Kernel:
    name: str
    parameters: list
    grid: str = None
    buffers: dict = dataclasses.field(default_factory=dict)
    defaults: dict = dataclasses.field(default_factory=dict)
    within: dict = dataclasses.field(default_factory=dict)


def parameter_of(argument, default):
    annotation = argument.annotation
    if annotation is None:
        return Parameter(argument.arg, "constexpr", None, default)
    text = annotation.value if isinstance(annotation, ast.Constant) else ast.unparse(annotation)
    if "constexpr" in str(text):
        return Parameter(argument.arg, "constexpr", None, default)
    pointer = re.fullmatch(r"(?:\*k?|ptr\[)([a-z]+\d*\w*)(?:, *\d+)?\]?(?::\d+)?", str(text))
    if pointer and pointer[1] in dt.NAMES:
        return Parameter(argument.arg, "pointer", dt.NAMES[pointer[1]], default)
    scalar = re.fullmatch(r"(?:tl\.)?([a-z]+\d*)(?:\[\d+\]|:\d+)?", str(text))
    if scalar and scalar[1] in dt.NAMES:
        return Parameter(argument.arg, "scalar", dt.NAMES[scalar[1]], default)
    raise Unsupported(f"a parameter of type {text}")


def directive_lines(lines, first):
    """The directives in the comments above line `first` (from 0), those in open brackets joined."""
    block = []
    for line in reversed(lines[:first]):
        if not line.startswith("#"):
            break
        if line.startswith("#:"):
            block.insert(0, line[2:].strip())
    joined = []
    for line in block:
        if joined and sum(joined[-1].count(c) for c in "([") > sum(joined[-1].count(c) for c in ")]"):
            joined[-1] += " " + line
        else:
            joined.append(line)
    return joined


def read_directive(kernel, line):
    grid = re.fullmatch(r"grid(\(.*\))", line)
    buffer = re.fullmatch(r"buffer (\w+)(\[.*?\])(?: *strides(\(.*\)))? *= *(\w+)", line)
    default = re.fullmatch(r"default (\w+) *= *(.*)", line)
    expect = re.fullmatch(r"expect (\w+) *==(.*)", line)
    if grid:
        kernel.grid = grid[1]
    elif buffer:
        kernel.buffers[buffer[1]] = BufferLine(buffer[2], buffer[3], buffer[4])
    elif default:
        kernel.defaults[default[1]] = default[2]
    elif expect:
        kernel.within[expect[1]] = expect[2].partition(" within ")[2]


def kernels_of(source, path):
    """Kernels with a grid directive, in order; an exception instead of a Kernel where one is not supported."""
    found, lines = {}, source.split("\n")
    for node in ast.parse(source, path).body:
        if not isinstance(node, ast.FunctionDef) or not rewriting.is_kernel(node):
            continue
        directives = directive_lines(lines, min(d.lineno for d in node.decorator_list) - 1)
        if not any(line.startswith("grid") for line in directives):
            continue
        arguments = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
        defaults = [None] * (len(node.args.args) - len(node.args.defaults)) + node.args.defaults + node.args.kw_defaults
        try:
            kernel = Kernel(node.name, [parameter_of(a, d) for a, d in zip(arguments, defaults)])
            for line in directives:
                read_directive(kernel, line)
        except Unsupported as error:
            kernel = error
        found[node.name] = kernel
    return found


def floor_cdiv(a, b):
    return -(-a // b)


FUNCTIONS = {"cdiv": floor_cdiv, "min": min, "max": max, "abs": abs,
             "next_power_of_2": lambda n: 1 << max(n - 1, 0).bit_length(), "num_sms": 1,
             "sqrt": math.sqrt, "rsqrt": lambda x: 1 / math.sqrt(x), "exp": math.exp, "__builtins__": {}}


def evaluate(text, values):
    """A size or a number of a directive."""
    return eval(text, {**FUNCTIONS, **values})


def random_element(dtype, generator):
    if dtype.kind == 2:
        return dtype.settle(generator.gauss(0, 1))
    if dtype.kind == 0:
        return generator.randrange(2)
    return generator.randrange(-8, 8) if dtype.signed else generator.randrange(16)


def flatten(items):
    return [x for item in items for x in flatten(item)] if isinstance(items, (list, tuple)) else [items]


def filling(text, dtype, count, values, generator):
    """The elements, in row-major order, that a text such as `arange(0, 1)` stands for."""
    if text.startswith("["):
        elements = flatten(evaluate(text, values))
    else:
        name, _, rest = text.partition("(")
        arguments = [a for a in re.split(r",(?![^(]*\))", rest.rpartition(")")[0]) if a.strip()]
        arguments = [evaluate(a, values) for a in arguments if not a.strip().startswith("seed")]
        if name == "arange":
            start, step = arguments or (0, 1)
            elements = [start + step * i for i in range(count)]
        elif name in ("zeros", "ones", "full"):
            elements = [arguments[0] if arguments else int(name == "ones")] * count
        elif name == "randint":
            elements = [generator.randrange(*arguments) for _ in range(count)]
        elif name == "uniform":
            low, high = arguments or (-1.0, 1.0)
            elements = [generator.uniform(low, high) for _ in range(count)]
        elif name == "permutation":
            elements = generator.sample(range(arguments[0] if arguments else count), count)
        elif name == "random":
            return [random_element(dtype, generator) for _ in range(count)]
        else:
            raise Unsupported(f"the filling {text}")
    if dtype.kind == 2:
        return [dtype.settle(float(x)) for x in elements]
    return [min(max(round(x), dtype.low), dtype.high) for x in elements]


def seeded(kernel, name):
    return random.Random(f"{kernel}/{name}")
