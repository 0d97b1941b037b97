// Mouse, touch and keys: all of them call the commands of page.js.

import { $, element, say } from "./parts.js";
import { chosen, offsetAt, offsetOf, redraw, state } from "./drawing.js";
import { covers, sentenceAt, snapped, tokenAt } from "./model.js";

let commands = {};
let grip = null; // the handle that is dragged

// Keys, what they do, and the command; the table of the page is made of them, and a command may be given another key.
const KEYS = [
  ["← →", "move by word; with Shift select"],
  ["↑ ↓", "move by sentence"],
  ["1 … 9", "mark the selection, or the word, with a type; change the type of the mention that is chosen", null],
  ["t", "type by typing", () => $("type").focus()],
  ["p", "add the selection as a part, across a gap, to the mention that is chosen", () => commands.addPart()],
  ["m", "choose the next mention at this word, of any number of them", () => cycle()],
  ["[", "move the beginning left by a word", () => commands.resize(0, -1)],
  ["]", "move the end right by a word", () => commands.resize(1, 1)],
  ["{", "move the beginning right by a word; a part without a word left is removed", () => commands.resize(0, 1)],
  ["}", "move the end left by a word; a part without a word left is removed", () => commands.resize(1, -1)],
  ["x", "remove the mention that is chosen; also Delete", () => commands.remove()],
  ["e", "attributes", () => commands.focus("attribute")],
  ["c", "concept", () => commands.focus("concept")],
  ["n", "note", () => commands.focus("note")],
  ["u", "undo; also Ctrl+Z", () => commands.act("undo")],
  ["y", "redo; also Ctrl+Y", () => commands.act("redo")],
  ["g", "choose the next suggestion", () => commands.nextSuggestion()],
  ["G", "choose the suggestion before", () => commands.nextSuggestion(true)],
  ["a", "accept the suggestion, and go to the next one", () => commands.accept()],
  ["A", "accept all suggestions from the threshold on, of all types or one", () => commands.decideAll("accept")],
  ["d", "reject the suggestion: it is no mention", () => commands.reject()],
  ["D", "reject all suggestions from the threshold on, of all types or one", () => commands.decideAll("reject")],
  ["w", "why: what the model has for and against the mention", () => commands.why()],
  ["f", "sentence finished, or not, and go to the next one", () => commands.mark_sentence("finished")],
  ["s", "skip the sentence; it returns at the end", () => commands.mark_sentence("skipped")],
  ["F", "document finished, and go to the next one", () => commands.mark_document("finished")],
  ["S", "skip the document; it returns at the end", () => commands.mark_document("skipped")],
  ["h", "history of the document, or of the mention that is chosen; restore what was removed or changed", () => commands.history()],
  ["Escape", "choose nothing", () => choose(null)],
  ["?", "this list", () => $("help").showModal()],
];

const OWN = "spanloom-annotate-keys"; // what this browser keeps: for each key of the list above the annotator's own
const own = new Map();
export let brokenKeys = false; // whether the keys in the storage of the browser are invalid
try {
  const kept = Object.entries(JSON.parse(localStorage.getItem(OWN) ?? "{}"));
  brokenKeys = !kept.every(([key, other]) => KEYS.some(([name]) => name === key) && /^[^\s1-9]$/u.test(other));
  if (!brokenKeys) for (const [key, other] of kept) own.set(key, other);
} catch {
  brokenKeys = true;
}
let byKey = new Map();
export const keyOf = (key) => own.get(key) ?? key;

// Fill the table, and the keys that buttons of the page show.
export function showKeys() {
  byKey = new Map(KEYS.filter(([, , run]) => run).map(([key, , run]) => [keyOf(key), run]));
  byKey.set("Delete", () => commands.remove()).set("Backspace", () => commands.remove());
  for (const shown of document.querySelectorAll(".top kbd, #panel kbd")) shown.textContent = keyOf((shown.dataset.key ??= shown.textContent));
  $("key-table").replaceChildren(
    ...KEYS.map(([key, about, run]) => {
      const name = element("kbd", {}, keyOf(key));
      const button = element("button", { type: "button", "aria-label": `${keyOf(key)}: another key for: ${about}` }, name);
      button.addEventListener("click", () => (name.textContent = "press a key"));
      button.addEventListener("blur", () => (name.textContent = keyOf(key)));
      button.addEventListener("keydown", (event) => {
        if (event.key.length > 1 || /[\s1-9]/.test(event.key) || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        const other = KEYS.find(([name, , runs]) => runs && keyOf(name) === event.key)?.[0];
        if (other) own.set(other, keyOf(key)); // the two change places, so that no command loses its key
        own.set(key, event.key);
        localStorage.setItem(OWN, JSON.stringify(Object.fromEntries(own)));
        showKeys();
      });
      return element("tr", {}, element("th", {}, run && key !== "Escape" ? button : name), element("td", {}, about));
    }),
  );
}

export function choose(key) {
  const before = chosen();
  state.chosen = key;
  if (key === null) state.selection = state.anchor = null;
  const now = chosen();
  redraw(...[before, now].filter(Boolean).map(({ start, end }) => [start, end]), cursorRange());
  commands.describe();
}

const cursorRange = () => state.tokens[state.token] ?? [0, 0];

export function mentionsAt(start, end) {
  const here = state.mentions.filter((mention) => covers(mention, start, end));
  return here.sort((a, b) => a.end - a.start - (b.end - b.start)); // the shortest first
}

export function show(offset) {
  const block = state.blocks.find(({ high }) => high > offset) ?? state.blocks[state.blocks.length - 1];
  block?.element.scrollIntoView({ block: "nearest" });
}

export function cycle() {
  const here = mentionsAt(...cursorRange());
  if (!here.length) return say("no mention at this word");
  const place = here.findIndex(({ key }) => key === state.chosen);
  choose(here[(place + 1) % here.length].key);
}

export function moveTo(token, extend = false) {
  const before = [cursorRange(), state.selection ?? [0, 0]];
  state.placed = true;
  state.token = Math.min(Math.max(token, 0), state.tokens.length - 1);
  if (extend) {
    state.anchor ??= tokenAt(before[0][0]);
    const [first, last] = [state.anchor, state.token].sort((a, b) => a - b);
    state.selection = [state.tokens[first][0], state.tokens[last][1]];
  } else state.selection = state.anchor = null;
  const sentences = [...before, cursorRange()].map(([start]) => state.sentences[sentenceAt(start)] ?? [0, 0]);
  redraw(...sentences, ...before, state.selection ?? cursorRange());
  show(cursorRange()[0]);
  commands.moved();
}

function moveSentence(by) {
  const number = sentenceAt(cursorRange()[0]) + by;
  if (number >= 0 && number < state.sentences.length) moveTo(tokenAt(state.sentences[number][0]));
}

function onKey(event) {
  const field = event.target.closest("input, textarea, select");
  if (field && event.key === "Escape") return $("text").focus();
  if (field && !(field.type === "checkbox" || (field.type === "range" && !event.key.startsWith("Arrow")))) return;
  if (event.target.closest("dialog") || (event.target.closest("button") && (event.key === "Enter" || event.key === " "))) return;
  const run = commandOf(event);
  if (!run) return;
  event.preventDefault();
  commands.later(run);
}

function commandOf({ key, ctrlKey, metaKey, altKey, shiftKey }) {
  const written = altKey && "[]{}".includes(key); // with AltGr or Option, as many keyboards write these
  if ((ctrlKey || metaKey) && !written) {
    const name = { z: shiftKey ? "redo" : "undo", y: "redo" }[key.toLowerCase()];
    return name && (() => commands.act(name));
  }
  if (altKey && !written) return undefined;
  if (key === "ArrowLeft" || key === "ArrowRight")
    return () => {
      const block = state.blocks[sentenceAt(cursorRange()[0])];
      const rtl = block && getComputedStyle(block.paragraph).direction === "rtl";
      moveTo(state.token + ((key === "ArrowRight") === !rtl ? 1 : -1), shiftKey);
    };
  if (key === "ArrowUp" || key === "ArrowDown") return () => moveSentence(key === "ArrowUp" ? -1 : 1);
  if (/^[1-9]$/.test(key)) return () => commands.markWith(state.store.types[Number(key) - 1]);
  return byKey.get(key);
}

// The characters that the browser has selected in the text; null if none are.
function selected() {
  const selection = getSelection();
  if (selection.isCollapsed || !selection.rangeCount) return null;
  const range = selection.getRangeAt(0);
  if (!$("text").contains(range.startContainer) || !$("text").contains(range.endContainer)) return null;
  const [start, end] = [offsetOf($("text"), range.startContainer, range.startOffset), offsetOf($("text"), range.endContainer, range.endOffset)];
  if (start === null || end === null || start >= end) return null;
  const found = snapped(start, end);
  return found[0] < found[1] ? found : null;
}

// The character at the place of the pointer, or at the one in the text that is nearest to it.
function pointed({ clientX, clientY }) {
  const box = $("text").getBoundingClientRect();
  const within = (place, low, high) => Math.min(Math.max(place, low + 1), high - 1);
  return offsetAt($("text"), within(clientX, box.left, box.right), within(clientY, Math.max(0, box.top), Math.min(innerHeight, box.bottom)));
}

function onUp(event) {
  if (grip) {
    const [{ part, side }, offset] = [grip, pointed(event)];
    if (offset !== null) commands.later(() => commands.resizeTo(part, side, offset));
    grip = null;
    dragged = true;
    return;
  }
  if (event.pointerType === "touch") return;
  // from the places of the pointer: the browser's selection lags behind quick moves, and may begin elsewhere
  const [from, to] = [down, down === null ? null : pointed(event)];
  const found = to === null || from === to ? selected() : snapped(Math.min(from, to), Math.max(from, to));
  if (!found || found[0] === found[1]) return;
  getSelection().removeAllRanges();
  dragged = true;
  const adds = event.ctrlKey || event.altKey || event.metaKey;
  commands.later(() => {
    const before = cursorRange();
    state.selection = found;
    state.token = tokenAt(found[0]);
    redraw(before, found);
    if (adds) commands.addPart();
    else commands.markWith(state.active || state.store.types[0], true);
  });
}

function onClick(event) {
  if (event.target.closest(".grip") || !getSelection().isCollapsed || dragged) return;
  const offset = offsetAt($("text"), event.clientX, event.clientY);
  const key = event.target.closest("[data-m]")?.dataset.m;
  if (key && key !== state.chosen) {
    const mention = state.mentions.find((one) => one.key === key);
    moveTo(tokenAt(offset === null ? mention.start : Math.min(Math.max(offset, mention.start), mention.end - 1)));
    choose(key);
  } else if (offset !== null && state.tokens.length) {
    moveTo(tokenAt(offset));
    if (mentionsAt(...cursorRange()).length) cycle();
    else choose(null);
  }
}

let down = null; // the character at which the pointer was pressed, if it was in the text
let dragged = false; // whether a drag has ended since then: the click that follows belongs to it
// when the pointer is up again and its click is over: drawing would move the ends of a selection, or replace a button
let released = Promise.resolve();
export async function atRest() {
  for (let last; last !== released; ) await (last = released);
}

function onDown(event) {
  if (event.button) return; // a menu may keep the end of another one
  dragged = false;
  down = $("text").contains(event.target) && !event.target.closest("button, .grip") ? pointed(event) : null;
  released = new Promise((resolve) => {
    for (const name of ["pointerup", "pointercancel"]) addEventListener(name, () => setTimeout(resolve), { once: true });
  });
}

export function listen(given) {
  commands = given;
  showKeys();
  document.addEventListener("keydown", onKey);
  const text = $("text");
  text.addEventListener("pointerdown", (event) => {
    const handle = event.target.closest(".grip");
    if (!handle) return;
    grip = { part: Number(handle.dataset.part), side: Number(handle.dataset.side) };
    event.preventDefault();
  });
  document.addEventListener("pointerdown", onDown);
  document.addEventListener("pointerup", onUp);
  text.addEventListener("click", onClick);
  document.addEventListener("selectionchange", () => {
    // on a phone the selection grows by handles: what is selected last is what a type is given to
    const found = matchMedia("(pointer: coarse)").matches ? selected() : null;
    if (found) {
      state.selection = found;
      state.token = tokenAt(found[0]);
    }
  });
}
