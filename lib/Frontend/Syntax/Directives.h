// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Directives: "#:" comment lines directly above a kernel that specify how to launch and check it. They are comments, so
// the file stays valid Python.
//
//   #: grid(cdiv(M, BLOCK_M), cdiv(N, BLOCK_N))
//   #: buffer a[M, K] strides(stride_am, stride_ak) = random      roles: random, output, inout, zeros
//   #: default stride_am = K
//   #: require K % 8 == 0 and M > 0
//   #: let scores = softmax(a)                                    names an expression for the directives below
//   #: config BLOCK_M=16, num_warps=4 when M <= 16                the calls that a configuration serves
//   #: expect c == a @ b within 1e-3
//   #: instance fast = matmul(a="*fp16:16", BLOCK_M=128) num_warps=8 num_stages=3
//   #: num_warps = 8                                              or auto: the compiler chooses
//   #: cluster = (2, 1)                                          or (1, 1, 2), or auto
//   #: schedule = cooperative                                    or pingpong, or auto
//
// A directive continues in the next "#:" line while a bracket is open. Expressions are parsed by the language's parser
// and checked against the capabilities of the runtime (ParseDirectives.cpp).

#pragma once

#include "Frontend/Syntax/ClusterShape.h"
#include "Frontend/Syntax/Schedule.h"
#include "Frontend/Syntax/Source.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tile::frontend {

struct Expr;

/// Value of an option set to `auto`.
constexpr int leftOpen = 0;

struct DirectiveExpr {
  std::string text; // normalized spelling, as in the manifest
  SourceRange range;
  const Expr *expr = nullptr;
};

struct BufferDirective {
  SourceRange range;
  std::string parameter;
  SourceRange nameRange;
  std::vector<DirectiveExpr> shape;
  std::vector<DirectiveExpr> strides; // empty: row-major contiguous
  std::string role;                   // "random", "output", "inout", "zeros"
};

struct DefaultDirective {
  SourceRange range;
  std::string parameter;
  SourceRange nameRange;
  DirectiveExpr value;
};

/// Restricts the calls that configurations (of an autotuner, or of -D NAME=a,b) with these constants serve.
struct ConfigDirective {
  struct Constant {
    std::string name; // a constexpr, "num_warps" or "num_stages"
    SourceRange range;
    DirectiveExpr value;
  };
  SourceRange range;
  std::vector<Constant> constants;
  DirectiveExpr condition;
};

struct ExpectDirective {
  SourceRange range;
  std::string buffer;
  SourceRange nameRange;
  DirectiveExpr value;
  /// Bound on ||out - ref|| / ||ref||, a constant expression over the parameters; nullopt: exactly equal.
  std::optional<DirectiveExpr> tolerance;
};

struct InstanceDirective {
  struct Argument {
    std::string name;
    SourceRange range;
    DirectiveExpr value;
  };
  SourceRange range;
  std::string name;
  std::string kernel;
  SourceRange kernelRange;
  std::vector<Argument> arguments;
  std::optional<int> numWarps;
  std::optional<int> numStages;
  std::optional<ClusterShape> cluster;
  std::optional<Schedule> schedule;
  std::vector<DirectiveExpr> grid;
};

struct DirectiveSet {
  std::map<std::string, const Expr *> bindings;
  std::vector<DirectiveExpr> grid;
  std::vector<DirectiveExpr> requirements;
  std::vector<BufferDirective> buffers;
  std::vector<ConfigDirective> configs;
  std::vector<DefaultDirective> defaults;
  std::vector<ExpectDirective> expects;
  std::string after; ///< kernel that runs before this one on the same buffers; empty: none
  SourceRange afterRange;
  std::optional<int> numWarps;
  std::optional<int> numStages;
  std::optional<ClusterShape> cluster;
  std::optional<Schedule> schedule;
};

} // namespace tile::frontend
