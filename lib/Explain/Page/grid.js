// Shows the thread block that computes each part of each output, coloured by launch order, wave or the order within the
// block, and the L2 cache lines that concurrent blocks share.

/// Yields the integers of a list of runs [first, count, …].
function* expandRuns(runs) {
  for (let i = 0; i < runs.length; i += 2)
    for (let number = runs[i]; number < runs[i] + runs[i + 1]; ++number) yield number;
}

/// Returns which share of the cells that block `cta` reads is also read by block `other`.
function sharedCells(l2, cta, other) {
  let all = 0, both = 0;
  for (const array of l2.arrays) {
    const others = new Set(expandRuns(array.blocks[other] || []));
    for (const cell of expandRuns(array.blocks[cta] || [])) {
      ++all;
      both += others.has(cell);
    }
  }
  return all ? both / all : 0;
}

/// State shared by all maps of the grid: the colouring, a point in time from 0 to 1, and a block.
function gridState(grid) {
  const state = {mode: 'order', time: 1, cta: 0, maps: []};
  const waveOf = cta => grid.persistent ? 0 : Math.floor(cta / grid.at_a_time);
  const waves = Math.max(1, Math.ceil(grid.thread_blocks / grid.at_a_time));
  /// Returns true if this round of a block comes after the selected time. Blocks are ordered by wave, and within a wave
  /// by launch order. A persistent block works in several rounds.
  state.isLater = (cta, round, rounds) => (round * grid.thread_blocks + cta) / (grid.thread_blocks * rounds) > state.time;
  state.hasBegun = cta => !state.isLater(cta, waveOf(cta), grid.persistent ? 1 : waves);
  state.wave = () => {
    let wave = 0;
    for (let cta = 0; cta < grid.thread_blocks; ++cta) if (state.hasBegun(cta)) wave = Math.max(wave, waveOf(cta));
    return wave;
  };
  state.waveOf = waveOf;
  state.redraw = () => state.maps.forEach(map => map.redraw());
  return state;
}

function gridView(data) {
  const grid = data.grid, view = element('div', {});
  view.append(element('p', {}, `${grid.programs.join(' × ')} programs${grid.persistent ? `, computed by ${grid.thread_blocks} persistent thread blocks` : ''}, ` +
    `clusters of ${grid.cluster.join(' × ')}; ${grid.at_a_time} thread blocks run at a time on ${grid.multiprocessors} multiprocessors: ${grid.waves.toFixed(2)} waves, ` +
    `${Math.round(100 * grid.tail_efficiency)} % of the multiprocessors' time in use.`));
  if (!grid.outputs.length && !grid.l2) return element('div', {}, view, element('p', {class: 'note'}, 'Nothing ran.'));
  if (!grid.outputs.length) view.append(element('p', {class: 'note'}, 'No output has a declared shape.'));
  const state = gridState(grid);
  const select = element('select', {'aria-label': 'colours', onchange: () => { state.mode = select.value; state.redraw(); }},
    element('option', {value: 'order'}, 'launch order (pale: first)'), element('option', {value: 'wave'}, 'waves'), element('option', {value: 'cta'}, 'thread blocks'),
    grid.l2 ? element('option', {value: 'l2'}, 'L2: what a block shares with the one under the cursor (dark: all)') : null);
  const moveTo = value => { slider.value = value; state.time = value / 100; state.redraw(); };
  const slider = element('input', {type: 'range', min: 0, max: 100, value: 100, 'aria-label': 'time', oninput: () => moveTo(slider.value)});
  let timer = 0;
  const play = element('button', {type: 'button', onclick: () => {
    clearInterval(timer);
    moveTo(0);
    timer = setInterval(() => {
      moveTo(Math.min(100, Number(slider.value) + 2));
      if (state.time >= 1) clearInterval(timer);
    }, 80);
  }}, 'play');
  view.append(element('div', {class: 'controls'}, select, element('label', {}, 'time ', slider), play));
  for (const output of grid.outputs) view.append(outputMap(grid, output, state));
  if (grid.l2) view.append(l2View(grid, state));
  return view;
}

function placeOf(map, row, column) {
  return `rows ${row * map.rows_per_cell}–${Math.min((row + 1) * map.rows_per_cell, map.rows) - 1}, columns ${column * map.columns_per_cell}–${Math.min((column + 1) * map.columns_per_cell, map.columns) - 1}: `;
}

function outputMap(grid, output, state) {
  const numCtas = Math.max(1, ...output.ctas) + 1;
  const cellsOf = new Map();
  for (const cta of output.ctas) cellsOf.set(cta, (cellsOf.get(cta) || 0) + 1);
  const programs = grid.programs.reduce((a, b) => a * b, 1);
  // Assume that each program of a persistent block writes the same number of cells.
  const roundOf = cell => {
    if (!grid.persistent) return state.waveOf(output.ctas[cell]);
    const each = Math.max(1, Math.ceil((programs - output.ctas[cell]) / Math.max(grid.thread_blocks, 1)));
    return Math.min(each - 1, Math.floor(output.orders[cell] * each / cellsOf.get(output.ctas[cell])));
  };
  const rounds = output.ctas.map((cta, cell) => cta < 0 ? 0 : roundOf(cell)), numRounds = 1 + Math.max(0, ...rounds);
  let shares = new Map(), sharesWith = -1;
  const shareOf = cta => {
    if (sharesWith !== state.cta) { shares = new Map(); sharesWith = state.cta; }
    if (!shares.has(cta)) shares.set(cta, state.waveOf(cta) === state.waveOf(state.cta) ? sharedCells(grid.l2, state.cta, cta) : 0);
    return shares.get(cta);
  };
  const colour = (row, column) => {
    const cell = row * output.cell_columns + column, cta = output.ctas[cell];
    if (cta < 0) return '#ffffff';
    if (state.isLater(cta, roundOf(cell), numRounds)) return '#f0f0f0';
    if (state.mode === 'wave') return colourOf(roundOf(cell));
    if (state.mode === 'l2') return cta === state.cta ? palette[5] : shade(shareOf(cta));
    return state.mode === 'order' ? shade(cta / numCtas) : colourOf(cta);
  };
  const describe = (row, column) => {
    const cell = row * output.cell_columns + column, cta = output.ctas[cell];
    const place = placeOf(output, row, column);
    if (cta < 0) return place + 'not written, or written in a way that is not tracked';
    if (state.cta !== cta) {
      state.cta = cta;
      if (state.mode === 'l2' || state.maps.some(map => map.followsBlock)) state.redraw();
    }
    const [x, y] = grid.programs;
    const program = grid.persistent ? '' : ` (program ${cta % x}, ${Math.floor(cta / x) % y}, ${Math.floor(cta / x / y)})`;
    return place + `thread block ${cta}${program}, wave ${roundOf(cell) + 1}`;
  };
  const cells = cellCanvas(output.cell_rows, output.cell_columns, colour, describe, `who writes ${output.name}`);
  state.maps.push(cells);
  return element('div', {}, element('h2', {}, `${output.name}: ${output.rows} × ${output.columns}`), cells.node);
}

/// Shows the L2 requests of each wave, and for each array the blocks that read its parts at the selected time.
function l2View(grid, state) {
  const bytes = lines => shortNumber(lines * grid.l2.line_bytes) + 'B';
  const view = element('div', {id: 'l2'}, element('h2', {}, 'L2 sharing'),
    element('p', {}, `Lines of ${grid.l2.line_bytes} bytes requested by ${grid.persistent ? 'the persistent blocks over their whole run' : 'the blocks of a wave'}: ` +
      'summed over the blocks, and distinct ones, each of which is loaded from memory at least once.'),
    table(['wave', 'thread blocks', 'requested', 'distinct', 'blocks per line'], grid.l2.waves.slice(0, 12).map((wave, i) =>
      [i + 1, wave.thread_blocks, bytes(wave.reads), bytes(wave.lines), wave.lines ? (wave.reads / wave.lines).toFixed(2) : ''])),
    grid.l2.waves.length > 12 ? element('p', {class: 'note'}, `And ${grid.l2.waves.length - 12} more waves.`) : null);
  for (const array of grid.l2.arrays) view.append(readMap(array, state));
  return view;
}

function readMap(array, state) {
  // For each cell, the number of blocks of the wave at the selected time that read it.
  let counts = null, key = '', own = new Set();
  const update = () => {
    const wave = state.wave(), now = `${wave} ${state.time} ${state.cta}`;
    if (now === key) return;
    key = now;
    counts = new Int32Array(array.cell_rows * array.cell_columns);
    array.blocks.forEach((runs, cta) => {
      if (state.waveOf(cta) === wave && state.hasBegun(cta)) for (const cell of expandRuns(runs)) ++counts[cell];
    });
    own = new Set(expandRuns(array.blocks[state.cta] || []));
  };
  const colour = (row, column) => {
    update();
    const cell = row * array.cell_columns + column;
    if (own.has(cell)) return palette[5];
    return counts[cell] ? shade(Math.min(1, Math.log2(1 + counts[cell]) / 6)) : '#ffffff';
  };
  const describe = (row, column) => {
    update();
    const cell = row * array.cell_columns + column, readers = [];
    array.blocks.forEach((runs, cta) => {
      if (state.waveOf(cta) !== state.wave() || !state.hasBegun(cta)) return;
      for (let i = 0; i < runs.length; i += 2) if (runs[i] <= cell && cell < runs[i] + runs[i + 1]) readers.push(cta);
    });
    return placeOf(array, row, column) + (readers.length ? `read by ${readers.length} blocks of wave ${state.wave() + 1}: ${readers.slice(0, 12).join(', ')}${readers.length > 12 ? ', …' : ''}`
      : 'not read so far') + (own.has(cell) ? `; also by block ${state.cta}` : '');
  };
  const cells = cellCanvas(array.cell_rows, array.cell_columns, colour, describe, `who reads ${array.name}`);
  cells.followsBlock = true;
  state.maps.push(cells);
  return element('div', {}, element('h3', {}, `${array.name}: ${array.rows} × ${array.columns}, darker where more blocks read; orange: read by the block under the cursor above`), cells.node);
}
