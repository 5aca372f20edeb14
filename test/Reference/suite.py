#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""suite.py [--at-least=N] [--tilec=TILEC] [--filter=TEXT] SOURCE

Runs the kernels of test/Exec, with the arguments of their RUN lines, and of examples as Python and in tilec's
interpreter, and compares what they write. What the reference does not have is skipped, with its reason."""
import argparse
import collections
import glob
import os
import re
import shlex
import sys

import run
from values import Unsupported

ELEMENTS = 60_000  # a run may compute; more where they are worth it
LARGER = dict.fromkeys(("operators.tile", "scan.tile", "reductions.tile", "shapes.tile"), 2_000_000)
EXAMPLES = """
attention S=40 Z=1 -D D=16 -D BLOCK_N=16 -D BLOCK_M=16 -D CAUSAL=1
attention S=20 Z=2 -D D=16 -D BLOCK_N=16 -D BLOCK_M=16 -D GROUP=2
attention_backward --kernel=attention_backward_keys S=20 Z=1 -D D=16 -D BLOCK=16 -D STEP=16 -D CAUSAL=1
attention_backward --kernel=attention_backward_queries S=20 Z=1 -D D=16 -D BLOCK=16 -D STEP=16
conv2d N=1 C=3 H=9 W=7 K=10 stride=1 padding=2 -D R=5 -D S=2 -D BLOCK_K=16
copy N=5000
copy_columns M=70 N=9
cross_entropy M=5 N=100 -D BLOCK=128
cross_entropy M=3 N=200 -D BLOCK=64
dropout N=1500
greyscale
layernorm M=3 N=100 -D BLOCK=128
layernorm M=3 N=200 -D BLOCK=64
layernorm_backward M=9 N=60 P=2 -D BLOCK=64
matmul M=40 N=24 K=40 -D BLOCK_M=16 -D BLOCK_N=16 -D BLOCK_K=16 -D GROUP_M=2
max_pool
mlp
rmsnorm M=3 N=100 -D BLOCK=128
rmsnorm M=3 N=200 -D BLOCK=64
rmsnorm_backward M=9 N=60 P=2 -D BLOCK=64
rmsnorm_matrix M=10 N=20 -D ROWS=4 -D BLOCK=32
silu N=3000
softmax M=4 N=100 -D BLOCK=128
softmax M=4 N=200 -D BLOCK=64
softmax_backward M=4 N=100 -D BLOCK=128
swizzle
swizzle ROWS=7 COLUMNS=3 -D GROUP=4
transpose M=50 N=70 -D BLOCK_M=32 -D BLOCK_N=32
transpose_naive M=50 N=70
transpose_padded M=50 N=30 -D BLOCK_M=32 -D BLOCK_N=32
vector_add N=3000
"""


def run_lines(source):
    """Commands of RUN lines with their substitutions made."""
    defined = dict(re.findall(r"DEFINE: *%\{(\w+)\} *= *(.*)", source))
    for line in re.findall(r"RUN: *(.*)", source):
        for _ in range(4):
            line = re.sub(r"%\{(\w+)\}", lambda m: defined.get(m[1], "%%"), line)
        yield from re.split(r"&&|\|", line)


def parse_words(words):
    """(kernel, assignments, constants, std) of a command line; nothing where there is an option that changes more."""
    kernel, constants, assignments, std = None, [], [], "triton"
    words = list(words)
    while words:
        word = words.pop(0)
        if word == "--kernel":
            kernel = words.pop(0)
        elif word.startswith("--kernel="):
            kernel = word.partition("=")[2]
        elif word == "-D":
            constants.append(words.pop(0))
        elif word.startswith("--std="):
            std = word.partition("=")[2]
        elif word.startswith(("--signature", "--grid")):
            return None
        elif word in ("--save", "--compare", "--seed", "--sms"):
            words.pop(0)
        elif re.match(r"\w+=", word):
            assignments.append(word)
    return kernel, tuple(assignments), tuple(constants), std


def cases_of(path, source):
    """The different launches in the RUN lines of a test."""
    cases = {}
    for command in run_lines(source):
        found = re.match(r" *(?:%if \w+ %\{)? *(?:tilec run|%tilec-run) %s(?= |$)(.*)", command)
        if not found or "%%" in command:
            continue
        try:
            case = parse_words(shlex.split(found[1].replace("%}", "").partition(" 2>")[0].partition(" >")[0]))
        except ValueError:
            continue
        if case:
            cases[case] = path
    return list(cases)


def all_cases(root):
    for path in sorted(path for folder in ("Exec", "Tile1") for path in glob.glob(f"{root}/test/{folder}/*.tile")):
        with open(path) as file:
            source = file.read()
        for case in cases_of(path, source):
            yield path, case
    for line in EXAMPLES.split("\n"):
        if line:
            name, *words = line.split()
            yield os.path.join(root, "examples", name + ".tile"), parse_words(words)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source")
    parser.add_argument("--at-least", type=int, default=0)
    parser.add_argument("--tilec", default="tilec")
    parser.add_argument("--filter", default="")
    options = parser.parse_args()
    equal, wrong, skipped = 0, 0, collections.Counter()
    for path, (kernel, assignments, constants, std) in all_cases(options.source):
        if options.filter not in path:
            continue
        case = " ".join([os.path.relpath(path, options.source), kernel or "", *constants, *assignments])
        run.ELEMENTS = LARGER.get(os.path.basename(path), ELEMENTS)
        try:
            found = run.compare(run.Run(path, kernel, assignments, constants, std), options.tilec)
        except Unsupported as error:
            skipped[case, str(error)] += 1
            continue
        except (NameError, TypeError, AttributeError, LookupError, ArithmeticError, SyntaxError) as error:
            skipped[case, f"{type(error).__name__}: {error}"] += 1
            continue
        equal += not found
        wrong += bool(found)
        if found:
            print(f"{case}: {len(found)} differences\n  " + "\n  ".join(found[:4]), flush=True)
    for case, reason in sorted(skipped):
        print(f"skipped: {case}: {reason}")
    print(f"{equal} runs as in Python, {wrong} not, {len(skipped)} skipped")
    sys.exit(1 if wrong or equal < options.at_least else 0)


if __name__ == "__main__":
    main()
