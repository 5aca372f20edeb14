# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The few places where the language differs from Python, as a rewriting of kernels' syntax trees.

Control flow, scopes, calls and tuples are Python's own. Rewritten in functions with @triton.jit or @tile.kernel:
  x = e, x += e               the value is settled: a number that gets a name is a scalar of its own
  x: constexpr = e            stays as it is
  a and b, a or b, not a      evaluate all that is known at run time, and give a scalar of int1
  a if c else b               the result is settled if c is known at run time
  return e                    the same, if an `if` around one of the function's returns was decided at run time
  range, min, max, abs, ...   of the language instead of Python's"""
import ast

PYTHON_NAMES = {"range", "min", "max", "abs", "sum", "print", "isinstance", "hasattr"}


def is_constexpr(annotation):
    return annotation is not None and "constexpr" in ast.unparse(annotation)


def is_kernel(function):
    names = [ast.unparse(d.func if isinstance(d, ast.Call) else d).split(".")[-1] for d in function.decorator_list]
    return any(name in ("jit", "kernel") for name in names)


def call(name, *arguments):
    return ast.Call(func=ast.Name(id=name, ctx=ast.Load()), args=list(arguments), keywords=[])


def thunk(expression):
    none = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.Lambda(args=none, body=expression)


def bound_names(function):
    """Names that the function binds itself, which are not those of the language."""
    names = {a.arg for a in function.args.args + function.args.kwonlyargs}
    return names | {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


class KernelRewriter(ast.NodeTransformer):
    def __init__(self, bound):
        self.bound = bound

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load) and node.id in PYTHON_NAMES - self.bound:
            node.id = "_tl_" + node.id
        return node

    def visit_Assign(self, node):
        self.generic_visit(node)
        node.value = call("_settle_", node.value)
        return node

    def visit_AugAssign(self, node):
        self.generic_visit(node)
        left = ast.Name(id=node.target.id, ctx=ast.Load())
        result = ast.BinOp(left=left, op=node.op, right=node.value)
        return ast.Assign(targets=[node.target], value=call("_settle_", result))

    def visit_AnnAssign(self, node):
        self.generic_visit(node)
        if node.value is None:
            return ast.Pass()
        value = node.value if is_constexpr(node.annotation) else call("_settle_", node.value)
        return ast.Assign(targets=[node.target], value=value)

    def visit_BoolOp(self, node):
        self.generic_visit(node)
        decides = ast.Constant(value=isinstance(node.op, ast.Or))
        return call("_logical_", decides, *(thunk(value) for value in node.values))

    def visit_List(self, node):
        self.generic_visit(node)
        return ast.Tuple(elts=node.elts, ctx=node.ctx)

    def visit_ListComp(self, node):
        self.generic_visit(node)
        return call("tuple", ast.GeneratorExp(elt=node.elt, generators=node.generators))

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        return call("_not_", node.operand) if isinstance(node.op, ast.Not) else node

    def visit_IfExp(self, node):
        self.generic_visit(node)
        return call("_conditional_", node.test, thunk(node.body), thunk(node.orelse))

    def visit_If(self, node):
        returns = any(isinstance(n, ast.Return) for n in ast.walk(node))
        self.generic_visit(node)
        if returns:
            node.test = call("_branch_", ast.Name(id="_flow_", ctx=ast.Load()), node.test)
        return node

    def visit_Return(self, node):
        self.generic_visit(node)
        if node.value is not None:
            node.value = call("_returned_", ast.Name(id="_flow_", ctx=ast.Load()), node.value)
        return node

    def visit_Assert(self, node):
        self.generic_visit(node)
        return ast.Expr(value=call("_assert_", node.test))


class ModuleRewriter(ast.NodeTransformer):
    def visit_FunctionDef(self, node):
        if not is_kernel(node):
            return node
        rewriter = KernelRewriter(bound_names(node))
        node.body = [rewriter.visit(statement) for statement in node.body]
        flow = ast.Assign(targets=[ast.Name(id="_flow_", ctx=ast.Store())], value=ast.List(elts=[], ctx=ast.Load()))
        node.body.insert(0, flow)
        node.decorator_list = []
        return node


def rewrite(source, path):
    """The statements of a module, each a code object, in order."""
    tree = ast.parse(source, path)
    statements = []
    for statement in tree.body:
        module = ast.Module(body=[ModuleRewriter().visit(statement)], type_ignores=[])
        statements.append(ast.fix_missing_locations(module))
    return statements
