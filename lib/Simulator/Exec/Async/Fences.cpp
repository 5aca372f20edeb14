// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fence, membar: fences between accesses of threads and between proxies. PTX ISA 9.7.13.5, membar/fence.
//
// The simulator executes memory accesses in order, so a fence only informs the checker.
#include "Simulator/Exec/Async/Async.h"
#include "Simulator/Exec/Async/MapAccess.h"

namespace tile::sim {

namespace {

class MemoryFence final : public Operation {
public:
  explicit MemoryFence(Scope scope) : scope(scope) {}
  const Scope scope;
  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    if (Checker *checker = checkerOf(warp))
      checker->fence(warp, scope, active);
    return Step::Next;
  }
};

class AsyncProxyFence final : public Operation {
public:
  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    if (Checker *checker = checkerOf(warp))
      checker->fenceAsync(warp, active);
    return Step::Next;
  }
};

class BarrierInitFence final : public Operation {
public:
  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    if (Checker *checker = checkerOf(warp)) {
      checker->fenceBarrierInit(warp, active);
      checker->fence(warp, Scope::Cluster, active);
    }
    return Step::Next;
  }
};

/// fence.proxy.tensormap::generic.release. Makes changed maps visible to threads that acquire them.
class TensorMapRelease final : public Operation {
public:
  explicit TensorMapRelease(Scope scope) : scope(scope) {}
  const Scope scope;
  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    releaseTensorMaps(warp);
    if (Checker *checker = checkerOf(warp))
      checker->fence(warp, scope, active);
    return Step::Next;
  }
};

/// fence.proxy.tensormap::generic.acquire. Later copies use the current contents of the map.
class TensorMapAcquire final : public Operation {
public:
  Scope scope = Scope::Gpu;
  AddressSource address;
  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    for (LaneMask remaining = active; remaining;) {
      uint64_t at = 0;
      LaneMask lanes = lanesOfSameAddress(warp, address, remaining, at);
      remaining &= ~lanes;
      if (!acquireTensorMap(warp, *instruction, firstLane(lanes), at))
        return Step::Fault;
    }
    if (Checker *checker = checkerOf(warp))
      checker->fence(warp, scope, active);
    return Step::Next;
  }
};

std::optional<Scope> takeScope(Decoding &d) {
  int scope = d.takeOne({"cta", "cluster", "gpu", "sys"});
  return scope < 0 ? std::nullopt : std::optional(Scope(scope));
}

Result<OperationPtr> decodeTensorMapFence(Decoding &d) {
  int order = d.takeOne({"release", "acquire"});
  std::optional<Scope> scope = takeScope(d);
  if (order < 0 || !scope)
    return d.unsupported();
  if (order == 0)
    return d.finished(0) ? Result<OperationPtr>(make<TensorMapRelease>(*scope)) : d.unsupported();
  if (!d.finished(2))
    return d.unsupported();
  auto operation = std::make_unique<TensorMapAcquire>();
  operation->scope = *scope;
  operation->address = d.address(d.operand(0));
  if (d.operand(1).kind != Operand::Kind::Immediate || d.operand(1).bits != tensorMapBytes)
    return d.error("the size must be 128");
  return decoded(d, std::move(operation));
}

Result<OperationPtr> decodeProxyFence(Decoding &d) {
  if (d.take("tensormap::generic"))
    return decodeTensorMapFence(d);
  if (d.take("alias"))
    return d.finished(0) ? Result<OperationPtr>(make<MemoryFence>(Scope::Cta)) : d.unsupported();
  if (d.take("async::generic")) { // for copies to shared memory of peers: .acquire / .release
    bool known = d.takeOne({"acquire", "release"}) >= 0 &&
                 d.takeOne({"sync_restrict::shared::cluster", "sync_restrict::shared::cta"}) >= 0 && d.take("cluster");
    return known && d.finished(0) ? Result<OperationPtr>(make<AsyncProxyFence>()) : d.unsupported();
  }
  if (!d.take("async"))
    return d.unsupported();
  d.takeOne({"global", "shared::cta", "shared::cluster", "shared"});
  return d.finished(0) ? Result<OperationPtr>(make<AsyncProxyFence>()) : d.unsupported();
}

Result<OperationPtr> decodeFence(Decoding &d) {
  if (d.take("proxy"))
    return decodeProxyFence(d);
  if (d.take("mbarrier_init")) {
    bool known = d.take("release") && d.take("cluster");
    return known && d.finished(0) ? Result<OperationPtr>(make<BarrierInitFence>()) : d.unsupported();
  }
  int order = d.takeOne({"acq_rel", "sc", "acquire", "release"});
  if (order >= 2 && d.takeOne({"sync_restrict::shared::cluster", "sync_restrict::shared::cta"}) >= 0) {
    bool known = d.take("cluster");
    return known && d.finished(0) ? Result<OperationPtr>(make<MemoryFence>(Scope::Cluster)) : d.unsupported();
  }
  std::optional<Scope> scope = takeScope(d);
  return scope && d.finished(0) ? Result<OperationPtr>(make<MemoryFence>(*scope)) : d.unsupported();
}

Result<OperationPtr> decodeMembar(Decoding &d) {
  if (d.take("proxy"))
    return decodeProxyFence(d);
  constexpr Scope scopes[] = {Scope::Cta, Scope::Gpu, Scope::System};
  int level = d.takeOne({"cta", "gl", "sys"});
  return level >= 0 && d.finished(0) ? Result<OperationPtr>(make<MemoryFence>(scopes[level])) : d.unsupported();
}

constexpr DecoderEntry fences[] = {{"fence", decodeFence}, {"membar", decodeMembar}};

} // namespace

std::span<const DecoderEntry> fenceDecoders() {
  return fences;
}

} // namespace tile::sim
