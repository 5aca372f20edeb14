// Which thread block computes which part of each output: in launch order, by wave, or by the order of its own work.
function gridView(data) {
  const grid = data.grid, view = element('div', {});
  view.append(element('p', {}, `${grid.programs.join(' × ')} programs${grid.persistent ? `, worked off by ${grid.thread_blocks} persistent thread blocks` : ''}, ` +
    `clusters of ${grid.cluster.join(' × ')}; ${grid.at_a_time} thread blocks run at a time on ${grid.multiprocessors} multiprocessors: ${grid.waves.toFixed(2)} waves, ` +
    `${Math.round(100 * grid.tail_efficiency)} % of the multiprocessors' time in use.`));
  for (const output of grid.outputs) view.append(outputMap(grid, output));
  if (!grid.outputs.length) view.append(element('p', {class: 'note'}, data.simulated ? 'No output has a declared shape.' : 'Nothing ran.'));
  return view;
}

function outputMap(grid, output) {
  const numCtas = Math.max(1, ...output.ctas) + 1;
  const cellsOf = new Map();
  for (const cta of output.ctas) cellsOf.set(cta, (cellsOf.get(cta) || 0) + 1);
  const programs = grid.programs.reduce((a, b) => a * b, 1);
  // A persistent block's programs have the same share of its cells each.
  const roundOf = cell => {
    if (!grid.persistent) return Math.floor(output.ctas[cell] / grid.at_a_time);
    const each = Math.max(1, Math.ceil((programs - output.ctas[cell]) / Math.max(grid.thread_blocks, 1)));
    return Math.min(each - 1, Math.floor(output.orders[cell] * each / cellsOf.get(output.ctas[cell])));
  };
  let mode = 'order', time = 1;
  const colour = (row, column) => {
    const cell = row * output.cell_columns + column, cta = output.ctas[cell];
    if (cta < 0) return '#ffffff';
    const when = (roundOf(cell) * numCtas + cta) / (numCtas * (1 + Math.max(...rounds)));
    if (when > time) return '#f0f0f0';
    if (mode === 'wave') return colourOf(roundOf(cell));
    return mode === 'order' ? shade(cta / numCtas) : colourOf(cta);
  };
  const rounds = output.ctas.map((cta, cell) => cta < 0 ? 0 : roundOf(cell));
  const describe = (row, column) => {
    const cell = row * output.cell_columns + column, cta = output.ctas[cell];
    const place = `rows ${row * output.rows_per_cell}–${Math.min((row + 1) * output.rows_per_cell, output.rows) - 1}, columns ${column * output.columns_per_cell}–${Math.min((column + 1) * output.columns_per_cell, output.columns) - 1}: `;
    if (cta < 0) return place + 'written by nobody, or in a way that the page does not follow';
    const [x, y] = grid.programs;
    const program = grid.persistent ? '' : ` (program ${cta % x}, ${Math.floor(cta / x) % y}, ${Math.floor(cta / x / y)})`;
    return place + `thread block ${cta}${program}, wave ${roundOf(cell) + 1}`;
  };
  const cells = cellCanvas(output.cell_rows, output.cell_columns, colour, describe, `who writes ${output.name}`);
  const select = element('select', {'aria-label': 'colours', onchange: () => { mode = select.value; cells.redraw(); }},
    element('option', {value: 'order'}, 'launch order (pale: first)'), element('option', {value: 'wave'}, 'waves'), element('option', {value: 'cta'}, 'thread blocks'));
  const slider = element('input', {type: 'range', min: 0, max: 100, value: 100, 'aria-label': 'time', oninput: () => { time = slider.value / 100; cells.redraw(); }});
  let timer = 0;
  const play = element('button', {type: 'button', onclick: () => {
    clearInterval(timer);
    slider.value = 0;
    timer = setInterval(() => {
      slider.value = Number(slider.value) + 2;
      time = slider.value / 100;
      cells.redraw();
      if (time >= 1) clearInterval(timer);
    }, 60);
  }}, 'play');
  return element('div', {}, element('h2', {}, `${output.name}: ${output.rows} × ${output.columns}`),
    element('div', {class: 'controls'}, select, element('label', {}, 'time ', slider), play), cells.node);
}
