// The charts of a page of measurements: this script selects the contents, ECharts draws them. Runs in a browser, and in
// node for `tile-run plot -o chart.svg`.
'use strict';

// The palette of Okabe and Ito, which is safe for colour-blind readers; each line also has a distinct symbol and dash.
const colours = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000', '#8c6d00'];
const symbols = ['circle', 'diamond', 'triangle', 'rect', 'roundRect', 'pin', 'arrow', 'emptyCircle'];
const dashes = ['solid', [7, 4], [2, 3], [10, 3, 2, 3], [5, 2], [1, 2], [12, 4], [3, 6]];
const text = { fontFamily: 'Helvetica, Arial, sans-serif', fontSize: 13, color: '#111' };
const maxLines = 7; // more cannot be distinguished

const isGemm = record => record.flops > 0;
/** TFLOP/s for GEMMs, TB/s for anything else. */
const rateOf = (record, microseconds) => (isGemm(record) ? record.flops : record.bytes) / microseconds * 1e-6;
const unitOf = record => isGemm(record) ? 'TFLOP/s' : 'TB/s';
const round = value => Number(value.toPrecision(4));
const unique = values => [...new Set(values)];

function lookOf(index) {
  const colour = colours[index % colours.length];
  return {
    itemStyle: { color: colour },
    lineStyle: { color: colour, width: 2, type: dashes[index % dashes.length] },
    symbol: symbols[index % symbols.length],
    symbolSize: 9,
  };
}

/**
 * Finds the axis of sizes: a varying argument, ignoring those that always follow another one. If several vary, the axis
 * is the cube root of the number of multiplications, or the bytes.
 */
function findAxis(records) {
  const names = unique(records.flatMap(record => Object.keys(record.arguments)));
  const valuesOf = name => records.map(record => record.arguments[name]).join();
  const varying = names.filter(name => unique(records.map(record => record.arguments[name])).length > 1);
  const leading = varying.filter((name, i) => !varying.slice(0, i).some(other => valuesOf(other) === valuesOf(name)));
  const scaled = leading.filter(name => !/^(ld|stride)/.test(name));
  if (scaled.length === 1) {
    const tied = varying.filter(name => valuesOf(name) === valuesOf(scaled[0]) && !/^(ld|stride)/.test(name));
    return { name: tied.join(' = '), valueOf: record => record.arguments[scaled[0]] };
  }
  return records.every(isGemm)
    ? { name: 'cube root of M N K', valueOf: record => Math.cbrt(record.flops / 2) }
    : { name: 'bytes', valueOf: record => record.bytes };
}

function base(isNarrow) {
  return {
    animation: false,
    textStyle: text,
    color: colours,
    aria: { enabled: true },
    tooltip: { trigger: 'item', confine: true, appendTo: 'body', className: 'tip' },
    legend: { type: 'plain', top: 4, left: 0, itemGap: 24, itemWidth: 34, textStyle: { ...text, lineHeight: 15 } },
    grid: { left: isNarrow ? 52 : 64, right: isNarrow ? 14 : 28, bottom: 48, containLabel: false },
  };
}

/**
 * Places the legend above the chart, because ECharts reserves no space for it. If a name is as wide as the chart, it is
 * wrapped, and each name gets a separate line. Returns the height in pixels.
 */
function placeLegend(option, names, width) {
  const { itemGap, textStyle: { lineHeight } } = option.legend;
  const widest = width - 90, widthOf = name => 8 * name.length;
  let height = 0, left = 0;
  if (names.some(name => widthOf(name) > widest)) {
    option.legend.textStyle = { ...option.legend.textStyle, width: widest, overflow: 'break' };
    for (const name of names)
      height += Math.ceil(widthOf(name) / widest) * lineHeight + itemGap;
  } else {
    for (const name of names) {
      const needed = 68 + widthOf(name);
      if (needed > left) {
        height += lineHeight + itemGap;
        left = width;
      }
      left -= needed;
    }
  }
  option.grid.top = height + 2;
  return height;
}

function axis(name, type, more) {
  return {
    name, type, nameLocation: 'middle', nameGap: 30, nameTextStyle: text,
    axisLabel: { ...text, hideOverlap: true }, axisLine: { show: true, lineStyle: { color: '#444' } },
    splitLine: { lineStyle: { color: '#ddd' } }, ...more,
  };
}

/** Returns the times of all cases and of their baselines, grouped by line. */
function linesOf(records) {
  const lines = new Map();
  const add = (name, record, microseconds, more) => {
    if (!lines.has(name))
      lines.set(name, []);
    lines.get(name).push({ record, microseconds, ...more });
  };
  for (const record of records)
    add(record.line, record, record.time_us, { isOurs: true, energy: record.energy_mj });
  for (const record of records)
    for (const other of record.baselines)
      add(other.name, record, other.time_us, { energy: other.energy_mj });
  return lines;
}

/** Returns true if there is one point per size; otherwise points are not connected. */
const isFunction = (points, along) => unique(points.map(point => along.valueOf(point.record))).length === points.length;

function tipOf(name, point) {
  const lines = [`<b>${escapeText(name)}</b>`, escapeText(point.record.case),
    `${round(point.microseconds)} µs, ${round(rateOf(point.record, point.microseconds))} ${unitOf(point.record)}`];
  if (point.energy)
    lines.push(`${round(point.energy)} mJ`);
  if (point.record.throttled)
    lines.push(`clock throttled: ${escapeText(point.record.throttled)}`);
  return lines.join('<br>');
}

const escapeText = text => String(text).replace(/[&<>"]/g, c => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);

/** Returns the maximum of a ceiling over all measurements. */
const best = (records, key) => Math.max(0, ...records.map(record => record.ceilings?.[key] ?? 0));

function sizeChart(all, width) {
  const isNarrow = width < 520;
  // Artifacts with one case each are builds of one kernel, compiled for each size.
  const isOneEach = unique(all.map(record => record.line)).length === all.length;
  const records = isOneEach ? all.map(record => ({ ...record, line: record.kernel })) : all;
  const along = findAxis(records);
  const sizes = unique(records.map(along.valueOf));
  if (sizes.length < 2)
    return null;
  const unit = unitOf(records[0]);
  const lines = linesOf(records);
  const ceiling = isGemm(records[0]) ? best(records, 'gflop_per_s') * 1e-3 : best(records, 'memory_gb_per_s') * 1e-3;
  const series = [...lines].map(([name, points], i) => {
    const look = lookOf(i);
    return {
      name, type: 'line', ...look, showSymbol: true,
      lineStyle: { ...look.lineStyle, width: isFunction(points, along) ? 2 : 0 },
      data: points.map(point => ({ value: [along.valueOf(point.record), rateOf(point.record, point.microseconds)], tip: tipOf(name, point) }))
        .sort((a, b) => a.value[0] - b.value[0]),
    };
  });
  if (ceiling > 0)
    series[0].markLine = {
      silent: true, symbol: 'none', lineStyle: { color: '#444', type: 'dashed' }, data: [{ yAxis: ceiling }],
      label: { ...text, position: 'insideEndTop', formatter: isGemm(records[0]) ? 'cuBLAS, 8192³' : 'device copy' },
    };
  const isLog = Math.min(...sizes) > 0 && Math.max(...sizes) >= 8 * Math.min(...sizes);
  const option = base(isNarrow);
  const legend = placeLegend(option, [...lines.keys()], width);
  option.xAxis = axis(along.name, isLog ? 'log' : 'value', {
    ...(isLog ? { logBase: 2 } : {}), min: 'dataMin', max: 'dataMax', scale: true,
    axisLabel: { ...text, hideOverlap: true, formatter: shortNumber },
  });
  option.yAxis = axis(unit, 'value', { nameGap: isNarrow ? 36 : 46, min: 0, axisLabel: { ...text, formatter: shortNumber } });
  option.series = series;
  return { kind: 'size', title: `${records[0].kernel}: ${unit} over ${along.name}`, option, height: legend + (isNarrow ? 300 : 380),
    caption: `Higher is better. ${conditions(records)}` };
}

function shortNumber(value) {
  const units = [[1e9, 'G'], [1e6, 'M']];
  for (const [size, unit] of units)
    if (value >= size && (value % 1 !== 0 || value >= 1e7))
      return `${round(value / size)}${unit}`;
  return String(Number.isInteger(value) ? value : round(value));
}

/** Describes the measurement conditions for a caption. */
function conditions(records) {
  const ways = unique(records.map(record => `${record.graph ? 'graphs' : 'single launches'} with a ${record.l2} L2 cache`));
  const throttled = records.filter(record => record.throttled).length;
  const recorded = unique(records.flatMap(record => record.baselines.filter(other => other.recorded).map(other => other.name)));
  let caption = `Measured as ${ways.join(' and ')}.`;
  if (throttled > 0)
    caption += ` The clock was throttled in ${throttled} of ${records.length} cases.`;
  if (records.some(record => record.leavesOutCopy))
    caption += ' Copies that take less than half of a GEMM\'s time are only in the table.';
  if (recorded.length > 0)
    caption += ` Not measured in the same rounds: ${recorded.join(', ')}.`;
  return caption;
}

function rooflineChart(records, width) {
  const isNarrow = width < 520;
  const gemms = records.filter(record => isGemm(record) && record.bytes > 0);
  if (gemms.length === 0)
    return null;
  const intensityOf = record => record.flops / record.bytes;
  const memory = best(gemms, 'memory_gb_per_s') * 1e-3;
  const series = unique(gemms.map(record => record.line)).map((line, i) => ({
    name: line, type: 'scatter', ...lookOf(i), symbolSize: 11,
    data: gemms.filter(record => record.line === line)
      .map(record => ({ value: [intensityOf(record), rateOf(record, record.time_us)], tip: tipOf(line, { record, microseconds: record.time_us }) })),
  }));
  const intensities = gemms.map(intensityOf);
  const peaks = unique(gemms.map(record => record.ceilings?.gflop_per_s_by).filter(Boolean));
  let least = Math.min(...intensities) / 2, most = Math.max(...intensities) * 2;
  peaks.forEach((by, i) => {
    const peak = best(gemms.filter(record => record.ceilings?.gflop_per_s_by === by), 'gflop_per_s') * 1e-3;
    const ridge = peak / memory;
    least = Math.min(least, ridge / 4);
    most = Math.max(most, ridge * 4);
    series.push({
      name: `roof: copy, ${by}`, type: 'line', symbol: 'none', silent: true,
      lineStyle: { color: '#444', width: 2, type: dashes[i % dashes.length] }, itemStyle: { color: '#444' },
      data: [[least, least * memory], [ridge, peak], [most, peak]],
    });
  });
  const option = base(isNarrow);
  const legend = placeLegend(option, series.map(item => item.name), width);
  option.xAxis = axis('FLOP per byte of memory', 'log', { min: least, max: most, axisLabel: { ...text, hideOverlap: true, formatter: shortNumber } });
  option.yAxis = axis('TFLOP/s', 'log', { nameGap: isNarrow ? 36 : 46, axisLabel: { ...text, hideOverlap: true, formatter: shortNumber } });
  option.legend.itemWidth = 18;
  option.series = series;
  const caption = peaks.length > 0
    ? 'Bytes are the minimum that must be read and written. The roof was measured on this GPU: a copy on the slope, cuBLAS on the flat part.'
    : 'Bytes are the minimum that must be read and written. Without --ceilings no roof was measured.';
  return { kind: 'roofline', title: `Roofline of ${unique(gemms.map(record => record.kernel)).join(', ')}`, option, height: legend + (isNarrow ? 300 : 380), caption };
}

function barChart(records, width) {
  const isNarrow = width < 520;
  if (!records.some(record => record.baselines.length > 0))
    return null;
  const hasSame = unique(records.map(record => record.case)).length < records.length;
  const cases = records.map(record => (hasSame ? `${record.line}: ` : '') + record.case);
  // All records have one bar each. Baselines are next to the record that they were measured with, in one column if each
  // record has a single baseline.
  const isSingle = records.every(record => record.baselines.length <= 1);
  const names = ['this kernel', ...unique(records.flatMap(record => record.baselines.map(other => other.name)))];
  const series = names.map((name, i) => ({
    name, type: 'bar', itemStyle: { color: colours[i % colours.length], decal: decalOf(i), borderColor: '#111', borderWidth: 0.5 },
    barGap: '10%', barCategoryGap: '28%', ...(isSingle && i > 0 ? { stack: 'second' } : {}),
    data: records.map(record => {
      const other = record.baselines.find(item => item.name === name);
      const microseconds = i === 0 ? record.time_us : other?.time_us;
      return microseconds ? { value: rateOf(record, microseconds), tip: tipOf(i === 0 ? record.line : name, { record, microseconds }) } : '-';
    }),
  }));
  const option = base(isNarrow);
  placeLegend(option, names, width);
  option.grid.containLabel = true;
  option.grid.left = 24;
  option.yAxis = axis('', 'category', { data: cases, inverse: true, axisLabel: { ...text, fontSize: 12, lineHeight: 13, width: isNarrow ? 110 : 260, overflow: 'break', interval: 0 } });
  option.xAxis = axis(unitOf(records[0]), 'value', { min: 0 });
  option.series = series;
  const height = option.grid.top + 60 + cases.length * (12 + 15 * (isSingle ? 2 : names.length));
  return { kind: 'bars', title: `${unique(records.map(record => record.kernel)).join(', ')} against ${names.slice(1).join(', ')}`, option, height,
    caption: `Longer is better. ${conditions(records)}` };
}

/** Returns a fill pattern that is distinguishable without colours. */
function decalOf(index) {
  const patterns = [null,
    { symbol: 'rect', dashArrayX: [1, 0], dashArrayY: [2, 5], rotation: -Math.PI / 4, color: 'rgba(255,255,255,0.7)' },
    { symbol: 'circle', dashArrayX: [[6, 6], [0, 6, 6, 0]], dashArrayY: [6, 0], symbolSize: 0.6, color: 'rgba(255,255,255,0.8)' },
    { symbol: 'rect', dashArrayX: [1, 0], dashArrayY: [4, 3], rotation: Math.PI / 4, color: 'rgba(255,255,255,0.7)' },
    { symbol: 'rect', dashArrayX: [3, 3], dashArrayY: [3, 3], color: 'rgba(255,255,255,0.6)' }];
  return patterns[index % patterns.length] ?? { symbol: 'none' };
}

/** Joins many artifacts to one line: suites often have one artifact per case. */
function joinLines(records) {
  const tooMany = unique(records.map(record => record.line)).length > maxLines;
  return tooMany ? records.map(record => ({ ...record, line: record.kernel })) : records;
}

/**
 * Removes device-copy baselines that take less than half of a GEMM's time: memory is not its bottleneck, and converted
 * to TFLOP/s they would stretch the axis until nothing else can be distinguished.
 */
function withoutIdleCopies(record) {
  const isIdle = other => isGemm(record) && other.name === 'device copy' && 2 * other.time_us < record.time_us;
  return { ...record, baselines: record.baselines.filter(other => !isIdle(other)), leavesOutCopy: record.baselines.some(isIdle) };
}

/** Makes all charts of the data, for a width in pixels. */
function makeCharts(data, width) {
  const all = data.records.map(withoutIdleCopies);
  const keyOf = record => `${record.kernel} ${unitOf(record)}`;
  const groupsBy = of => unique(all.map(of)).map(key => joinLines(all.filter(record => of(record) === key)));
  const groups = groupsBy(keyOf);
  const charts = [...groups.map(records => sizeChart(records, width)), rooflineChart(joinLines(all), width),
    ...groupsBy(unitOf).map(records => barChart(records, width))].filter(Boolean);
  for (const chart of charts)
    chart.option.tooltip.formatter = parameters => parameters.data?.tip ?? '';
  return charts;
}

/** Renders one chart as SVG text. */
function renderSvg(chart, width) {
  const instance = echarts.init(null, null, { renderer: 'svg', ssr: true, width, height: chart.height });
  instance.setOption(chart.option);
  const svg = instance.renderToSVGString();
  instance.dispose();
  const title = escapeText(chart.title);
  return svg.replace(/^<svg /, `<svg role="img" aria-label="${title}" `).replace(/^(<svg[^>]*>)/, `$1<title>${title}</title><rect width="100%" height="100%" fill="#fff"/>`);
}

/** Fills the page, and redraws whenever its width changes. */
function showPage(data) {
  const place = document.getElementById('charts');
  const print = 680; // pixels: the width of A4 paper without margins
  let shown = [];
  const draw = width => {
    shown.forEach(item => item.instance.dispose());
    place.replaceChildren();
    shown = makeCharts(data, width).map(chart => {
      const figure = document.createElement('figure');
      figure.innerHTML = `<h2>${escapeText(chart.title)}</h2><div class="chart" style="height:${chart.height}px"></div>` +
        `<figcaption>${escapeText(chart.caption)}</figcaption><button type="button">Save as SVG</button>`;
      place.append(figure);
      const instance = echarts.init(figure.querySelector('.chart'), null, { renderer: 'svg', width, height: chart.height });
      instance.setOption(chart.option);
      figure.querySelector('button').onclick = () => {
        const link = document.createElement('a');
        link.href = URL.createObjectURL(new Blob([renderSvg(chart, width)], { type: 'image/svg+xml' }));
        link.download = `${chart.title.replace(/[^a-z0-9]+/gi, '-').toLowerCase()}.svg`;
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 1000);
      };
      return { instance, width };
    });
  };
  const fit = () => {
    const width = Math.max(place.clientWidth, 280);
    if (shown.length === 0 || shown[0].width !== width)
      draw(width);
  };
  fit();
  addEventListener('resize', fit);
  addEventListener('beforeprint', () => draw(print));
  addEventListener('afterprint', fit);
}
