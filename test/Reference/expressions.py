# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random expressions, whose types are tracked by the rules of values.py."""
import dataclasses

import dtypes as dt
import reductions
import values

INTEGERS = [dt.int8, dt.int16, dt.int32, dt.int32, dt.int32, dt.int64, dt.uint8, dt.uint16, dt.uint32, dt.uint64]
FLOATS = [dt.float16, dt.bfloat16, dt.float32, dt.float32, dt.float64]
FLOAT_NAMES = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}
TYPE_NAMES = {dtype: "tl." + FLOAT_NAMES.get(dtype.name, dtype.name) for dtype in dt.ALL}
BLOCK = (8,)
LOADED = [dt.int8, dt.uint8, dt.int16, dt.int32, dt.uint32, dt.int64, dt.float16, dt.float32]


class Retry(Exception):
    """What was about to be written is not in the language."""


@dataclasses.dataclass
class Expression:
    text: str
    dtype: object = None  # None: a literal, whose value is known
    shape: tuple = ()
    number: object = None

    @property
    def is_weak(self):
        return self.dtype is None

    @property
    def is_bool(self):
        return self.dtype is dt.int1 or isinstance(self.number, bool)

    @property
    def is_float(self):
        return isinstance(self.number, float) if self.dtype is None else self.dtype.kind == 2


@dataclasses.dataclass
class Helper:
    name: str
    parameters: list  # (name, type or None of a constexpr, default text or None)
    results: list  # types


class ExpressionWriter:
    """Writes expressions of what is in scope."""

    def __init__(self, generator, helpers, constants):
        self.random = generator
        self.helpers = helpers
        self.lines = []
        self.indent = 1
        self.scope = {name: Expression(name, None, (), number) for name, number in constants.items()}
        self.outer = set()  # names that keep their types here
        self.protected = set()
        self.fresh = 0
        self.slots = None  # next free element of the outputs, in kernels
        self.has_jumps = False  # --std=tile1
        self.loops = 0  # around the code that is written
        self.returned = lambda: "return"

    # Choices

    def chance(self, share):
        return self.random.random() < share

    def pick(self, items):
        return self.random.choice(list(items))

    def line(self, text):
        self.lines.append("    " * self.indent + text)

    def new_name(self):
        self.fresh += 1
        return f"v{self.fresh}"

    def named(self, wanted):
        return [e for e in self.scope.values() if isinstance(e, Expression) and wanted(e)]

    # Expressions

    def literal(self):
        number = self.pick([0, 1, 1, 2, 3, 5, 7, 8, 15, 100, -1, -2, -3, -7])
        if self.chance(0.12):
            number = self.pick([2**31, 2**31 - 1, -2**31, 2**32 - 1, 2**32, 2**40 + 1, 2**63, -2**63 + 1,
                                0x9E3779B9, 255, 128])
        elif self.chance(0.12):
            number = self.pick([0.5, 1.5, -0.25, 3.0, 1e10, 1e-3, True, False])
        text = self.pick([str(number), hex(number)]) if isinstance(number, int) and number > 1000 else repr(number)
        return Expression(f"({text})" if number < 0 else text, None, (), number)

    def leaf(self):
        known = self.named(lambda e: True)
        roll = self.random.random()
        if roll < 0.2 or not known:
            return self.literal()
        if roll < 0.3 and self.slots is not None:
            dtype = self.pick(LOADED)
            if self.chance(0.3):
                return Expression(f"tl.load(x_{dtype.name} + lane)", dtype, BLOCK)
            index = self.integer(self.leaf())
            if index.shape == ():
                return Expression(f"tl.load(x_{dtype.name} + ({index.text} & 7))", dtype)
            return self.leaf()
        return self.pick(known)

    def strong(self, e):
        """The expression as a value of run time."""
        if not e.is_weak:
            return e
        if isinstance(e.number, bool):
            dtype = dt.int1
        elif e.is_float:
            dtype = self.pick(FLOATS)
        else:
            dtype = self.pick([t for t in INTEGERS if t.low <= e.number <= t.high])
        return Expression(f"tl.full([], {e.text}, {TYPE_NAMES[dtype]})", dtype)

    def cast(self, e, dtype):
        e = self.strong(e)
        return e if e.dtype is dtype else Expression(f"({e.text}).to({TYPE_NAMES[dtype]})", dtype, e.shape)

    def integer(self, e):
        if e.is_bool or e.is_float:
            return self.cast(e, self.pick(INTEGERS))
        return e

    def scalar(self, e):
        if e.shape == ():
            return e
        if e.is_bool or e.dtype.kind == 2:
            e = self.cast(e, dt.int32)
        sums = ("tl.sum", reductions.summed_type(e.dtype))
        function, dtype = self.pick([sums, ("tl.max", reductions.compared_type(e.dtype))])
        return Expression(f"{function}({e.text}, 0)", dtype)

    def of(self, e, dtype, shape):
        """The expression converted to a type and a shape."""
        if shape == ():
            return self.cast(self.scalar(e), dtype)
        if e.shape == ():
            e = self.strong(e) if e.is_float else e  # constants beyond the type are no conversions
            return Expression(f"tl.full([8], {e.text}, {TYPE_NAMES[dtype]})", dtype, BLOCK)
        return self.cast(e, dtype)

    def operands(self, divides=False, integers=False, depth=2):
        a, b = self.expression(depth), self.expression(depth)
        if integers:
            a, b = self.integer(a), self.integer(b)
        if a.is_bool and b.is_bool and not integers:
            raise Retry
        return a, b

    def joined_type(self, a, b, divides=False):
        try:
            if a.is_weak and b.is_weak:
                return None
            if a.is_weak:
                return values.weak_type(a.number, b.dtype, divides)
            if b.is_weak:
                return values.weak_type(b.number, a.dtype, divides)
            return values.promoted_type(a.dtype, b.dtype, divides)
        except TypeError:
            raise Retry from None

    def combine(self, text, a, b, dtype, operation):
        if dtype is None:
            number = operation(a.number, b.number)
            if not -2**63 <= number < 2**64:
                raise Retry
            return Expression(text, None, (), number)
        return Expression(text, dtype, max(a.shape, b.shape))

    def arithmetic(self, depth):
        a, b = self.operands(depth=depth)
        sign = self.pick("+-*")
        operation = {"+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y}[sign]
        return self.combine(f"({a.text} {sign} {b.text})", a, b, self.joined_type(a, b), operation)

    def quotient(self, depth):
        """True division by what is exact."""
        a = self.expression(depth)
        if a.is_weak or a.is_bool:
            raise Retry
        divisor = self.pick(["2", "4.0", "-0.5", "8"] if a.is_float or a.dtype.signed else ["2", "4.0", "8"])
        dtype = a.dtype if a.dtype in (dt.float32, dt.float64) else dt.float32
        return Expression(f"({a.text} / {divisor})", dtype, a.shape)

    def bitwise(self, depth):
        a, b = self.operands(integers=True, depth=depth)
        sign = self.pick("&|^")
        operation = {"&": lambda x, y: x & y, "|": lambda x, y: x | y, "^": lambda x, y: x ^ y}[sign]
        return self.combine(f"({a.text} {sign} {b.text})", a, b, self.joined_type(a, b), operation)

    def division(self, depth):
        a, b = self.operands(integers=True, depth=depth)
        sign = self.pick(["//", "%"])
        if b.is_weak and b.number == 0:
            raise Retry
        divisor = b if b.is_weak else Expression(f"({b.text} | 1)", b.dtype, b.shape)
        operation = {"//": lambda x, y: x // y, "%": lambda x, y: x % y}[sign]
        dtype = self.joined_type(a, divisor, True)
        return self.combine(f"({a.text} {sign} {divisor.text})", a, divisor, dtype, operation)

    def shift(self, depth):
        a, b = self.operands(integers=True, depth=depth)
        sign = self.pick(["<<", ">>"])
        mask = self.pick([3, 7, 31])
        if b.is_weak:
            b = Expression(str(b.number & mask), None, (), b.number & mask)
        else:
            b = Expression(f"({b.text} & {mask})", b.dtype, b.shape)
        operation = {"<<": lambda x, y: x << y, ">>": lambda x, y: x >> y}[sign]
        return self.combine(f"({a.text} {sign} {b.text})", a, b, self.joined_type(a, b), operation)

    def comparison(self, depth):
        a, b = self.operands(depth=depth)
        if a.is_weak and b.is_weak:
            a = self.strong(a)
        sign = self.pick(["<", "<=", ">", ">=", "==", "!="])
        return Expression(f"({a.text} {sign} {b.text})", dt.int1, max(a.shape, b.shape))

    def condition(self, depth=2):
        """A scalar that decides at run time."""
        for _ in range(20):
            try:
                e = self.comparison(depth)
            except Retry:
                continue
            if e.shape == ():
                roll = self.random.random()
                if roll < 0.15:
                    return Expression(f"(not {e.text})", dt.int1)
                if roll < 0.4:
                    return Expression(f"({e.text} {self.pick(['and', 'or'])} {self.condition(1).text})", dt.int1)
                return e
        return Expression("(tl.program_id(0) < 1)", dt.int1)

    def unary(self, depth):
        e = self.expression(depth)
        if e.is_weak:
            if e.is_bool or e.is_float:
                raise Retry
            return self.combine(f"(-{e.text})", e, e, None, lambda x, _: -x)
        if e.is_bool:
            return Expression(f"(~{e.text})", e.dtype, e.shape)
        signs = ["-", "~"] if e.dtype.kind == 1 else ["-"]
        if e.dtype.kind == 1 and self.chance(0.2):
            return Expression(f"tl.abs({e.text})", e.dtype, e.shape)
        return Expression(f"({self.pick(signs)}{e.text})", e.dtype, e.shape)

    def choice(self, depth):
        """tl.where, a conditional expression, or an extremum."""
        kind = self.pick(["where", "if", "if", "min", "tl"])
        a, b = self.operands(depth=depth)
        if kind == "where":
            c = self.comparison(depth)
            a = self.strong(a)
            shape = max(a.shape, b.shape, c.shape)
            return Expression(f"tl.where({c.text}, {a.text}, {b.text})", self.joined_type(a, b), shape)
        if kind == "if":
            if a.is_weak and b.is_weak and dt.literal_type(a.number) is dt.literal_type(b.number) and self.chance(0.7):
                return Expression(f"({a.text} if {self.condition(1).text} else {b.text})", dt.literal_type(a.number))
            a = self.strong(a)
            b = self.of(b, a.dtype, a.shape)
            return Expression(f"({a.text} if {self.condition(1).text} else {b.text})", a.dtype, a.shape)
        if (a.is_weak and b.is_weak) or a.is_bool or b.is_bool:
            raise Retry
        types = [dt.literal_type(e.number) if e.is_weak else e.dtype for e in (a, b)]
        types = [dt.float32 if t is dt.bfloat16 else t for t in types]
        function = self.pick(["min", "max"] if kind == "min" else ["tl.minimum", "tl.maximum"])
        return Expression(f"{function}({a.text}, {b.text})", values.promoted_type(*types), max(a.shape, b.shape))

    def call(self, depth):
        if not self.helpers:
            raise Retry
        helper = self.pick(self.helpers)
        text = self.call_text(helper, depth)
        i = self.random.randrange(len(helper.results))
        return Expression(f"{text}[{i}]" if len(helper.results) > 1 else text, helper.results[i])

    def call_text(self, helper, depth):
        words = []
        by_name = False
        for i, (name, dtype, default) in enumerate(helper.parameters):
            if default is not None and self.chance(0.4):
                by_name = True
                continue
            if dtype is None:
                value = str(self.random.randrange(4))
            else:
                value = self.of(self.expression(depth - 1), dtype, ()).text
            words.append(f"{name}={value}" if by_name else value)
        return f"{helper.name}({', '.join(words)})"

    def block(self, depth):
        """A function of a block of eight that gives another one."""
        e = self.of(self.expression(depth), self.pick(INTEGERS), BLOCK)
        if e.shape != BLOCK:
            raise Retry
        x, index = e.text, self.of(self.expression(0), dt.int32, BLOCK).text
        rows = f"tl.reshape({x}, [2, 4])"
        spread = "tl.reshape(tl.broadcast_to(tl.expand_dims({}, {}), [2, 4]), [8])"
        kind = self.random.randrange(12)
        if kind < 7:
            halves = f"tl.split(tl.reshape({x}, [4, 2]))"
            text = [f"tl.flip({x})", f"tl.sort({x})", f"tl.gather({x}, {index} & 7, 0)",
                    f"tl.reshape(tl.trans({rows}), [8])", f"tl.interleave(*{halves})",
                    f"tl.ravel(tl.join(*{halves}[::-1]))", f"({rows}).permute(1, 0).ravel()"][kind]
            return Expression(text, e.dtype, BLOCK)
        axis = self.random.randrange(2)
        if kind == 7:
            return Expression(spread.format(f"tl.sum({rows}, {axis})", axis), reductions.summed_type(e.dtype), BLOCK)
        if kind == 8:
            function = self.pick(["max", "min"])
            dtype = reductions.compared_type(e.dtype)
            return Expression(spread.format(f"tl.{function}({rows}, {axis})", axis), dtype, BLOCK)
        if kind == 9:
            function = self.pick(["argmax", "argmin"])
            return Expression(spread.format(f"tl.{function}({rows}, {axis})", axis), dt.int32, BLOCK)
        if kind == 11 and self.has_jumps:
            raise Retry
        if kind == 10:
            return Expression(f"tl.cumsum({x}, 0)", reductions.summed_type(e.dtype), BLOCK)
        return Expression(f"tl.cumsum({x}, 0, reverse=True)", reductions.summed_type(e.dtype), BLOCK)

    def through_pointer(self, depth):
        pointers = [(name, p) for name, p in self.scope.items() if isinstance(p, tuple)]
        if not pointers:
            raise Retry
        name, (dtype,) = self.pick(pointers)
        index = self.integer(self.expression(depth - 1))
        text = f"{name} + ({index.text} & 7)"
        if self.chance(0.3):
            return Expression(f"tl.load({text}, mask={self.condition(1).text}, other=3)", dtype, index.shape)
        return Expression(f"tl.load({text})", dtype, index.shape)

    def element(self, depth):
        if self.has_jumps and self.chance(0.5):
            e = self.of(self.expression(depth - 1), self.pick(INTEGERS), BLOCK)
            index = self.pick(["-1", "3", f"{self.of(self.expression(0), dt.int32, ()).text} & 7"])
            return Expression(f"({e.text})[{index}]", e.dtype)
        tuples = [(name, e) for name, e in self.scope.items() if isinstance(e, list)]
        if not tuples:
            raise Retry
        name, items = self.pick(tuples)
        while isinstance(items, list):
            i = self.random.randrange(len(items))
            name, items = f"{name}[{i}]", items[i]
        return Expression(name, items.dtype, items.shape)

    def conversion(self, depth):
        return self.cast(self.expression(depth), self.pick(INTEGERS + FLOATS))

    def expression(self, depth=2):
        if depth <= 0:
            return self.leaf()
        for _ in range(8):
            maker = self.pick([self.arithmetic, self.arithmetic, self.bitwise, self.division, self.shift, self.unary,
                               self.choice, self.call, self.element, self.conversion, self.comparison, self.quotient,
                               self.block, self.through_pointer,
                               lambda depth: self.leaf()])
            try:
                e = maker(depth - 1)
            except Retry:
                continue
            if len(e.text) < 160:
                return e
        return self.leaf()
