// The page of the search service.
import { at, call, draw, events, make } from "/parts.js";
import { actions, base, filters, judging, listBases, remember, restoreFilters } from "/manage.js";

const NAMES = { text: "words", vector: "meaning", graph: "graph", bm25: "words" };
const THEMES = ["auto", "light", "dark"];
const RESULTS = 10;
let asking = new AbortController(); // the latest question wins; the server is told that nobody waits for the others

const signalOf = (name) => (name === "bm25" ? "text" : name);
const percent = (share) => `${Math.round(100 * share)} %`;
const number = (value) => (value === null ? "–" : String(Number(value.toPrecision(4))));
const shortened = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

// Searching

async function ask() {
  const query = at("query").value.trim();
  if (!query) return;
  asking.abort();
  const { signal } = (asking = new AbortController());
  const method = document.querySelector("input[name=method]:checked").value;
  const request = { query, method, limit: RESULTS, expand_graph: at("expand").checked, filters: filters(), ...base() };
  keep(request);
  at("results").setAttribute("aria-busy", "true");
  at("status").textContent = "Searching …";
  at("unlock").hidden = true;
  const started = performance.now();
  let shown = false;
  try {
    const reply = await call("POST", "/search/stream", request, { signal });
    for await (const [name, data] of events(reply)) {
      if (signal.aborted) return;
      if (name === "results") show(query, data, performance.now() - started);
      shown = true;
      if (name === "text") write(data.text);
      else if (name === "error") startAgain(data.message);
      else if (name === "citations") cite(data);
      else if (name === "done") showTimings(data.timings);
    }
  } catch (error) {
    if (signal.aborted) return;
    if (shown) startAgain("The connection was lost before the summary was written.");
    else {
      show(query, { results: [], degraded: [], timings: {} }, 0);
      at("status").textContent = error.message;
    }
  }
  at("results").removeAttribute("aria-busy");
  at("synthesis").removeAttribute("aria-busy");
}

function keep({ query, method, expand_graph: graph, filters: wanted, knowledge_base: name }) { // in the address, which the server never sees
  const parts = { q: query, method, graph: Number(graph), ...(name ? { base: name } : {}) };
  if (Object.keys(wanted).length) parts.filters = JSON.stringify(wanted);
  history.replaceState(null, "", `#${new URLSearchParams(parts)}`);
}

// Showing

function show(query, answer, milliseconds) {
  const count = answer.results.length;
  const found = count === 0 ? "Nothing was found." : `${count} ${count === 1 ? "result" : "results"}`;
  at("status").replaceChildren(make("strong", {}, found), ` in ${Math.round(milliseconds)} ms`);
  if (answer.intent) at("status").append(" · intent ", make("strong", { id: "intent" }, answer.intent.replaceAll("_", " ")));
  if (count && answer.confidence !== null && answer.confidence !== undefined) {
    at("status").append(" · confidence ", make("strong", { id: "confidence" }, percent(answer.confidence)));
  }
  at("degraded").hidden = !answer.degraded.length;
  at("degraded").replaceChildren(...answer.degraded.map((words) => make("li", {}, words)));
  showTimings(answer.timings);
  at("summary").hidden = at("unfounded").hidden = true;
  at("synthesis").replaceChildren();
  const signals = [...new Set(answer.results.flatMap((result) => result.receipt.signals.map((one) => signalOf(one.name))))];
  at("legend").hidden = !signals.length;
  at("legend").replaceChildren(...signals.map((name) =>
    make("li", {}, make("span", { className: "swatch", data: { signal: name } }), NAMES[name] || name)));
  at("results").replaceChildren(...answer.results.map((result) => item(query, answer.results[0].relevance_score || 1, result)));
  remember(answer.results);
}

function showTimings(timings) {
  at("timings").hidden = !Object.keys(timings).length;
  at("timings").replaceChildren(...Object.entries(timings).map(([step, took]) =>
    make("div", {}, make("dt", {}, step.replaceAll("_", " ")), make("dd", {}, `${took.toFixed(1)} ms`))));
}

function write(text) { // read out when it is whole
  at("summary").hidden = false;
  at("synthesis").setAttribute("aria-busy", "true");
  at("synthesis").append(text);
}

function startAgain(message) {
  at("synthesis").replaceChildren();
  at("degraded").append(make("li", {}, message));
  at("degraded").hidden = false;
}

function cite({ valid, invalid }) { // a number with a source becomes a link to its result, one without is marked
  const known = new Set(valid.map((one) => String(one.number)));
  const parts = at("synthesis").textContent.split(/(\[\d+\])/).filter(Boolean).map((part) => {
    const rank = /^\[(\d+)\]$/.exec(part)?.[1];
    if (!rank) return part;
    if (!known.has(rank)) return make("s", {}, part);
    return make("a", { href: `#result-${rank}`, onclick: (event) => {
      event.preventDefault();
      at(`result-${rank}`).focus();
    } }, part);
  });
  at("synthesis").replaceChildren(...parts);
  at("unfounded").hidden = valid.length > 0 && !invalid.length;
  at("unfounded").textContent = invalid.length ? `There is no source ${invalid.join(", ")}: do not rely on what is said there.`
    : "This summary names no source: do not rely on it.";
}

function item(query, best, result) {
  const { rank, metadata, receipt } = result;
  const label = `receipt-${rank}`;
  const about = [metadata.type, metadata.date].filter((one) => typeof one === "string");
  const button = make("button", { type: "button", className: "result", id: `result-${rank}` },
    make("span", { className: "rank" }, String(rank)),
    make("span", { className: "title" }, typeof metadata.title === "string" ? metadata.title : result.source),
    make("span", { className: "from" }, result.source, ...about.flatMap((one) => [" · ", make("span", {}, one)])),
    score(result, best));
  button.setAttribute("aria-expanded", "false");
  button.setAttribute("aria-controls", label);
  const region = make("div", { id: label, className: "receipt", hidden: true, role: "region", aria: { label: `Why result ${rank} is here` } });
  const whole = make("li", {}, button, make("p", { className: "content" }, result.content), judging(query, result), region);
  button.addEventListener("click", () => toggle(button, region, receipt, () => actions(result, whole)));
  return whole;
}

function score({ relevance_score: relevance, receipt }, best) { // the best result has a whole bar
  const bar = make("span", { className: "bar" });
  for (const { name, share } of receipt.signals) {
    const part = make("i", { title: `${NAMES[name] || name} ${percent(share)}`, data: { signal: signalOf(name) } });
    part.style.width = `${100 * share / best}%`;
    bar.append(part);
  }
  bar.setAttribute("role", "img");
  bar.setAttribute("aria-label", `relevance ${percent(relevance ?? 0)}: ${receipt.signals.map(({ name, share }) =>
    `${NAMES[name] || name} ${percent(share)}`).join(", ")}`);
  return make("span", { className: "score" }, bar, make("b", { ariaHidden: "true" }, percent(relevance ?? 0)));
}

function toggle(button, region, receipt, more) {
  const opens = region.hidden;
  region.hidden = !opens;
  button.setAttribute("aria-expanded", String(opens));
  if (!opens || region.childElementCount) return;
  if (receipt.path.length > 1) {
    region.append(make("div", {}, make("h3", {}, "How the graph led here"), pathOf(receipt.path, region.clientWidth)));
  }
  const steps = receipt.steps.map(({ stage, after, details }) => make("li", {},
    make("span", {}, stage.replaceAll("_", " ")),
    make("b", {}, number(after)),
    make("code", {}, Object.entries(details).filter(([name]) => name !== "path").map(([name, value]) =>
      `${name} ${typeof value === "number" ? number(value) : JSON.stringify(value)}`).join(" · "))));
  region.append(make("div", {}, make("h3", {}, "How the score came about"), make("ol", { className: "steps" }, ...steps)), ...more());
}

function pathOf(stations, width) { // a line from top to bottom, a dot for each node, an arrow for each edge
  const [left, top, step] = [10, 14, 44];
  const letters = Math.max(12, Math.floor((Math.max(width, 220) - 120) / 7));
  const height = 2 * top + step * (stations.length - 1);
  const words = stations.map((one, place) =>
    place ? `${one.forward ? `—${one.edge_type}→` : `←${one.edge_type}—`} ${one.name}` : one.name).join(" ");
  const svg = draw("svg", { width: "100%", height, role: "img", "aria-label": words, class: "path" });
  stations.forEach((station, place) => {
    const y = top + place * step;
    if (place) {
      const middle = y - step / 2;
      const [tip, back] = station.forward ? [middle + 5, middle - 4] : [middle - 5, middle + 4];
      svg.append(
        draw("path", { d: `M${left} ${y - step + 6}V${y - 6}` }),
        draw("path", { class: "head", d: `M${left} ${tip}L${left - 6} ${back}H${left + 6}Z` }),
        draw("text", { class: "type", x: left + 18, y: middle + 4 }, shortened(station.edge_type.replaceAll("_", " "), letters)));
    }
    const end = place === 0 || place === stations.length - 1;
    const name = draw("text", { x: left + 18, y: y + 5 }, shortened(station.name, letters));
    name.append(draw("title", {}, station.name));
    svg.append(draw("circle", { cx: left, cy: y, r: 6, class: end ? "end" : "way" }), name);
  });
  return svg;
}

// Keys

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const here = document.activeElement;
  const typing = here.matches("textarea, select, input:not([type=radio], [type=checkbox])");
  const buttons = [...document.querySelectorAll(".result")];
  const place = buttons.indexOf(here);
  if (event.key === "/" && !typing) {
    at("query").focus();
    at("query").select();
  } else if (event.key === "ArrowDown" && buttons.length && (place >= 0 || here === at("query"))) {
    buttons[Math.min(place + 1, buttons.length - 1)].focus();
  } else if (event.key === "ArrowUp" && place >= 0) {
    (buttons[place - 1] || at("query")).focus();
  } else if (event.key === "Escape" && place >= 0) {
    if (here.getAttribute("aria-expanded") === "true") here.click();
    else at("query").focus();
  } else return;
  event.preventDefault();
}

// Beginning

function theme(next) {
  const chosen = THEMES.includes(next) ? next : "auto";
  document.documentElement.dataset.theme = chosen;
  at("theme").textContent = `Theme: ${chosen}`;
  localStorage.setItem("theme", chosen);
}

theme(localStorage.getItem("theme"));
at("theme").addEventListener("click", () => theme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length]));
at("search").addEventListener("submit", (event) => { event.preventDefault(); ask(); });
at("search").addEventListener("change", (event) => { if (event.target !== at("query")) ask(); });
at("unlock").addEventListener("submit", async (event) => {
  event.preventDefault();
  sessionStorage.setItem("key", at("key").value);
  await listBases(at("base").value);
  ask();
});
document.addEventListener("keydown", onKey);
at("query").focus();
const asked = new URLSearchParams(location.hash.slice(1));
await listBases(asked.get("base"));
if (asked.get("q")) {
  at("query").value = asked.get("q");
  const method = document.querySelector(`input[name=method][value="${CSS.escape(asked.get("method") || "hybrid")}"]`);
  if (method) method.checked = true;
  at("expand").checked = asked.get("graph") !== "0";
  try { restoreFilters(JSON.parse(asked.get("filters") || "{}")); } catch { /* somebody has changed the address */ }
  ask();
}
