// The history of a document: who did what, and when, in the order of the actions, the last first.

import { $, element, say, shorten, visible } from "./parts.js";
import { state } from "./drawing.js";
import { ask } from "./model.js";

let key = null; // of the mention whose history is shown; of the whole document if null
let restore = () => {};
let rows = []; // events with the rows that show them

export async function history(chosen, restoring) {
  key = chosen;
  restore = restoring;
  $("history-filter").value = "";
  $("history-rows").replaceChildren();
  rows = [];
  if (!$("history").open) $("history").showModal();
  await more();
  $("history-rows").querySelector("button")?.focus();
}

async function more() {
  const before = rows.length ? `&before=${rows[rows.length - 1].event.number}` : "";
  try {
    const found = await ask(`history?number=${state.number}&layer=${encodeURIComponent(state.store.layer)}${before}`);
    rows.push(...found.events.map((event) => ({ event, row: rowOf(event) })));
    $("history-more").hidden = !found.more;
    show();
  } catch (error) {
    $("history").close();
    say("", error.message);
  }
}

function rowOf(event) {
  const { time, author, kind, text, before } = event;
  const date = new Date(time);
  const shown = Number.isNaN(date.getTime()) ? time : date.toLocaleString();
  const cells = [element("time", { datetime: time }, visible(shown)), visible(author), visible(kind), visible(event.what), element("bdi", {}, shorten(visible(text), 80))];
  // a value that is no longer what it was before this action
  const changed = before !== null && JSON.stringify(state.values.get(event.key)) !== JSON.stringify(before);
  if (changed && "mr".includes(event.key[0])) {
    const label = `restore ${before.type}: ${text}`;
    const button = element("button", { type: "button", "aria-label": shorten(visible(label), 120) }, "Restore");
    button.addEventListener("click", () => {
      $("history").close();
      restore(event.key, before);
    });
    cells.push(button);
  } else cells.push("");
  return element("tr", {}, ...cells.map((cell) => element("td", {}, cell)));
}

function show() {
  const words = $("history-filter").value.toLowerCase().split(/\s+/);
  const of_key = rows.filter(({ event }) => key === null || event.key === key);
  const found = of_key.filter(({ row }) => words.every((word) => row.textContent.toLowerCase().includes(word)));
  const names = ["when", "who", "action", "what", "words", "restore"];
  const head = element("tr", {}, ...names.map((name) => element("th", { scope: "col" }, name)));
  $("history-rows").replaceChildren(element("table", {}, head, ...found.map(({ row }) => row)));
  $("history-note").textContent = `${found.length} of ${rows.length} changes${key === null ? "" : ", of the chosen mention"}, the last first; times are those of the clock of the machine`;
  $("history-whole").hidden = key === null;
}

$("history-filter").addEventListener("input", show);
$("history-more").addEventListener("click", more);
$("history-whole").addEventListener("click", () => {
  key = null;
  show();
});
// arrow keys move between the buttons of the rows
$("history-rows").addEventListener("keydown", (event) => {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const all = [...$("history-rows").querySelectorAll("button")];
  const next = by && all[all.indexOf(document.activeElement) + by];
  if (!next) return;
  event.preventDefault();
  next.focus();
});
