import { $, ask, element, explanation, isSpace, named, percent, plural, say, shorten, shownValue, visible } from "./parts.js";
import { KINDS, annotateBlock, chosen, inTextOrder, layOut, look, redraw, slice, state, surface, withEnds } from "./drawing.js";

const PAUSE = 400; // milliseconds after the last key before a text is marked up
const AT_ONCE = 20000; // characters of a text that is marked up while one types
const EXAMPLES = {
  text:
    "Worsening exertional dyspnea two years after mitral valve replacement. MRI of the brain showed old infarctions, either " +
    "watershed or embolic. No chest pain or fever.\n\nIL-2 gene expression in human T and B lymphocytes requires NF-kappa B.",
  words: "患者无发热，右侧胸腔少量积液。鲁迅1881年生于浙江绍兴，后来在北京大学讲课。",
};

Object.assign(state, { models: [], limits: {}, given: null, documents: [], record: null, tokens: [], others: false, asked: null });
const model = () => state.models[Math.max(0, $("model").selectedIndex)];

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
    const record = await ask(path, state.given ?? { text }, { signal: asked.signal });
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
  $("marked").setAttribute("aria-busy", "false");
  Object.assign(state, { record, others, mentions: [], characters: Array.from(record?.text ?? "") }); // offsets count code points
  choose(null);
  if (record) {
    state.tokens = record.tokens ?? [];
    const considered = others ? record.meta.others.map((mention) => ({ ...mention, suggested: "considered" })) : [];
    const kindOf = ({ type }) => Math.max(0, model().types.indexOf(type));
    const found = [...record.mentions, ...considered].map((mention) => withEnds(mention, { chance: mention.score, kind: kindOf(mention) }));
    state.mentions = found.sort(inTextOrder).map((mention, number) => ({ ...mention, key: String(number) }));
  }
  layOut($("marked"), ranges(record));
  tell();
}

// From the first character of a sentence to the next sentence, without white space at the ends.
function ranges(record) {
  const starts = (record?.sentences ?? []).map(([first]) => state.tokens[first][0]);
  const cuts = [0, ...starts.slice(1), state.characters.length];
  const found = [];
  for (let i = 0; i + 1 < cuts.length; i++) {
    let [low, high] = [cuts[i], cuts[i + 1]];
    while (high > low && isSpace(state.characters[high - 1])) high--;
    while (low < high && "\n\r".includes(state.characters[low])) low++;
    if (low < high) found.push([low, high]);
  }
  return found;
}

Object.assign(look, {
  shown: (mention) => mention.score === undefined || mention.score >= Number($("threshold").value),
  decorate: (block) => annotateBlock(block, ""),
  *wordsOf({ low, high }) {
    for (const [start, end] of state.tokens) {
      if (end <= low || start >= high) continue;
      if (low < start) yield [low, start];
      yield [start, end];
      low = end;
    }
    if (low < high) yield [low, high];
  },
  words: (block) => (model().words ? look.wordsOf(block) : null),
});

// ---- what stands above the text

function tell() {
  const of_type = new Map();
  let count = 0;
  for (const mention of state.mentions) {
    if (!look.shown(mention)) continue;
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
function filter() {
  cancelAnimationFrame(waitingFrame);
  waitingFrame = requestAnimationFrame(() => {
    redraw();
    tell();
  });
}

// ---- one mention

function choose(key) {
  state.chosen = key;
  for (const old of $("marked").querySelectorAll(".on")) old.classList.remove("on");
  const detail = $("detail");
  const mention = chosen();
  if (!mention) {
    detail.replaceChildren(element("p", { class: "faint" }, "Choose a mention to see its probability, its features and its concepts."));
    return;
  }
  for (const made of $("marked").querySelectorAll(`[data-m="${key}"]`)) made.classList.add("on");
  const rows = [["Type", mention.type], ["Characters", mention.spans.map(([start, end]) => `${start}–${end}`).join(", ")]];
  if (mention.score !== undefined) {
    const meter = element("meter", { min: 0, max: 1, value: mention.score, "aria-hidden": "true" });
    rows.unshift(["Probability", element("span", {}, `${percent(mention.score)} `, meter)]);
  }
  if (mention.head) rows.push(["Head", slice(...mention.head)]);
  if (mention.concepts?.length) rows.push(["Concepts", mention.concepts.join(", ")]);
  for (const [name, value] of Object.entries(mention.attributes ?? {})) {
    const sure = mention.attribute_scores?.[name];
    rows.push([name, `${shownValue(value)}${sure === undefined ? "" : ` (${percent(sure)})`}`]);
  }
  detail.replaceChildren(element("h2", {}, element("bdi", {}, surface(mention))), named(rows));
  if (mention.suggested) detail.append(element("p", { class: "faint" }, "Not in the most probable structure; considered only."));
  explain(mention, detail);
}

async function explain(mention, detail) {
  const place = element("div", {}, element("p", { class: "faint" }, "…"));
  detail.append(place);
  const { text, tokens, sentences, columns, id } = state.record;
  const { type, spans, head, concepts } = mention;
  try {
    const found = await ask(`explain?model=${encodeURIComponent(model().name)}`, { document: { text, tokens, sentences, columns, id }, mention: { type, spans, head, concepts } });
    if (chosen() === mention) place.replaceChildren(...explanation(found, surface));
  } catch (error) {
    place.replaceChildren(element("p", { role: "alert" }, visible(error.message)));
  }
}

// ---- out of the page

// The record as the server gave it, with the mentions that are shown; others that were considered are no answer.
function answer() {
  const mentions = state.mentions.filter((mention) => look.shown(mention) && !mention.suggested);
  const { others, ...rest } = state.record.meta ?? {};
  const meta = state.others ? rest : state.record.meta;
  const kept = mentions.map(({ start, end, kind, key, chance, suggested, ...mention }) => mention);
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
$("threshold").addEventListener("input", filter);
$("others").addEventListener("change", markUp);
$("file").addEventListener("change", () => {
  if ($("file").files.length) open($("file").files[0]);
  $("file").value = "";
});
$("document-of").addEventListener("change", () => take(state.documents[$("document-of").selectedIndex]));
$("marked").addEventListener("click", (event) => {
  const made = event.target.closest("[data-m]");
  if (made) choose(made.dataset.m);
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
