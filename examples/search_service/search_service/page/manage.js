// Which knowledge base, which part of it, what is added and deleted, and what was relevant.
import { at, call, make } from "/parts.js";

const POLL_MILLISECONDS = 500;
const chosen = new Map(); // field → values that are allowed
const seen = new Map(); // field → values that results had
let bases = [];

export const base = () => (at("base").value ? { knowledge_base: at("base").value } : {});
const inBase = () => (at("base").value ? `?${new URLSearchParams(base())}` : "");
const current = () => bases.find((one) => one.name === at("base").value);

// Knowledge bases

export async function listBases(wanted) {
  try {
    bases = await (await call("GET", "/knowledge-bases", undefined, { quiet: true })).json();
  } catch { return; } // the page searches the usual one, or asks for a key when it does
  at("base").replaceChildren(...bases.map(({ name }) => make("option", { value: name }, name)));
  if (bases.some((one) => one.name === wanted)) at("base").value = wanted;
  at("base").hidden = bases.length < 2;
  showBase();
}

function showBase() {
  const one = current();
  at("holdings").textContent = one ? `${one.documents} ${one.documents === 1 ? "document" : "documents"}` : "";
  at("adding").hidden = !one?.writable;
}

// Filters

export function filters() {
  const days = ["date_from", "date_to"].filter((id) => at(id).value).map((id) => [id, at(id).value]);
  return Object.fromEntries([...chosen, ...days]);
}

export function restoreFilters(given) {
  for (const [field, values] of Object.entries(given)) {
    if (field === "date_from" || field === "date_to") at(field).value = values;
    else chosen.set(field, [values].flat());
  }
  at("filters").open = Object.keys(given).length > 0;
  showFilters();
}

export function remember(results) { // what there is to filter by
  for (const { metadata } of results) {
    for (const [field, value] of Object.entries(metadata)) {
      if (["string", "number", "boolean"].includes(typeof value)) seen.set(field, (seen.get(field) || new Set()).add(value));
    }
  }
  at("fields").replaceChildren(...[...seen.keys()].sort().map((value) => make("option", { value })));
  offerValues();
}

function offerValues() {
  const values = [...(seen.get(at("field").value) || [])].slice(0, 50);
  at("values").replaceChildren(...values.map((value) => make("option", { value })));
}

function only(field, value) {
  if (!(chosen.get(field) || []).includes(value)) chosen.set(field, [...(chosen.get(field) || []), value]);
  showFilters();
  changed();
}

function showFilters() {
  const pairs = [...chosen].flatMap(([field, values]) => values.map((value) => [field, value]));
  at("chosen").hidden = !pairs.length;
  at("chosen").replaceChildren(...pairs.map(([field, value]) => make("li", {}, make("button", { type: "button", className: "chip",
    aria: { label: `Remove the filter ${field}: ${value}` }, onclick: () => {
      const left = chosen.get(field).filter((one) => one !== value);
      if (left.length) chosen.set(field, left); else chosen.delete(field);
      showFilters();
      at("query").focus();
      changed();
    } }, `${field}: ${value} ×`))));
}

const changed = () => at("search").dispatchEvent(new Event("change"));

// Feedback and deletion, with each result

export function judging(query, { rank, receipt }) {
  if (!current()?.feedback) return null;
  const buttons = [["Relevant", true], ["Not relevant", false]].map(([words, relevant]) => {
    const button = make("button", { type: "button", className: "plain", aria: { pressed: "false" } }, words);
    button.addEventListener("click", async () => {
      const again = button.getAttribute("aria-pressed") === "true"; // the same again takes it back
      try {
        await call("POST", "/feedback", { query, id: receipt.id, relevant: again ? null : relevant, filters: filters(), ...base() });
        for (const one of buttons) one.setAttribute("aria-pressed", String(one === button && !again));
        note.textContent = again ? "Taken back." : "Noted.";
      } catch (error) { note.textContent = error.message; }
    });
    return button;
  });
  const note = make("span", { className: "quiet", role: "status" });
  return make("div", { className: "row judge", role: "group", aria: { label: `Is result ${rank} relevant?` } }, ...buttons, note);
}

export function actions(result, item) {
  const about = Object.entries(result.metadata).filter(([field, value]) => ["string", "number", "boolean"].includes(typeof value) &&
    field !== "title" && String(value).length <= 60);
  const chips = about.map(([field, value]) => make("button", { type: "button", className: "chip", onclick: () => only(field, value),
    aria: { label: `Show only ${field}: ${value}` } }, `${field}: ${value}`));
  const parts = chips.length ? [make("div", {}, make("h3", {}, "Show only"), make("div", { className: "row" }, ...chips))] : [];
  return current()?.writable ? [...parts, make("div", {}, deleting(result, item))] : parts;
}

function deleting({ receipt }, item) {
  const button = make("button", { type: "button", className: "plain danger" }, "Delete this document");
  button.addEventListener("blur", () => { button.textContent = "Delete this document"; button.dataset.sure = ""; });
  button.addEventListener("click", async () => {
    if (!button.dataset.sure) {
      button.dataset.sure = "yes";
      button.textContent = "Delete it for good?";
      return;
    }
    try {
      await call("DELETE", `/documents/${encodeURIComponent(receipt.id)}${inBase()}`);
      item.remove();
      at("status").textContent = `${receipt.id} is deleted.`;
      at("query").focus();
      await listBases(at("base").value);
    } catch (error) { at("status").textContent = error.message; }
  });
  return button;
}

// Adding

const titleOf = (text, name) => /^#\s+(.+)$/m.exec(text)?.[1].trim() || name;

async function put(id, content, title, source) {
  const metadata = title ? { title } : {};
  return (await call("PUT", `/documents/${encodeURIComponent(id)}${inBase()}`, { content, source, metadata })).json();
}

async function upload(file) {
  let job = await (await call("POST", `/documents:bulk${inBase()}`, file, { type: "application/x-ndjson" })).json();
  while (job.status === "queued" || job.status === "running") {
    at("added").textContent = `${file.name}: ${job.done + job.failed} of ${job.lines} lines …`;
    await new Promise((resolve) => { setTimeout(resolve, POLL_MILLISECONDS); });
    job = await (await call("GET", `/jobs/${encodeURIComponent(job.id)}`)).json();
  }
  at("faults").append(...job.errors.map(({ line, message }) => make("li", {}, `${file.name}, line ${line}: ${message}`)));
  return job.done;
}

async function add(file) {
  if (/\.(jsonl|ndjson)$/i.test(file.name)) return upload(file);
  const text = await file.text();
  await put(file.name, text, titleOf(text, file.name), file.name);
  return 1;
}

async function addAll() {
  const [title, text] = [at("new-title").value.trim(), at("new-text").value.trim()];
  if (!at("files").files.length && !text) {
    at("added").textContent = "Choose a file, or write a text.";
    return;
  }
  at("faults").replaceChildren();
  at("added").textContent = "Adding …";
  let count = 0;
  for (const file of at("files").files) {
    try { count += await add(file); } catch (error) { at("faults").append(make("li", {}, `${file.name}: ${error.message}`)); }
  }
  if (text) {
    try {
      await put(title || `note-${crypto.randomUUID()}`, text, title, title || "notes");
      count += 1;
      at("new-title").value = at("new-text").value = "";
    } catch (error) { at("faults").append(make("li", {}, error.message)); }
  }
  at("faults").hidden = !at("faults").childElementCount;
  at("added").textContent = `${count} ${count === 1 ? "document is" : "documents are"} added and can be found.`;
  at("files").value = "";
  await listBases(at("base").value);
}

at("base").addEventListener("change", () => { showBase(); changed(); });
at("field").addEventListener("input", offerValues);
at("filter").addEventListener("change", (event) => { if (event.target.type === "date") changed(); });
at("filter").addEventListener("submit", (event) => {
  event.preventDefault();
  const [field, text] = [at("field").value.trim(), at("value").value.trim()];
  if (!field || !text) return;
  only(field, [...(seen.get(field) || [])].find((value) => String(value) === text) ?? text); // a number stays one
  at("field").value = at("value").value = "";
  at("field").focus();
});
at("add").addEventListener("submit", (event) => { event.preventDefault(); addAll(); });
