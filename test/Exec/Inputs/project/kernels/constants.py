import triton.language as tl

FACTOR: tl.constexpr = 4
FLOOR = tl.constexpr(0.0)
