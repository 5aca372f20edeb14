#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fuzz.py [--seed=N] [--count=N | --seconds=N] [--jobs=N] [--findings=FOLDER] [--tilec=TILEC] [--option=WORD]
fuzz.py FILE      reduces a kernel that is not as in Python

Runs random kernels (generate.py) in tilec's interpreter and as Python. Each kernel whose results differ, or that tilec
rejects, is reduced by whole statements and written to FOLDER/seed-N.tile; exit code 1."""
import argparse
import ast
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import time

import generate
import run
from values import KernelError, Unsupported


def std_of(text):
    """The dialect of a kernel, which its first line names."""
    return "tile1" if text.startswith("# tile1") else "triton"


def verdict(text, tilec, options):
    """What is different about a kernel: "" if nothing, "values", or the name of tilec's message; and the details."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernel.tile")
        with open(path, "w") as file:
            file.write(text)
        try:
            found = run.compare(run.Run(path, std=std_of(text)), tilec, options, within=0)
        except subprocess.TimeoutExpired:
            return "time", ["tilec does not end"]
        if not found:
            return "", []
        if not found[0].startswith("tilec: "):
            return "values", found
        message = re.search(r"error: .*\[([a-z][\w-]+)\]$", found[0], re.M)
        return message[1] if message else "failure", found


def fails_in_python(text):
    """Whether the kernel is no kernel: a name without a value, say."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernel.tile")
        with open(path, "w") as file:
            file.write(text)
        try:
            run.Run(path, std=std_of(text)).execute()
        except (Exception, KernelError, Unsupported):
            return True
    return False


def assign(targets, bound):
    bound.update(node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))


def is_defined(block, bound):
    """Whether each name of the block surely has a value where it is used; adds what the block binds."""
    for statement in block:
        parts = [getattr(statement, field, None) for field in ("value", "test", "iter")]
        for node in (n for part in parts if part for n in ast.walk(part)):
            if isinstance(node, ast.Name) and re.fullmatch(r"[vtwk]\w?\d+|[ijS]", node.id) and node.id not in bound:
                return False
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            assign(getattr(statement, "targets", None) or [statement.target], bound)
        elif isinstance(statement, ast.If):
            branches = [set(bound), set(bound)]
            for names, part in zip(branches, (statement.body, statement.orelse)):
                if not is_defined(part, names):
                    return False
            jumps = (ast.Return, ast.Break, ast.Continue)
            ends = [any(isinstance(s, jumps) for s in part) for part in (statement.body, statement.orelse)]
            bound |= branches[1] if ends[0] else branches[0] if ends[1] else branches[0] & branches[1]
        elif isinstance(statement, (ast.For, ast.While)):
            inner = set(bound)
            if isinstance(statement, ast.For):
                assign([statement.target], inner)
            if not is_defined(statement.body, inner):
                return False
    return True


def is_kernel_defined(tree):
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    constants = {node.targets[0].id for node in tree.body if isinstance(node, ast.Assign)}
    constants |= {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)}
    return all(is_defined(f.body, {a.arg for a in f.args.args} | constants) for f in functions)


def variants(tree):
    """Smaller trees: without one statement, or with the body of one in its place."""
    for node in ast.walk(tree):
        for field in ("body", "orelse"):
            block = getattr(node, field, None)
            if not isinstance(block, list):
                continue
            for i, statement in enumerate(block):
                others = block[:i] + block[i + 1:]
                needs_one = field == "body" and not isinstance(node, ast.Module)
                replaced = [others or [ast.Pass()] if needs_one else others]
                if isinstance(statement, ast.Pass) and not others:
                    continue
                if isinstance(statement, (ast.If, ast.For, ast.While)):
                    parts = [inner for inner in (statement.body, statement.orelse) if inner]
                    replaced += [block[:i] + inner + block[i + 1:] for inner in parts]
                for smaller in replaced:
                    setattr(node, field, smaller)
                    yield tree
                    setattr(node, field, block)


def with_directives(tree, comments, directives):
    lines = ast.unparse(tree).split("\n")
    at = next((i for i, line in enumerate(lines) if line.startswith("@tile.kernel")), 0)
    return "\n".join(comments + lines[:at] + directives + lines[at:]) + "\n"


def reduce(text, kind, tilec, options, seconds=60):
    """The smallest kernel found with the same verdict."""
    comments = [line for line in text.split("\n") if line.startswith("# ")]
    directives = [line for line in text.split("\n") if line.startswith("#:")]
    deadline = time.monotonic() + seconds
    smaller = True
    while smaller and time.monotonic() < deadline:
        smaller = False
        for tree in variants(ast.parse(text)):
            candidate = with_directives(tree, comments, directives)
            if len(candidate) >= len(text) or not is_kernel_defined(tree) or fails_in_python(candidate):
                continue
            if verdict(candidate, tilec, options)[0] == kind:
                text, smaller = candidate, True
                break
            if time.monotonic() > deadline:
                break
    return text


def try_seed(seed, tilec, options):
    text = generate.generate(seed)
    try:
        return seed, text, *verdict(text, tilec, options)
    except Exception as error:  # a kernel that the generator should not have created
        return seed, text, "generator", [f"{type(error).__name__}: {error}"]


def report(seed, text, kind, found, options):
    print(f"seed {seed}: {kind}\n  " + "\n  ".join(found[:5]), flush=True)
    reduced = text if kind == "generator" else reduce(text, kind, options.tilec, options.option)
    os.makedirs(options.findings, exist_ok=True)
    path = os.path.join(options.findings, f"seed-{seed}.tile")
    with open(path, "w") as file:
        file.write(reduced)
    print(f"  reduced to {path}, as seen by {sys.argv[0]} {path}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--findings", default="findings/reference")
    parser.add_argument("--tilec", default="tilec")
    parser.add_argument("--option", action="append", default=[])
    options = parser.parse_args()
    if options.file:
        with open(options.file) as file:
            text = file.read()
        kind, found = verdict(text, options.tilec, options.option)
        print(f"{kind or 'as in Python'}\n  " + "\n  ".join(found[:5]))
        if kind:
            print(reduce(text, kind, options.tilec, options.option), end="")
        sys.exit(1 if kind else 0)
    deadline = time.monotonic() + options.seconds if options.seconds else None
    count, findings, seed = 0, 0, options.seed
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        while (options.count is None or count < options.count) and (deadline is None or time.monotonic() < deadline):
            batch = min(8 * options.jobs, (options.count or sys.maxsize) - count)
            work = [pool.submit(try_seed, seed + i, options.tilec, options.option) for i in range(batch)]
            for result in concurrent.futures.as_completed(work):
                number, text, kind, found = result.result()
                if kind:
                    findings += 1
                    report(number, text, kind, found, options)
            count, seed = count + batch, seed + batch
    print(f"{count} kernels, {findings} not as in Python")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
