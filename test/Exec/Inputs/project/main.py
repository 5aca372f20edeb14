"""A file as projects have it: imports, host code, several kernels."""
import triton
import triton.language as tl
from kernels import relu as act, SCALE
from kernels.activations import broken
from numpy import zeros


@triton.jit
def unused(x):
    zeros(broken(x))


#: grid(cdiv(N, BLOCK))
#: buffer x[N] = random
#: buffer y[N] = output
#: expect y == maximum(x, 0) * 4
@triton.autotune(configs=[triton.Config({"BLOCK": b}, num_warps=w) for b in (64, 128) for w in (1, 2)], key=["N"])
@triton.heuristics({"EVEN": lambda args: args["N"] % 64 == 0})
@triton.jit
def apply(x: "*fp32", y: "*fp32", N: tl.int32, BLOCK: tl.constexpr = 64):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, act(tl.load(x + i, mask=i < N)) * SCALE, mask=i < N)


def launch(x):
    y = zeros(x.shape)
    apply[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel())
    return y
