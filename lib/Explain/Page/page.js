// The page: the findings, then one tab per view. Arrow keys move between tabs. A view is created when it is first shown
// or printed.
function showPage(data) {
  const views = [['source', 'Source', sourceView], ['grid', 'Grid', gridView], ['layouts', 'Layouts', layoutsView], ['memory', 'Memory', memoryView],
    ['pipeline', 'Pipeline', pipelineView], ['resources', 'Resources', resourcesView], ['passes', 'Passes', passesView]].filter(([id]) => data.passes.passes.length || (id !== 'passes' && id !== 'layouts'));
  document.getElementById('summary').textContent = `Kernel ${data.kernel} for ${data.target} (${data.device}), ` +
    (!data.passes.passes.length ? 'from an artifact, without layouts and passes; ' : '') + (data.simulated ? `run in the simulator${data.arguments ? ' with ' + data.arguments : ''}.` : `not run: ${data.why_not_simulated}.`);
  document.getElementById('headline').textContent = data.headline ? data.headline.text : '';
  const tabs = document.getElementById('tabs'), main = document.getElementById('views'), made = new Map();
  const buttons = [], sections = [];
  const make = index => {
    if (made.has(index)) return;
    const view = views[index][2](data);
    made.set(index, view);
    sections[index].append(view);
    if (view.whenShown) view.whenShown();
  };
  const choose = (index, focus) => {
    sections.forEach((section, i) => section.hidden = i !== index);
    buttons.forEach((button, i) => { button.setAttribute('aria-selected', i === index); button.tabIndex = i === index ? 0 : -1; });
    make(index);
    if (focus) buttons[index].focus();
    try { history.replaceState(null, '', '#' + views[index][0]); } catch (error) { /* not from a file */ }
  };
  views.forEach(([id, name], index) => {
    const button = element('button', {type: 'button', role: 'tab', id: 'tab-' + id, 'aria-controls': 'view-' + id, onclick: () => choose(index)}, name);
    button.addEventListener('keydown', event => {
      const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
      if (step) choose((index + step + views.length) % views.length, true);
    });
    buttons.push(button);
    tabs.append(button);
    const section = element('section', {id: 'view-' + id, role: 'tabpanel', 'aria-labelledby': 'tab-' + id, hidden: true});
    sections.push(section);
    main.append(section);
  });
  const findings = document.getElementById('findings');
  for (const finding of data.findings) {
    const view = {'pipeline-bubble': 'pipeline', 'serialised-wgmma': 'pipeline', tail: 'grid', 'low-occupancy': 'resources', spills: 'resources'}[finding.kind] || 'memory';
    const where = views.findIndex(([id]) => id === view);
    findings.append(element('li', {'data-kind': finding.kind}, finding.text + ' ',
      element('button', {type: 'button', onclick: () => { choose(where); if (finding.line) markLine(finding.line); }}, 'show'),
      finding.line ? ' ' : null,
      finding.line ? element('button', {type: 'button', onclick: () => { choose(0); markLine(finding.line); }}, `line ${finding.line}`) : null));
  }
  if (!data.findings.length && data.simulated)
    findings.append(element('li', {class: 'fine'}, 'Nothing stands out: accesses coalesce, no bank conflicts, no bubble in the pipeline, no tail.'));
  window.addEventListener('beforeprint', () => views.forEach((view, index) => { if (view[0] !== 'passes') make(index); }));
  const wanted = views.findIndex(([id]) => '#' + id === location.hash);
  choose(Math.max(wanted, 0));
}
