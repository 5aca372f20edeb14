#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""generate.py SEED: writes a random kernel about control flow, scopes and types.

Only defined kernels are written: divisors are odd, loops end, indices lie in their buffers, and a name keeps its type
where a loop or a branch changes it. Names and constants are tracked with their types, by the rules of values.py."""
import dataclasses
import random
import sys

import constants
import dtypes as dt
import values
from expressions import BLOCK, INTEGERS, LOADED, TYPE_NAMES, Expression, ExpressionWriter, Helper, Retry



class Writer(ExpressionWriter):
    """Lines of a function, and what is in scope where the next one goes."""

    def assign(self, name=None, e=None):
        """Binds a name; one from outside of a loop or a branch keeps its type."""
        existing = [e.text for e in self.named(lambda e: not e.is_weak and e.text not in self.protected)]
        if name is None:
            name = self.pick(existing) if existing and self.chance(0.6) else self.new_name()
        e = e or self.expression()
        if name in self.outer:
            old = self.scope[name]
            e = self.of(e, old.dtype, old.shape)
        elif self.chance(0.5):
            e = self.strong(e)
        self.line(f"{name} = {e.text}")
        self.scope[name] = Expression(name, e.dtype or dt.literal_type(e.number), e.shape)
        return name

    def augment(self):
        names = self.named(lambda e: not e.is_weak and not e.is_bool and e.text not in self.protected)
        if not names:
            return self.assign()
        old = self.pick(names)
        if old.dtype.kind == 2:
            sign, e = self.pick(["+=", "-=", "*="]), self.of(self.expression(), old.dtype, old.shape)
        else:
            sign = self.pick(["+=", "-=", "*=", "&=", "|=", "^=", "<<=", ">>=", "//=", "%="])
            e = self.of(self.integer(self.expression()), old.dtype, old.shape)
            if sign in ("<<=", ">>="):
                e = dataclasses.replace(e, text=f"({e.text} & 7)")
            elif sign in ("//=", "%="):
                e = dataclasses.replace(e, text=f"({e.text} | 1)")
        self.line(f"{old.text} {sign} {e.text}")

    def constant(self):
        name = "c" + self.new_name()[1:]
        for _ in range(8):
            a, b = (self.pick([self.literal(), *self.named(lambda e: e.is_weak)]) for _ in range(2))
            sign = self.pick(["+", "-", "*", "/", "//", "%", "<<", ">>", "&", "^", "**"])
            if sign in ("<<", ">>", "**") and not 0 <= b.number < 8:
                continue
            try:
                number = eval(f"a {sign} b", {"a": a.number, "b": b.number})
            except (TypeError, ArithmeticError):
                continue
            if not isinstance(number, complex) and abs(number) < 2**62:
                self.line(f"{name}: tl.constexpr = {a.text} {sign} {b.text}")
                self.scope[name] = Expression(name, None, (), number)
                return

    def tuple_statement(self):
        scalars = self.named(lambda e: not e.is_weak and e.text not in self.protected)
        kind = self.pick(["swap", "make", "make", "take"])
        if kind == "swap":
            pairs = [(a, b) for a in scalars for b in scalars
                     if a.text != b.text and (a.dtype, a.shape) == (b.dtype, b.shape)]
            if pairs:
                a, b = self.pick(pairs)
                self.line(f"{a.text}, {b.text} = {b.text}, {a.text}")
        elif kind == "make":
            items = [self.strong(self.expression(1)) for _ in range(3)]
            existing = [n for n, e in self.scope.items() if isinstance(e, list)]
            if existing and self.chance(0.6):
                name = self.pick(existing)
                if name in self.outer:
                    old = self.scope[name]
                    items = [self.of(e, like.dtype, like.shape) for e, like in zip(items, [old[0], *old[1]])]
            else:
                name = "t" + self.new_name()[1:]
            self.line(f"{name} = ({items[0].text}, ({items[1].text}, {items[2].text}))")
            first, *others = [Expression("", e.dtype, e.shape) for e in items]
            self.scope[name] = [first, others]
        else:
            tuples = [n for n, e in self.scope.items() if isinstance(e, list)]
            if tuples:
                name = self.pick(tuples)
                first, (second, third) = self.scope[name]
                names = [self.new_name() for _ in range(3)]
                self.line(f"{names[0]}, ({names[1]}, {names[2]}) = {name}")
                for n, e in zip(names, (first, second, third)):
                    self.scope[n] = Expression(n, e.dtype, e.shape)

    def body(self, count, indent=1):
        """Statements of a branch or a loop, whose new names are gone after it. Returns them."""
        scope, outer = dict(self.scope), set(self.outer)
        self.outer |= set(self.scope)
        self.indent += indent
        for _ in range(count):
            self.statement()
        self.indent -= indent
        inner, self.scope, self.outer = self.scope, scope, outer
        return inner

    def pointer(self):
        """Binds a pointer, to another buffer of its type if the name has one."""
        if self.slots is None:
            return self.assign()
        pointers = [(name, p) for name, p in self.scope.items() if isinstance(p, tuple)]
        index = self.scalar(self.integer(self.expression(1))).text
        if pointers and self.chance(0.6):
            name, (dtype,) = self.pick(pointers)
        else:
            name, dtype = "p" + self.new_name()[1:], self.pick(LOADED)
        sources = [f"x_{dtype.name} + ({index} & 7)", f"y_{dtype.name}", f"y_{dtype.name} + ({index} & 3)"]
        if self.chance(0.3):
            self.line(f"{name} = ({sources[0]}) if {self.condition(1).text} else {sources[1]}")
        else:
            self.line(f"{name} = {self.pick(sources)}")
        self.scope[name] = (dtype,)

    def typed(self):
        """An assertion of what type an expression has."""
        e = self.expression()
        if not e.is_weak:
            self.line(f"tl.static_assert(({e.text}).dtype == {TYPE_NAMES[e.dtype]})")
        else:
            self.assign(None, e)

    def constant_check(self):
        """An assertion of what Python computes."""
        text, result = constants.ConstantWriter(self.random).check()
        self.line(f"tl.static_assert(repr({text}) == {result!r})")

    def comprehension(self):
        scalars = self.named(lambda e: not e.is_weak and not e.is_bool)
        if len(scalars) < 2:
            return
        items = [self.pick(scalars) for _ in range(2)]
        names = [self.new_name() for _ in items]
        sign = self.pick("+-*")
        self.line(f"{', '.join(names)} = [z {sign} 1 for z in ({', '.join(e.text for e in items)})]")
        for name, e in zip(names, items):
            self.scope[name] = Expression(name, e.dtype, e.shape)

    def shadow(self):
        """A name of the file that is another one here; helpers go on with theirs."""
        if self.slots is not None:
            self.assign("S", self.strong(self.expression()))

    def branches(self):
        """An `if`, after which some names are bound that each of its branches binds."""
        joined = {}
        for _ in range(self.random.randrange(3)):
            known = self.named(lambda e: not e.is_weak and e.text not in self.protected)
            if known and self.chance(0.6):
                old = self.pick(known)
                joined[old.text] = (old.dtype, old.shape)
            else:
                joined[self.new_name()] = (self.pick(INTEGERS), self.pick([(), (), BLOCK]))
        count = self.pick([1, 2, 2, 2, 3])
        has_else = bool([n for n in joined if n not in self.scope]) or self.chance(0.6)
        # Often all branches bind the same value, or one that the name has already.
        common = {}
        for name, (dtype, shape) in joined.items():
            same = self.named(lambda e: (e.dtype, e.shape) == (dtype, shape) and e.text != name)
            if same and self.chance(0.4):
                common[name] = self.pick(same).text
            elif self.chance(0.2):
                common[name] = self.of(self.literal(), dtype, shape).text
        for i in range(count + has_else):
            word = "else" if i == count else f"{'elif' if i else 'if'} {self.condition(1).text}"
            self.line(f"{word}:")
            self.branch_body(joined, common)
        for name, (dtype, shape) in joined.items():
            if has_else or name in self.scope:
                self.scope[name] = Expression(name, dtype, shape)

    def branch_body(self, joined, common):
        scope, outer, before = dict(self.scope), set(self.outer), len(self.lines)
        self.outer |= set(self.scope)
        self.indent += 1
        loops = self.loops
        if set(joined) - set(self.scope):  # names that the compiler takes for unbound after a jump in one branch
            self.loops = 0
        for _ in range(self.random.randrange(3)):
            self.statement()
        self.loops = loops
        for name, (dtype, shape) in joined.items():
            if name in common and self.chance(0.9):
                self.line(f"{name} = {common[name]}")
            else:
                self.line(f"{name} = {self.of(self.expression(1), dtype, shape).text}")
        if len(self.lines) == before:
            self.line("pass")
        self.indent -= 1
        self.scope, self.outer = scope, outer

    def constant_branches(self):
        known = self.named(lambda e: e.is_weak and e.text.isidentifier())
        if not known:
            return
        c = self.pick(known)
        limit = self.random.randrange(-2, 5)
        taken = c.number > limit
        self.line(f"if {c.text} > {limit}:")
        self.dead_or_live(taken)
        self.line("else:")
        self.dead_or_live(not taken)

    def dead_or_live(self, is_live):
        self.indent += 1
        if is_live:
            self.statement()
            self.line("pass")
        else:
            self.line(self.pick(["no_such_name + 1", "pass", "n.nothing", "v1, v2 = (n, n, n)"]))
        self.indent -= 1

    def loop(self):
        kind = self.pick(["constant", "run time", "run time", "down", "static", "step"])
        name = self.pick(["i", "j", self.new_name()])
        low, high = self.random.randrange(-3, 6), self.random.randrange(-2, 8)
        dtype, known = dt.int32, None
        if kind == "static":
            step = self.pick([1, 1, 2, -1, -2])
            text, known = f"tl.static_range({low}, {high}, {step})", True
        elif kind == "constant":
            step = self.random.randrange(1, 4)
            text = self.pick([f"range({high})", f"range({low}, {high})", f"tl.range({low}, {high}, {step})"])
        else:
            bound = self.scalar(self.strong(self.integer(self.expression(1))))
            signed = bound.dtype.signed
            bound = Expression(f"({bound.text} & 7)", bound.dtype)
            dtype = values.promote_integers(bound.dtype, dt.int32)
            if kind == "down":
                if not signed or not dtype.signed:
                    return
                step = self.random.randrange(1, 4)
                text = self.pick([f"range({bound.text}, {low}, -{step})", f"range({high}, {bound.text}, -1)"])
            elif kind == "step":
                step = self.scalar(self.strong(self.integer(self.leaf())))
                text = f"range({max(low, 0)}, {bound.text} + 1, ({step.text} & 3).to(tl.int32) + 1)"
                dtype = values.promote_integers(values.weak_type(1, bound.dtype, False), dt.int32)
            else:
                text = self.pick([f"range({bound.text})", f"range({max(low, 0)}, {bound.text})"])
        old = self.named(lambda e: not e.is_weak and e.text not in self.protected and e.text not in self.outer)
        if old and self.chance(0.15):
            name = self.pick(old).text
        elif name in self.scope or name in self.outer:
            return
        self.line(f"for {name} in {text}:")
        self.scope.pop(name, None)
        scope = dict(self.scope)
        self.scope[name] = Expression(name, None, (), 0) if known else Expression(name, dtype)
        if known:  # a constant whose value differs: only for comparisons and sums
            self.indent += 1
            self.line(f"k{name} = tl.full([], {name}, tl.int32)")
            self.indent -= 1
            del self.scope[name]
            self.scope[f"k{name}"] = Expression(f"k{name}", dt.int32)
            if self.chance(0.4):
                self.indent += 1
                self.line(f"if {name} {self.pick(['> 0', '% 2 == 0', f'!= {low}'])}:")
                self.body(1)
                self.line("else:")
                self.body(1)
                self.indent -= 1
        if known or self.chance(0.8):
            self.protected.add(name)
        self.loops += 1
        self.body(self.random.randrange(1, 4))
        self.loops -= 1
        self.protected.discard(name)
        self.scope = scope

    def jump(self):
        """An end of an iteration, of the loop, or of the function, mostly under a condition."""
        if not (self.has_jumps and self.loops):
            return self.assign()
        word = self.pick(["break", "break", "continue", "continue", "return"])
        has_else = self.chance(0.25)
        self.line(f"if {self.condition(1).text}:")
        self.body(self.random.randrange(1 + has_else, 3))
        if has_else:
            self.line("else:")
            self.body(self.random.randrange(2))
        self.indent += 1
        if word == "return" and self.slots is not None:
            self.output(self.expression(1))
        self.line(self.returned() if word == "return" else word)
        self.indent -= 1
        self.outer |= set(self.scope)  # the code after it is a branch to the compiler

    def while_loop(self):
        name = "w" + self.new_name()[1:]
        self.line(f"{name} = 0")
        self.scope[name] = Expression(name, dt.int32)
        self.protected.add(name)
        condition = f"{name} < {self.random.randrange(7)}"
        if self.chance(0.5):
            condition = self.pick([f"{condition} and {self.condition(1).text}", f"not ({name} >= 4) and {condition}"])
        self.line(f"while {condition}:")
        if self.has_jumps:
            self.line(f"    {name} += 1")
        self.loops += 1
        self.body(self.random.randrange(1, 3))
        self.loops -= 1
        if not self.has_jumps:
            self.line(f"    {name} += 1")
        self.protected.discard(name)

    def call_statement(self):
        several = [h for h in self.helpers if len(h.results) > 1]
        if not several:
            return self.assign()
        helper = self.pick(several)
        names = [self.new_name() for _ in helper.results]
        self.line(f"{', '.join(names)} = {self.call_text(helper, 2)}")
        for name, dtype in zip(names, helper.results):
            self.scope[name] = Expression(name, dtype)

    def store(self):
        if self.slots is None:
            return self.assign()
        self.output(self.expression())

    def output(self, e):
        e = self.strong(e)
        out = "out_f" if e.dtype.kind == 2 else "out"
        if self.slots + 8 > 480:
            return
        self.line(f"tl.store({out} + {self.slots}{' + lane' if e.shape else ''}, {e.text})")
        self.slots += 8 if e.shape else 1

    def statement(self):
        nested = self.indent < 4
        makers = [self.assign] * 4 + [self.augment] * 3 + [self.tuple_statement] * 2
        makers += [self.call_statement, self.store, self.comprehension, self.typed, self.pointer]
        makers.append(self.constant_check)
        if nested:
            makers += [self.branches] * 4 + [self.loop] * 3 + [self.while_loop, self.constant_branches]
        if nested and self.has_jumps and self.loops:
            makers += [self.jump] * 8
        if self.indent == 1:
            makers += [self.constant, self.shadow]
        before = len(self.lines), dict(self.scope)
        try:
            self.pick(makers)()
        except Retry:
            del self.lines[before[0]:]
            self.scope = before[1]
        if len(self.lines) == before[0]:
            self.assign(None, self.leaf())


def write_helper(generator, index, helpers, numbers, has_jumps):
    """A function with parameters of given types, early returns and one or two results."""
    writer = Writer(generator, helpers, numbers)
    writer.has_jumps = has_jumps
    types = [generator.choice(INTEGERS) for _ in range(generator.randrange(1, 3))]
    parameters = [(f"p{i}", dtype, None) for i, dtype in enumerate(types)]
    if len(types) > 1 and generator.random() < 0.3:  # a parameter with the name of a constant of the file
        parameters[1] = ("G1", types[1], None)
        del writer.scope["G1"]
    words = [name for name, _, _ in parameters]
    if generator.random() < 0.5:
        default = generator.choice([str(generator.randrange(9)), "G0", "G0 + 2"])
        parameters.append(("q", generator.choice([dt.int32, dt.int8]), default))
        words.append(f"q={parameters[-1][2]}")
    if generator.random() < 0.3:
        parameters.append(("o", dt.int16, "None"))
        words.append("o=None")
    constant = generator.random() < 0.4
    if constant:
        parameters.append(("K", None, "1"))
        words.append("K: tl.constexpr = 1")
    writer.line("lane = tl.arange(0, 8)")
    for name, dtype, _ in parameters:
        if name == "o":
            writer.line("if o is not None:")
            writer.line(f"    p0 = tl.cast(p0 + o, {TYPE_NAMES[types[0]]})")
        elif dtype is not None:
            writer.line(f"{name} = tl.cast({name}, {TYPE_NAMES[dtype]})")
            writer.scope[name] = Expression(name, dtype)
    writer.scope["lane"] = Expression("lane", dt.int32, BLOCK)
    writer.protected.add("lane")
    results = [generator.choice(INTEGERS) for _ in range(generator.choice([1, 1, 2]))]

    def returned():
        items = [writer.of(writer.expression(1), dtype, ()).text for dtype in results]
        return "return " + (f"({', '.join(items)})" if len(items) > 1 else items[0])

    writer.returned = returned
    for _ in range(generator.randrange(3)):
        writer.statement()
    if generator.random() < 0.5:
        writer.line(f"if {writer.condition(1).text}:")
        writer.body(1)
        writer.indent += 1
        writer.line(returned())
        writer.indent -= 1
    if constant:
        writer.line("if K > 1:")
        writer.indent += 1
        writer.line(returned())
        writer.indent -= 1
    for _ in range(generator.randrange(2)):
        writer.statement()
    writer.line(returned())
    text = ["@triton.jit", f"def helper{index}({', '.join(words)}):", *writer.lines, "", ""]
    return Helper(f"helper{index}", parameters, results), text


def input_number(generator, dtype):
    """Of an integer any number, often a small one or one of the two at the ends of its type."""
    if dtype.kind == 2:
        return generator.randrange(-1000, 1000) / 8
    anything = generator.randrange(dtype.low, dtype.high)
    number = generator.choice([generator.randrange(-8, 8), dtype.low, dtype.high, anything])
    return min(max(number, dtype.low, -2**53), dtype.high, 2**53)


def generate(seed):
    """The text of a kernel."""
    generator = random.Random(seed)
    has_jumps = seed % 3 == 0
    numbers = {f"G{i}": generator.randrange(-9, 10) for i in range(2)}
    text = ["# tile1"] if has_jumps else []
    text += ["import triton", "import triton.language as tl", "", f"G0: tl.constexpr = {numbers['G0']}",
            f"G1 = tl.constexpr({numbers['G1']})", "S: tl.constexpr = 3", "", ""]
    numbers["S"] = 3
    helpers = []
    for i in range(generator.randrange(3)):
        helper, lines = write_helper(generator, i, list(helpers), numbers, has_jumps)
        helpers.append(helper)
        text += lines
    del numbers["S"]
    numbers.update(C=generator.randrange(-4, 5), D=generator.randrange(0, 4))
    writer = Writer(generator, helpers, numbers)
    writer.slots, writer.has_jumps = 0, has_jumps
    scalars = {"n": dt.int32, "m": dt.int64, "u": dt.uint32, "h": dt.int8, "f": dt.float32}
    writer.scope.update({name: Expression(name, dtype) for name, dtype in scalars.items()})
    writer.line("lane = tl.arange(0, 8)")
    writer.scope["lane"] = Expression("lane", dt.int32, BLOCK)
    writer.protected.add("lane")
    for _ in range(generator.randrange(4, 14)):
        writer.statement()
        if writer.chance(0.04):
            writer.line(f"if {writer.condition(1).text}:")
            writer.indent += 1
            writer.output(writer.expression(1))
            writer.line("return")
            writer.indent -= 1
    for e in list(writer.scope.values()):
        if isinstance(e, Expression) and not e.is_weak and e.text not in ("lane", *scalars):
            writer.output(e)
    defaults = {"n": generator.randrange(-5, 12), "m": generator.randrange(-2**40, 2**40),
                "u": generator.randrange(2**32), "h": generator.randrange(-128, 128),
                "f": generator.randrange(-64, 64) / 4}
    short = {dtype: dtype.name.replace("uint", "u").replace("int", "i").replace("fp", "f") for dtype in LOADED}
    buffers = [f"{x}_{dtype.name}: ptr[{short[dtype]}]" for dtype in LOADED for x in "xy"]
    parameters = ["out: ptr[i64]", "out_f: ptr[f64]", *buffers, "n: i32", "m: i64", "u: u32", "h: i8", "f: f32",
                  f"C: constexpr = {numbers['C']}", f"D: constexpr = {numbers['D']}"]
    text += ["#: grid(1)", "#: buffer out[480] = zeros", "#: buffer out_f[480] = zeros"]
    for dtype in LOADED:
        for name in (f"x_{dtype.name}", f"y_{dtype.name}"):
            text.append(f"#: buffer {name}[16] = random")
            text.append(f"#: default {name} = {[input_number(generator, dtype) for _ in range(16)]}")
    text += [f"#: default {name} = {value}" for name, value in defaults.items()]
    text += ["@tile.kernel", f"def kernel({', '.join(parameters)}):", *writer.lines]
    return "\n".join(text) + "\n"


if __name__ == "__main__":
    print(generate(int(sys.argv[1])), end="")
