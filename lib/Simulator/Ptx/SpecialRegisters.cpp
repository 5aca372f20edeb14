// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The names of special registers. PTX ISA chapter 10.
#include "Simulator/Ptx/ParserImpl.h"

namespace tile::sim {

std::optional<SpecialRegister> parseSpecialRegisterName(std::string_view name) {
  // The names are in the order of the enum SpecialRegister.
  constexpr std::string_view names[] = {"%tid.x",
                                        "%tid.y",
                                        "%tid.z",
                                        "%ntid.x",
                                        "%ntid.y",
                                        "%ntid.z",
                                        "%ctaid.x",
                                        "%ctaid.y",
                                        "%ctaid.z",
                                        "%nctaid.x",
                                        "%nctaid.y",
                                        "%nctaid.z",
                                        "%laneid",
                                        "%warpid",
                                        "%nwarpid",
                                        "%smid",
                                        "%nsmid",
                                        "%gridid",
                                        "%is_explicit_cluster",
                                        "%clusterid.x",
                                        "%clusterid.y",
                                        "%clusterid.z",
                                        "%nclusterid.x",
                                        "%nclusterid.y",
                                        "%nclusterid.z",
                                        "%cluster_ctaid.x",
                                        "%cluster_ctaid.y",
                                        "%cluster_ctaid.z",
                                        "%cluster_nctaid.x",
                                        "%cluster_nctaid.y",
                                        "%cluster_nctaid.z",
                                        "%cluster_ctarank",
                                        "%cluster_nctarank",
                                        "%lanemask_eq",
                                        "%lanemask_le",
                                        "%lanemask_lt",
                                        "%lanemask_ge",
                                        "%lanemask_gt",
                                        "%clock",
                                        "%clock_hi",
                                        "%clock64",
                                        "%globaltimer",
                                        "%globaltimer_lo",
                                        "%globaltimer_hi",
                                        "%dynamic_smem_size",
                                        "%total_smem_size",
                                        "%aggr_smem_size",
                                        "%envreg1",
                                        "%envreg2"};
  static_assert(std::size(names) == size_t(SpecialRegister::StackPointer)); // has no name
  for (size_t i = 0; i < std::size(names); ++i)
    if (names[i] == name)
      return SpecialRegister(i);
  return std::nullopt;
}

} // namespace tile::sim
