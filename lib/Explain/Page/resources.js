// Resource usage of a thread block, the limit of occupancy, the roofline, and expected times.
function sharedMap(data) {
  const {shared, shared_bytes: total} = data.resources;
  if (!shared.length) return element('p', {class: 'note'}, 'No buffers in shared memory.');
  const rows = shared.map(piece => [piece.type + (piece.slots > 1 ? ` × ${piece.slots} slots` : ''), piece.offset, piece.bytes, piece.line || '']);
  const names = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(names, 'svg');
  svg.setAttribute('viewBox', '0 0 1000 40');
  svg.setAttribute('width', '100%');
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', 'map of shared memory');
  const add = (x, width, colour, title) => {
    const box = document.createElementNS(names, 'rect');
    for (const [key, value] of Object.entries({x, y: 2, width: Math.max(width, 1), height: 36, fill: colour, stroke: '#fff'})) box.setAttribute(key, value);
    const text = document.createElementNS(names, 'title');
    text.textContent = title;
    box.append(text);
    svg.append(box);
  };
  add(0, 1000, '#eee', `${total} bytes`);
  shared.forEach((piece, i) => {
    for (let slot = 0; slot < piece.slots; ++slot)
      add((piece.offset + slot * piece.bytes / piece.slots) / total * 1000, piece.bytes / piece.slots / total * 1000, colourOf(i), `${piece.type}, slot ${slot}: ${piece.bytes / piece.slots} bytes from line ${piece.line}`);
  });
  return element('div', {}, svg, table(['buffer', 'offset', 'bytes', 'line'], rows));
}

function rooflineChart(data, holder) {
  const roofline = data.resources.roofline;
  const ridge = roofline.roof_gflop_per_s / roofline.memory_gb_per_s;
  const flops = roofline.tensor_flops + roofline.scalar_flops;
  const own = Math.max(roofline.intensity, 1e-3);
  const low = Math.min(own, ridge) / 20, high = Math.max(own, ridge) * 20;
  const at = x => Math.min(x * roofline.memory_gb_per_s, roofline.roof_gflop_per_s);
  const chart = echarts.init(holder, null, {renderer: 'svg'});
  chart.setOption({
    animation: false, aria: {enabled: true}, grid: {left: 70, right: 30, top: 30, bottom: 50}, tooltip: {},
    xAxis: {type: 'log', name: 'FLOP per byte of memory', nameLocation: 'middle', nameGap: 30, min: low, max: high, axisLabel: {formatter: v => +v.toPrecision(2)}},
    yAxis: {type: 'log', name: 'GFLOP/s', axisLabel: {formatter: shortNumber}},
    series: [
      {type: 'line', name: 'roof', data: [low, ridge, high].map(x => [x, at(x)]), symbol: 'none', lineStyle: {color: '#111', width: 2}, areaStyle: {color: '#f3f6fa'}},
      // The roofs with their numbers: the slope is memory, the flat part the fastest arithmetic.
      {type: 'scatter', name: 'roofs', symbolSize: 1, silent: true, itemStyle: {color: '#111'}, label: {show: true, color: '#111', fontSize: 12}, data: [
        {value: [Math.sqrt(low * ridge), at(Math.sqrt(low * ridge))], label: {position: 'left', formatter: `memory ${shortNumber(roofline.memory_gb_per_s)} GB/s`}},
        {value: [Math.sqrt(ridge * high), roofline.roof_gflop_per_s], label: {position: 'top', formatter: `${roofline.roof_by} ${shortNumber(roofline.roof_gflop_per_s)} GFLOP/s`}},
        {value: [ridge, roofline.roof_gflop_per_s], label: {position: 'bottom', formatter: `${ridge.toPrecision(3)} FLOP/byte`}}]},
      {type: 'scatter', name: 'bound (modelled)', data: flops ? [[own, at(own)]] : [], symbolSize: 14, itemStyle: {color: palette[5]},
        label: {show: true, position: 'right', formatter: `at most ${shortNumber(at(own))} GFLOP/s`}}].concat(flops && data.headline ? [
      {type: 'scatter', name: 'expected (modelled)', data: [[own, at(own) * data.headline.share]], symbolSize: 14, symbol: 'diamond', itemStyle: {color: palette[0]},
        label: {show: true, position: 'right', formatter: `expected ${shortNumber(at(own) * data.headline.share)}`}}] : []),
  });
  new ResizeObserver(() => requestAnimationFrame(() => chart.resize())).observe(holder);
}

function resourcesView(data) {
  const r = data.resources, view = element('div', {});
  view.append(element('h2', {}, 'Occupancy'), element('p', {}, r.one_more.text + '.'),
    table(['', 'per thread block', 'per multiprocessor'], [
      ['thread blocks', '1', r.ctas_per_sm],
      ['threads', r.threads_per_cta, percent(r.warps_share, 1) + ' of its warps'],
      ['registers per thread', r.registers || 'unknown without ptxas', r.registers ? percent(r.registers * r.threads_per_cta * r.ctas_per_sm, 65536) : ''],
      ['shared memory, bytes', r.shared_bytes, percent(r.shared_bytes * r.ctas_per_sm, r.shared_per_sm)],
      ['spilled bytes per thread', r.spill_bytes, ''],
      ['limited by', r.limit, '']]));
  if (r.one_more.needs.length)
    view.append(element('h3', {}, 'One more thread block fits if'), table(['', 'now', 'at most', ''], r.one_more.needs.map(need => [need.what, need.now, need.most, need.unit])));
  view.append(element('h2', {}, 'Shared memory'), sharedMap(data));
  if (r.expected_us)
    view.append(element('p', {}, `Expected time by the cost model: ${r.expected_us.value.toPrecision(3)} µs (modelled).`));
  if (r.roofline) {
    const roof = r.roofline, holder = element('div', {class: 'chart'});
    view.append(element('h2', {}, 'Roofline of ' + data.device),
      element('p', {class: 'note'}, `Data-sheet rates: ${roof.memory_gb_per_s} GB/s, ${shortNumber(roof.roof_gflop_per_s)} GFLOP/s (${roof.roof_by}). Moving each array once takes at least ${roof.least_us.toPrecision(3)} µs (modelled).`),
      table(['', 'simulated'], [['FLOP of tensor cores', roof.tensor_flops.toLocaleString('en')], ['other FLOP', roof.scalar_flops.toLocaleString('en')],
        ['bytes of all arrays', roof.least_bytes.toLocaleString('en')], ['bytes moved by multiprocessors', roof.moved_bytes.toLocaleString('en')],
        ['FLOP per byte', roof.intensity.toPrecision(4)]]), holder);
    view.whenShown = () => rooflineChart(data, holder);
  }
  return view;
}
