// Chooses what to look for, and finds the text of operations.
#include "Lint/Lint.h"

using namespace mlir;
using namespace tile::frontend;

namespace tile::lint {

/// The place in the text of the innermost function.
static std::optional<LineColumn> placeOf(Location location) {
  if (auto file = dyn_cast<FileLineColLoc>(location))
    return LineColumn{file.getLine(), file.getColumn()};
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return placeOf(call.getCallee());
  return std::nullopt;
}

OperationSource Subject::sourceOf(Operation *op) const {
  if (auto found = sources.find(op); found != sources.end())
    return found->second;
  OperationSource source;
  // A kernel is of one file, the first that the engine knows.
  if (std::optional<LineColumn> place = placeOf(op->getLoc()))
    source.range = diagnostics.characterAt(0, *place);
  return source;
}

std::pair<SourceRange, SourceRange> Subject::declarationOf(BlockArgument parameter) const {
  SourceRange name{}, annotation{};
  std::optional<LineColumn> place = placeOf(parameter.getLoc());
  if (!place)
    return {name, annotation};
  name = diagnostics.characterAt(0, *place);
  StringRef text = diagnostics.file(0).text;
  name.end = uint32_t(std::min(text.find_first_of(" :,=)\n", name.begin), text.size()));
  annotation = {name.end, name.end, 0};
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
                          {Diag::uncoalesced, findUncoalesced},
                          {Diag::missing_divisibility, findMissingDivisibility}})
    if (subject.diagnostics.isEnabled(id))
      find(subject);
}

} // namespace tile::lint
