// Swaps the page for newer ones. What the reader has opened, scrolled and selected stays.
'use strict';

let live = document.getElementById('live');
let generation = 0; // of polls: an older one is given up

const openDetails = () => [...live.querySelectorAll('details[open]')].map((d) => d.id);
const isEnded = () => live.dataset.ended !== undefined;
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// query asks for what the reader sees. With after, the answer comes when there is something newer.
function query(after) {
  const q = new URLSearchParams(location.search);
  const out = openDetails().map((id) => id.slice('out-'.length));
  q.set('out', out.join(','));
  if (after) q.set('after', after);
  return 'fragment?' + q;
}

function swap(text) {
  const next = new DOMParser().parseFromString(text, 'text/html').getElementById('live');
  if (!next) return;
  const scrolled = [...live.querySelectorAll('[id]')].filter((e) => e.scrollTop || e.scrollLeft)
    .map((e) => [e.id, e.scrollLeft, e.scrollTop, e.scrollTop + e.clientHeight >= e.scrollHeight - 4]);
  const focused = document.activeElement && document.activeElement.closest('[id]');
  for (const id of openDetails()) {
    const d = next.querySelector('#' + id);
    if (d) d.open = true;
  }
  for (const chosen of live.querySelectorAll('input:checked')) {
    const same = next.querySelector('#' + chosen.id);
    if (same) same.checked = true;
  }
  live.replaceWith(next);
  live = next;
  for (const [id, left, top, atEnd] of scrolled) {
    const e = document.getElementById(id);
    if (e) e.scrollTo(left, atEnd ? e.scrollHeight : top);
  }
  const again = focused && focused.id && document.getElementById(focused.id);
  if (again) (again.querySelector('summary') || again).focus({ preventScroll: true });
  document.title = document.title.replace(/–.*–/, '– ' + document.getElementById('state').textContent + ' –');
  listen();
  hover();
}

const selecting = () => {
  const s = getSelection();
  return s && !s.isCollapsed && live.contains(s.anchorNode);
};

async function poll() {
  const mine = ++generation;
  let after = '';
  for (let failed = 0; mine === generation && !isEnded() && !document.hidden;) {
    try {
      const r = await fetch(query(after), { cache: 'no-store' });
      if (!r.ok) throw new Error(r.statusText);
      const text = await r.text();
      if (mine !== generation) return;
      failed = 0;
      document.getElementById('lost').hidden = true;
      after = r.headers.get('X-Version');
      if (selecting() && !r.headers.get('X-Final')) continue;
      swap(text);
    } catch {
      if (mine !== generation) return;
      if (++failed > 1) document.getElementById('lost').hidden = false;
      await pause(Math.min(250 * failed, 5000));
    }
  }
}

// listen has a click take effect at once, without a new page.
function listen() {
  for (const d of live.querySelectorAll('details')) {
    d.addEventListener('toggle', () => {
      if (d.open && !d.querySelector('pre')) poll();
    });
  }
  for (const a of live.querySelectorAll('.pages a')) {
    a.addEventListener('click', (e) => {
      e.preventDefault();
      history.replaceState(null, '', a.getAttribute('href'));
      if (isEnded()) location.reload(); else poll();
    });
  }
  const save = document.getElementById('save');
  if (save && isEnded()) save.addEventListener('click', saveAsShown);
}

// saveAsShown saves the page as it is when pgasrun, which has ended, no longer does.
function saveAsShown(e) {
  e.preventDefault();
  const page = document.documentElement.cloneNode(true);
  const style = document.createElement('style');
  style.textContent = [...document.styleSheets].flatMap((s) => [...s.cssRules]).map((r) => r.cssText).join('\n');
  page.querySelectorAll('script, noscript, link, #save, #lost').forEach((x) => x.remove());
  page.querySelector('head').append(style);
  const a = document.createElement('a');
  a.href = URL.createObjectURL(new Blob(['<!doctype html>\n', page.outerHTML], { type: 'text/html' }));
  a.download = save.getAttribute('download') || 'pgasrun.html';
  a.click();
}

// hover says what is under the pointer, in maps whose cells have no titles.
function hover() {
  for (const svg of live.querySelectorAll('svg[data-cells]')) {
    const { n, block, margin, size, cells } = svg.dataset;
    const rows = cells.split(';').map((r) => r.split(','));
    const name = (i) => 'PE ' + (block > 1 ? i * block + '-' + ((i + 1) * block - 1) : i);
    point(svg, svg.parentNode.querySelector('.readout'), (x, y) => {
      const to = Math.floor((x - margin) / size), from = Math.floor((y - margin) / size);
      if (to < 0 || from < 0 || to >= n || from >= n) return '';
      return name(from) + ' to ' + name(to) + ': ' + (rows[from][to] || 'none');
    });
  }
  for (const svg of live.querySelectorAll('svg[data-words]')) {
    const words = svg.dataset.words.split(',');
    const text = document.getElementById('readout-tiles'), usual = text.textContent;
    point(svg, text, (x, y) => {
      const pe = Math.floor(y / svg.dataset.size) * svg.dataset.columns + Math.floor(x / svg.dataset.size);
      return words[pe] ? 'PE ' + pe + ': ' + words[pe] : usual;
    });
  }
}

function point(svg, readout, say) {
  svg.addEventListener('mousemove', (e) => {
    const at = new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM().inverse());
    readout.textContent = say(at.x, at.y);
  });
}

document.addEventListener('visibilitychange', () => { if (!document.hidden) poll(); });
listen();
hover();
poll();
