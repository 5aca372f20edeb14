# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random expressions of constants, which are Python's to the last digit: numbers, texts, tuples."""
import ast
import math
import warnings

NUMBERS = """0 1 2 3 7 10 255 1000003 2147483648 0x7fffffff (1<<40) -1 -7 0.5 1.5 -2.25 3.0 1e10 1e-3 -0.0 True
    False""".split()
warnings.simplefilter("ignore", SyntaxWarning)  # of comparisons of literals


def is_small(text):
    """Whether all integers on the way are, too: those of the language have 127 bits."""
    for node in ast.walk(ast.parse(text, mode="eval")):
        try:
            value = eval(compile(ast.Expression(node), "", "eval")) if isinstance(node, ast.expr) else 0
        except (TypeError, ValueError, ArithmeticError, IndexError, NameError):
            continue
        if isinstance(value, int) and abs(value) >= 2**100:
            return False
    return True


class ConstantWriter:
    def __init__(self, generator):
        self.random = generator

    def pick(self, items):
        return self.random.choice(items)

    def number(self, depth):
        if depth <= 0:
            return self.pick(NUMBERS)
        a, b = self.number(depth - 1), self.number(depth - 1)
        return self.pick([
            lambda: f"({a} {self.pick(['+', '-', '*', '/', '//', '%', '//', '%'])} {b})",
            lambda: f"({a} {self.pick(['&', '|', '^'])} {b})",
            lambda: f"({a} {self.pick(['<<', '>>'])} ({b} & 15))",
            lambda: f"({a} {self.pick(['<', '<=', '==', '!=', '>', '>='])} {b})",
            lambda: f"({a} if {b} else {self.number(depth - 1)})",
            lambda: f"({a} {self.pick(['and', 'or'])} {b})",
            lambda: f"({self.pick(['-', '~', 'not ', '+'])}{a})",
            lambda: f"{self.pick(['abs', 'int', 'float', 'bool'])}({a})",
            lambda: f"{self.pick(['min', 'max'])}({a}, {b})",
            lambda: f"({a} ** {self.pick(['2', '3', '-1', '0'])})",
            lambda: f"{self.sequence(depth - 1)}[{self.pick(['0', '1', '-1'])}]",
            lambda: f"len({self.text(depth - 1)})",
        ])()

    def text(self, depth):
        if depth <= 0:
            return self.pick(["'abc'", "''", "'x'", "'fp16'"])
        a = self.number(depth - 1)
        return self.pick([
            lambda: f"({self.text(depth - 1)} + {self.text(depth - 1)})",
            lambda: f"str({a})",
            lambda: f"repr({a})",
            lambda: 'f"{' + a.replace('"', "") + self.pick(["", "!r"]) + '}"',
            lambda: f"({self.text(depth - 1)} if {a} else {self.text(depth - 1)})",
        ])()

    def sequence(self, depth):
        items = [self.number(depth - 1) for _ in range(3)]
        whole, pair = f"({', '.join(items)})", f"({items[0]}, {items[1]})"
        part = self.pick(["1:", ":2", "-2:", "::-1"])
        return self.pick([whole, f"({pair} + ({items[2]},))", f"({pair} * 2)", f"{whole}[{part}]"])

    def check(self, depth=3):
        """(expression, its repr), of an expression that has a value."""
        while True:
            text = self.pick([self.number, self.number, self.text])(depth)
            try:
                value = eval(text)
            except (TypeError, ValueError, ArithmeticError, IndexError, SyntaxError, MemoryError):
                continue
            finite = not isinstance(value, float) or math.isfinite(value)
            if finite and is_small(text) and len(text) < 120 and not isinstance(value, complex):
                return text, repr(value)
