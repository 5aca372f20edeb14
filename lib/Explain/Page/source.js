// The source, and the code generated for each line. A click on a line marks the corresponding lines of the other panes.
const marked = {line: 0, listeners: []};

function markLine(line) {
  marked.line = line;
  for (const listener of marked.listeners) listener(line);
}

/// Summarises the counters of a line, and whether it has a performance problem.
function lineFacts(entry) {
  const counters = entry.counters, facts = [];
  let bad = false;
  const engines = Object.entries(entry.engines).sort((a, b) => b[1] - a[1]).map(([name]) => name);
  const main = ['wgmma', 'mma.sync', 'TMA', 'async copies', 'global memory', 'special functions', 'shared memory'].find(name => engines.includes(name));
  facts.push(main || engines[0] || '');
  const copied = (counters.copied_in_bytes || 0) + (counters.copied_out_bytes || 0);
  if (counters.multiply_adds) facts.push(shortNumber(counters.multiply_adds) + ' FMA');
  if (copied) facts.push(shortNumber(copied) + 'B');
  if (counters.global_requests) {
    const use = counters.global_sectors_ideal / counters.global_sectors;
    facts.push((counters.global_sectors / counters.global_requests).toFixed(2) + ' sect/req ' + Math.round(100 * use) + ' %');
    bad = bad || use <= .5;
  }
  if (counters.shared_conflicts) {
    facts.push(shortNumber(counters.shared_conflicts) + ' conflicts');
    bad = bad || counters.shared_conflicts / counters.shared_wavefronts >= .2;
  }
  if (entry.live_registers) facts.push(entry.live_registers + ' regs');
  facts.push(shortNumber(counters.instructions || 0) + ' instr');
  return {text: facts.join(' · '), bad};
}

function lineDetails(entry, pipeline) {
  const counters = entry.counters;
  const rows = Object.entries(counters).map(([name, value]) => [name.replaceAll('_', ' '), value.toLocaleString('en')]);
  rows.push(['maximum live registers per thread (PTX, before ptxas)', entry.live_registers]);
  if (counters.global_requests) {
    rows.push(['sectors per request', (counters.global_sectors / counters.global_requests).toFixed(2)]);
    rows.push(['sector utilisation', percent(counters.global_sectors_ideal, counters.global_sectors)]);
  }
  if (counters.shared_wavefronts)
    rows.push(['wavefronts from conflicts', percent(counters.shared_conflicts || 0, counters.shared_wavefronts)]);
  for (const [name, count] of Object.entries(entry.engines)) rows.push([name, count.toLocaleString('en') + ' warp instructions']);
  for (const product of entry.products || []) rows.push([product.instruction, product.warp_instructions.toLocaleString('en') + ' times']);
  const waits = pipeline ? waitsByLine(pipeline).find(([line]) => line === entry.line) : null;
  if (waits)
    waits[1].forEach((clocks, role) => { if (clocks) rows.push([`${pipeline.lanes[role].name} wait (modelled)`, `${clocks} of ${pipeline.clocks} clk`]); });
  return table(['line ' + entry.line, ''], rows);
}

/// Creates a pane of code; `source[i]` is the source line of line i.
function codePane(lines, source, label) {
  const pane = element('div', {class: 'pane code', tabindex: 0, role: 'listbox', 'aria-label': label});
  const rows = lines.map((line, i) => element('div', {class: 'row', 'data-line': source[i] || undefined, role: 'option'},
    element('span', {class: 'number'}, String(i + 1)), element('span', {class: 'text'}, line)));
  pane.append(...rows);
  pane.addEventListener('click', event => {
    const row = event.target.closest('[data-line]');
    if (row) markLine(Number(row.dataset.line));
  });
  // Up and down move to the next line of code that belongs to another source line.
  let at = -1;
  pane.addEventListener('keydown', event => {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (!step) return;
    event.preventDefault();
    if (at < 0) at = source.indexOf(marked.line);
    let next = at + step;
    while (next >= 0 && next < source.length && (!source[next] || source[next] === marked.line)) next += step;
    if (next < 0 || next >= source.length) return;
    markLine(source[next]);
    at = next;
    pane.scrollTop = rows[at].offsetTop - pane.offsetTop - pane.clientHeight / 3;
  });
  const show = line => {
    let first = null;
    at = -1;
    for (const row of rows) {
      const isHot = line > 0 && Number(row.dataset.line) === line;
      row.classList.toggle('hot', isHot);
      row.setAttribute('aria-selected', isHot);
      first = first || (isHot ? row : null);
    }
    if (first && pane.offsetParent) pane.scrollTop = first.offsetTop - pane.offsetTop - pane.clientHeight / 3;
  };
  marked.listeners.push(show);
  return pane;
}

function sourceView(data) {
  const entries = new Map(data.source.lines.map(entry => [entry.line, entry]));
  // If the source text of an artifact is not available, only line numbers are shown.
  const texts = data.source.text ? data.source.text.replace(/\n$/, '').split('\n') : new Array(Math.max(0, ...entries.keys())).fill('');
  const pane = element('div', {class: 'pane code source', tabindex: 0, role: 'listbox', 'aria-label': 'source; up and down choose a line'});
  const rows = texts.map((text, i) => {
    const entry = entries.get(i + 1), facts = entry && data.simulated ? lineFacts(entry) : {text: '', bad: false};
    return element('div', {class: 'row', 'data-line': i + 1, role: 'option'},
      element('span', {class: 'number'}, String(i + 1)),
      element('span', {class: 'facts' + (facts.bad ? ' bad' : ''), title: facts.text}, facts.text),
      element('span', {class: 'text'}, ...highlighted(text)));
  });
  pane.append(...rows);
  pane.addEventListener('click', event => {
    const row = event.target.closest('[data-line]');
    if (row) markLine(Number(row.dataset.line));
  });
  pane.addEventListener('keydown', event => {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (!step) return;
    event.preventDefault();
    const known = [...entries.keys()].filter(line => line > 0).sort((a, b) => a - b);
    const next = step > 0 ? known.find(line => line > marked.line) : known.reverse().find(line => line < (marked.line || Infinity));
    if (next) markLine(next);
  });
  const details = element('div', {'aria-live': 'polite'}, element('p', {class: 'note'}, 'Choose a line to mark its code and to show its counters.'));
  const elsewhere = entries.get(0);
  marked.listeners.push(line => {
    for (const [i, row] of rows.entries()) row.classList.toggle('hot', i + 1 === line);
    const row = rows[line - 1];
    if (row && pane.offsetParent) {
      const top = row.offsetTop - pane.offsetTop;
      if (top < pane.scrollTop || top > pane.scrollTop + pane.clientHeight - 40) pane.scrollTop = top - pane.clientHeight / 3;
    }
    details.replaceChildren(entries.has(line) ? lineDetails(entries.get(line), data.pipeline)
      : element('p', {class: 'note'}, `Line ${line} has no instructions.`));
  });

  const forms = data.code.map(form => codePane(form.lines, form.source, form.name));
  const select = element('select', {'aria-label': 'form of the code', onchange: () => choose(select.selectedIndex)},
    ...data.code.map(form => element('option', {}, `${form.name}: ${form.what}`)));
  const choose = index => {
    forms.forEach((form, i) => form.hidden = i !== index);
    if (marked.line) markLine(marked.line);
  };
  select.selectedIndex = Math.min(1, forms.length - 1);
  choose(select.selectedIndex);
  const total = data.source.total;
  const view = element('div', {},
    element('div', {class: 'split'},
      element('div', {}, element('div', {class: 'controls'}, element('span', {class: 'note'}, data.source.file + (elsewhere && elsewhere.counters.instructions
        ? `; ${shortNumber(elsewhere.counters.instructions)} warp instructions belong to no line` : ''))), pane),
      element('div', {}, element('div', {class: 'controls'}, select), ...forms)),
    details,
    total ? element('div', {}, element('h3', {}, 'Whole kernel'),
      table(['counter', 'simulated'], Object.entries(total).map(([name, value]) => [name.replaceAll('_', ' '), value.toLocaleString('en')]))) : null);
  view.whenShown = () => {
    const first = rows.findIndex(row => row.querySelector('.facts').textContent);
    if (first > 0) pane.scrollTop = rows[first].offsetTop - pane.offsetTop - 8;
  };
  return view;
}
