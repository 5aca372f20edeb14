# awk -v kind=nested -v lines=800 -f kernel-lines.awk: a kernel of that many lines, to see how long compiling takes.
#   nested    five nested loops around arithmetic and branches     straight  each line a product and a sum of the last
#   loads     each line a masked load                              branches  each third line an if of a run-time scalar
#   helpers   a fifth of the lines are calls of helpers, each of its own
function open_kernel() {
  print "@tile.kernel"
  print "def k(x: ptr[f32], y: ptr[f32], n: i32, m: i32, BLOCK: constexpr = 256):"
  print "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)"
  print "    a = tl.load(x + i, mask=i < n, other=0.0)"
}
function close_kernel(result) { printf "    tl.store(y + i, %s, mask=i < n)\n", result }
BEGIN {
  body = lines - 5
  if (kind == "helpers")
    for (k = 0; k < lines / 5; k++)
      printf "@triton.jit\ndef h%d(u, v):\n    w = u * %d.0 + v\n    return tl.where(w > 0, w, v)\n", k, k % 9 + 1
  open_kernel()
  if (kind == "straight")
    for (k = 1; k <= body; k++)
      printf "    a%d = a%s * %d.5 + %d.0\n", k, (k == 1 ? "" : k - 1), k % 7 + 1, k % 5
  if (kind == "loads")
    for (k = 1; k <= body; k++)
      printf "    a = tl.exp(a) + tl.load(x + i + %d, mask=i < n, other=0.0)\n", k
  if (kind == "helpers")
    for (k = 0; k < lines / 5; k++)
      printf "    a = h%d(a, a + %d.0)\n", k, k
  if (kind == "branches")
    for (k = 1; k <= body / 3; k++)
      printf "    b%d = a + %d.0\n    if n > %d:\n        a = b%d * 2.0\n", k, k, k, k
  if (kind == "nested") {
    print "    b = a\n    c = a"
    indent = "    "
    for (k = 0; k < 5; k++) {
      printf "%sfor i%d in range(m):\n", indent, k
      indent = indent "    "
    }
    for (k = 1; k <= body - 7; k++) {
      v = substr("abc", k % 3 + 1, 1)
      if (k % 10 == 0) {
        printf "%sif i%d > %d:\n%s    %s = %s + 1.0\n", indent, k % 5, k, indent, v, v
        k++
      } else
        printf "%s%s = %s * %d.5 + %s\n", indent, v, v, k % 7 + 1, substr("abc", (k + 1) % 3 + 1, 1)
    }
  }
  close_kernel(kind == "straight" ? "a" body : kind == "nested" ? "a + b + c" : "a")
}
