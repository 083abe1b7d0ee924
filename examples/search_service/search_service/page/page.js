// The page of the search service. Everything that comes from the server is set as text, never as markup.
"use strict";

const at = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const NAMES = { text: "words", vector: "meaning", graph: "graph", bm25: "words" };
const THEMES = ["auto", "light", "dark"];
const RESULTS = 10;
let asking = 0; // the latest question wins, whatever comes back first

function make(tag, properties = {}, ...children) {
  const { data, ...plain } = properties;
  const element = Object.assign(document.createElement(tag), plain);
  Object.assign(element.dataset, data);
  element.append(...children.filter((child) => child !== null));
  return element;
}

function draw(tag, attributes, text) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

const signalOf = (name) => (name === "bm25" ? "text" : name);
const percent = (share) => `${Math.round(100 * share)} %`;
const number = (value) => (value === null ? "–" : String(Number(value.toPrecision(4))));
const shortened = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

// Searching

async function ask() {
  const query = at("query").value.trim();
  if (!query) return;
  const mine = ++asking;
  const method = document.querySelector("input[name=method]:checked").value;
  const request = { query, method, limit: RESULTS, expand_graph: at("expand").checked };
  history.replaceState(null, "", `#${new URLSearchParams({ q: query, method, graph: Number(request.expand_graph) })}`);
  at("results").setAttribute("aria-busy", "true");
  at("status").textContent = "Searching …";
  const started = performance.now();
  try {
    const key = sessionStorage.getItem("key");
    const headers = { "content-type": "application/json", ...(key ? { "x-api-key": key } : {}) };
    const reply = await fetch("/search", { method: "POST", headers, body: JSON.stringify(request) });
    const answer = await reply.json();
    if (mine !== asking) return;
    at("unlock").hidden = reply.status !== 401;
    if (!reply.ok) throw new Error([answer.message, ...(answer.faults || []).map((one) => one.message)].join(" "));
    show(answer, performance.now() - started);
  } catch (error) {
    if (mine !== asking) return;
    show({ results: [], degraded: [], timings: {}, synthesis: null }, 0);
    at("status").textContent = error instanceof TypeError ? "The service cannot be reached." : error.message;
    if (!at("unlock").hidden) at("key").focus();
  } finally {
    if (mine === asking) at("results").removeAttribute("aria-busy");
  }
}

// Showing

function show(answer, milliseconds) {
  const count = answer.results.length;
  const found = count === 0 ? "Nothing was found." : `${count} ${count === 1 ? "result" : "results"}`;
  at("status").replaceChildren(make("strong", {}, found), ` in ${Math.round(milliseconds)} ms`);
  if (answer.intent) at("status").append(" · intent ", make("strong", { id: "intent" }, answer.intent.replaceAll("_", " ")));
  at("degraded").hidden = !answer.degraded.length;
  at("degraded").replaceChildren(...answer.degraded.map((words) => make("li", {}, words)));
  at("timings").hidden = !Object.keys(answer.timings).length;
  at("timings").replaceChildren(...Object.entries(answer.timings).map(([step, took]) =>
    make("div", {}, make("dt", {}, step.replaceAll("_", " ")), make("dd", {}, `${took.toFixed(1)} ms`))));
  at("summary").hidden = !answer.synthesis;
  at("synthesis").replaceChildren(...cited(answer.synthesis || "", count));
  const signals = [...new Set(answer.results.flatMap((result) => result.receipt.signals.map((one) => signalOf(one.name))))];
  at("legend").hidden = !signals.length;
  at("legend").replaceChildren(...signals.map((name) =>
    make("li", {}, make("span", { className: "swatch", data: { signal: name } }), NAMES[name] || name)));
  at("results").replaceChildren(...answer.results.map(item));
}

function cited(text, count) { // [2] becomes a link to the second result
  return text.split(/(\[\d+\])/).filter(Boolean).map((part) => {
    const rank = /^\[(\d+)\]$/.exec(part)?.[1];
    return rank && rank <= count ? make("a", { href: `#result-${rank}`, onclick: (event) => {
      event.preventDefault();
      at(`result-${rank}`).focus();
    } }, part) : part;
  });
}

function item(result) {
  const { rank, metadata, receipt } = result;
  const label = `receipt-${rank}`;
  const about = [metadata.type, metadata.date].filter((one) => typeof one === "string");
  const button = make("button", { type: "button", className: "result", id: `result-${rank}` },
    make("span", { className: "rank" }, String(rank)),
    make("span", { className: "title" }, typeof metadata.title === "string" ? metadata.title : result.source),
    make("span", { className: "from" }, result.source, ...about.flatMap((one) => [" · ", make("span", {}, one)])),
    score(result));
  button.setAttribute("aria-expanded", "false");
  button.setAttribute("aria-controls", label);
  const region = make("div", { id: label, className: "receipt", hidden: true });
  region.setAttribute("role", "region");
  region.setAttribute("aria-label", `Why result ${rank} is here`);
  button.addEventListener("click", () => toggle(button, region, receipt));
  return make("li", {}, button, make("p", { className: "content" }, result.content), region);
}

function score({ relevance_score: relevance, receipt }) {
  const bar = make("span", { className: "bar" });
  for (const { name, share } of receipt.signals) {
    const part = make("i", { title: `${NAMES[name] || name} ${percent(share)}`, data: { signal: signalOf(name) } });
    part.style.width = `${100 * share}%`;
    bar.append(part);
  }
  bar.setAttribute("role", "img");
  bar.setAttribute("aria-label", `relevance ${percent(relevance ?? 0)}: ${receipt.signals.map(({ name, share }) =>
    `${NAMES[name] || name} ${percent(share)}`).join(", ")}`);
  return make("span", { className: "score" }, bar, make("b", { ariaHidden: "true" }, percent(relevance ?? 0)));
}

function toggle(button, region, receipt) {
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
  region.append(make("div", {}, make("h3", {}, "How the score came about"), make("ol", { className: "steps" }, ...steps)));
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
  const typing = here instanceof HTMLInputElement && ["search", "password"].includes(here.type);
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

async function holdings() {
  try {
    const { parts } = await (await fetch("/health")).json();
    at("holdings").textContent = [parts.knowledge_base, parts.graph].filter(Boolean).map((part) => part.detail.split(/[,.]/)[0]).join(" · ");
  } catch { /* the page works without it */ }
}

theme(localStorage.getItem("theme"));
at("theme").addEventListener("click", () => theme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length]));
at("search").addEventListener("submit", (event) => { event.preventDefault(); ask(); });
at("search").addEventListener("change", (event) => { if (event.target !== at("query")) ask(); });
at("unlock").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("key", at("key").value);
  ask();
});
document.addEventListener("keydown", onKey);
const asked = new URLSearchParams(location.hash.slice(1));
if (asked.get("q")) {
  at("query").value = asked.get("q");
  const method = document.querySelector(`input[name=method][value="${CSS.escape(asked.get("method") || "hybrid")}"]`);
  if (method) method.checked = true;
  at("expand").checked = asked.get("graph") !== "0";
  ask();
}
at("query").focus();
holdings();
