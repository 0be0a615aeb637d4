"""What lies wrong on a page, as one JavaScript expression. Knows boxes, text and controls, not what they are for."""

from __future__ import annotations

FAULTS = r"""(() => {
  const SLACK = 1.5;
  const faults = new Set();
  const name = (element) => `${element.tagName.toLowerCase()}${element.classList.length ? '.' + [...element.classList].join('.') : ''}`;
  const quote = (element) => `${name(element)} “${(element.textContent || element.getAttribute('aria-label') || '').trim().slice(0, 40)}”`;
  const isShown = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !element.closest('.offscreen');
  const cut = (style) => style.textOverflow === 'ellipsis' || style.webkitLineClamp !== 'none';
  const rolls = (how) => how === 'auto' || how === 'scroll';
  const styles = new Map();
  const styleOf = (element) => styles.get(element) ?? styles.set(element, getComputedStyle(element)).get(element);

  // The part of a box that its ancestors let through; null where nothing is left of it.
  const seen = (element, box, isText = false) => {
    let { left, right, top, bottom } = box;
    for (let at = element; at && at !== document.body; at = at.parentElement) {
      const style = styleOf(at);
      if ((at !== element || isText) && (style.overflowX !== 'visible' || style.overflowY !== 'visible')) {
        const around = at.getBoundingClientRect();
        [left, right] = [Math.max(left, around.left), Math.min(right, around.right)];
        [top, bottom] = [Math.max(top, around.top), Math.min(bottom, around.bottom)];
      }
      if (style.position === 'fixed') break;
    }
    return right - left > 1 && bottom - top > 1 ? { left, right, top, bottom } : null;
  };
  const linesOf = (element) => [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE && node.data.trim()).flatMap((node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    return [...range.getClientRects()];
    }).filter(({ width, height }) => width > 0 && height > 0);
  const around = (boxes) => {
    const [left, top] = [Math.min(...boxes.map((box) => box.left)), Math.min(...boxes.map((box) => box.top))];
    const [right, bottom] = [Math.max(...boxes.map((box) => box.right)), Math.max(...boxes.map((box) => box.bottom))];
    return { left, right, top, bottom };
  };

  const root = document.scrollingElement;
  if (root.scrollWidth > root.clientWidth + 1) faults.add(`the page scrolls sideways: ${root.scrollWidth} of ${root.clientWidth} px`);

  const words = [];
  for (const element of document.querySelectorAll('body *')) {
    if (element.closest('script, style, title, option')) continue;
    const lines = linesOf(element);
    if (!lines.length || !isShown(element)) continue;
    const box = around(lines);
    if (!seen(element, box, true)) continue;
    const drawn = element.ownerSVGElement;
    const scale = drawn && element.getScreenCTM ? Math.hypot(element.getScreenCTM().a, element.getScreenCTM().b) : 1;
    const size = parseFloat(styleOf(element).fontSize) * scale;
    if (size < 10.995) faults.add(`text of ${size.toFixed(1)} px: ${quote(element)}`);
    if (element.closest('svg.scene')) {
      const card = element.closest('[data-call], [data-bucket]')?.querySelector('.body, rect')?.getBoundingClientRect();
      if (card && (box.right > card.right + SLACK || box.left < card.left - SLACK || box.bottom > card.bottom + SLACK || box.top < card.top - SLACK))
        faults.add(`outside its card: ${quote(element)}`);
      continue;
    }
    words.push({ element, lines });
    // Upwards from the words: the first thing around them that ends, cuts or rolls.
    let across = true, down = true;
    for (let at = element; at && at !== document.body && (across || down); at = at.parentElement) {
      const style = styleOf(at);
      if (style.display === 'inline' || style.display === 'contents') continue;
      const outer = at.getBoundingClientRect();
      if (across && cut(style) && style.overflowX !== 'visible') across = false;
      if (across && rolls(style.overflowX) && at.scrollWidth > at.clientWidth) across = false;
      if (across && (box.right > outer.right + SLACK || box.left < outer.left - SLACK)) {
        faults.add(`${style.overflowX === 'visible' ? 'beyond' : 'clipped by'} ${name(at)}: ${quote(element)}`);
        across = false;
      }
      if (down && rolls(style.overflowY)) down = false;
      if (down && style.overflowY !== 'visible' && (box.bottom > outer.bottom + SLACK || box.top < outer.top - SLACK)) {
        faults.add(`clipped below by ${name(at)}: ${quote(element)}`);
        down = false;
      }
      // What is placed by itself lies in no box but the window.
      if (style.position === 'fixed' || style.position === 'absolute') {
        if (across && (box.right > innerWidth + SLACK || box.left < -SLACK)) faults.add(`beyond the window: ${quote(element)}`);
        break;
      }
    }
  }

  // Controls, and words that are none of theirs: no two that lie in one layer may cover each other.
  const LAYERS = '.popover, .veil, .drawer, .page.sheet .inspector, .open-sheet, .corner, .overhead, .bar, .outline, .inspector, .centre, .rail';
  const things = [];
  for (const element of document.querySelectorAll('button, input, select, summary, canvas, [role=button], [role=slider]')) {
    if (element.closest('svg.scene') || !isShown(element)) continue;
    const box = seen(element, element.getBoundingClientRect());
    if (box) things.push({ element, box, layer: element.closest(LAYERS) });
  }
  for (const { element, lines } of words) {
    if (element.closest('button, select, summary, [role=button]')) continue;
    for (const line of lines) {
      const box = seen(element, line, true);
      if (box) things.push({ element, box, layer: element.closest(LAYERS) });
    }
  }
  things.sort((one, other) => one.box.left - other.box.left);
  things.forEach((one, i) => {
    for (let k = i + 1; k < things.length && things[k].box.left < one.box.right - SLACK; k++) {
      const other = things[k];
      if (one.layer !== other.layer || one.element === other.element || one.element.contains(other.element) || other.element.contains(one.element)) continue;
      const height = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
      if (height > SLACK * 2) faults.add(`on each other: ${quote(one.element)} and ${quote(other.element)}`);
    }
  });
  return [...faults];
})()"""
"""What is wrong, as sentences: text below 11 px, text outside its card or container or cut without an ellipsis, things of one layer that
cover each other, a page that scrolls sideways."""
