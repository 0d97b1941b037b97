"use strict";
// The page draws the record that the server gives. What comes from a text is only ever set as text, never as HTML.

const $ = (id) => document.getElementById(id);
const KINDS = 35; // types that look different; the style sheet has a class for each
const MOST_ROWS = 40; // tracks below one another in a sentence
const PAUSE = 400; // milliseconds after the last key before a text is marked up
const AT_ONCE = 20000; // characters of a text that is marked up while one types
const LONGEST_WORD = 24;
const EXAMPLES = {
  text:
    "Worsening exertional dyspnea two years after mitral valve replacement. MRI of the brain showed old infarctions, either " +
    "watershed or embolic. No chest pain or fever.\n\nIL-2 gene expression in human T and B lymphocytes requires NF-kappa B.",
  words: "患者无发热，右侧胸腔少量积液。鲁迅1881年生于浙江绍兴，后来在北京大学讲课。",
};

const state = { models: [], limits: {}, given: null, documents: [], record: null, mentions: [], blocks: [], others: false, chosen: -1, asked: null };

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children); // strings become text
  return made;
}

const percent = (value) => (value >= 0.9995 || value < 0.1 ? (100 * value).toFixed(1) : (100 * value).toFixed(0)) + " %";
const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
const model = () => state.models[Math.max(0, $("model").selectedIndex)];

// control characters as pictures, so that they can be seen and change nothing
function visible(text) {
  return text.replace(/[\u0000-\u0008\u000b-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0))).replace(/\u007f/g, "\u2421");
}

function shorten(text, most) {
  const characters = Array.from(text);
  return characters.length > most ? characters.slice(0, most - 1).join("") + "…" : text;
}

// ---- asking the server

async function ask(path, body, signal) {
  const options = body === undefined ? {} : { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  let answer;
  try {
    answer = await fetch(path, { ...options, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("the server does not answer; is it still running?");
  }
  let value;
  try {
    value = await answer.json();
  } catch {
    throw new Error(`the server answered ${answer.status}, and nothing that can be read`);
  }
  if (!answer.ok) throw new Error(value.error);
  return value;
}

function say(status, problem = "") {
  $("status").textContent = status;
  $("problem").textContent = problem;
}

let typing = 0; // the timer that marks up what has been typed
async function markUp() {
  clearTimeout(typing);
  if (state.asked) state.asked.abort();
  const text = $("text").value;
  if (!model()) return;
  if (!text) {
    state.asked = null;
    show(null);
    say("");
    return;
  }
  const asked = (state.asked = new AbortController());
  const others = $("others").checked && model().others ? "&others=true" : "";
  say("…");
  $("marked").setAttribute("aria-busy", "true");
  try {
    const path = `predict?model=${encodeURIComponent(model().name)}${others}`;
    const record = await ask(path, state.given ?? { text }, asked.signal);
    if (asked === state.asked) show(record, others !== "");
  } catch (error) {
    if (error.name === "AbortError") return;
    show(null);
    say("", error.message);
  }
}

// ---- from a record to blocks: sentences with the mentions that reach into them

// A record may have "others" of its own in its meta, which are nothing to draw.
function show(record, others = false) {
  watcher.disconnect();
  $("marked").setAttribute("aria-busy", "false");
  Object.assign(state, { record, others, chosen: -1, mentions: [], blocks: [] });
  $("marked").replaceChildren();
  choose(-1);
  if (record) {
    state.characters = Array.from(record.text); // offsets count code points, strings of the browser UTF-16 units
    state.tokens = record.tokens ?? [];
    const considered = others ? record.meta.others.map((mention) => ({ ...mention, other: true })) : [];
    state.mentions = [...record.mentions, ...considered].map((mention) => ({
      ...mention,
      start: mention.spans[0][0],
      end: mention.spans[mention.spans.length - 1][1],
      kind: Math.max(0, model().types.indexOf(mention.type)),
    }));
    state.mentions.sort((a, b) => a.start - b.start || b.end - a.end || a.kind - b.kind);
    state.mentions.forEach((mention, number) => (mention.number = number));
    makeBlocks(record);
    for (const block of state.blocks) watcher.observe(block.element);
  }
  tell();
}

function makeBlocks(record) {
  const sentences = record.sentences ?? [];
  const starts = sentences.map(([first]) => state.tokens[first][0]);
  const cuts = [0, ...starts.slice(1), state.characters.length];
  const parts = document.createDocumentFragment();
  let waiting = 0;
  let active = [];
  for (let i = 0; i + 1 < cuts.length; i++) {
    let [low, high] = [cuts[i], cuts[i + 1]];
    while (waiting < state.mentions.length && state.mentions[waiting].start < high) active.push(state.mentions[waiting++]);
    active = active.filter((mention) => mention.end > low);
    while (high > low && isSpace(state.characters[high - 1])) high--;
    while (low < high && "\n\r".includes(state.characters[low])) low++;
    if (low === high) continue;
    const paragraph = element("p", { class: "t", dir: "auto", lang: "" }, visible(slice(low, high)));
    const block = { low, high, mentions: active, paragraph, element: element("section", { class: "s" }, paragraph), drawn: false };
    block.element.block = block;
    state.blocks.push(block);
    parts.append(block.element);
  }
  $("marked").append(parts);
}

const slice = (start, end) => state.characters.slice(start, end).join("");
const isSpace = (character) => /\s/.test(character);
const shown = (mention) => mention.score === undefined || mention.score >= Number($("threshold").value);

// Only sentences near the window are drawn; of all others the plain text stands, so that a long document stays light.
const watcher = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) draw(target.block);
      else if (target.block.drawn) wipe(target.block);
    }
  },
  { rootMargin: "600px 0px" },
);

function wipe(block) {
  block.drawn = false;
  if (!block.element.contains(document.activeElement)) block.paragraph.replaceChildren(visible(slice(block.low, block.high)));
}

function draw(block) {
  block.drawn = true;
  const tracks = block.mentions.filter(shown);
  const rows = place(block, tracks);
  const drawn = tracks.filter((_, i) => rows[i] < MOST_ROWS);
  const rowOf = new Map(tracks.map((mention, i) => [mention, rows[i]]));
  const focused = block.element.contains(document.activeElement) ? document.activeElement.parentNode.dataset.m : undefined;
  const content = [];
  block.boxed = false;
  for (const mention of drawn) mention.bars = 0;
  for (const [low, high] of units(block)) content.push(...unit(block, low, high, drawn, rowOf));
  const widest = Math.max(0, ...drawn.map((mention) => cells(label(mention))));
  block.paragraph.style.setProperty("--l", widest);
  block.paragraph.replaceChildren(...content);
  block.more?.remove();
  if (drawn.length < tracks.length) {
    block.more = element("p", { class: "faint" }, `${plural(tracks.length - drawn.length, "mention")} more than can be drawn`);
    block.element.append(block.more);
  }
  if (focused !== undefined) block.element.querySelector(`[data-m="${focused}"] button`)?.focus();
}

function label(mention) {
  const score = mention.score === undefined ? [] : [(100 * mention.score).toFixed(0) + "%"];
  return shorten(visible([asserted(mention), ...score, ...(mention.concepts ?? [])].join(" ")), 40);
}

// The type of a mention with its attributes that are not false, such as "problem · negated".
function asserted(mention) {
  const given = Object.entries(mention.attributes ?? {}).filter(([, value]) => value !== false);
  return [mention.type, ...given.map(([name, value]) => (value === true ? name : `${name} ${value}`))].join(" · ");
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
    let row = free.findIndex((column_) => column_ <= start);
    if (row < 0) row = free.length;
    if (row < MOST_ROWS) free[row] = end;
    return row;
  });
}

// What a line does not break: words, white space; a wide character by itself; or the words that the model finds.
function* units(block) {
  let low = block.low;
  if (model().words) {
    for (const [start, end] of state.tokens) {
      if (end <= block.low || start >= block.high) continue;
      if (low < start) yield [low, start];
      yield [start, end];
      low = end;
    }
    if (low < block.high) yield [low, block.high];
    return;
  }
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

function unit(block, low, high, tracks, rowOf) {
  const over = tracks.filter((mention) => mention.start < high && mention.end > low);
  const word = model().words ? " word" : "";
  const rows = Math.max(...over.map((mention) => rowOf.get(mention) + 1));
  if (!over.length || state.characters[low] === "\n") {
    const text = visible(slice(low, high));
    block.boxed = false;
    return [word ? element("span", { class: "word" }, text) : text];
  }
  const cuts = new Set([low, high]);
  for (const { spans, head } of over) for (const cut of [...spans, head ?? []].flat()) if (cut > low && cut < high) cuts.add(cut);
  const sorted = [...cuts].sort((a, b) => a - b);
  const pieces = [];
  for (let i = 0; i + 1 < sorted.length; i++) {
    const [start, end] = [sorted[i], sorted[i + 1]];
    const piece = element("b");
    const here = over.filter((mention) => mention.start < end && mention.end > start);
    for (const mention of here) piece.append(bar(block, mention, start, end, rowOf.get(mention)));
    const inner = here.filter((mention) => mention.spans.some(([first, last]) => first <= start && start < last));
    // words are tinted as the shortest mention that they are in
    if (inner.length) {
      const { kind } = inner.reduce((one, other) => (other.end - other.start < one.end - one.start ? other : one));
      piece.className = `tint t${kind % KINDS}`;
    }
    piece.append(visible(slice(start, end)));
    pieces.push(piece);
  }
  if (block.boxed && isSpace(state.characters[low])) return pieces; // a line must be able to break behind a box
  block.boxed = true;
  return [element("b", { class: `n${rows}${word}` }, ...pieces)];
}

function bar(block, mention, start, end, row) {
  const span = mention.spans.find(([low, high]) => low <= start && start < high);
  const classes = ["b", `t${mention.kind % KINDS}`, `r${row}`];
  if (!span) classes.push("g");
  if (span && span[0] === start) classes.push("s1");
  if (span && span[1] === end) classes.push("e1");
  if (span && mention.head && mention.head[0] <= start && start < mention.head[1]) classes.push("h");
  if (/^[^\p{L}]*[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u.test(slice(start, end))) classes.push("r");
  if (mention.other) classes.push("o");
  if (mention.score < 0.5) classes.push("u");
  if (mention.number === state.chosen) classes.push("on");
  const made = element("i", { class: classes.join(" "), "data-m": mention.number });
  made.style.setProperty("--q", JSON.stringify(shorten(visible(mention.type), 40))); // where it begins a line
  made.style.setProperty("--k", mention.bars++);
  if (mention.score !== undefined) made.style.setProperty("--chance", mention.score.toFixed(2)); // a mention fades with its probability
  if (start === Math.max(mention.start, block.low)) {
    const name = (mention.start < block.low ? "→ " : "") + label(mention) + (mention.end > block.high ? " →" : "");
    const spoken = `${label(mention)}: ${surface(mention)}${mention.other ? ", considered only" : ""}`;
    made.classList.add("first");
    made.append(element("button", { type: "button", "data-l": name, "aria-label": spoken }));
  }
  return made;
}

const surface = (mention) => shorten(visible(mention.spans.map(([start, end]) => slice(start, end)).join(" … ")), 300);

// ---- what stands above the text

function tell() {
  const of_type = new Map();
  let count = 0;
  for (const mention of state.mentions) {
    if (!shown(mention)) continue;
    count++;
    of_type.set(mention.type, (of_type.get(mention.type) ?? 0) + 1);
  }
  const threshold = Number($("threshold").value);
  $("least").textContent = `${(100 * threshold).toFixed(0)} %`;
  if (state.record) {
    const all = state.mentions.length;
    say(`${count < all ? `${count.toLocaleString("en")} of ` : ""}${plural(all, "mention")} in ${plural(state.blocks.length, "sentence")}`);
  }
  const types = (model()?.types ?? []).map((name, i) =>
    element("li", {}, element("i", { class: `k t${i % KINDS}` }), " ", element("bdi", {}, name), " ",
      element("span", { class: "faint" }, (of_type.get(name) ?? 0).toLocaleString("en"))));
  $("kinds").replaceChildren(...types);
  $("out").hidden = !state.record;
}

let waitingFrame = 0;
function redraw() {
  cancelAnimationFrame(waitingFrame);
  waitingFrame = requestAnimationFrame(() => {
    for (const block of state.blocks) if (block.drawn) draw(block);
    tell();
  });
}

// ---- one mention

function choose(number) {
  state.chosen = number;
  for (const old of $("marked").querySelectorAll(".on")) old.classList.remove("on");
  for (const made of $("marked").querySelectorAll(`[data-m="${number}"]`)) made.classList.add("on");
  const detail = $("detail");
  const mention = state.mentions[number];
  if (!mention) {
    detail.replaceChildren(element("p", { class: "faint" }, "Choose a mention to see its probability, its features and its concepts."));
    return;
  }
  const rows = [["Type", mention.type], ["Characters", mention.spans.map(([start, end]) => `${start}–${end}`).join(", ")]];
  if (mention.head) rows.push(["Head", visible(slice(...mention.head))]);
  if (mention.concepts?.length) rows.push(["Concepts", mention.concepts.join(", ")]);
  for (const [name, value] of Object.entries(mention.attributes ?? {})) {
    const sure = mention.attribute_scores?.[name];
    rows.push([name, `${value === true ? "yes" : value === false ? "no" : value}${sure === undefined ? "" : ` (${percent(sure)})`}`]);
  }
  const list = element("dl", {}, ...rows.flatMap(([name, value]) => [element("dt", {}, visible(name)), element("dd", {}, visible(value))]));
  if (mention.score !== undefined) {
    const meter = element("meter", { min: 0, max: 1, value: mention.score, "aria-hidden": "true" });
    list.prepend(element("dt", {}, "Probability"), element("dd", {}, `${percent(mention.score)} `, meter));
  }
  detail.replaceChildren(element("h2", {}, element("bdi", {}, surface(mention))), list);
  if (mention.other) detail.append(element("p", { class: "faint" }, "Not in the most probable structure; considered only."));
  explain(mention, detail);
}

async function explain(mention, detail) {
  const place = element("div", {}, element("p", { class: "faint" }, "…"));
  detail.append(place);
  const { text, tokens, sentences, columns, id } = state.record;
  const { type, spans, head, concepts } = mention;
  try {
    const found = await ask(`explain?model=${encodeURIComponent(model().name)}`, { document: { text, tokens, sentences, columns, id }, mention: { type, spans, head, concepts } });
    if (state.mentions[state.chosen] === mention) place.replaceChildren(...explanation(found));
  } catch (error) {
    place.replaceChildren(element("p", { role: "alert" }, error.message));
  }
}

const signed = (value) => (value === null ? "" : (value > 0 ? "+" : value < 0 ? "−" : "") + Math.abs(value).toFixed(2));

function table(rows) {
  return element("table", {}, ...rows.map((row) => element("tr", {}, ...row.map((cell) => element("td", {}, visible(String(cell)))))));
}

function explanation(found) {
  const parts = [];
  if (found.candidates.length) {
    parts.push(element("h3", {}, "Candidate concepts"));
    parts.push(table(found.candidates.map((one) => [one.concepts.join(", ") || "none", one.name, signed(one.score)])));
  }
  if (found.contributions.length) {
    parts.push(element("h3", {}, "Why"));
    const odds = found.log_odds === null ? "" : `, log odds ${signed(found.log_odds)}`;
    parts.push(element("p", { class: "faint" }, `What speaks for the mention (+) and against it (−), by token and role, beside the best reading without it${odds}.`));
    for (const one of found.contributions) {
      const times = Math.abs(one.times) > 1 ? ` × ${Math.abs(one.times)}` : "";
      const role = one.role + times + (one.times < 0 ? ", which the other has" : "");
      const where = one.token === undefined ? role : `${one.text} · ${role}`;
      const summary = element("summary", {}, element("bdi", {}, visible(where)), ` ${signed(one.score)}`);
      parts.push(element("details", {}, summary, table(one.features.map((feature) => [feature.name, signed(one.times * feature.score)]))));
    }
    parts.filter((part) => part.tagName === "DETAILS").slice(0, 3).forEach((part) => (part.open = true));
  }
  if (found.runner_up.length) {
    parts.push(element("h3", {}, "Without it, the model would say"));
    parts.push(table(found.runner_up.map((mention) => [mention.type, surface(mention)])));
  }
  return parts;
}

// ---- out of the page

// The record as the server gave it, with the mentions that are shown; others that were considered are no answer.
function answer() {
  const mentions = state.mentions.filter((mention) => shown(mention) && !mention.other);
  const { others, ...rest } = state.record.meta ?? {};
  const meta = state.others ? rest : state.record.meta;
  const kept = mentions.map(({ start, end, kind, number, other, bars, ...mention }) => mention);
  return JSON.stringify({ ...state.record, mentions: kept, ...(meta && { meta }) }) + "\n";
}

async function copy() {
  try {
    await navigator.clipboard.writeText(answer());
    say("Copied.");
  } catch {
    say("", "The browser does not let this page copy; download it instead.");
  }
}

function save() {
  const address = URL.createObjectURL(new Blob([answer()], { type: "application/x-ndjson" }));
  const name = String(state.record.id ?? "").replace(/[^\p{L}\p{N}_.-]+/gu, "_").replace(/^\.+/, "") || "text";
  element("a", { href: address, download: `${name}.jsonl` }).click();
  URL.revokeObjectURL(address);
}

// ---- files

async function open(file) {
  say("…");
  try {
    if (file.size > state.limits.body && !/\.(jsonl|ndjson)$/i.test(file.name))
      throw new Error(`${file.name} has ${file.size.toLocaleString("en")} bytes, the server takes ${state.limits.body.toLocaleString("en")} at most`);
    let text;
    try {
      text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(await file.arrayBuffer());
    } catch {
      throw new Error(`${file.name} is not UTF-8; convert it`);
    }
    const records = /\.(jsonl|ndjson)$/i.test(file.name) ? lines(text, file.name) : [{ text }];
    state.documents = records;
    $("picker").hidden = records.length < 2;
    $("document-of").replaceChildren(...records.map((record, i) => element("option", {}, shorten(String(record.id ?? i + 1), 60))));
    take(records[0]);
  } catch (error) {
    show(null);
    say("", error.message);
  }
}

function lines(text, name) {
  const records = [];
  text.split("\n").forEach((line, i) => {
    if (!line.trim()) return;
    let record;
    try {
      record = JSON.parse(line);
    } catch {
      throw new Error(`${name}, line ${i + 1}: not JSON; expected one record a line`);
    }
    if (typeof record?.text !== "string") throw new Error(`${name}, line ${i + 1}: no text; expected a record with a field "text"`);
    records.push(record);
  });
  if (!records.length) throw new Error(`${name} holds no record`);
  return records;
}

function take(record) {
  $("text").value = record.text;
  state.given = record;
  markUp();
}

// ---- what the user does

$("text").addEventListener("input", () => {
  state.given = null;
  $("picker").hidden = true;
  clearTimeout(typing);
  if ($("text").value.length <= AT_ONCE) typing = setTimeout(markUp, PAUSE);
  else say("", "This is long: press “Mark up” when it is complete.");
});
// A browser takes minutes to insert a long text as if it were typed; put in its place as a whole it takes no time.
$("text").addEventListener("paste", (event) => {
  const pasted = event.clipboardData.getData("text/plain");
  if (pasted.length <= AT_ONCE) return;
  event.preventDefault();
  $("text").setRangeText(pasted, $("text").selectionStart, $("text").selectionEnd, "end");
  state.given = null;
  $("picker").hidden = true;
  markUp();
});
$("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) markUp();
});
$("form").addEventListener("submit", (event) => {
  event.preventDefault();
  markUp();
});
$("model").addEventListener("change", () => {
  describe();
  markUp();
});
$("example").addEventListener("click", () => {
  $("picker").hidden = true;
  take({ text: model()?.words ? EXAMPLES.words : EXAMPLES.text });
});
$("copy").addEventListener("click", copy);
$("save").addEventListener("click", save);
$("threshold").addEventListener("input", redraw);
$("others").addEventListener("change", markUp);
$("file").addEventListener("change", () => {
  if ($("file").files.length) open($("file").files[0]);
  $("file").value = "";
});
$("document-of").addEventListener("change", () => take(state.documents[$("document-of").selectedIndex]));
$("marked").addEventListener("click", (event) => {
  const made = event.target.closest("[data-m]");
  if (made) choose(Number(made.dataset.m));
});
for (const name of ["dragover", "dragleave", "drop"])
  document.addEventListener(name, (event) => {
    event.preventDefault();
    document.body.classList.toggle("dropping", name === "dragover");
    if (name === "drop" && event.dataTransfer.files.length) open(event.dataTransfer.files[0]);
  });

function describe() {
  const { kind, scores, others } = model();
  $("about").textContent = kind;
  $("threshold").disabled = !scores;
  if (!scores) $("threshold").value = 0;
  $("with-others").hidden = !others;
  $("slider-note").textContent = !scores
    ? `A ${kind} gives no probabilities, so all its mentions are shown.`
    : "Of the mentions of the most probable structure, those that are less probable are hidden." +
      (others ? " Others, which that structure does not hold, can be shown, too; they are set in italics." : "");
}

async function start() {
  try {
    const { models, limits } = await ask("models");
    Object.assign(state, { models, limits });
    $("model").replaceChildren(...models.map(({ name }) => element("option", {}, name)));
    describe();
    tell();
    if ($("text").value) markUp(); // what a browser kept over a reload
  } catch (error) {
    say("", error.message);
  }
}
$("options").open = innerWidth > 640;
start();
