// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MoeBaseline.h"

#include <cstdio>

namespace across {

static constexpr size_t bytesOfElement = 2;
static constexpr int64_t segments = 16; // as in moe_count.tile

MoeBaseline::MoeBaseline(Moe &moe, const MoeCase &work, const Moe::Routed &routed, const Moe::Buffers &buffers)
    : moe(moe), rank(moe.rank), baseline(rank.peer()), work(work), routed(routed), buffers(buffers),
      stream(rank.stream), local(work.experts / rank.info.size), pairs(work.tokens * work.topK) {
  checkRuntime(tile_kernel_load_file(rank.runtime, (rank.options.kernels + "/silu_mul.cubin").c_str(), &activation));
  checkRuntime(tile_kernel_prepare(activation));
  starts.assign(size_t(local + 1), 0);
  for (int32_t id : routed.ids)
    if (id >= 0 && id / local == rank.info.rank)
      ++starts[size_t(id % local + 1)];
  for (size_t expert = 0; expert < size_t(local); ++expert)
    starts[expert + 1] += starts[expert];
  const size_t rowBytes = size_t(work.hidden) * bytesOfElement, mine = size_t(starts.back()), own = size_t(pairs);
  const size_t all = size_t(rank.info.size) * size_t(work.tokens), words = 4;
  counts = allocate(size_t(segments * work.experts) * words);
  startsThere = allocate(size_t(work.experts + 1) * words);
  slots = allocate(all * size_t(work.topK) * words);
  none = allocate(sizeof(Address));
  sorted = allocate(own * rowBytes), returned = allocate(own * rowBytes);
  arrived = allocate(mine * rowBytes), rows = allocate(mine * rowBytes), results = allocate(mine * rowBytes);
  between = allocate(mine * size_t(2 * work.width) * bytesOfElement);
  active = allocate(mine * size_t(work.width) * bytesOfElement);
  to = allocate(mine * words), back = allocate(mine * words), zeros = allocate(mine * words);
  call("cuMemsetD8_v2", zeros->get(), static_cast<unsigned char>(0), zeros->size());
  everyone = allocate(all * rowBytes), sums = allocate(all * rowBytes);
  everyIds = allocate(all * size_t(work.topK) * words), everyWeights = allocate(all * size_t(work.topK) * words);
  makeGroups();
  makeParts();
}

MoeBaseline::~MoeBaseline() {
  if (std::uncaught_exceptions() == 0)
    tile_kernel_destroy(activation);
}

void MoeBaseline::makeGroups() {
  for (int64_t expert = 0; expert < local; ++expert) {
    const int64_t first = starts[size_t(expert)], count = starts[size_t(expert + 1)] - first;
    if (count == 0)
      continue;
    const auto at = [&](const Memory &matrix, int64_t elements) {
      return matrix.get(size_t(elements) * bytesOfElement);
    };
    layers[0].push_back({at(*rows, first * work.hidden),
                         at(*buffers.gateUp, expert * 2 * work.width * work.hidden),
                         at(*between, first * 2 * work.width),
                         {count, 2 * work.width, work.hidden}});
    layers[1].push_back({at(*active, first * work.width),
                         at(*buffers.down, expert * work.hidden * work.width),
                         at(*results, first * work.hidden),
                         {count, work.hidden, work.width}});
  }
  for (int layer : {0, 1}) {
    tables[layer] = allocate(3 * layers[layer].size() * sizeof(Address));
    Baseline::writeTables(layers[layer], *tables[layer]);
  }
}

/// Computes which rows are sent to which rank. Rows arrive sorted by rank and expert; also computes where each row that
/// arrives must be copied.
void MoeBaseline::makeParts() {
  const int size = rank.info.size;
  std::vector<std::vector<int64_t>> perExpert(size_t(size), std::vector<int64_t>(size_t(work.experts)));
  for (size_t pair = 0; pair < routed.ids.size(); ++pair)
    if (routed.ids[pair] >= 0)
      ++perExpert[pair / size_t(pairs)][size_t(routed.ids[pair])];
  const auto sum = [&](int from, int owner) {
    const auto first = perExpert[size_t(from)].begin() + owner * local;
    int64_t total = 0;
    for (auto expert = first; expert != first + local; ++expert)
      total += *expert;
    return total;
  };
  int64_t sent = 0, received = 0;
  std::vector<int32_t> places, inverse(size_t(starts.back()));
  std::vector<int64_t> next(starts.begin(), starts.end() - 1);
  for (int other = 0; other < size; ++other) {
    const int64_t there = sum(rank.info.rank, other), here = sum(other, rank.info.rank);
    const auto part = [&](const Memory *matrix, int64_t first, int64_t count) {
      return Baseline::Part{matrix->get(size_t(first * work.hidden) * bytesOfElement), size_t(count * work.hidden)};
    };
    toExperts.push_back(part(sorted, sent, there));
    home.push_back(part(returned, sent, there));
    atExperts.push_back(part(arrived, received, here));
    fromExperts.push_back(part(arrived, received, here));
    sent += there;
    received += here;
    for (int64_t expert = 0; expert < local; ++expert)
      for (int64_t row = perExpert[size_t(other)][size_t(rank.info.rank * local + expert)]; row > 0; --row) {
        const int64_t place = next[size_t(expert)]++;
        inverse[size_t(place)] = int32_t(places.size());
        places.push_back(int32_t(place));
      }
  }
  to->write(places.data(), places.size() * sizeof(int32_t));
  back->write(inverse.data(), inverse.size() * sizeof(int32_t));
}

void MoeBaseline::sort(Address ids, int64_t count, int64_t first, int64_t number) {
  launch(moe.kernels.count, ids, counts->get(), int32_t(count), int32_t(first), int32_t(number));
  launch(moe.kernels.place, ids, counts->get(), startsThere->get(), slots->get(), none->get(), none->get(),
         int32_t(count), int32_t(count), int32_t(first), int32_t(number), int32_t(0));
}

void MoeBaseline::expand(Address x, Address ids, Address places, Address target, int64_t count, int64_t topK,
                         int64_t first, int64_t number) {
  if (count > 0)
    launch(moe.kernels.expand, x, ids, places, target, int32_t(count), work.hidden, int32_t(topK), int32_t(first),
           int32_t(number));
}

void MoeBaseline::multiply(bool isGrouped) {
  const auto layer = [&](int number) {
    if (isGrouped && !layers[number].empty())
      baseline.multiplyGrouped(stream, layers[number], *tables[number]);
    else
      baseline.multiply(stream, layers[number]);
  };
  layer(0);
  if (starts.back() > 0)
    launch(activation, between->get(), active->get(), int32_t(starts.back()), work.width);
  layer(1);
}

bool MoeBaseline::hasGrouped() {
  try {
    multiply(true);
    checkDist(tile_dist_synchronize(rank.comm, stream));
    return true;
  } catch (const std::runtime_error &error) {
    std::printf("rank %d: without grouped GEMMs: %s\n", rank.info.rank, error.what());
    return false;
  }
}

void MoeBaseline::multiplyByTile() {
  const auto layer = [&](tile_kernel *kernel, const Memory *a, const Memory &b, const Memory *c, int64_t n, int64_t k) {
    launch(kernel, a->get(), b.get(), c->get(), startsThere->get(), int32_t(local), int32_t(starts.back()), int32_t(n),
           int32_t(k));
  };
  layer(moe.kernels.gate_up, rows, *buffers.gateUp, active, work.width, work.hidden);
  layer(moe.kernels.down, active, *buffers.down, results, work.hidden, work.width);
}

void MoeBaseline::runRouted(bool isGrouped) {
  const Address ids = buffers.ids->get();
  sort(ids, pairs, 0, work.experts);
  expand(buffers.x->get(), ids, slots->get(), sorted->get(), work.tokens, work.topK, 0, work.experts);
  baseline.exchange(stream, toExperts, atExperts);
  expand(arrived->get(), zeros->get(), to->get(), rows->get(), starts.back(), 1, 0, 1);
  multiply(isGrouped);
  expand(results->get(), zeros->get(), back->get(), arrived->get(), starts.back(), 1, 0, 1);
  baseline.exchange(stream, fromExperts, home);
  launch(moe.kernels.combine, returned->get(), returned->get(), ids, buffers.weights->get(), slots->get(),
         buffers.y->get(), int32_t(work.tokens), work.tokens, work.hidden, int32_t(work.topK), int32_t(work.experts),
         int32_t(0), int32_t(1));
}

void MoeBaseline::runGathered(bool isGrouped) {
  const size_t wordsOfPairs = size_t(2 * pairs); // in elements of 16 bits
  const int64_t all = rank.info.size * work.tokens, first = rank.info.rank * local;
  baseline.gather(stream, buffers.ids->get(), everyIds->get(), wordsOfPairs);
  baseline.gather(stream, buffers.weights->get(), everyWeights->get(), wordsOfPairs);
  baseline.gather(stream, buffers.x->get(), everyone->get(), size_t(work.tokens * work.hidden));
  sort(everyIds->get(), all * work.topK, first, local);
  expand(everyone->get(), everyIds->get(), slots->get(), rows->get(), all, work.topK, first, local);
  multiply(isGrouped);
  call("cuMemsetD8Async", sums->get(), static_cast<unsigned char>(0), sums->size(), stream);
  launch(moe.kernels.reduce, results->get(), everyIds->get(), everyWeights->get(), slots->get(), sums->get(),
         int32_t(all), work.hidden, int32_t(work.topK), int32_t(first), int32_t(local));
  baseline.scatter(stream, sums->get(), buffers.y->get(), size_t(work.tokens * work.hidden));
}

} // namespace across
