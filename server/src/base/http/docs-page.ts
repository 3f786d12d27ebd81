/**
 * Page at `/docs` that renders `/openapi.json` and sends requests. It is one file without external resources, because
 * servers may run in isolated networks. Text of the document is only ever inserted as text.
 */
export const docsPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Heddle</title>
<style>
:root { color-scheme: light dark; --bg: #fbfbfa; --fg: #1d2126; --soft: #626b76; --line: #dfe3e8; --card: #fff; --code: #f2f4f6;
  --get: #1a6fb0; --post: #23803f; --put: #9a6700; --patch: #8a4baf; --delete: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --bg: #14171a; --fg: #e6e8eb; --soft: #9aa4af; --line: #2d333a; --card: #1b1f24;
  --code: #23282e; --get: #6cb6ff; --post: #6bc46d; --put: #e0b050; --patch: #c89bf0; --delete: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--fg); font: 15px/1.5 system-ui, sans-serif; }
header, main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 0; }
main { padding-bottom: 4rem; }
h1 { margin: 0; font-size: 1.5rem; } h2 { margin: 2rem 0 .5rem; font-size: 1.1rem; } h3 { margin: 1rem 0 .25rem; font-size: .85rem; }
p { margin: .25rem 0; } a { color: var(--get); } .soft { color: var(--soft); }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin: .75rem 0; }
details.op { background: var(--card); border: 1px solid var(--line); border-radius: 6px; margin: .35rem 0; }
details.op > summary { display: flex; flex-wrap: wrap; gap: .1rem .75rem; align-items: baseline; padding: .5rem .75rem; cursor: pointer; list-style: none; }
details.op > div { padding: 0 .75rem .75rem; border-top: 1px solid var(--line); }
summary:focus-visible { outline: 2px solid var(--get); }
.method { font: 700 .75rem/1 ui-monospace, monospace; min-width: 3.6rem; }
.get { color: var(--get); } .post { color: var(--post); } .put { color: var(--put); } .patch { color: var(--patch); } .delete { color: var(--delete); }
code, pre, textarea, input { font: .82rem/1.45 ui-monospace, monospace; }
pre { background: var(--code); padding: .6rem; border-radius: 4px; overflow: auto; max-height: 26rem; margin: .25rem 0; white-space: pre-wrap; overflow-wrap: anywhere; }
label { display: grid; grid-template-columns: minmax(8rem, 14rem) 1fr; gap: .5rem; align-items: center; margin: .2rem 0; }
input, textarea { width: 100%; padding: .35rem .5rem; color: inherit; background: var(--bg); border: 1px solid var(--line); border-radius: 4px; }
textarea { min-height: 7rem; resize: vertical; }
button { margin: .5rem .5rem 0 0; padding: .35rem .9rem; border: 1px solid var(--line); border-radius: 4px; background: var(--code); color: inherit; cursor: pointer; }
#filter { max-width: 22rem; }
</style>
<header>
  <h1 id="title">Heddle</h1>
  <p class="soft" id="about"></p>
  <nav id="tags" aria-label="Sections"></nav>
  <input id="filter" type="search" placeholder="Filter by path or purpose" aria-label="Filter">
</header>
<main id="main"><p class="soft">Loading /openapi.json</p></main>
<script>
const el = (name, attributes = {}, ...children) => {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) key in node && key !== "list" ? (node[key] = value) : node.setAttribute(key, value);
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
};
let schemas = {};
// where the paths lie, when that is not the root
let base = "";
/** The schema itself; a boolean one says nothing that could be shown. */
const resolve = (schema) => (schema?.$ref ? schemas[schema.$ref.split("/").pop()] : typeof schema === "object" ? schema : null) ?? {};

/** A schema as the lines a person would write down. */
function outline(schema, depth = 0, seen = []) {
  const name = schema?.$ref?.split("/").pop();
  if (name && seen.includes(name)) return name;
  const s = resolve(schema), inside = name ? [...seen, name] : seen, pad = "  ".repeat(depth + 1);
  const options = s.anyOf ?? s.oneOf;
  if (options) return options.map((option) => outline(option, depth, inside)).join(" | ");
  if (s.enum) return s.enum.map((value) => JSON.stringify(value)).join(" | ");
  if ("const" in s) return JSON.stringify(s.const);
  if (s.prefixItems) return "[" + s.prefixItems.map((item) => outline(item, depth, inside)).join(", ") + "]";
  if (s.type === "array") return "[" + outline(s.items, depth, inside) + "]";
  if (s.properties) {
    const rows = Object.entries(s.properties).map(([key, property]) =>
      pad + key + (s.required?.includes(key) ? "" : "?") + ": " + outline(property, depth + 1, inside) + note(property));
    return "{\\n" + rows.join("\\n") + "\\n" + "  ".repeat(depth) + "}";
  }
  if (s.type === "object") return "{ [key]: " + (s.additionalProperties ? outline(s.additionalProperties, depth, inside) : "any") + " }";
  return s.format === "uuid" || s.format === "date-time" ? s.format : [s.type ?? "any"].flat().join(" | ");
}
const note = (schema) => {
  const s = resolve(schema);
  const facts = [s.description, "default" in s ? "default " + JSON.stringify(s.default) : null].filter(Boolean);
  return facts.length ? "   // " + facts.join("; ") : "";
};

function example(schema, depth = 0) {
  const s = resolve(schema);
  if ("default" in s) return s.default;
  if (s.enum) return s.enum[0];
  const options = s.anyOf ?? s.oneOf;
  if (options) return example(options[0], depth);
  if (s.type === "array") return [];
  if (s.type === "object" || s.properties) {
    return depth > 2 ? {} : Object.fromEntries((s.required ?? []).map((key) => [key, example(s.properties?.[key], depth + 1)]));
  }
  if (s.type === "integer" || s.type === "number") return s.minimum > 0 ? s.minimum : 0;
  if (s.type === "boolean") return false;
  return s.type === "string" ? "" : {};
}

function tryForm(method, path, op, schema) {
  const fields = (op.parameters ?? []).map((parameter) =>
    [parameter, el("input", { placeholder: outline(parameter.schema) + (parameter.required ? ", required" : "") })]);
  const body = schema && el("textarea", { value: JSON.stringify(example(schema), null, 2), spellcheck: false, ariaLabel: "Request body" });
  const send = el("button", { type: "submit", textContent: "Send" });
  const stop = el("button", { type: "button", textContent: "Stop", hidden: true });
  const status = el("p", { className: "soft", role: "status" });
  const output = el("pre", { hidden: true });
  const form = el("form", {}, el("h3", { textContent: "Try it" }),
    ...fields.map(([{ name, in: place }, input]) =>
      el("label", {}, el("span", { textContent: name + (place === "query" ? " (query)" : "") }), input)),
    body ?? null, send, stop, status, output);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const query = new URLSearchParams();
    let url = base + path;
    for (const [{ name, in: place }, input] of fields) {
      if (place === "path") url = url.replace("{" + name + "}", encodeURIComponent(input.value));
      else if (input.value !== "") query.set(name, input.value);
    }
    if (query.size) url += "?" + query;
    const aborter = new AbortController();
    stop.onclick = () => aborter.abort();
    stop.hidden = false; send.disabled = true; output.hidden = false; output.textContent = ""; status.textContent = "Sending";
    const started = performance.now();
    try {
      const response = await fetch(url, { method: method.toUpperCase(), signal: aborter.signal,
        ...(body && { body: body.value, headers: { "Content-Type": "application/json" } }) });
      status.textContent = response.status + " " + response.statusText + " after " + Math.round(performance.now() - started) + " ms";
      const decoder = new TextDecoder();
      const reader = response.body?.getReader();
      for (;;) {
        const { done, value } = reader ? await reader.read() : { done: true };
        if (done) break;
        output.textContent += decoder.decode(value, { stream: true });
      }
      try { output.textContent = JSON.stringify(JSON.parse(output.textContent), null, 2); } catch { /* a stream, or text */ }
    } catch (error) {
      status.textContent = aborter.signal.aborted ? "Stopped" : String(error);
    }
    stop.hidden = true; send.disabled = false;
  });
  return form;
}

function operation(method, path, op) {
  const details = el("details", { className: "op" });
  details.dataset.text = (method + " " + path + " " + op.summary).toLowerCase();
  details.append(el("summary", {}, el("span", { className: "method " + method, textContent: method.toUpperCase() }),
    el("code", { textContent: path }), el("span", { className: "soft", textContent: op.summary })));
  // most are never opened
  details.addEventListener("toggle", () => {
    if (details.children.length > 1) return;
    const body = op.requestBody?.content?.["application/json"]?.schema;
    const inside = el("div");
    if (body) inside.append(el("h3", { textContent: "Request body" }), el("pre", { textContent: outline(body) }));
    const answers = Object.entries(op.responses), errors = answers.filter(([code]) => code >= "400");
    for (const [code, response] of answers) {
      if (code >= "400") continue;
      const [type, content] = Object.entries(response.content ?? {})[0] ?? [];
      inside.append(el("h3", { textContent: "Response " + code + (type ? " (" + type + ")" : "") }),
        content ? el("pre", { textContent: outline(content.schema) }) : el("p", { className: "soft", textContent: response.description }));
    }
    if (errors.length) inside.append(el("h3", { textContent: "Errors" }), el("p", { className: "soft", textContent: errors.map(([code]) => code).join(", ") }));
    inside.append(tryForm(method, path, op, body));
    details.append(inside);
  });
  return details;
}

fetch("openapi.json").then((response) => response.json()).then((doc) => {
  schemas = doc.components?.schemas ?? {};
  base = doc.servers?.[0]?.url ?? "";
  document.title = title.textContent = doc.info.title + " " + doc.info.version;
  about.textContent = doc.info.description;
  about.append(" ", el("a", { href: "openapi.json", textContent: "openapi.json" }));
  for (const { title, url } of doc["x-guides"] ?? []) about.append(" · ", el("a", { href: url.slice(1), textContent: title }));
  main.replaceChildren();
  for (const { name } of doc.tags) {
    tags.append(el("a", { href: "#" + name, textContent: name }));
    const section = el("section", { id: name }, el("h2", { textContent: name }));
    for (const [path, methods] of Object.entries(doc.paths)) {
      for (const [method, op] of Object.entries(methods)) if (op.tags[0] === name) section.append(operation(method, path, op));
    }
    main.append(section);
  }
  filter.addEventListener("input", () => {
    const wanted = filter.value.toLowerCase();
    for (const op of document.querySelectorAll("details.op")) op.hidden = !op.dataset.text.includes(wanted);
    for (const section of document.querySelectorAll("section")) section.hidden = !section.querySelector("details.op:not([hidden])");
  });
}).catch((error) => main.replaceChildren(el("p", { textContent: "The document cannot be read: " + error })));
</script>
</html>
`;
