// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints the log as JSON or SARIF. SARIF property names follow the SARIF schema; section numbers are those of the
// specification.
#include "Driver/DiagnosticLog.h"

#include "Driver/Version.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringExtras.h"

#include <nlohmann/json.hpp>

using OrderedJson = nlohmann::ordered_json;

namespace tile::driver {

using frontend::DiagnosticEngine;
using frontend::Severity;

DiagnosticLog::Entry DiagnosticLog::convert(const DiagnosticEngine &engine, const frontend::Diagnostic &diagnostic) {
  auto spanOf = [&](frontend::SourceRange range) {
    frontend::LineColumn begin = engine.locate(range), end = engine.locateEnd(range);
    return Span{engine.file(range.file).name, begin.line, begin.column, end.line, end.column};
  };
  Entry entry;
  entry.severity = diagnostic.severity == Severity::Error     ? "error"
                   : diagnostic.severity == Severity::Warning ? "warning"
                                                              : "note";
  entry.name = diagnostic.name;
  entry.flag = diagnostic.isWarning ? "-W" + diagnostic.name : "";
  entry.message = diagnostic.message;
  entry.span = spanOf(diagnostic.range);
  for (const frontend::FixIt &fix : diagnostic.fixIts)
    entry.fixes.push_back({spanOf(fix.range), fix.replacement});
  for (const frontend::Diagnostic &note : diagnostic.notes)
    entry.notes.push_back(convert(engine, note));
  return entry;
}

static std::optional<mlir::FileLineColLoc> innermostLocation(mlir::Location location) {
  if (auto call = llvm::dyn_cast<mlir::CallSiteLoc>(location))
    return innermostLocation(call.getCallee());
  return location->findInstanceOf<mlir::FileLineColLoc>();
}

DiagnosticLog::Entry DiagnosticLog::convert(mlir::Diagnostic &diagnostic) {
  Entry entry;
  switch (diagnostic.getSeverity()) {
  case mlir::DiagnosticSeverity::Error:
    entry.severity = "error";
    break;
  case mlir::DiagnosticSeverity::Warning:
    entry.severity = "warning";
    break;
  default:
    entry.severity = "note"; // SARIF has no remarks
    break;
  }
  entry.message = diagnostic.str();
  if (std::optional<mlir::FileLineColLoc> place = innermostLocation(diagnostic.getLocation()); place && *place)
    entry.span = {place->getFilename().str(), place->getLine(), place->getColumn(), place->getLine(),
                  place->getColumn() + 1};
  for (mlir::Diagnostic &note : diagnostic.getNotes())
    entry.notes.push_back(convert(note));
  return entry;
}

void DiagnosticLog::add(const DiagnosticEngine &engine) {
  for (const frontend::Diagnostic *diagnostic : engine.sorted())
    entries.push_back(convert(engine, *diagnostic));
}

void DiagnosticLog::add(mlir::Diagnostic &diagnostic) {
  entries.push_back(convert(diagnostic));
}

void DiagnosticLog::add(llvm::StringRef severity, llvm::StringRef message, llvm::StringRef name) {
  Entry entry;
  entry.severity = severity.str();
  entry.message = message.str();
  entry.name = name.str();
  entry.flag = name.empty() ? "" : "-W" + name.str();
  entries.push_back(std::move(entry));
}

struct DiagnosticLog::Printer {
  static void addSpan(OrderedJson &json, const Span &span) {
    json["line"] = span.line;
    json["column"] = span.column;
    json["endLine"] = span.endLine;
    json["endColumn"] = span.endColumn;
  }

  static OrderedJson toJson(const Entry &entry) {
    OrderedJson json;
    json["severity"] = entry.severity;
    if (!entry.name.empty())
      json["name"] = entry.name;
    if (!entry.flag.empty())
      json["flag"] = entry.flag;
    json["message"] = entry.message;
    if (!entry.span.file.empty()) {
      json["file"] = entry.span.file;
      addSpan(json, entry.span);
    }
    for (const Fix &fix : entry.fixes) {
      OrderedJson one;
      addSpan(one, fix.span);
      one["replacement"] = fix.replacement;
      json["fixIts"].push_back(std::move(one));
    }
    for (const Entry &note : entry.notes)
      json["notes"].push_back(toJson(note));
    return json;
  }

  /// Returns a relative or absolute path as a URI reference (RFC 3986), in which everything except unreserved
  /// characters and '/' is escaped.
  static OrderedJson artifact(llvm::StringRef path) {
    std::string uri = path.starts_with("/") ? "file://" : "";
    for (char c : path) {
      if (llvm::isAlnum(c) || llvm::StringRef("-._~/").contains(c))
        uri += c;
      else
        uri += '%' + llvm::toHex(llvm::StringRef(&c, 1));
    }
    return {{"uri", uri}};
  }

  static OrderedJson region(const Span &span) {
    return {{"startLine", span.line},
            {"startColumn", span.column},
            {"endLine", span.endLine},
            {"endColumn", span.endColumn}};
  }

  static OrderedJson location(const Entry &entry) {
    return {{"physicalLocation", {{"artifactLocation", artifact(entry.span.file)}, {"region", region(entry.span)}}}};
  }

  /// Builds a result object (3.27).
  static OrderedJson result(const Entry &entry) {
    OrderedJson json;
    if (!entry.name.empty())
      json["ruleId"] = entry.name;
    json["level"] = entry.severity;
    json["message"]["text"] = entry.message;
    if (!entry.span.file.empty())
      json["locations"].push_back(location(entry));
    // Fix-its of notes are alternatives (3.27.30), so they are kept separate from those of the diagnostic itself.
    addFixes(json, entry);
    for (const Entry &note : entry.notes) {
      if (note.span.file.empty())
        continue;
      OrderedJson related = location(note);
      related["message"]["text"] = note.message;
      json["relatedLocations"].push_back(std::move(related));
      addFixes(json, note);
    }
    return json;
  }

  static void addFixes(OrderedJson &json, const Entry &entry) {
    if (entry.fixes.empty())
      return;
    OrderedJson change;
    change["artifactLocation"] = artifact(entry.span.file);
    for (const Fix &fix : entry.fixes)
      change["replacements"].push_back(
          {{"deletedRegion", region(fix.span)}, {"insertedContent", {{"text", fix.replacement}}}});
    OrderedJson one;
    one["artifactChanges"].push_back(std::move(change));
    json["fixes"].push_back(std::move(one));
  }

  /// Lists the rules that results refer to (3.49.23).
  static OrderedJson rules(const std::vector<Entry> &entries) {
    OrderedJson list = OrderedJson::array();
    for (const frontend::WarningInfo &info : frontend::allWarnings()) {
      std::string name = frontend::diagnosticName(info.id);
      if (llvm::any_of(entries, [&](const Entry &entry) { return entry.name == name; }))
        list.push_back({{"id", name}, {"shortDescription", {{"text", std::string(info.meaning)}}}});
    }
    return list;
  }
};

std::string DiagnosticLog::printError(DiagnosticsFormat format, llvm::StringRef message) {
  if (format == DiagnosticsFormat::Text)
    return ("tilec: error: " + message + "\n").str();
  DiagnosticLog log;
  log.add("error", message);
  return log.print(format);
}

std::string DiagnosticLog::print(DiagnosticsFormat format) const {
  OrderedJson json;
  if (format == DiagnosticsFormat::Json) {
    json["diagnostics"] = OrderedJson::array();
    for (const Entry &entry : entries)
      json["diagnostics"].push_back(Printer::toJson(entry));
  } else {
    OrderedJson run;
    run["tool"]["driver"] = {{"name", "tilec"}, {"version", compilerVersion}, {"rules", Printer::rules(entries)}};
    run["results"] = OrderedJson::array();
    for (const Entry &entry : entries)
      run["results"].push_back(Printer::result(entry));
    json["$schema"] = "https://json.schemastore.org/sarif-2.1.0.json";
    json["version"] = "2.1.0";
    json["runs"].push_back(std::move(run));
  }
  // Messages may quote source bytes that are not UTF-8.
  return json.dump(2, ' ', /*ensure_ascii=*/false, OrderedJson::error_handler_t::replace) + '\n';
}

} // namespace tile::driver
