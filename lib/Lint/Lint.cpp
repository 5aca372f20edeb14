// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the enabled checks, and maps operations to source text.
#include "Lint/Lint.h"

#include "llvm/Support/Path.h"

using namespace mlir;
using namespace tile::frontend;

namespace tile::lint {

/// Returns the source position within the innermost inlined function, if the file of that function was read.
static std::optional<SourceRange> characterOf(Location location, const frontend::DiagnosticEngine &diagnostics) {
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return characterOf(call.getCallee(), diagnostics);
  auto place = dyn_cast<FileLineColLoc>(location);
  // Locations have absolute paths, but files have the names by which they were opened, so compare only file names.
  for (uint32_t file = 0; place && file < diagnostics.numFiles(); ++file)
    if (llvm::sys::path::filename(diagnostics.file(file).name) ==
        llvm::sys::path::filename(place.getFilename().getValue()))
      return diagnostics.characterAt(file, {place.getLine(), place.getColumn()});
  return std::nullopt;
}

OperationSource Subject::sourceOf(Operation *op) const {
  if (auto found = sources.find(op); found != sources.end())
    return found->second;
  OperationSource source;
  source.range = characterOf(op->getLoc(), diagnostics).value_or(SourceRange());
  return source;
}

std::pair<SourceRange, SourceRange> Subject::declarationOf(BlockArgument parameter) const {
  SourceRange name{}, annotation{};
  std::optional<SourceRange> place = characterOf(parameter.getLoc(), diagnostics);
  if (!place)
    return {name, annotation};
  name = *place;
  StringRef text = diagnostics.file(name.file).text;
  name.end = uint32_t(std::min(text.find_first_of(" :,=)\n", name.begin), text.size()));
  annotation = {name.end, name.end, name.file};
  size_t colon = text.find_first_not_of(' ', name.end);
  if (colon != StringRef::npos && text[colon] == ':') {
    annotation.begin = uint32_t(std::min(text.find_first_not_of(' ', colon + 1), text.size()));
    annotation.end = uint32_t(std::min(text.find_first_of(" ,=)\n", annotation.begin), text.size()));
  }
  return {name, annotation};
}

frontend::DiagnosticEngine::Builder Subject::report(Diag id, Operation *op,
                                                    const std::vector<std::string> &arguments) const {
  OperationSource source = sourceOf(op);
  frontend::DiagnosticEngine::Builder builder = diagnostics.report(id, source.range, arguments);
  for (const auto &[call, function] : source.calls)
    builder.note(call, "in '" + function + "' called here");
  return builder;
}

void inspect(const Subject &subject) {
  using Find = void (*)(const Subject &);
  for (auto [id, find] : {std::pair<Diag, Find>{Diag::offset_overflow, findOffsetOverflow},
                          {Diag::masked_load, findMaskedLoads},
                          {Diag::unwritten_output, findUnwrittenOutputs},
                          {Diag::uncoalesced, findUncoalesced},
                          {Diag::missing_divisibility, findMissingDivisibility}})
    if (subject.diagnostics.isEnabled(id))
      find(subject);
}

} // namespace tile::lint
