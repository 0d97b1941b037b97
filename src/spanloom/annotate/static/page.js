// The commands of the page. Every change is an action that the server appends, and only then is shown.

import { $, element, explanation, named, percent, say, shorten, shownValue, table, visible } from "./parts.js";
import { KINDS, annotateBlock, chosen, layOut, look, redraw, slice, state, surface } from "./drawing.js";
import { ask, collect, kindOf, sentenceAt, snapped, spansKey, tokenAt } from "./model.js";
import { atRest, brokenKeys, choose, keyOf, listen, moveTo, show } from "./keys.js";
import { history } from "./history.js";

const ROUNDS = 12; // of learning that are shown
const LOOK = 3000; // milliseconds between two looks at what is learned
const SEARCH_PAUSE = 200; // milliseconds after the last key
const AGAIN = 300; // milliseconds after the last action, then the model suggests again
const LONGEST_SEARCH = 200; // characters
const AT_ONCE = 5000; // suggestions that are accepted or rejected in one step
const DISAGREEMENTS = 200; // that are listed
let sending = Promise.resolve(); // actions are sent one after the other, each on the version of the one before
let saving = 0; // the timer that saves the position
const PAUSE = 500; // milliseconds after which a position or a note is saved

const layer = () => state.store.layer;

// ---- actions

// Run something when all before it is done.
function queue(run) {
  busy(1);
  sending = sending.then(run).catch((error) => say("", error.message)).finally(() => busy(-1));
  return sending;
}

// Append an action; `make` gives its changes when all before it are done, or nothing. The result is what has changed;
// null if nothing has, as the action failed or another document is open by then. If the document was changed elsewhere,
// it is read again, and `fields`, which hold typed text, are set in its new state.
function act(kind, make = () => ({}), fields = false) {
  const number = state.number;
  return queue(async () => {
    if (state.number !== number) throw new Error("another document was opened before this was saved; repeat the last step there");
    for (let again = false; ; again = true) {
      const changes = await make();
      if (!changes) return null;
      const body = { document: state.number, layer: layer(), author: comparing() ? state.store.author : layer(), version: state.version, kind, changes };
      try {
        const answer = await ask("act", body);
        await atRest();
        apply(answer);
        say("", again ? "this document was changed elsewhere; it is shown as it is now, with what you typed" : "");
        return answer.changes;
      } catch (error) {
        if (error.status === 409) await open(state.number, state.tokens[state.token]?.[0]);
        say("", error.message);
        if (error.status !== 409 || !fields || again) return null;
      }
    }
  });
}

let waiting = 0; // actions that are not yet saved
function busy(by) {
  waiting += by;
  $("text").setAttribute("aria-busy", String(waiting > 0));
}

// Run a command when all commands and actions before are saved and shown, so that quick keys do the same as slow ones.
const runs = [];
async function later(run) {
  if (runs.push(run) > 1) return; // the first one goes through all
  while (runs.length) {
    while (waiting) await sending;
    try {
      runs[0]();
    } catch (error) {
      say("", error.message);
    }
    runs.shift();
  }
}

function apply({ changes, version, undo, redo }) {
  const ranges = [];
  let ends = false;
  for (const [key, value] of Object.entries(changes)) {
    for (const one of [state.values.get(key), value]) if (one?.spans) ranges.push([one.spans[0][0], one.spans[one.spans.length - 1][1]]);
    if (key.startsWith("s:")) ranges.push(key.slice(2).split("-").map(Number));
    if (key === "d") ends = true;
    if (value === null) state.values.delete(key);
    else state.values.set(key, value);
  }
  state.version = version;
  if (Object.keys(changes).some((key) => /^[mr]:/.test(key))) again(ranges);
  collect();
  if (state.chosen && !chosen()) state.chosen = null;
  showUndo(undo, redo);
  redraw(...(ranges.length ? ranges : [[-1, -1]]));
  if (ends) state.store.documents.find(({ number }) => number === state.number).state = state.values.get("d") ?? "";
  progress();
  types();
  describe();
  disagreements();
}

function showUndo(undo, redo) {
  $("undo").disabled = !undo;
  $("redo").disabled = !redo;
}

const created = (changes) => Object.keys(changes).find((key) => key.startsWith("m:") && changes[key]);

function selection() {
  return state.selection ?? (state.tokens[state.token] ? [...state.tokens[state.token]] : null);
}

function markWith(type, dragged = false) {
  if (!type) return $("type").focus();
  const mention = chosen();
  state.active = type;
  if (mention && !state.selection && !dragged) return mention.suggested ? accept(type) : change(mention.key, () => ({ type }));
  const span = selection();
  if (!span) return undefined;
  return act("add", () => ({ "m:#": { type, spans: [span] } })).then((changes) => {
    if (!changes) return;
    state.selection = state.anchor = null;
    choose(created(changes) ?? state.chosen);
    redraw(span);
  });
}

// Change a mention as it is when all actions before are done, the one that is chosen then without a key; `patchOf` gives
// new fields from the old ones, or nothing.
function change(given, patchOf, fields = false) {
  const make = () => {
    const key = given ?? own()?.key;
    const old = state.values.get(key);
    if (given && !old) say("", `this mention was removed elsewhere; restore it from the history (${keyOf("h")})`);
    const patch = old && patchOf(old);
    if (!patch) return null;
    const value = { ...old, ...patch };
    // what a model found of the old type or spans is no longer true of the new ones
    if (patch.type || patch.spans) for (const name of ["score", "head", "attribute_scores", "concept_scores"]) delete value[name];
    if (patch.concepts) delete value.concept_scores;
    if (patch.attributes) delete value.attribute_scores;
    return { [key]: value };
  };
  return act("change", make, fields);
}

// The mention that is chosen, if it is marked; else a message.
function own() {
  const mention = chosen();
  if (mention && !mention.suggested) return mention;
  say("", "no mention is chosen; press m at a word that is marked");
  return null;
}

function addPart() {
  const span = selection();
  if (!span) return undefined;
  return change(null, ({ spans }) => ({ spans: [...spans, span] })).then((changes) => {
    if (!changes) return;
    state.selection = state.anchor = null;
    redraw(span);
    describe();
  });
}

function remove() {
  if (chosen()?.suggested) return reject();
  const mention = own();
  return mention && act("remove", () => (state.values.has(mention.key) ? { [mention.key]: null } : null));
}

// Move an end of a mention by a word: of the part at the cursor if it has gaps.
function resize(side, by) {
  const [low, high] = state.tokens[state.token];
  const mention = own();
  return mention && change(mention.key, ({ spans }) => {
    const here = spans.findIndex(([start, end]) => start < high && low < end);
    const part = here < 0 ? (side ? spans.length - 1 : 0) : here;
    const [place, outwards] = [spans[part][side], side ? by > 0 : by < 0];
    const at = tokenAt(side ? place - 1 : place);
    const within = outwards && state.tokens[at][0] < place && place < state.tokens[at][1]; // then to the end of its word
    const token = state.tokens[within ? at : at + by];
    return token ? moved_end(spans, part, side, side ? token[1] : token[0]) : null;
  });
}

function resizeTo(part, side, offset) {
  const mention = own();
  return mention && change(mention.key, ({ spans }) => {
    const [start, end] = side ? [spans[part][0], offset] : [offset, spans[part][1]];
    return moved_end(spans, part, side, start < end ? snapped(start, end)[side] : offset);
  });
}

function moved_end(spans, part, side, offset) {
  const span = [...spans[part]];
  span[side] = offset;
  if (span[0] < span[1]) return { spans: spans.map((old, i) => (i === part ? span : old)) };
  if (spans.length > 1) return { spans: spans.filter((_, i) => i !== part) };
  say("", "a mention needs at least one word; remove it with x");
  return null;
}

// ---- suggestions

let turns = 0;
const latest = new Map(); // of each part, the number of the last question
let stale = new Set(); // parts to ask about again
let asking = 0;

const rangeOf = (part) => (comparing() ? [0, Infinity] : [state.sentences[state.parts[part][0]][0], state.sentences[state.parts[part][1] - 1][1]]);

// Ask again about the parts that hold what has changed: what is marked and rejected changes the suggestions.
function again(ranges) {
  if (comparing()) return;
  state.parts.forEach((_, part) => {
    const [low, high] = rangeOf(part);
    if (state.pending.has(`${state.number}.${part}`) && ranges.some(([start, end]) => start < high && low < end)) stale.add(part);
  });
  clearTimeout(asking);
  asking = setTimeout(() => {
    for (const part of stale) {
      state.pending.delete(`${state.number}.${part}`);
      suggest(part);
    }
    stale.clear();
  }, AGAIN);
}

// The suggestions of a part, which are asked for once.
function suggest(part) {
  if (!state.store.model && !comparing()) return undefined;
  const name = `${state.number}.${part}`;
  if (!state.pending.has(name)) state.pending.set(name, suggestions(part, name));
  return state.pending.get(name);
}

async function suggestions(part, name) {
  const turn = ++turns;
  latest.set(name, turn);
  try {
    const path = `suggestions?number=${state.number}&layer=${encodeURIComponent(layer())}&part=${part}`;
    const { mentions, problem } = await ask(path);
    await atRest();
    if (!state.pending.has(name) || latest.get(name) !== turn) return; // another document by now, or a later answer
    const [low, high] = rangeOf(part);
    for (const [key, { spans }] of state.suggestions) if (low <= spans[0][0] && spans[0][0] < high) state.suggestions.delete(key);
    for (const one of mentions) state.suggestions.set(spansKey(one.type, one.spans), one);
    collect();
    const gone = state.chosen && !chosen();
    if (gone) state.chosen = null;
    redraw();
    types();
    disagreements();
    if (gone || chosen()?.suggested) describe();
    if (problem) say("the model cannot hold all that is marked here at once: its suggestions do not take it into account");
  } catch (error) {
    state.pending.delete(name);
    say("", error.message);
  }
}

const comparing = () => layer() === state.store.adjudicated;
const plainValue = ({ by, without, disputed, ...value }) => value;

function suggestion() {
  const mention = chosen();
  if (mention?.suggested) return mention;
  say("", "no suggestion is chosen; press g for the next one");
  return null;
}

// Choose the suggestion after the one that is chosen, or before it; else after or before the cursor.
function nextSuggestion(back = false) {
  const all = state.mentions.filter(({ suggested }) => suggested);
  if (!all.length) return choose(null) ?? say("no suggestion is left in what is shown");
  const [place, from] = [all.findIndex(({ key }) => key === state.chosen), state.tokens[state.token]?.[0] ?? 0];
  const by = back ? all.length - 1 : 1;
  const near = back ? (all.findLast(({ start }) => start < from) ?? all[all.length - 1]) : (all.find(({ start }) => start >= from) ?? all[0]);
  const next = place < 0 ? near : all[(place + by) % all.length];
  moveTo(tokenAt(next.start));
  choose(next.key);
}

function accept(type) {
  return act("accept", () => {
    const mention = suggestion(); // the one that is chosen when all actions before are done
    if (!mention) return null;
    const value = plainValue(mention.value);
    if (type && type !== value.type) {
      delete value.score;
      value.type = type;
    }
    return { "m:#": value };
  }).then((changes) => changes && nextSuggestion());
}

async function decideAll(kind) {
  const keyed = ({ type, spans }, i) => (kind === "accept" ? `m:#${i}` : `r:${spansKey(type, spans)}`);
  let left = null;
  let [count, steps] = [0, 0];
  const next = async () => {
    await Promise.all(comparing() ? [suggest(0)] : state.parts.map((_, part) => suggest(part)));
    left ??= state.mentions.filter(({ suggested }) => suggested);
    if (!left.length) return void say("no suggestion is left from this probability on");
    return Object.fromEntries(left.splice(0, AT_ONCE).map((one, i) => [keyed(one, i), plainValue(one.value)]));
  };
  do {
    const changes = await act(kind, next);
    if (!changes) return;
    count += Object.keys(changes).length;
    steps++;
  } while (left.length);
  say(`${count} ${kind}ed; ${keyOf("u")} takes ${steps > 1 ? `them back in ${steps} steps` : "all of them back"}`);
}

function reject() {
  return act("reject", () => {
    const mention = suggestion();
    return mention && { [`r:${spansKey(mention.type, mention.spans)}`]: plainValue(mention.value) };
  }).then((changes) => changes && nextSuggestion());
}

async function why() {
  const mention = chosen();
  if (!mention) return say("", "no mention is chosen; press g for the next suggestion");
  const place = element("div", { class: "why" }, "…");
  $("detail").append(place);
  try {
    if (mention.by) return place.replaceChildren(element("p", {}, visible(`marked by ${mention.by.join(", ")}`)));
    const found = await ask("explain", { document: state.number, mention: { type: mention.type, spans: mention.spans } });
    place.replaceChildren(...explanation(found, surface));
  } catch (error) {
    place.replaceChildren(element("p", { role: "alert" }, visible(error.message)));
  }
}

// ---- history

// Show the history of the mention that is chosen, or of the document; a value may be set again to what it was.
function story() {
  const restore = (key, value) => act("restore", () => ({ [key]: value })).then((changes) => (state.values.has(key) ? choose(key) : changes));
  history(chosen()?.suggested ? null : state.chosen, restore);
}

// ---- progress

async function mark_sentence(value) {
  const number = sentenceAt(state.tokens[state.token]?.[0] ?? 0);
  const key = `s:${state.sentences[number].join("-")}`;
  const reopened = state.values.get(key) === value;
  if (!(await act(reopened ? "reopen" : value === "finished" ? "finish" : "skip", () => ({ [key]: reopened ? null : value })))) return;
  const stateOf = ([start, end]) => state.values.get(`s:${start}-${end}`) ?? "";
  const order = [...state.sentences.slice(number + 1), ...state.sentences.slice(0, number)];
  const next = reopened ? null : (order.find((one) => !stateOf(one)) ?? order.find((one) => stateOf(one) === "skipped"));
  if (next) moveTo(tokenAt(next[0]));
  else if (!reopened) say("all sentences are finished; F finishes the document");
}

async function mark_document(value) {
  const reopened = state.values.get("d") === value;
  const changes = await act(reopened ? "reopen" : value === "finished" ? "finish" : "skip", () => ({ d: reopened ? null : value }));
  if (reopened || !changes) return;
  const place = state.store.documents.findIndex(({ number }) => number === state.number);
  const order = [...state.store.documents.slice(place + 1), ...state.store.documents.slice(0, place)];
  const next = order.find((one) => !one.state) ?? order.find((one) => one.state === "skipped");
  if (!next) return say("all documents are finished");
  queue(() => open(next.number));
}

function progress() {
  const { documents } = state.store;
  const done = documents.filter((one) => one.state === "finished").length;
  const sentences = [...state.values].filter(([key, value]) => key.startsWith("s:") && value === "finished").length;
  $("progress").textContent = `${done} of ${documents.length} documents, ${sentences} of ${state.sentences.length} sentences finished`;
  const place = documents.findIndex(({ number }) => number === state.number);
  if (place >= 0) $("documents").options[place].textContent = nameOf(documents[place]);
}

const nameOf = ({ id, state: status }) => `${visible(id)}${status ? ` · ${status}` : ""}`;

function moved() {
  const [start, end] = state.tokens[state.token] ?? [0, 0];
  const here = state.mentions.filter((one) => one.spans.some(([low, high]) => low < end && start < high));
  const names = here.map((one) => `${one.suggested ? "suggested " : ""}${one.type}`);
  const words = state.selection ? slice(...state.selection) : slice(start, end);
  say(`${words}${names.length ? `: in ${names.join(", ")}` : ""}`);
  saving ||= setTimeout(savePosition, PAUSE); // also while keys follow one another quickly
}

function savePosition() {
  clearTimeout(saving);
  saving = 0;
  ask("position", { document: state.number, layer: layer(), start: Math.max(0, cursor()[0]) }).catch((error) => say("", error.message));
}

// Save the position and the text of a field when the page is closed.
addEventListener("pagehide", () => {
  if (saving) savePosition();
  for (const name of ["change", "blur"]) typing()?.dispatchEvent(new Event(name));
});

// ---- what is drawn beside mentions: the selection, the cursor, handles of the mention that is chosen, and finished sentences

const touches = ([start, end], low, high) => start < high && low < end;
const cursor = () => state.tokens[state.token] ?? [-1, -1];

Object.assign(look, {
  focusable: false,
  marks: (low, high) => [...(touches(state.selection ?? [-1, -1], low, high) ? ["sel"] : []), ...(touches(cursor(), low, high) ? ["cur"] : [])],
  cuts: () => [...(state.selection ?? []), ...cursor()],
  inside(start, end) {
    const mention = chosen();
    if (!mention || mention.suggested) return [];
    const grip = (side, part) => element("span", { class: `grip ${side ? "end" : "begin"}`, "data-part": part, "data-side": side, "aria-hidden": "true" });
    return mention.spans.flatMap(([low, high], i) => [...(low === start ? [grip(0, i)] : []), ...(high === end ? [grip(1, i)] : [])]);
  },
  decorate(block) {
    const status = state.values.get(`s:${block.low}-${block.high}`) ?? "";
    block.element.className = `s ${status} ${touches(cursor(), block.low, block.high) ? "here" : ""}`;
    annotateBlock(block, status);
  },
  seen(block) {
    if (comparing()) return void (state.pending.size || suggest(0));
    const part = state.parts.findIndex(([first, end]) => first <= block.number && block.number < end);
    if (part >= 0) suggest(part);
  },
});

// ---- the panel

function types() {
  const count = new Map();
  for (const { type, suggested } of state.mentions) if (!suggested) count.set(type, (count.get(type) ?? 0) + 1);
  $("types").replaceChildren(
    ...state.store.types.slice(0, 200).map((name, i) => {
      const digit = i < 9 ? element("kbd", {}, String(i + 1)) : "";
      const pressed = String((chosen()?.type ?? state.active) === name);
      const made = element("button", { type: "button", "aria-pressed": pressed }, element("i", { class: `k t${i % KINDS}` }), " ", element("bdi", {}, visible(name)), ` ${count.get(name) ?? 0} `, digit);
      made.addEventListener("pointerdown", (event) => event.preventDefault()); // the selection stays
      made.addEventListener("click", () => later(() => useType(name)));
      return made;
    }),
  );
  $("names").replaceChildren(...state.store.types.map((name) => element("option", { value: name })));
  const kept = $("only").value;
  $("only").replaceChildren(element("option", { value: "" }, "all types"), ...state.store.types.map((name) => element("option", { value: name }, visible(name))));
  $("only").value = kept;
}

// A type that is clicked or typed: before the cursor has been placed, it becomes the type of the next mark.
function useType(name) {
  if (state.placed || state.selection || state.chosen) return markWith(name);
  state.active = name;
  kindOf(name);
  types();
  say(`nothing is selected; ${name} is the type of what you mark next`);
  return describe();
}

function describe() {
  const mention = chosen();
  const field = typing();
  for (const button of $("types").children) button.setAttribute("aria-pressed", "false");
  $("types").children[mention ? kindOf(mention.type) : state.store.types.indexOf(state.active)]?.setAttribute("aria-pressed", "true");
  if (!mention) return field ? undefined : $("detail").replaceChildren(); // keep typed text until the field loses the focus
  const rows = [["Type", mention.type], ["Characters", mention.spans.map((span) => span.join("–")).join(", ")]];
  if (mention.score !== undefined) rows.push([mention.suggested ? "Probability" : "Accepted at", percent(mention.score)]);
  if (mention.by) rows.push(["Marked by", mention.by.join(", ")], ["Not by", mention.without.join(", ") || "–"]);
  for (const [about, values] of mention.disputed ?? []) rows.push([about, Object.entries(values).map((one) => one.join(": ")).join("; ")]);
  const fields = mention.suggested ? [] : [...attributesOf(mention), ...conceptsOf(mention), ...noteOf(mention)];
  const made = element("div", {}, element("h2", {}, element("bdi", {}, surface(mention))), named(rows), ...fields);
  if (field?.dataset.key === mention.key) renew($("detail"), made, field);
  else $("detail").replaceChildren(...made.childNodes);
}

// The field beside the text in which somebody types.
const typing = () => document.activeElement?.closest("#detail :is(input, textarea)");

// Put the children of a new element into an old one, except a field: it stays in its place, as it would lose the focus.
function renew(old, made, field) {
  const kept = [...old.childNodes].find((one) => one.contains(field));
  const nodes = [...made.childNodes];
  const place = nodes.findIndex((one) => one.id === field.id || one.querySelector?.(`#${field.id}`));
  for (const one of [...old.childNodes]) if (one !== kept) one.remove();
  kept.before(...nodes.slice(0, place));
  kept.after(...nodes.slice(place + 1));
  if (kept !== field) renew(kept, nodes[place], field);
}

const meantValue = (text) => (text === "yes" ? true : text === "no" ? false : text.trim());

function attributesOf(mention) {
  const names = [...new Set([...state.store.attributes, ...Object.keys(mention.attributes ?? {})])];
  const set = (name, text) => {
    return change(mention.key, ({ attributes }) => {
      const { [name]: old, ...others } = attributes ?? {};
      return shownValue(old) === text.trim() ? null : { attributes: text.trim() ? { ...others, [name]: meantValue(text) } : others };
    }, true);
  };
  const fields = names.map((name, i) => {
    const input = element("input", { id: i ? `attribute${i}` : "attribute", "data-key": mention.key, size: 10, maxlength: 1000, placeholder: "yes, no, a word" });
    input.value = shownValue(mention.attributes?.[name]);
    input.addEventListener("change", () => set(name, input.value));
    return element("label", {}, visible(name), " ", input);
  });
  const other = element("input", { id: "attribute-name", "data-key": mention.key, size: 8, maxlength: 100, placeholder: "name" });
  other.addEventListener("change", () => {
    if (other.value.trim()) set(other.value.trim(), "yes");
    other.value = "";
  });
  return [element("h2", {}, "Attributes ", element("kbd", {}, keyOf("e"))), element("p", { class: "bar" }, ...fields, element("label", {}, "other ", other))];
}

function conceptsOf(mention) {
  const input = element("input", { id: "concept", "data-key": mention.key, maxlength: state.store.concepts ? undefined : LONGEST_SEARCH, autocomplete: "off", "aria-label": "Concept", placeholder: state.store.concepts ? "search a name" : "identifier" });
  const found = () => $("detail").querySelector(".found");
  const add = (id) => {
    input.value = "";
    found().replaceChildren();
    change(mention.key, ({ concepts }) => ({ concepts: [...new Set([...(concepts ?? []), id])] }), true);
  };
  let waiting = 0;
  const search = async () => {
    const query = input.value;
    if (query.length > LONGEST_SEARCH) return say("", `the search has ${query.length.toLocaleString("en")} characters, at most ${LONGEST_SEARCH} are looked up; shorten it`);
    try {
      const concepts = await ask(`concepts?text=${encodeURIComponent(query || surface(mention).slice(0, LONGEST_SEARCH))}`);
      if (input.value !== query) return; // a later search answers
      found()?.replaceChildren(
        ...concepts.map(({ id, name }) => {
          const made = element("button", { type: "button" }, element("bdi", {}, visible(name)), " ", element("small", {}, visible(id)));
          made.addEventListener("click", () => add(id));
          return element("li", {}, made);
        }),
      );
    } catch (error) {
      say("", error.message);
    }
  };
  if (state.store.concepts) {
    input.addEventListener("input", () => {
      clearTimeout(waiting);
      found().replaceChildren(); // Enter takes the first of what is shown, which must not be of an earlier text
      waiting = setTimeout(search, SEARCH_PAUSE);
    });
    input.addEventListener("focus", search, { once: true });
  }
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    if (state.store.concepts) found().querySelector("button")?.click();
    else if (input.value.trim()) add(input.value.trim());
  });
  const own = (mention.concepts ?? []).map((id) => {
    const made = element("button", { type: "button", "aria-label": `remove ${visible(id)}` }, visible(id), " ×");
    made.addEventListener("click", () => change(mention.key, ({ concepts }) => ({ concepts: concepts.filter((other) => other !== id) })));
    return made;
  });
  return [element("h2", {}, "Concepts ", element("kbd", {}, keyOf("c"))), element("p", { class: "bar" }, ...own, input), element("ul", { class: "found" })];
}

const drafts = new Map(); // notes that are typed and not saved, by document and mention, and what they replace

// A note is saved while it is typed. What is not saved is offered again, whatever happens to the document meanwhile.
function noteOf({ key, note: saved = "" }) {
  const place = `${state.number} ${key}`;
  const note = element("textarea", { id: "note", rows: 2, maxlength: 5000, "aria-label": "Note", "data-key": key });
  note.value = drafts.get(place)?.text ?? saved;
  let timer = 0;
  const save = () => {
    clearTimeout(timer);
    const draft = drafts.get(place);
    if (!draft) return;
    const { text } = draft;
    const done = () => (draft.text === text ? drafts.delete(place) : (draft.old = text));
    const patch = ({ note: now = "" }) => {
      if (now === text) return void done();
      if (now === draft.old) return { note: text };
      say("", `this note was changed elsewhere, to “${shorten(now, 80)}”; yours is in its field, and replaces it when you leave the field`);
      draft.old = now;
      return null;
    };
    change(key, patch, true).then((changes) => changes && done());
  };
  note.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(save, PAUSE);
    if (drafts.has(place)) drafts.get(place).text = note.value;
    else drafts.set(place, { text: note.value, old: state.values.get(key)?.note ?? "" });
  });
  note.addEventListener("blur", save);
  return [element("h2", {}, "Note ", element("kbd", {}, keyOf("n"))), note];
}

function focus(id) {
  if (own()) $(id).focus();
}

// ---- documents

async function open(number, start = 0) {
  const found = await ask(`document?number=${number}&layer=${encodeURIComponent(layer())}`);
  const { text, values, ...rest } = found;
  stale.clear();
  const chosenBefore = number === state.number && values[state.chosen] ? state.chosen : null;
  const characters = Array.from(text); // offsets count code points, strings of the browser UTF-16 units
  Object.assign(state, rest, { characters, values: new Map(Object.entries(values)), suggestions: new Map(), pending: new Map(), chosen: chosenBefore, selection: null, anchor: null, placed: false });
  state.token = tokenAt(start);
  if (!state.sentences.length && characters.length) state.sentences = [[0, characters.length]];
  collect();
  layOut($("text"), state.sentences);
  showUndo(found.undo, found.redo);
  $("documents").value = document.body.dataset.shown = String(number);
  progress();
  types();
  describe();
  scrollTo(0, 0);
  if (start) show(start);
  if (!typing()) $("text").focus({ preventScroll: true });
  moved();
  if (found.changed) say("", "this document has changed on disk since it was imported; what is shown and annotated is the text that was imported");
}

// What annotators of the document disagree on and is not decided, side by side.
function disagreements() {
  const all = state.mentions.filter(({ suggested, by }) => suggested && by);
  const names = all.length ? [...all[0].by, ...all[0].without].sort() : [];
  const row = (one, about, cells) => {
    const button = element("button", { type: "button" }, element("bdi", {}, visible(`${surface(one)}: ${one.type}${about && `, ${about}`}`)));
    button.addEventListener("click", () => later(() => choose(one.key) ?? show(one.start)));
    return [button, ...cells.map((text) => shorten(visible(text), 80))];
  };
  const rows = all.flatMap((one) => [
    ...(one.without.length ? [row(one, "", names.map((name) => (one.by.includes(name) ? "✓" : "–")))] : []),
    ...one.disputed.map(([about, values]) => row(one, about, names.map((name) => values[name] ?? ""))),
  ]);
  const rest = rows.length - DISAGREEMENTS;
  $("disagreements").replaceChildren(table(rows.slice(0, DISAGREEMENTS), ["not decided", ...names]), ...(rest > 0 ? [`and ${rest} more`] : []));
}

async function compare() {
  const rows = await ask("agreement");
  const names = ["annotators", "documents", "F1", "corrected for chance"];
  const cells = rows.map((one) => [`${one.first}, ${one.second}`, one.documents, percent(one.f1), percent(one.corrected)]);
  $("agreement").replaceChildren(table(cells, names));
}

// ---- learning

let models = null; // how often the model was replaced, as the page has seen it
async function learning() {
  try {
    const found = await ask("learning");
    const last = found.curve[found.curve.length - 1];
    const texts = { training: `learning; finished documents: ${found.finished} …`, waiting: found.reason };
    const verdict = last && (last.used ? "the new model suggests now" : `the model before is kept: ${last.why}`);
    $("lesson").textContent = visible(texts[found.state] ?? verdict);
    const names = ["finished", "mentions", "F1 before", "F1", "held out"];
    const rows = found.curve.slice(-ROUNDS).map((one) => [one.finished, one.mentions, one.before === null ? "" : percent(one.before), percent(one.f1) + (one.used ? " ✓" : ""), one.held]);
    $("curve").replaceChildren(table(rows, names));
    if (models !== null && found.models > models) {
      state.store.model = true;
      $("suggesting").hidden = false;
      state.pending.clear();
      state.suggestions.clear();
      collect();
      state.blocks.filter(({ near }) => near).forEach(look.seen);
      say(`a new model suggests: F1 ${percent(last.f1)}${last.before === null ? "" : ` after ${percent(last.before)}`} on ${last.held} held out`);
    }
    models = found.models;
  } catch (error) {
    $("lesson").textContent = visible(error.message);
  }
  setTimeout(learning, LOOK);
}

async function begin() {
  const wanted = new URLSearchParams(location.search).get("layer") ?? "";
  try {
    state.store = await ask(`store?layer=${encodeURIComponent(wanted)}`);
    const { documents, position, layers, adjudicated } = state.store;
    $("layer").value = layer();
    $("layers").replaceChildren(...[...new Set([...layers, adjudicated])].map((name) => element("option", { value: name })));
    $("documents").replaceChildren(...documents.map((one) => element("option", { value: one.number }, nameOf(one))));
    $("suggesting").hidden = !state.store.model && !comparing();
    $("comparing").hidden = !comparing();
    $("learning").hidden = !state.store.learns;
    if (state.store.learns) learning();
    if (comparing()) {
      $("threshold").value = 0;
      threshold();
      compare().catch((error) => say("", error.message));
    }
    const next = documents.find((one) => !one.state) ?? documents[0];
    if (!next) return say("", "the store has no documents; import some: spanloom annotate DATA --output STORE");
    if (position && documents.some(({ number }) => number === position[0])) await open(...position);
    else await open(next.number);
    if (brokenKeys) say("", "the keys of your own that this browser keeps cannot be read, those of the list apply; choose yours again");
    document.body.dataset.ready = "yes";
  } catch (error) {
    say("", error.message);
  }
}

function threshold() {
  $("least").textContent = `${$("threshold").value} %`;
  $("least-all").textContent = `${$("least").textContent}${$("only").value && `, ${visible($("only").value)}`}`;
}

const commands = { act, addPart, accept, decideAll, describe, focus, history: story, later, mark_document, mark_sentence, markWith, moved, nextSuggestion, reject, remove, resize, resizeTo, why };
listen(commands);
const buttons = {
  undo: () => act("undo"), redo: () => act("redo"), part: addPart, remove, accept: () => accept(), reject, why, next: () => nextSuggestion(),
  "accept-all": () => decideAll("accept"), "reject-all": () => decideAll("reject"),
  finish: () => mark_sentence("finished"), skip: () => mark_sentence("skipped"), "finish-all": () => mark_document("finished"),
  "skip-all": () => mark_document("skipped"), keys: () => $("help").showModal(), story,
};
for (const [id, run] of Object.entries(buttons)) $(id).addEventListener("click", () => later(run));
$("documents").addEventListener("change", () => {
  const number = Number($("documents").value);
  later(() => queue(() => open(number)));
});
$("layer").addEventListener("change", () => (location.search = new URLSearchParams({ layer: $("layer").value.trim() })));
for (const id of ["threshold", "only"])
  $(id).addEventListener("input", () => {
    threshold();
    collect();
    redraw();
    disagreements();
  });
$("typing").addEventListener("submit", (event) => {
  event.preventDefault();
  const name = $("type").value.trim();
  $("type").value = "";
  $("text").focus({ preventScroll: true });
  if (name) later(() => useType(name));
});
begin();
