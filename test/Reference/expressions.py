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
        return self.dtype is dt.int1


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
        return Expression(f"({number})" if number < 0 else str(number), None, (), number)

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
        dtype = self.pick([t for t in INTEGERS if t.low <= e.number <= t.high])
        return Expression(f"tl.full([], {e.text}, {TYPE_NAMES[dtype]})", dtype)

    def cast(self, e, dtype):
        e = self.strong(e)
        return e if e.dtype is dtype else Expression(f"({e.text}).to({TYPE_NAMES[dtype]})", dtype, e.shape)

    def integer(self, e):
        if e.is_weak or e.dtype.kind == 1:
            return e
        return self.cast(e, self.pick(INTEGERS))

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
            return Expression(f"tl.full([8], {e.text}, {TYPE_NAMES[dtype]})", dtype, BLOCK)
        return self.cast(e, dtype)

    def operands(self, divides=False, integers=False, depth=2):
        a, b = self.expression(depth), self.expression(depth)
        if integers:
            a, b = self.integer(a), self.integer(b)
        for e in (a, b):
            if e.is_bool:
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
            if not -2**31 <= number < 2**31:
                raise Retry
            return Expression(text, None, (), number)
        return Expression(text, dtype, max(a.shape, b.shape))

    def arithmetic(self, depth):
        a, b = self.operands(depth=depth)
        sign = self.pick("+-*")
        operation = {"+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y}[sign]
        return self.combine(f"({a.text} {sign} {b.text})", a, b, self.joined_type(a, b), operation)

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
            if a.is_weak and b.is_weak and self.chance(0.5):
                return Expression(f"({a.text} if {self.condition(1).text} else {b.text})", dt.int32)
            a = self.strong(a)
            b = self.of(b, a.dtype, a.shape)
            return Expression(f"({a.text} if {self.condition(1).text} else {b.text})", a.dtype, a.shape)
        if a.is_weak and b.is_weak:
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

    def element(self, depth):
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
                               self.choice, self.call, self.element, self.conversion, self.comparison,
                               lambda depth: self.leaf()])
            try:
                e = maker(depth - 1)
            except Retry:
                continue
            if len(e.text) < 160:
                return e
        return self.leaf()
