// A text with its mentions as tracks below the words, in blocks such as sentences. Only blocks near the window are drawn,
// all others are plain text, so that a long document stays light.

import { element, isSpace, shorten, visible } from "./parts.js";

export const KINDS = 35; // types that look different; the style sheet has a class for each
const MOST_ROWS = 40; // tracks below one another in a block
const GROUP = 30; // blocks
const LONGEST_WORD = 24;

// Mentions have `start` and `end`, in text order; `key`; `kind`, the number of the type; and perhaps `chance`, which they fade
// with and show, and `suggested`, a word such as "suggested" for those that are no part of the annotation.
export const state = { characters: [], mentions: [], blocks: [], chosen: null };

// What a page adds to the drawing.
export const look = {
  shown: () => true, // whether a mention is drawn
  words: () => null, // ranges that are boxes of their own, as of a segmenter
  cuts: () => [], // places at which a piece ends, beside the ends of mentions
  marks: () => [], // classes of a piece
  inside: () => [], // nodes at the end of a piece
  decorate: () => {}, // a block before it is drawn
  seen: () => {}, // a block that comes near the window
  focusable: true, // whether the labels are reached with the tabulator
};

const starts = new WeakMap(); // text node -> its first character
const watcher = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries)
      for (const block of target.blocks) {
        block.near = isIntersecting;
        if (isIntersecting) {
          draw(block);
          look.seen(block);
        } else if (!block.element.contains(document.activeElement)) plain(block);
      }
  },
  { rootMargin: "600px 0px" },
);

export const slice = (start, end) => state.characters.slice(start, end).join("");
export const surface = (mention) => shorten(visible(mention.spans.map(([start, end]) => slice(start, end)).join(" … ")), 300);
export const chosen = () => state.mentions.find(({ key }) => key === state.chosen);

export function withEnds(mention, more) {
  return { ...mention, start: mention.spans[0][0], end: mention.spans[mention.spans.length - 1][1], ...more };
}

export const inTextOrder = (a, b) => a.start - b.start || b.end - a.end || a.kind - b.kind;

// Show a text as blocks, given as ranges of characters.
export function layOut(place, ranges) {
  watcher.disconnect();
  state.blocks = ranges.map(([low, high], number) => {
    const paragraph = element("p", { class: "t", dir: "auto", lang: "" });
    const block = { number, low, high, paragraph, element: element("section", { class: "s" }, paragraph), near: false };
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
  place.replaceChildren(...groups);
  for (const group of groups) watcher.observe(group);
}

// Draw again the blocks that ranges of characters touch; all that are near the window without ranges.
export function redraw(...ranges) {
  for (const block of state.blocks) {
    if (ranges.length && !ranges.some(([start, end]) => start < block.high && block.low < end)) continue;
    if (block.near) draw(block);
    else look.decorate(block);
  }
}

addEventListener("beforeprint", () => state.blocks.forEach(draw));

function textNode(start, end) {
  const node = document.createTextNode(visible(slice(start, end)));
  starts.set(node, start);
  return node;
}

function plain(block) {
  block.paragraph.replaceChildren(textNode(block.low, block.high));
  look.decorate(block);
}

// A line below a block; an empty one is removed.
export function annotateBlock(block, text) {
  block.note?.remove();
  if (text) block.element.append((block.note = element("small", { class: "faint" }, text)));
}

function draw(block) {
  look.decorate(block);
  const tracks = state.mentions.filter((mention) => mention.start < block.high && mention.end > block.low && look.shown(mention));
  const rows = place(block, tracks);
  const rowOf = new Map(tracks.map((mention, i) => [mention, rows[i]]));
  const drawn = tracks.filter((_, i) => rows[i] < MOST_ROWS);
  const cuts = new Set([...look.cuts(block), ...drawn.flatMap(({ spans, head }) => [...spans, head ?? []].flat())]);
  const context = { block, rowOf, bars: new Map(), cuts: [...cuts].sort((a, b) => a - b) };
  const focused = block.element.contains(document.activeElement) ? document.activeElement.parentNode.dataset.m : undefined;
  const words = look.words(block);
  const content = [];
  let from = block.low; // words without anything to draw become one text
  let boxed = false; // whether what is before is a box; a line must be able to break behind it
  for (const [low, high] of words ?? units(block)) {
    const over = drawn.filter(({ start, end }) => start < high && end > low);
    const boxable = over.length && state.characters[low] !== "\n";
    const isWord = words && !isSpace(state.characters[low]);
    if (boxable || isWord || context.cuts.some((cut) => cut > low && cut < high) || look.marks(low, high).length) {
      if (from < low) content.push(textNode(from, low));
      const pieces = piecesOf(context, low, high, over);
      if ((!boxable || (boxed && isSpace(state.characters[low]))) && !isWord) content.push(...pieces);
      else content.push(element("b", { class: `${boxable ? `n${1 + Math.max(...over.map((mention) => rowOf.get(mention)))}` : ""}${isWord ? " word" : ""}` }, ...pieces));
      from = high;
    }
    boxed = Boolean(boxable);
  }
  if (from < block.high) content.push(textNode(from, block.high));
  block.paragraph.style.setProperty("--l", Math.max(0, ...drawn.map((mention) => cells(label(mention)))));
  block.paragraph.replaceChildren(...content);
  if (drawn.length < tracks.length) annotateBlock(block, `${block.note?.textContent ?? ""} ${tracks.length - drawn.length} mentions more than can be drawn`);
  if (focused !== undefined) block.element.querySelector(`[data-m="${CSS.escape(focused)}"] button`)?.focus();
}

function piecesOf({ block, rowOf, bars, cuts }, low, high, over) {
  const edges = [low, ...cuts.filter((cut) => cut > low && cut < high), high];
  return edges.slice(1).map((end, i) => {
    const start = edges[i];
    const classes = look.marks(start, end);
    const piece = element("b");
    const here = over.filter((mention) => mention.start < end && mention.end > start);
    for (const mention of here) piece.append(bar(block, mention, start, end, rowOf.get(mention), bars));
    const inner = here.filter((mention) => mention.spans.some(([first, last]) => first <= start && start < last));
    if (inner.length) {
      const { kind } = inner.reduce((one, other) => (other.end - other.start < one.end - one.start ? other : one));
      classes.push("tint", `t${kind % KINDS}`); // words are tinted as the shortest mention that they are in
    }
    piece.className = classes.join(" ");
    piece.append(textNode(start, end), ...look.inside(start, end));
    return piece;
  });
}

function bar(block, mention, start, end, row, bars) {
  const span = mention.spans.find(([low, high]) => low <= start && start < high);
  const classes = ["b", `t${mention.kind % KINDS}`, `r${row}`];
  if (!span) classes.push("g");
  if (span && span[0] === start) classes.push("s1");
  if (span && span[1] === end) classes.push("e1");
  if (span && mention.head && mention.head[0] <= start && start < mention.head[1]) classes.push("h");
  if (/^[^\p{L}]*[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u.test(slice(start, end))) classes.push("r");
  if (mention.suggested) classes.push("o");
  if (mention.chance < 0.5) classes.push("u");
  if (mention.key === state.chosen) classes.push("on");
  const made = element("i", { class: classes.join(" "), "data-m": mention.key });
  made.style.setProperty("--q", JSON.stringify(shorten(visible(mention.type), 40))); // where it begins a line
  made.style.setProperty("--k", bars.get(mention) ?? 0);
  bars.set(mention, (bars.get(mention) ?? 0) + 1);
  if (mention.chance !== undefined) made.style.setProperty("--chance", mention.chance.toFixed(2));
  if (start === Math.max(mention.start, block.low)) {
    const name = (mention.start < block.low ? "→ " : "") + label(mention) + (mention.end > block.high ? " →" : "");
    const spoken = `${mention.suggested ? `${mention.suggested} ` : ""}${label(mention)}: ${surface(mention)}`;
    made.classList.add("first");
    made.append(element("button", { type: "button", tabindex: look.focusable ? undefined : -1, "data-l": name, "aria-label": spoken }));
  }
  return made;
}

// Type, attributes that are not false, probability, concepts, and a mark for a note: "problem · negated 97%".
export function label(mention) {
  const given = Object.entries(mention.attributes ?? {}).filter(([, value]) => value !== false);
  const attributes = given.map(([name, value]) => (value === true ? name : `${name} ${value}`));
  const words = [[mention.type, ...attributes].join(" · "), ...(mention.concepts ?? [])];
  if (mention.chance !== undefined) words.splice(1, 0, `${(100 * mention.chance).toFixed(0)}%`);
  if (mention.suggested) words.unshift("?");
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

// The first character at or behind a place of the DOM in the text; `null` outside of it.
export function offsetOf(place, node, offset) {
  if (starts.has(node)) return starts.get(node) + Array.from(node.data.slice(0, offset)).length;
  const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
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

export function offsetAt(place, x, y) {
  const range = document.caretRangeFromPoint ? document.caretRangeFromPoint(x, y) : null;
  const found = range ? [range.startContainer, range.startOffset] : null;
  const where = found ?? (({ offsetNode, offset }) => [offsetNode, offset])(document.caretPositionFromPoint(x, y) ?? {});
  return where[0] && place.contains(where[0]) ? offsetOf(place, ...where) : null;
}
