// What the other scripts share: elements, which hold what comes from the server as text and never as markup, and requests.

const SVG = "http://www.w3.org/2000/svg";

export const at = (id) => document.getElementById(id);

export function make(tag, properties = {}, ...children) {
  const { data, aria, ...plain } = properties;
  const element = Object.assign(document.createElement(tag), plain);
  Object.assign(element.dataset, data);
  for (const [name, value] of Object.entries(aria || {})) element.setAttribute(`aria-${name}`, value);
  element.append(...children.filter((child) => child !== null));
  return element;
}

export function draw(tag, attributes, text) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

// A reply that is fine; otherwise an error whose message can be shown.
export async function call(method, path, body, options = {}) {
  const key = sessionStorage.getItem("key");
  const headers = { ...(body === undefined ? {} : { "content-type": options.type || "application/json" }), ...(key ? { "x-api-key": key } : {}) };
  const reply = await fetch(path, { method, headers, body: options.type ? body : JSON.stringify(body), signal: options.signal }).catch((error) => {
    throw error.name === "AbortError" ? error : new Error("The service cannot be reached.");
  });
  if (reply.ok) return reply;
  if (reply.status === 401) {
    at("unlock").hidden = false;
    if (!options.quiet) at("key").focus();
  }
  const answer = await reply.json().catch(() => ({ message: `The service answered ${reply.status}.` }));
  throw new Error([answer.message, ...(answer.faults || []).map((one) => `${one.field}: ${one.message}.`)].join(" "));
}

export async function* events(reply) { // server-sent events, as [name, data]
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let begun = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (begun + value).split("\n\n");
    begun = blocks.pop();
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
      yield [fields.event, JSON.parse(fields.data)];
    }
  }
}
