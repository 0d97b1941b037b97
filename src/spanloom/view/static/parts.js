// What the pages of `serve` and `annotate` are made of. What comes from data is only ever set as text, never as HTML.

export const $ = (id) => document.getElementById(id);

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(name, value);
  made.append(...children); // strings become text
  return made;
}

export const percent = (value) => `${(100 * value).toFixed(value >= 0.9995 || value < 0.1 ? 1 : 0)} %`;
export const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
export const isSpace = (character) => /\s/.test(character);

// control characters as pictures, so that they can be seen and change nothing
export function visible(text) {
  return text.replace(/[\u0000-\u0008\u000b-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0))).replace(/\u007f/g, "\u2421");
}

export function shorten(text, most) {
  const characters = Array.from(text);
  return characters.length > most ? characters.slice(0, most - 1).join("") + "…" : text;
}

export function say(status, problem = "") {
  $("status").textContent = visible(status);
  $("problem").textContent = visible(problem);
}

// The answer of the server as JSON; a refusal is an error with its message and `status`. `options` are those of `fetch`.
export async function ask(path, body, options = {}, silent = "the server does not answer; is it still running?") {
  if (body !== undefined) options = { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" }, ...options };
  let answer, value;
  try {
    answer = await fetch(path, options);
  } catch (error) {
    throw error.name === "AbortError" ? error : new Error(silent);
  }
  try {
    value = await answer.json();
  } catch {
    throw new Error(`the server answered ${answer.status}, and nothing that can be read`);
  }
  if (!answer.ok) throw Object.assign(new Error(value.error), { status: answer.status });
  return value;
}

const cell = (value) => (value instanceof Node ? value : visible(String(value)));

export function table(rows, names = []) {
  const head = names.length && rows.length ? [element("tr", {}, ...names.map((name) => element("th", { scope: "col" }, name)))] : [];
  return element("table", {}, ...head, ...rows.map((row) => element("tr", {}, ...row.map((value) => element("td", {}, cell(value))))));
}

export function named(rows) {
  return element("dl", {}, ...rows.flatMap(([name, value]) => [element("dt", {}, visible(name)), element("dd", {}, cell(value))]));
}

export const shownValue = (value) => (value === true ? "yes" : value === false ? "no" : (value ?? ""));

// ---- why a mention is found

const signed = (value) => (value === null ? "" : (value > 0 ? "+" : value < 0 ? "−" : "") + Math.abs(value).toFixed(2));

export function explanation(found, surface) {
  const parts = [];
  if (found.candidates.length) {
    parts.push(element("h3", {}, "Candidate concepts"));
    parts.push(table(found.candidates.map((one) => [one.concepts.join(", ") || "none", one.name, signed(one.score)])));
  }
  if (found.contributions.length) {
    parts.push(element("h3", {}, "Why"));
    const odds = found.log_odds === null ? "" : `, log odds ${signed(found.log_odds)}`;
    parts.push(element("p", { class: "faint" }, `Evidence for the mention (+) and against it (−), by token and role, relative to the best reading without it${odds}.`));
    for (const one of found.contributions) {
      const times = Math.abs(one.times) > 1 ? ` × ${Math.abs(one.times)}` : "";
      const role = one.role + times + (one.times < 0 ? ", of the other reading" : "");
      const where = one.token === undefined ? role : `${one.text} · ${role}`;
      const summary = element("summary", {}, element("bdi", {}, visible(where)), ` ${signed(one.score)}`);
      parts.push(element("details", {}, summary, table(one.features.map((feature) => [feature.name, signed(one.times * feature.score)]))));
    }
    parts.filter((part) => part.tagName === "DETAILS").slice(0, 3).forEach((part) => (part.open = true));
  }
  if (found.runner_up.length) {
    parts.push(element("h3", {}, "Best reading without it"));
    parts.push(table(found.runner_up.map((mention) => [mention.type, surface(mention)])));
  }
  return parts;
}
