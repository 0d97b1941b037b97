// The document on the page: its tokens, sentences and mentions.

import { $, ask as askServer, isSpace } from "./parts.js";
import { inTextOrder, slice, state, withEnds } from "./drawing.js";

Object.assign(state, {
  store: null, number: 0, id: "", tokens: [], sentences: [], parts: [], values: new Map(), version: 0,
  suggestions: new Map(), token: 0, placed: false, selection: null, anchor: null, active: "", pending: new Map(),
});

const SILENT = "the server does not answer; start spanloom annotate again, and repeat the last step: all others are saved";
const LASTING = 10_000; // characters of a request that outlives the page; browsers take 64 KiB of them
export const ask = (path, body) => askServer(`api/${path}`, body, { keepalive: body !== undefined && JSON.stringify(body).length < LASTING }, SILENT);

export function kindOf(type) {
  const types = state.store.types;
  if (!types.includes(type)) types.push(type);
  return types.indexOf(type);
}

export const spansKey = (type, spans) => `${type}|${spans.map((span) => span.join("-")).join(";")}`;

function mentionOf(key, value, suggested) {
  return withEnds(value, { key, suggested, chance: suggested && (value.score ?? 1), kind: kindOf(value.type), value });
}

// All mentions, those that are marked and those that are suggested, in text order; outer ones first.
export function collect() {
  const marked = [...state.values].filter(([key]) => key.startsWith("m:")).map(([key, value]) => mentionOf(key, value));
  const taken = new Set(marked.map(({ type, spans }) => spansKey(type, spans)));
  const [least, only] = [Number($("threshold").value) / 100, $("only").value];
  const suggested = [...state.suggestions]
    .filter(([key, { score }]) => !taken.has(key) && !state.values.has(`r:${key}`) && (score ?? 1) >= least && (!only || only === state.suggestions.get(key).type))
    .map(([key, value]) => mentionOf(`?:${key}`, value, "suggested"));
  state.mentions = [...marked, ...suggested].sort(inTextOrder);
}

export const covers = (mention, start, end) => mention.spans.some(([low, high]) => low < end && start < high);

// The number of the last range that begins at or before a character.
export function sentenceAt(offset) {
  let [low, high] = [0, state.sentences.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (state.sentences[middle][0] <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

// The token that holds a character, or else the next one.
export function tokenAt(offset) {
  let [low, high] = [0, state.tokens.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (state.tokens[middle][1] > offset) high = middle;
    else low = middle + 1;
  }
  return Math.max(0, low);
}

// A range of characters as whole words, without a comma or full stop that was grabbed at its end.
export function snapped(start, end) {
  while (start < end && isSpace(state.characters[start])) start++;
  while (end > start && isSpace(state.characters[end - 1])) end--;
  if (start === end || !$("whole").checked || !state.tokens.length) return [start, end];
  let first = tokenAt(start);
  let last = tokenAt(end - 1);
  if (state.tokens[last][0] >= end && last > first) last--;
  while (last > first && /^[,.;:，。；：、،؛]$/u.test(slice(...state.tokens[last]))) last--;
  return [Math.min(start, state.tokens[first][0]), Math.max(state.tokens[last][1], state.tokens[first][1])];
}
