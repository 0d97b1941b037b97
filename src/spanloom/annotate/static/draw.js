// Sentences with their mentions as tracks below the words. Only sentences near the window are drawn.

import { $, chosen, element, isSpace, percent, shorten, slice, state, surface, visible } from "./model.js";

const KINDS = 35; // types that look different; the style sheet has a class for each
const MOST_ROWS = 40; // tracks below one another in a sentence
const GROUP = 30; // sentences
const LONGEST_WORD = 24;
const starts = new WeakMap(); // text node -> its first character
let whenSeen = () => {};

const watcher = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries)
      for (const block of target.blocks) {
        block.near = isIntersecting;
        if (isIntersecting) {
          draw(block);
          whenSeen(block);
        } else wipe(block);
      }
  },
  { rootMargin: "600px 0px" },
);

export function layOut(seen) {
  whenSeen = seen;
  watcher.disconnect();
  state.blocks = state.sentences.map(([start, end], number) => {
    const paragraph = element("p", { class: "t", dir: "auto", lang: "" });
    const note = element("small");
    const section = element("section", { class: "s" }, paragraph, note);
    const block = { number, low: start, high: end, paragraph, note, element: section, near: false };
    plain(block);
    return block;
  });
  const groups = []; // the browser watches groups, which are few, and skips the layout of those that are far away
  for (let i = 0; i < state.blocks.length; i += GROUP) {
    const blocks = state.blocks.slice(i, i + GROUP);
    const group = element("div", { class: "group" }, ...blocks.map((block) => block.element));
    group.style.containIntrinsicSize = `auto ${3 * blocks.length}rem`;
    group.blocks = blocks;
    groups.push(group);
  }
  $("text").replaceChildren(...groups);
  for (const group of groups) watcher.observe(group);
}

export function drawAll() {
  for (const block of state.blocks) draw(block);
}

function textNode(start, end) {
  const node = document.createTextNode(visible(slice(start, end)));
  starts.set(node, start);
  return node;
}

function plain(block) {
  block.paragraph.replaceChildren(textNode(block.low, block.high));
  decorate(block);
}

function wipe(block) {
  if (!block.element.contains(document.activeElement)) plain(block);
}

function decorate(block) {
  const said = state.values.get(`s:${block.low}-${block.high}`) ?? "";
  const [low, high] = state.tokens[state.token] ?? [-1, -1];
  block.element.className = `s ${said} ${low < block.high && high > block.low ? "here" : ""}`;
  block.note.textContent = said;
}

// Draw again the sentences that ranges of characters touch; all that are near the window without ranges.
export function redraw(...ranges) {
  for (const block of state.blocks) {
    if (ranges.length && !ranges.some(([start, end]) => start < block.high && block.low < end)) continue;
    if (block.near) draw(block);
    else decorate(block);
  }
}

export function show(offset) {
  const block = state.blocks.find(({ high }) => high > offset) ?? state.blocks[state.blocks.length - 1];
  block?.element.scrollIntoView({ block: "nearest" });
}

function draw(block) {
  decorate(block);
  const tracks = state.mentions.filter(({ start, end }) => start < block.high && end > block.low);
  const rows = place(block, tracks);
  const rowOf = new Map(tracks.map((mention, i) => [mention, rows[i]]));
  const drawn = tracks.filter((_, i) => rows[i] < MOST_ROWS);
  const context = { block, rowOf, bars: new Map(), drawn, cuts: cutsOf(block, drawn) };
  const content = [];
  let from = block.low; // words without anything to draw become one text
  for (const [low, high] of units(block)) {
    const over = drawn.filter(({ start, end }) => start < high && end > low);
    const decorated = context.cuts.some((cut) => cut > low && cut < high) || marks(low, high).length;
    if (!over.length && !decorated) continue;
    if (from < low) content.push(textNode(from, low));
    content.push(unit(context, low, high, over));
    from = high;
  }
  if (from < block.high) content.push(textNode(from, block.high));
  block.paragraph.style.setProperty("--l", Math.max(0, ...drawn.map((mention) => cells(label(mention)))));
  block.paragraph.replaceChildren(...content);
  if (drawn.length < tracks.length) block.note.textContent += ` ${tracks.length - drawn.length} mentions more than can be drawn`;
}

// What is drawn at some characters beside mentions: the selection and the cursor.
function marks(low, high) {
  const found = [];
  const { selection } = state;
  const cursor = state.tokens[state.token];
  if (selection && selection[0] < high && low < selection[1]) found.push("sel");
  if (cursor && cursor[0] < high && low < cursor[1]) found.push("cur");
  return found;
}

function cutsOf(block, drawn) {
  const all = drawn.flatMap(({ spans }) => spans.flat());
  if (state.selection) all.push(...state.selection);
  if (state.tokens[state.token]) all.push(...state.tokens[state.token]);
  return [...new Set(all)].filter((cut) => cut > block.low && cut < block.high).sort((a, b) => a - b);
}

function unit({ block, rowOf, bars, cuts }, low, high, over) {
  const edges = [low, ...cuts.filter((cut) => cut > low && cut < high), high];
  const pieces = [];
  for (let i = 0; i + 1 < edges.length; i++) {
    const [start, end] = [edges[i], edges[i + 1]];
    const piece = element("b", { class: marks(start, end).join(" ") });
    const here = over.filter((mention) => mention.start < end && mention.end > start);
    for (const mention of here) piece.append(bar(block, mention, start, end, rowOf.get(mention), bars));
    const inner = here.filter((mention) => !mention.suggested && mention.spans.some(([first, last]) => first <= start && start < last));
    if (inner.length) {
      const { kind } = inner.reduce((one, other) => (other.end - other.start < one.end - one.start ? other : one));
      piece.className += ` tint t${kind % KINDS}`; // words are tinted as the shortest mention that they are in
    }
    piece.append(textNode(start, end), ...grips(start, end));
    pieces.push(piece);
  }
  const rows = Math.max(0, ...over.map((mention) => rowOf.get(mention) + 1));
  return element("b", { class: `n${rows}` }, ...pieces);
}

// Handles at both ends of each part of the mention that is chosen.
function grips(start, end) {
  const mention = chosen();
  if (!mention || mention.suggested) return [];
  return mention.spans.flatMap(([low, high], i) => [
    ...(low === start ? [element("span", { class: "grip begin", "data-part": i, "data-side": 0, "aria-hidden": "true" })] : []),
    ...(high === end ? [element("span", { class: "grip end", "data-part": i, "data-side": 1, "aria-hidden": "true" })] : []),
  ]);
}

function bar(block, mention, start, end, row, bars) {
  const span = mention.spans.find(([low, high]) => low <= start && start < high);
  const classes = ["b", `t${mention.kind % KINDS}`, `r${row}`];
  if (!span) classes.push("g");
  if (span && span[0] === start) classes.push("s1");
  if (span && span[1] === end) classes.push("e1");
  if (/^[^\p{L}]*[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u.test(slice(start, end))) classes.push("r");
  if (mention.suggested) classes.push("o");
  if (mention.key === state.chosen) classes.push("on");
  const made = element("i", { class: classes.join(" "), "data-m": mention.key });
  made.style.setProperty("--q", JSON.stringify(shorten(visible(mention.type), 40)));
  made.style.setProperty("--k", bars.get(mention) ?? 0);
  bars.set(mention, (bars.get(mention) ?? 0) + 1);
  if (mention.suggested) made.style.setProperty("--chance", (mention.score ?? 1).toFixed(2));
  if (start === Math.max(mention.start, block.low)) {
    const name = (mention.start < block.low ? "→ " : "") + label(mention) + (mention.end > block.high ? " →" : "");
    const spoken = `${mention.suggested ? "suggested " : ""}${label(mention)}: ${surface(mention)}`;
    made.classList.add("first");
    made.append(element("button", { type: "button", tabindex: "-1", "data-l": name, "aria-label": spoken }));
  }
  return made;
}

export function label(mention) {
  const given = Object.entries(mention.attributes ?? {}).filter(([, value]) => value !== false);
  const attributes = given.map(([name, value]) => (value === true ? name : `${name} ${value}`));
  const words = [[mention.type, ...attributes].join(" · "), ...(mention.concepts ?? [])];
  if (mention.suggested) words.splice(0, 1, `? ${words[0]} ${percent(mention.score ?? 1)}`);
  if (mention.note) words.push("✎");
  return shorten(visible(words.join(" ")), 40);
}

const cells = (text) => Array.from(text).reduce((sum, c) => sum + (isWide(c) ? 2 : 1), 0);
const isWide = (c) => /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u.test(c);

// The row of each track: the first in which neither another track nor its name stands.
function place(block, tracks) {
  const at = [0];
  for (let i = block.low; i < block.high; i++) at.push(at[at.length - 1] + (isWide(state.characters[i]) ? 2 : 1));
  const column = (offset) => at[Math.min(Math.max(offset, block.low), block.high) - block.low];
  const free = [];
  return tracks.map((mention) => {
    const start = column(mention.start);
    const end = Math.max(column(mention.end), start + cells(label(mention))) + 1;
    let row = free.findIndex((place) => place <= start);
    if (row < 0) row = free.length;
    if (row < MOST_ROWS) free[row] = end;
    return row;
  });
}

// What a line does not break: words, white space; a wide character by itself.
function* units(block) {
  let low = block.low;
  for (let i = low + 1; i <= block.high; i++) {
    if (i < block.high && !breaks(state.characters[i - 1], state.characters[i], i - low)) continue;
    yield [low, i];
    low = i;
  }
}

function breaks(before, character, size) {
  if (before === "\n" || character === "\n") return true;
  if (/[\p{M}\u200d\ufe0f]/u.test(character) || before === "\u200d") return false;
  if (isSpace(before) !== isSpace(character) || size >= LONGEST_WORD) return true;
  return (isWide(before) || isWide(character)) && !/[\p{Pe}\p{Pf}\p{Po}]/u.test(character);
}

// The character at a place of the DOM: before it, in code points.
export function offsetOf(node, offset) {
  if (starts.has(node)) return starts.get(node) + Array.from(node.data.slice(0, offset)).length;
  const walker = document.createTreeWalker($("text"), NodeFilter.SHOW_TEXT);
  const after = node.childNodes[offset];
  let last = null;
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    if (!starts.has(text)) continue;
    const where = after ? after.compareDocumentPosition(text) : 0;
    if (after && (after === text || where & Node.DOCUMENT_POSITION_CONTAINED_BY || where & Node.DOCUMENT_POSITION_FOLLOWING)) return starts.get(text);
    if (!after && node.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING && !node.contains(text)) break;
    last = text;
  }
  return last ? starts.get(last) + Array.from(last.data).length : null;
}

export function offsetAt(x, y) {
  const range = document.caretRangeFromPoint ? document.caretRangeFromPoint(x, y) : null;
  const found = range ? [range.startContainer, range.startOffset] : null;
  const place = found ?? (({ offsetNode, offset }) => [offsetNode, offset])(document.caretPositionFromPoint(x, y) ?? {});
  return place[0] && $("text").contains(place[0]) ? offsetOf(...place) : null;
}
