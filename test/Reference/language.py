# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The modules that a kernel imports, and the execution of a file by Python's exec."""
import __future__
import builtins

import contextlib
import math
import types

import dtypes as dt
import memory
import operations as ops
import reductions
import rewriting
from values import language as dialect
from values import (WEAK, KernelError, Unsupported, Value, cast, common_shape, elementwise, promote_integers, remainder,
                    settle, to_value)

launch = {"id": (0, 0, 0), "grid": (1, 1, 1)}


class UnknownName(Unsupported, AttributeError):
    pass


class Namespace(types.ModuleType):
    """A module of which unknown names are reported."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise UnknownName(f"{self.__name__}.{name}")


class _OfConstants(type):
    def __instancecheck__(cls, value):
        return isinstance(value, (*WEAK, str, type(None)))


class constexpr(metaclass=_OfConstants):
    """tl.constexpr(x) is x: a Python value is a constant already."""

    def __new__(cls, value):
        return value


def program_id(axis):
    return Value(dt.int64 if dialect["is_tile1"] else dt.int32, (), [launch["id"][axis]])


def num_programs(axis):
    return Value(dt.int64 if dialect["is_tile1"] else dt.int32, (), [launch["grid"][axis]])


def run_time_range(*bounds, step=None, **hints):
    low, high = (0, *bounds)[-2:] if len(bounds) < 3 else bounds[:2]
    step = bounds[2] if len(bounds) == 3 else 1 if step is None else step
    is_down = isinstance(step, int) and step < 0
    low, high, step = to_value(low), to_value(high), to_value(abs(step) if is_down else step)
    dtype = promote_integers(promote_integers(low.dtype, high.dtype), step.dtype)
    low, high, step = (cast(bound, dtype).data[0] for bound in (low, high, step))
    for i in range(low, high, -step if is_down else step):
        yield Value(dtype, (), [i])


def static_range(*bounds, step=None):
    return range(*bounds) if step is None else range(*([0] * (2 - len(bounds)) + list(bounds) + [step]))


def python_extremum(larger):
    python, reduction = (max, reductions.maximum_of) if larger else (min, reductions.minimum_of)
    binary = ops.maximum if larger else ops.minimum

    def apply(*values, **options):
        if len(values) == 1 and isinstance(values[0], Value):
            return reduction(values[0], **options)
        values = values[0] if len(values) == 1 else values
        if all(isinstance(value, WEAK) for value in values):
            return python(values)
        total = values[0]
        for value in values[1:]:
            total = binary(total, value)
        return total
    return apply


def logical(decides, *operands):
    """`or` (decides is True) and `and`: a constant that decides ends the evaluation, other constants drop out."""
    result = last = None
    for operand in operands:
        last = operand()
        if isinstance(last, Value):
            if result is not None and not (last.dtype is result.dtype is dt.int1):
                raise Unsupported("'and' and 'or' of numbers")
            result = last if result is None else result | last if decides else result & last
        elif bool(last) == decides:
            return last
    return last if result is None else result


def negation(x):
    return Value(dt.int1, x.shape, [int(not e) for e in x.data]) if isinstance(x, Value) else not x


def conditional(test, body, orelse):
    chosen = body() if test else orelse()
    return settle(chosen) if isinstance(test, Value) else chosen


def branch(flow, test):
    if isinstance(test, Value):
        flow.append(True)
    return test


def returned(flow, value):
    return settle(value) if flow else value


def python_assert(cond):
    """An assertion about run-time values counts in debug builds only."""
    if not isinstance(cond, Value) and not cond:
        raise KernelError("a failed assert")


def static_assert(cond, msg=""):
    if isinstance(cond, Value):
        raise Unsupported("static_assert of a value that is no constant here")
    if not cond:
        raise KernelError(f"a failed static_assert {msg}")


def hint(input, values=None, **others):
    return input


def nothing(*values, **options):
    return None


def has_attribute(value, name):
    try:
        getattr(value, name)
        return True
    except (AttributeError, Unsupported):
        return False


def frozen(x):
    """Lists are tuples in the language."""
    is_list = isinstance(x, (list, tuple, type({}.items()))) and not hasattr(x, "_fields")
    return tuple(frozen(item) for item in x) if is_list else x


def constexpr_function(function):
    return lambda *values, **options: frozen(function(*values, **options))


def map_elementwise(scalar_fn, *args, pack=1):
    if pack != 1:
        raise Unsupported("map_elementwise of packs")
    args = [ops.broadcast_to_shape(a, common_shape(*map(to_value, args))) for a in args]
    results = [reductions.as_tuple(scalar_fn(*(Value(a.dtype, (), [e]) for a, e in zip(args, elements))))
               for elements in zip(*(a.data for a in args))]
    columns = tuple(Value(column[0].dtype, args[0].shape, [v.data[0] for v in column]) for column in zip(*results))
    return columns if len(columns) > 1 else columns[0]


OPERATIONS = """arange broadcast cat cdiv clamp fdiv fma full interleave join maximum minimum swizzle2d tanh umulhi
    where zeros zeros_like dot philox philox_impl rand rand4x randint randint4x randn uint_to_uniform_float
    pair_uniform_to_normal"""
METHODS = """argmax argmin associative_scan cast ceil cos cumprod cumsum erf exp exp2 expand_dims flip floor gather
    histogram item log log2 ravel reduce reduce_or reshape rsqrt sigmoid sin softmax sort split sqrt topk
    trans xor_sum"""
ACCESSES = "advance load store"
ATOMICS = "atomic_add atomic_and atomic_cas atomic_max atomic_min atomic_or atomic_xchg atomic_xor"


def functions():
    """The functions of tl by name; the methods of values become members of Value."""
    methods = {name: getattr(reductions, name, None) or getattr(ops, name) for name in METHODS.split()}
    methods.update({name: getattr(memory, name) for name in ATOMICS.split()})
    methods.update({"to": ops.cast, "view": ops.reshape, "permute": ops.trans, "broadcast_to": ops.broadcast_to_shape,
                    "abs": ops.absolute, "sum": reductions.sum_of, "max": reductions.maximum_of,
                    "min": reductions.minimum_of, "logical_and": lambda x, y: x & y, "logical_or": lambda x, y: x | y})
    for name, function in methods.items():
        setattr(Value, name, lambda self, *a, f=function, **k: f(self, *a, **k))
    table = {name: getattr(reductions, name, None) or getattr(ops, name) for name in OPERATIONS.split()}
    table.update({name: getattr(memory, name) for name in ACCESSES.split()}, **methods)
    table.update({"to_tensor": to_value, "sqrt_rn": ops.sqrt, "div_rn": ops.fdiv, "map_elementwise": map_elementwise,
                  "add": lambda x, y, sanitize_overflow=True: x + y,
                  "sub": lambda x, y, sanitize_overflow=True: x - y,
                  "mul": lambda x, y, sanitize_overflow=True: x * y,
                  "make_block_ptr": memory.BlockPointer, "make_tensor_descriptor": memory.Descriptor,
                  "load_tensor_descriptor": lambda desc, offsets: desc.load(offsets),
                  "store_tensor_descriptor": lambda desc, offsets, value: desc.store(offsets, value)})
    table.update({"program_id": program_id, "num_programs": num_programs, "range": run_time_range,
                  "static_range": static_range, "condition": lambda test, **hints: test, "assume": nothing,
                  "static_assert": static_assert, "static_print": nothing, "device_print": nothing,
                  "device_assert": nothing, "debug_barrier": nothing, "multiple_of": hint, "max_contiguous": hint,
                  "max_constancy": hint, "gdc_wait": nothing, "gdc_launch_dependents": nothing})
    return table


def make_libdevice():
    """libdevice, as far as Python's math module has it; `extra`, `extra.cuda` and itself in one."""
    module = Namespace("libdevice")
    binary = {"atan2": math.atan2, "copysign": math.copysign, "hypot": math.hypot, "fmod": remainder}
    names = "acos acosh asin asinh atan atanh cos cosh erf erfc exp expm1 fabs log10 log1p sin sinh tan tanh"
    unary = {name: getattr(math, name) for name in names.split()}
    unary.update({"trunc": ops.rounding(math.trunc), "rint": ops.rounding(round), "nearbyint": ops.rounding(round),
                  "round": ops.rounding(lambda x: math.floor(abs(x) + 0.5)), "exp2": lambda x: math.pow(2.0, x)})
    for name, function in unary.items():
        setattr(module, name, ops.unary(lambda x, f=function: ops.safe(f, x)))
    for name, function in binary.items():
        setattr(module, name, lambda x, y, f=function: elementwise(*ops.typed(x, y, f)))
    for name in ("floor", "ceil", "sqrt", "rsqrt", "log", "log2", "fma", "umulhi"):
        setattr(module, name, getattr(ops, name))
    module.isnan = ops.classify(math.isnan)
    module.isinf = ops.classify(math.isinf)
    module.abs = ops.absolute
    module.div_rn, module.sqrt_rn = ops.fdiv, ops.sqrt
    module.libdevice = module.cuda = module
    return module


def make_modules():
    """The modules by their names in import statements."""
    tl, libdevice = Namespace("triton.language"), make_libdevice()
    vars(tl).update(functions())
    vars(tl).update({dtype.name: dtype for dtype in dt.ALL})
    vars(tl).update({name: dt.NAMES[name] for name in ("float16", "bfloat16", "float32", "float64",
                                                                     "float8e4nv", "float8e5")})
    vars(tl).update({"constexpr": constexpr, "tensor": Value, "dtype": dt.DType, "pointer_type": dt.pointer_type,
                     "PropagateNan": types.SimpleNamespace(ALL=True, NONE=False), "tuple": tuple,
                     "tensor_descriptor": memory.Descriptor,
                     "core": tl, "_aggregate": lambda cls: cls, "math": tl, "standard": tl,
                     "TRITON_MAX_TENSOR_NUMEL": 1048576,
                     "ReductionOrdering": types.SimpleNamespace(UNORDERED=0, INNER_TREE=1), "extra": libdevice})
    triton = Namespace("triton")
    vars(triton).update({"language": tl, "cdiv": ops.cdiv, "constexpr_function": constexpr_function,
                         "next_power_of_2": lambda n: 1 << (n - 1).bit_length() if n > 0 else 0})
    vars(tl).update({"cdiv": ops.cdiv, "next_power_of_2": triton.next_power_of_2})
    profiler = Namespace("triton.profiler.language")
    profiler.scope = lambda *a: contextlib.nullcontext()
    triton.profiler = profiler.language = profiler
    return {"triton": triton, "tl": tl, "tile": triton, "math": math, "triton.language": tl,
            "triton.language.core": tl, "triton.language.extra": libdevice, "triton.language.extra.cuda": libdevice,
            "triton.profiler.language": profiler}


class Module:
    """The names of a file after its statements have run; those that do not run here are left out."""

    def __init__(self, path):
        self.path = path
        with open(path) as file:
            self.source = file.read()
        self.modules = make_modules()
        tl = self.modules["tl"]
        python = {"range": run_time_range, "min": python_extremum(False), "max": python_extremum(True),
                  "abs": ops.absolute, "sum": reductions.sum_of, "print": nothing, "isinstance": isinstance,
                  "hasattr": has_attribute}
        of_python = dir(builtins)
        self.names = {n: value for n, value in vars(tl).items() if not n.startswith("__") and n not in of_python}
        for name in (*rewriting.PYTHON_NAMES, "tuple"):
            self.names.pop(name, None)
        self.names.update({f"_tl_{name}": value for name, value in python.items()})
        self.names.update({name: dtype for name, dtype in dt.NAMES.items() if name not in ("int", "float", "bool")})
        self.names.update({"tl": tl, "triton": self.modules["triton"], "tile": self.modules["tile"], "_settle_": settle,
                           "_logical_": logical, "_not_": negation, "_conditional_": conditional, "_branch_": branch,
                           "_returned_": returned, "_assert_": python_assert})
        self.names["__builtins__"] = dict(vars(builtins), __import__=self.find)
        for statement in rewriting.rewrite(self.source, path):
            code = compile(statement, path, "exec", flags=__future__.annotations.compiler_flag)
            with contextlib.suppress(Exception):
                exec(code, self.names)

    def find(self, name, globals=None, locals=None, fromlist=(), level=0):
        if name in ("enum", "typing", "collections"):
            return builtins.__import__(name)
        if name not in self.modules or level:
            raise ImportError(name)
        return self.modules[name if fromlist else name.split(".")[0]]

    def run(self, kernel, arguments, grid):
        """Runs the programs one after the other, x fastest."""
        if kernel not in self.names:
            raise Unsupported(f"{kernel} does not load here")
        launch["grid"] = grid
        for z in range(grid[2]):
            for y in range(grid[1]):
                for x in range(grid[0]):
                    launch["id"] = (x, y, z)
                    self.names[kernel](**arguments)
