// Builds the documentation's pages for browsers from the Markdown of the repository: `docs/` of the console, with a
// search. Self-contained, without inline scripts, as the console's policy demands. Run directly it reports dead links and
// pages that the index does not list.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join, posix, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import MarkdownIt from "markdown-it";
import MiniSearch from "minisearch";

const ROOT = resolve(import.meta.dirname, "../..");
const ASSETS = join(import.meta.dirname, "docs-site");
/** Path of the site in the console. */
const BASE = "/docs/";
const INDEX = "docs/README.md";
/** Documents beside `docs/` that readers of the site follow links to. */
const OTHERS = ["README", "CHANGELOG", "ARCHITECTURE", "SECURITY", "CONTRIBUTING", "SUPPORT", "CODE_OF_CONDUCT"];
const SEARCH = { fields: ["title", "page", "text"], storeFields: ["title", "page", "url"] };

/** Lists the documents, and what else the site is made of, as paths in the repository. */
export function listInputs() {
  const found = readdirSync(join(ROOT, "docs"), { recursive: true }).map((name) => posix.join("docs", String(name)));
  const examples = readdirSync(join(ROOT, "examples")).map((name) => posix.join("examples", name, "README.md"));
  const beside = [...OTHERS.map((name) => `${name}.md`), "examples/README.md", ...examples];
  const documents = [...beside.filter((name) => existsSync(join(ROOT, name))), ...found.filter(isMarkdown)].sort();
  const assets = readdirSync(ASSETS).map((name) => posix.join("scripts/build/docs-site", name));
  return {
    documents,
    others: ["scripts/build/docs-site.mjs", ...assets, ...found.filter((name) => /\.(png|svg|gif)$/.test(name))],
  };
}

const isMarkdown = (name) => name.endsWith(".md");

/** Returns the name of a document's page: `docs/rules.md` is `rules`, `SECURITY.md` is `security`. */
function pageName(document) {
  if (document === INDEX) return "";
  return document.startsWith("docs/") ? document.slice(5, -3) : document.slice(0, -3).toLowerCase();
}

/** The anchor that Git hosts give to a heading. */
const anchor = (text) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");

const text = (token) =>
  (token.children ?? []).map(({ type, content }) => (type === "softbreak" ? " " : content)).join("");

/** Parses a document: its tokens, with ids of headings, and its sections for the search. */
function parse(markdown, document) {
  const source = readFileSync(join(ROOT, document), "utf8").replace(/^<!--.*?-->$/gms, "");
  const tokens = markdown.parse(source, {});
  const anchors = new Set();
  const sections = [];
  tokens.forEach((token, at) => {
    if (token.type === "heading_open") {
      const title = text(tokens[at + 1]);
      let id = anchor(title);
      for (let n = 1; anchors.has(id); n++) id = `${anchor(title)}-${n}`;
      anchors.add(id);
      token.attrSet("id", id);
      sections.push({ title, id, text: "" });
    } else if (sections.length > 0 && ["inline", "fence", "code_block"].includes(token.type)) {
      sections.at(-1).text += `${token.children ? text(token) : token.content} `;
    }
  });
  return { document, tokens, anchors, sections, title: sections[0]?.title ?? document };
}

/**
 * Replaces the targets of links to documents by those of their pages, and links to other files of the repository by
 * their text. Returns the dead ones.
 */
function resolveLinks({ document, tokens }, pages) {
  const dead = [];
  for (const token of tokens.flatMap(({ children }) => children ?? [])) {
    if (token.type === "image")
      token.attrSet("src", BASE + posix.join("pictures", posix.basename(token.attrGet("src"))));
    if (token.type !== "link_open") continue;
    const [target, fragment] = token.attrGet("href").split("#");
    if (/^\w+:/.test(target)) continue;
    const file = target === "" ? document : posix.normalize(posix.join(posix.dirname(document), target));
    const page = pages.get(file);
    if (page === undefined) {
      token.tag = "span";
      token.attrs = [];
    } else {
      if (fragment !== undefined && !page.anchors.has(fragment)) dead.push(`${document}: ${target}#${fragment}`);
      token.attrSet("href", `${BASE}${pageName(file)}${fragment === undefined ? "" : `#${fragment}`}`);
    }
    if (page === undefined && !existsSync(join(ROOT, file))) dead.push(`${document}: ${target}`);
  }
  closeSpans(tokens);
  return dead;
}

function closeSpans(tokens) {
  for (const { children } of tokens) {
    const open = [];
    for (const token of children ?? []) {
      if (token.type === "link_open") open.push(token.tag);
      if (token.type === "link_close") token.tag = open.pop();
    }
  }
}

/** The navigation: the headings of the index with the pages in their lists. */
function navigation(markdown, { tokens }) {
  const start = tokens.findIndex(({ type, tag }) => type === "heading_open" && tag === "h2");
  return markdown.renderer.render(
    tokens.slice(start).map((token) => {
      if (token.type === "heading_open") return Object.assign(Object.create(token), { attrs: null });
      if (token.type !== "inline") return token;
      // of a list's line, the links before the explanation
      const end = token.children.findLastIndex(({ type }) => type === "link_close");
      return Object.assign(Object.create(token), {
        children: end < 0 ? token.children : token.children.slice(0, end + 1),
      });
    }),
    markdown.options,
    {},
  );
}

/** Parses all documents and resolves their links. */
function read() {
  const markdown = new MarkdownIt({ html: false });
  // tables scroll by themselves on narrow screens
  markdown.renderer.rules.table_open = () => '<div class="table" tabindex="0"><table>';
  markdown.renderer.rules.table_close = () => "</table></div>";
  const pages = new Map(listInputs().documents.map((document) => [document, parse(markdown, document)]));
  const dead = [...pages.values()].flatMap((page) => resolveLinks(page, pages)).map((link) => `Dead link in ${link}`);
  const index = readFileSync(join(ROOT, INDEX), "utf8");
  const missing = [...pages.keys()].filter(
    (name) => name.startsWith("docs/") && name !== INDEX && !index.includes(`](${name.slice(5)})`),
  );
  return { markdown, pages, problems: [...dead, ...missing.map((name) => `${INDEX} does not list ${name}`)] };
}

export function buildDocs(directory) {
  const { markdown, pages } = read();
  const template = readFileSync(join(ASSETS, "page.html"), "utf8");
  const nav = navigation(markdown, pages.get(INDEX));
  const entries = [];
  for (const page of pages.values()) {
    const name = pageName(page.document);
    const file = join(directory, `${name || "index"}.html`);
    const values = {
      title: markdown.utils.escapeHtml(page.title),
      nav,
      // boxes that scroll are reached by keys too
      content: markdown.renderer.render(page.tokens, markdown.options, {}).replaceAll("<pre>", '<pre tabindex="0">'),
    };
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(
      file,
      template.replace(/\{(\w+)\}/g, (_, key) => values[key]),
    );
    for (const { title, id, text } of page.sections)
      entries.push({ id: entries.length, title, page: page.title, text, url: `${BASE}${name}#${id}` });
  }
  const search = new MiniSearch(SEARCH);
  search.addAll(entries);
  writeFileSync(join(directory, "search.json"), JSON.stringify(search));
  for (const name of ["docs.css", "docs.js"]) cpSync(join(ASSETS, name), join(directory, name));
  cpSync(join(ROOT, "node_modules/minisearch/dist/es/index.js"), join(directory, "minisearch.js"));
  cpSync(join(ROOT, "docs/pictures"), join(directory, "pictures"), { recursive: true });
}

if (process.argv[1] && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  const { problems } = read();
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
