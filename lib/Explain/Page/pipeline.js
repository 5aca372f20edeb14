// The modelled timeline of one thread block: warps, engines, and the slots of rings.
const nameOfKind = kind => kind === 'product' ? 'MMA' : kind;
const kindColours = {work: palette[4], wait: '#d9d9d9', copy: palette[1], product: palette[2], idle: '#f9e4e4'};

/// Returns for how many modelled clock cycles each role's warps wait, by line, longest first:
/// [[line, [cycles of each role]], …].
function waitsByLine(pipeline) {
  const waits = new Map();
  pipeline.lanes.slice(0, pipeline.roles).forEach((lane, role) => {
    for (const [start, end, kind, line] of lane.spans)
      if (kind === 'wait') {
        if (!waits.has(line)) waits.set(line, new Array(pipeline.roles).fill(0));
        waits.get(line)[role] += end - start;
      }
  });
  return [...waits].sort((a, b) => Math.max(...b[1]) - Math.max(...a[1]));
}

/// Describes the critical path: "54 % MMAs of line 50, 30 % copies and loads of line 47, …".
function criticalText(pipeline) {
  const names = {work: 'instructions', copy: 'copies and loads', product: 'MMAs'};
  const parts = pipeline.critical.filter(part => part.clocks * 20 >= pipeline.clocks).slice(0, 6);
  return parts.map(part => `${percent(part.clocks, pipeline.clocks)} ${names[part.kind]}${part.line ? ' of line ' + part.line : ''}`).join(', ');
}

/// Returns the parts of a lane's spans that are on the critical path, which has a span of the same kind and line at the
/// same time. Both inputs are sorted by time.
function criticalParts(lane, path) {
  const parts = [];
  let next = 0;
  for (const [start, end, kind, line] of lane.spans) {
    while (next < path.spans.length && path.spans[next][1] <= start) ++next;
    for (let i = next; i < path.spans.length && path.spans[i][0] < end; ++i) {
      const [from, to, pathKind, pathLine] = path.spans[i];
      if (pathKind === kind && pathLine === line) parts.push([Math.max(start, from), Math.min(end, to)]);
    }
  }
  return parts;
}

function pipelineView(data) {
  const pipeline = data.pipeline;
  if (!pipeline || !pipeline.lanes.length) return element('p', {class: 'note'}, 'Nothing ran.');
  const total = Math.max(pipeline.clocks, 1);
  // The critical path is the last lane of the document, but is shown first.
  const lanes = [...pipeline.lanes.slice(-1), ...pipeline.lanes.slice(0, -1)];
  const canIdle = new Set(pipeline.uses.map(use => use.name));
  const critical = lanes.map(lane => canIdle.has(lane.name) ? criticalParts(lane, lanes[0]) : []);
  let from = 0, to = total, cursor = null;
  const rowHeight = 26, left = 190;
  const canvas = element('canvas', {tabindex: 0, role: 'img', 'aria-label': 'timeline; + and - zoom, left and right move, up and down choose a lane, n and p its next and previous span'});
  const text = element('div', {class: 'hover', 'aria-live': 'polite'}, 'Point at a span.');
  const draw = () => {
    const width = Math.max(canvas.parentElement ? canvas.parentElement.clientWidth : 0, 320);
    canvas.width = width;
    canvas.height = lanes.length * rowHeight + 24;
    const context = canvas.getContext('2d'), narrow = width < 600, begin = narrow ? 90 : left;
    const x = clock => begin + (clock - from) / (to - from) * (width - begin - 8);
    context.fillStyle = '#fff';
    context.fillRect(0, 0, width, canvas.height);
    context.font = (narrow ? 10 : 12) + 'px system-ui, sans-serif';
    lanes.forEach((lane, row) => {
      if (canIdle.has(lane.name)) {
        context.fillStyle = kindColours.idle;
        context.fillRect(Math.max(x(0), begin), row * rowHeight + 3, Math.min(x(total), width - 8) - begin, rowHeight - 6);
      }
      for (const [start, end, kind, line] of lane.spans) {
        if (end < from || start > to) continue;
        const a = Math.max(x(start), begin), b = Math.min(x(end), width - 8);
        context.fillStyle = kindColours[kind];
        context.fillRect(a, row * rowHeight + 3, Math.max(b - a, .5), rowHeight - 6);
        if (line && line === marked.line) {
          context.strokeStyle = '#000';
          context.strokeRect(a + .5, row * rowHeight + 3.5, Math.max(b - a - 1, 1), rowHeight - 7);
        }
        if (b - a > 40 && line) {
          context.fillStyle = '#111';
          context.fillText('line ' + line, a + 3, row * rowHeight + 17);
        }
      }
      context.fillStyle = '#111';
      for (const [start, end] of critical[row])
        if (end >= from && start <= to) context.fillRect(Math.max(x(start), begin), row * rowHeight + rowHeight - 5, Math.max(Math.min(x(end), width - 8) - Math.max(x(start), begin), .5), 3);
      context.fillStyle = '#fff';
      context.fillRect(0, row * rowHeight, begin, rowHeight);
      context.fillStyle = '#111';
      context.fillText(lane.name, 2, row * rowHeight + 17, begin - 6);
    });
    const bottom = lanes.length * rowHeight;
    const ticks = narrow ? 2 : 5;
    for (let i = 0; i <= ticks; ++i) {
      const clock = from + (to - from) * i / ticks;
      context.fillText(Math.round(clock) + (i === ticks ? ' clk' : ''), Math.min(x(clock), width - 60), bottom + 16);
    }
    if (cursor !== null) {
      context.strokeStyle = '#000';
      context.beginPath();
      context.moveTo(x(cursor), 0);
      context.lineTo(x(cursor), bottom);
      context.stroke();
    }
  };
  const zoom = (factor, around = (from + to) / 2) => {
    const half = Math.min(total, Math.max(20, (to - from) * factor));
    from = Math.max(0, Math.min(around - (around - from) / (to - from) * half, total - half));
    to = from + half;
    draw();
  };
  const move = share => {
    const by = Math.max(-from, Math.min(total - to, (to - from) * share));
    from += by;
    to += by;
    draw();
  };
  const clockAt = event => {
    const box = canvas.getBoundingClientRect(), begin = canvas.width < 600 ? 90 : left;
    return from + ((event.clientX - box.left) * canvas.width / box.width - begin) / (canvas.width - begin - 8) * (to - from);
  };
  const spanAt = event => {
    const box = canvas.getBoundingClientRect(), lane = lanes[Math.floor((event.clientY - box.top) * canvas.height / box.height / rowHeight)];
    const clock = clockAt(event);
    cursor = clock;
    return lane && {lane, span: lane.spans.find(([start, end]) => start <= clock && clock <= end)};
  };
  const describe = hit => {
    text.textContent = !hit || !hit.span ? `${Math.round(cursor)} clk${hit && canIdle.has(hit.lane.name) ? `: ${hit.lane.name} idle` : ''}` :
      `${hit.lane.name}: ${nameOfKind(hit.span[2])}, ${hit.span[0]} to ${hit.span[1]} clk (${((hit.span[1] - hit.span[0]) / pipeline.clock_ghz).toFixed(0)} ns)${hit.span[3] ? ', line ' + hit.span[3] : ''}`;
  };
  canvas.addEventListener('pointermove', event => {
    const hit = spanAt(event);
    draw();
    describe(hit);
  });
  // Keyboard navigation: selects a lane and steps through its spans; the view follows.
  let chosenLane = 0, chosenSpan = -1;
  const choose = (lane, span) => {
    chosenLane = (lane + lanes.length) % lanes.length;
    const spans = lanes[chosenLane].spans;
    chosenSpan = Math.max(0, Math.min(span, spans.length - 1));
    if (!spans.length) { text.textContent = `${lanes[chosenLane].name}: nothing`; return; }
    cursor = spans[chosenSpan][0];
    if (cursor < from || cursor > to) move((cursor - (from + to) / 2) / (to - from));
    draw();
    describe({lane: lanes[chosenLane], span: spans[chosenSpan]});
  };
  /// Returns the span at or after the cursor.
  const spanNear = lane => lane.spans.findIndex(([, end]) => end >= (cursor || 0));
  canvas.addEventListener('click', event => { const hit = spanAt(event); if (hit && hit.span && hit.span[3]) markLine(hit.span[3]); });
  canvas.addEventListener('wheel', event => { if (!event.ctrlKey) return; event.preventDefault(); zoom(event.deltaY > 0 ? 1.25 : .8, clockAt(event)); }, {passive: false});
  canvas.addEventListener('keydown', event => {
    const action = {'+': () => zoom(.6), '-': () => zoom(1.7), ArrowLeft: () => move(-.2), ArrowRight: () => move(.2),
      ArrowDown: () => choose(chosenLane + 1, spanNear(lanes[(chosenLane + 1) % lanes.length])),
      ArrowUp: () => choose(chosenLane - 1, spanNear(lanes[(chosenLane - 1 + lanes.length) % lanes.length])),
      n: () => choose(chosenLane, chosenSpan + 1), p: () => choose(chosenLane, chosenSpan - 1),
      Enter: () => { const span = lanes[chosenLane].spans[chosenSpan]; if (span && span[3]) markLine(span[3]); }}[event.key];
    if (action) { event.preventDefault(); action(); }
  });
  marked.listeners.push(() => { if (canvas.offsetParent) draw(); });
  const view = element('div', {},
    element('p', {}, `Modelled, not measured: the instructions of the first thread block as simulated, in the order of each warp, at the rates of ${data.device}, alone on a multiprocessor, with operands in L2. ` +
      `${pipeline.clocks} clocks, ${(pipeline.clocks / pipeline.clock_ghz / 1000).toFixed(2)} µs at ${pipeline.clock_ghz} GHz` +
      (pipeline.product_clocks ? `; between the first and the last MMA the tensor cores are busy ${Math.round(100 * pipeline.product_share)} % of the time` : '') + '.'),
    pipeline.cut ? element('p', {class: 'note'}, 'Only the beginning was recorded.') : null,
    pipeline.forced ? element('p', {class: 'note'}, 'The block waits for other blocks, which are not modelled: these waits take no time.') : null,
    legend([[kindColours.work, 'work, or a slot in use'], [kindColours.wait, 'wait'], [kindColours.copy, 'copy in flight'], [kindColours.product, 'MMAs'], [kindColours.idle, 'idle'], ['#111', 'on the critical path']]),
    element('p', {id: 'critical'}, `Critical path: ${criticalText(pipeline)}.`),
    element('div', {class: 'controls'},
      element('button', {type: 'button', onclick: () => zoom(.6)}, 'zoom in'), element('button', {type: 'button', onclick: () => zoom(1.7)}, 'zoom out'),
      element('button', {type: 'button', onclick: () => move(-.3)}, '←'), element('button', {type: 'button', onclick: () => move(.3)}, '→'),
      element('button', {type: 'button', onclick: () => { from = 0; to = total; draw(); }}, 'all')),
    element('div', {}, canvas), text,
    element('h3', {}, 'Busy, waiting and idle time'),
    table(['', 'busy', 'waiting', 'idle'], pipeline.uses.map(use => [use.name, ...[use.work, use.wait, use.idle].map(clocks => clocks ? `${clocks} clk, ${percent(clocks, total)}` : '')])),
    element('h3', {}, 'Critical path by kind and line'),
    table(['kind', 'line', 'clocks', ''], pipeline.critical.map(part => [nameOfKind(part.kind), part.line || 'compiler-generated', part.clocks, percent(part.clocks, total)])),
    element('h3', {}, 'Where warps wait'),
    table(['line', ...pipeline.lanes.slice(0, pipeline.roles).map(lane => lane.name)], waitsByLine(pipeline).map(([line, clocks]) =>
      [line || 'compiler-generated', ...clocks.map(value => value ? `${value} clk, ${percent(value, total)}` : '')])));
  view.whenShown = () => { draw(); new ResizeObserver(() => requestAnimationFrame(draw)).observe(canvas.parentElement); };
  return view;
}
