// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Facts about the arguments of a launch: the conditions that the manifest checks, the grid, and the buffers.
#pragma once

#include "Runtime/Manifest.h"
#include "Tile/TileDialect.h"
#include "Verify/ManifestText.h"
#include "Verify/Verify.h"

namespace tile::verify {

/// The buffer of a pointer parameter, as `#: buffer` declares it.
struct BufferTerms {
  std::string name;
  std::vector<Poly> shape, strides;
  std::vector<std::string> shapeTexts;
  bool isWritten = false;
  bool isRowMajor = false;
};

class Launch {
public:
  Launch(KernelOp kernel, const runtime::Manifest &manifest, Symbols &symbols, const Options &options);

  Poly parameter(unsigned argument) const { return Poly::symbol(parameters[argument]); }
  const std::optional<BufferTerms> &buffer(unsigned argument) const { return buffers[argument]; }
  std::string nameOf(unsigned argument) const { return names[argument]; }
  /// Returns true if a pointer has no buffer declaration. The checks of a launch then do not determine the valid sizes.
  bool hasUndeclared() const { return isUndeclared; }
  /// Returns the largest number of elements of a pointer's buffer.
  int64_t maxElements(unsigned argument) const;
  /// Returns the number of programs along an axis.
  const Poly &programs(unsigned axis) const { return counts[axis]; }

  /// Returns facts that hold for every launch.
  const std::vector<Formula> &facts() const { return known; }
  /// Returns facts that hold if the caller leaves parameters at their defaults.
  const std::vector<Formula> &defaults() const { return usual; }

private:
  void addParameters(KernelOp kernel);
  void addBuffer(unsigned argument, const runtime::BufferSpec &spec);
  void addGrid();
  /// Assumes that parameters are sizes, which are not negative, if the kernel uses them as factors, dividends,
  /// divisors, loop bounds or parts of offsets.
  void assumeSizes(KernelOp kernel);
  /// Tightens the bounds of a symbol if the fact compares the symbol with a constant.
  void narrow(const Formula &fact);
  std::optional<Poly> lookUp(llvm::StringRef name) const;

  const runtime::Manifest &manifest;
  Symbols &symbols;
  const Options &options;
  std::vector<std::string> names;
  std::vector<Symbol> parameters; ///< by argument of the kernel; meaningless for pointers
  std::vector<std::optional<BufferTerms>> buffers;
  std::vector<Poly> counts; ///< programs along each axis
  Symbol sms = 0;
  bool isUndeclared = false;
  std::vector<Formula> known, usual;
};

} // namespace tile::verify
