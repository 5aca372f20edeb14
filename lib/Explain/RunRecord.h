// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Observes a simulated run. Records counters, one sample request per memory instruction, the thread block that wrote
// each part of each output, and all events of the first thread block's warps in order.
#pragma once

#include "Explain/L2Lines.h"
#include "Runner/Device/SimDevice.h"
#include "Simulator/Machine/Machine.h"
#include "Simulator/Profile/Profiler.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tile::explain {

/// An array argument viewed as a matrix whose rows run along the last dimension.
struct BufferView {
  std::string name;
  unsigned elementBytes = 1;
  std::vector<int64_t> shape, strides; ///< in elements
  bool isOutput = false;

  void setShape(std::vector<int64_t> shape, std::vector<int64_t> strides);
  int64_t columns() const { return shape.empty() ? 1 : shape.back(); }
  int64_t rows() const;
  /// Returns the row and column of the element, or nullopt if it is in a gap between rows.
  std::optional<std::pair<int64_t, int64_t>> place(int64_t element) const;

private:
  struct Dimension {
    int64_t size, stride;
    int64_t rows; ///< rows of the matrix that one step spans; 0: a step along the columns
  };
  std::vector<Dimension> dimensions; ///< from the largest stride to the smallest
};

/// One memory request of a warp.
struct Request {
  sim::Space space = sim::Space::Global;
  sim::AccessKind kind = sim::AccessKind::Read;
  unsigned bytes = 0; ///< bytes per lane
  std::string buffer; ///< name of the array, for global accesses
  /// Per lane: byte offset from the start of the buffer or of shared memory; -1: inactive.
  std::vector<int64_t> addresses;
  uint32_t actual = 0, ideal = 0; ///< number of sectors, or of wavefronts
};

/// The thread block that first wrote a cell of an output.
struct Cell {
  int32_t cta = -1;   ///< in launch order
  uint32_t order = 0; ///< number of cells that this CTA wrote before this one
};
struct OutputMap {
  size_t buffer = 0; ///< index into the views
  int64_t rowsPerCell = 1, columnsPerCell = 1, rows = 0, columns = 0;
  std::vector<Cell> cells; ///< row by row
};

/// One instruction executed by a warp of the first thread block.
struct Event {
  uint32_t instruction = 0;
  uint32_t address = 0; ///< address of the barrier that the instruction tests or signals
  uint64_t value = 0;   ///< parity, bytes expected, bytes copied, multiply-adds, or number of threads
  uint32_t lanes = 0;   ///< number of active lanes
};

class RunRecord final : public sim::Observer, public runner::RunWatcher {
public:
  explicit RunRecord(std::vector<BufferView> views);

  sim::Observer &begin(const sim::Program &program, std::span<const runner::DeviceArgument> arguments,
                       std::span<const uint64_t> values) override;
  void issue(const sim::Warp &warp, const sim::Instruction &instruction, sim::LaneMask active) override;
  void access(const sim::Warp &warp, const sim::LaneAccess &access) override;
  void copy(const sim::Warp &warp, const sim::Instruction &instruction, uint64_t bytes, bool toShared) override;
  void copyBytes(const sim::Warp &warp, const sim::Instruction &, uint64_t address, uint64_t bytes,
                 bool toShared) override;
  void tensorCore(const sim::Warp &warp, const sim::Instruction &instruction, uint64_t multiplyAdds) override;
  void wait(const sim::Warp &warp, const sim::Instruction &instruction) override;

  /// Null before a run.
  const sim::Function *function() const { return kernel; }
  const sim::Module *module() const { return ptx; }
  const sim::Profiler &profiler() const { return *counters; }
  const std::vector<BufferView> &views() const { return buffers; }
  /// Returns sample requests by instruction: for each memory space, the most wasteful one among the first requests.
  const std::vector<std::optional<Request>> &globalRequests() const { return globals; }
  const std::vector<std::optional<Request>> &sharedRequests() const { return shareds; }
  const std::vector<OutputMap> &outputs() const { return maps; }
  /// Returns the L2 cache lines of a view that thread blocks read, by block; empty if no block reads the view.
  const std::vector<LineSet> &readLines(size_t view) const { return lines[view]; }
  /// Returns how many bytes of the first L2 cache line precede the view.
  uint64_t misalignment(size_t view) const { return ranges[view].first % l2LineBytes; }
  const std::vector<std::vector<Event>> &events() const { return streams; }
  bool isCut() const { return numEvents >= maxEvents; }
  /// Returns the number of thread blocks of the grid.
  uint64_t ctas() const { return numCtas; }

private:
  static constexpr size_t maxEvents = 200'000; // 24 bytes each
  static constexpr uint32_t maxSamples = 64;   // examined requests per instruction

  uint64_t valueOf(const sim::Warp &warp, const sim::Operand &operand, unsigned lane) const;
  void record(const sim::Warp &warp, const sim::Instruction &instruction, size_t index, sim::LaneMask active);
  bool isRetry(unsigned warp, const Event &event, bool isTest);
  void sample(const sim::LaneAccess &access, sim::Space space, std::vector<std::optional<Request>> &into);
  void noteRead(const sim::Warp &warp, uint64_t address, uint64_t bytes);
  void noteWrite(const sim::Warp &warp, uint64_t address, uint64_t bytes);
  void markElements(OutputMap &map, uint64_t cta, int64_t first, int64_t last);
  std::optional<size_t> findBuffer(uint64_t address) const;

  std::vector<BufferView> buffers;
  std::vector<std::pair<uint64_t, uint64_t>> ranges; ///< address ranges of the buffers
  const sim::Program *program = nullptr;
  const sim::Function *kernel = nullptr;
  const sim::Module *ptx = nullptr;
  std::optional<sim::Profiler> counters;
  std::vector<std::optional<Request>> globals, shareds;
  std::vector<uint32_t> samples;
  std::vector<OutputMap> maps;
  std::vector<std::vector<LineSet>> lines; ///< L2 lines read, by view and thread block
  std::vector<uint32_t> cellsOfCta;
  std::vector<std::vector<Event>> streams;
  std::vector<size_t> lastTests; ///< per stream: the position after its last barrier test
  size_t numEvents = 0;
  uint64_t numCtas = 0;
};

} // namespace tile::explain
