// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --bits=like:old.cubin: compiles so that every call gives the same bits as with an existing artifact.
//
//   plans      only the variants of that artifact, with its block sizes and other constants
//   manifests  its estimates, so that launches choose among the variants as they did
//   check      each variant adds in the order that the manifest of the old one records; otherwise says what differs
#pragma once

#include "Driver/VariantPlan.h"
#include "Runtime/Manifest.h"

#include "llvm/Support/Error.h"

namespace tile::driver {

class FollowedOrder {
public:
  /// Reads an artifact whose manifests record orders.
  static llvm::Expected<FollowedOrder> read(const std::string &path);

  /// Reduces the plans of a target to those of the artifact, with its constants. Fails if one is missing.
  llvm::Error follow(std::vector<VariantPlan> &plans, const CompilerOptions &options) const;
  /// Copies the estimates by which launches choose a variant.
  void keepChoice(runtime::Manifest &manifest) const;
  /// Fails if the bits of a variant may differ from those of the artifact.
  llvm::Error check(const runtime::Manifest &manifest) const;

private:
  /// Returns the manifest of a variant; null if there is none. A single variant has no name in its manifest.
  const runtime::Manifest *find(const std::string &name, const std::string &target) const;

  std::string path;
  std::vector<runtime::Manifest> manifests;
};

} // namespace tile::driver
