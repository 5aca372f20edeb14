// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-run plot squares.jsonl -o squares.html
// tile-run plot squares.jsonl -o roofline.svg --chart=roofline
#include "Lab/Results/Plot.h"
#include "Lab/Commands/Commands.h"
#include "Runner/Inputs/Npy.h"

namespace tile::runner {

namespace {

struct PlotOptions {
  RunOptions run;
  std::vector<std::string> files;
  std::string output, title, chart = "size";
  int width = 860;
};

int plot(const PlotOptions &options) {
  const auto wrong = [&](const std::string &message) {
    return reportFailure(options.run, runtime::makeError(TILE_ERROR_INVALID_ARGUMENT, "{}", message));
  };
  if (options.files.empty())
    return wrong("no measurements; expected files that tile-run bench -o has written");
  const bool isSvg = options.output.ends_with(".svg");
  if (!isSvg && !options.output.ends_with(".html"))
    return wrong(options.output.empty() ? "no output file; give -o FILE.html or -o FILE.svg"
                                        : "'" + options.output + "' is neither .html nor .svg");
  PlotRequest request;
  request.title = options.title;
  for (const std::string &file : options.files) {
    if (file == options.output)
      return wrong("'" + file + "' would be overwritten by its own charts");
    Result<std::vector<Measurement>> results = readResults(file);
    if (!results)
      return reportFailure(options.run, results.error());
    request.measurements.insert(request.measurements.end(), results->begin(), results->end());
  }
  Result<std::string> text = isSvg ? makeSvg(request, options.chart, options.width) : Result(makePage(request));
  if (!text)
    return reportFailure(options.run, text.error());
  if (Status status = writeFileAtomically(options.output, *text); !status)
    return reportFailure(options.run, status.error());
  return 0;
}

} // namespace

Action addPlot(CLI::App &app, const RunOptions &start) {
  auto options = std::make_shared<PlotOptions>();
  options->run = start;
  app.add_option("results", options->files, "Measurements written by tile-run bench -o")->type_name("FILE");
  app.add_option(
         "-o,--output", options->output,
         "Output: a self-contained page with all charts and a table (.html), or one chart (.svg), which needs node")
      ->type_name("FILE");
  app.add_option("--chart", options->chart,
                 "Chart of an SVG: size (performance by problem size), roofline, or bars (against the baselines)")
      ->check(CLI::IsMember({"size", "roofline", "bars"}))
      ->capture_default_str();
  app.add_option("--width", options->width, "Width of an SVG in pixels")
      ->check(CLI::Range(280, 4000))
      ->capture_default_str();
  app.add_option("--title", options->title, "Title of the page (default: kernels and device)");
  return [options] { return plot(*options); };
}

} // namespace tile::runner
