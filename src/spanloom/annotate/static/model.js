// The document on the page: its characters, sentences and mentions. What comes from data is only ever set as text.

export const $ = (id) => document.getElementById(id);
export const state = {
  store: null, number: 0, id: "", characters: [], tokens: [], sentences: [], parts: [], values: new Map(), version: 0,
  mentions: [], suggestions: new Map(), blocks: [], token: 0, selection: null, anchor: null, chosen: null, active: "", asked: new Set(),
};

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(name, value);
  made.append(...children); // strings become text
  return made;
}

export const percent = (value) => `${Math.round(100 * value)} %`;
export const slice = (start, end) => state.characters.slice(start, end).join("");
export const isSpace = (character) => /\s/.test(character);

// control characters as pictures, so that they can be seen and change nothing
export function visible(text) {
  return text.replace(/[\u0000-\u0008\u000b-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0))).replace(/\u007f/g, "\u2421");
}

export function shorten(text, most) {
  const characters = Array.from(text);
  return characters.length > most ? characters.slice(0, most - 1).join("") + "…" : text;
}

export async function ask(path, body) {
  const options = body === undefined ? {} : { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  let answer, value;
  try {
    answer = await fetch(`api/${path}`, options);
  } catch {
    throw new Error("the server does not answer; start spanloom annotate again, and repeat the last step: all others are saved");
  }
  try {
    value = await answer.json();
  } catch {
    throw new Error(`the server answered ${answer.status}, and nothing that can be read`);
  }
  if (!answer.ok) throw Object.assign(new Error(value.error), { status: answer.status });
  return value;
}

export function kindOf(type) {
  const types = state.store.types;
  if (!types.includes(type)) types.push(type);
  return types.indexOf(type);
}

export const spansKey = (type, spans) => `${type}|${spans.map((span) => span.join("-")).join(";")}`;

function mentionOf(key, value, suggested = false) {
  const spans = value.spans;
  return { ...value, key, suggested, start: spans[0][0], end: spans[spans.length - 1][1], kind: kindOf(value.type), value };
}

// All mentions, those that are marked and those that are suggested, in text order; outer ones first.
export function collect() {
  const marked = [...state.values].filter(([key]) => key.startsWith("m:")).map(([key, value]) => mentionOf(key, value));
  const taken = new Set(marked.map(({ type, spans }) => spansKey(type, spans)));
  const least = Number($("threshold").value) / 100;
  const suggested = [...state.suggestions]
    .filter(([key, { score }]) => !taken.has(key) && !state.values.has(`r:${key}`) && (score ?? 1) >= least)
    .map(([key, value]) => mentionOf(`?:${key}`, value, true));
  state.mentions = [...marked, ...suggested].sort((a, b) => a.start - b.start || b.end - a.end || a.kind - b.kind);
}

export const chosen = () => state.mentions.find(({ key }) => key === state.chosen);
export const surface = (mention) => shorten(visible(mention.spans.map(([start, end]) => slice(start, end)).join(" … ")), 300);
export const covers = (mention, start, end) => mention.spans.some(([low, high]) => low < end && start < high);

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
