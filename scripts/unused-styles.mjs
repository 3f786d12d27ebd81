// Leaves Mantine's rules out whose components no page has: its style sheet is one file for all of them.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Mantine's classes, by a hash of their component's name. */
const CLASS = /\bm_[0-9a-f]{6,8}\b/g;

/** Of the style sheets that the built page names; they get the name of their new content, because browsers keep them. */
export function pruneStyles(directory) {
  const assets = join(directory, "assets");
  const scripts = readdirSync(assets).filter((name) => name.endsWith(".js"));
  const code = scripts.map((name) => readFileSync(join(assets, name), "utf8"));
  const used = new Set(code.flatMap((text) => text.match(CLASS) ?? []));
  const page = join(directory, "index.html");
  let html = readFileSync(page, "utf8");
  for (const name of readdirSync(assets).filter((one) => one.endsWith(".css") && html.includes(one))) {
    if (code.some((text) => text.includes(name))) continue;
    const css = pruned(readFileSync(join(assets, name), "utf8"), used);
    const hash = createHash("sha256").update(css).digest("base64url").slice(0, 8);
    const fresh = name.replace(/-[^-]{8}\.css$/, `-${hash}.css`);
    rmSync(join(assets, name));
    writeFileSync(join(assets, fresh), css);
    html = html.replaceAll(name, fresh);
  }
  writeFileSync(page, html);
}

/** Rules and selectors that name classes, but none of those that are used, are gone; all else stays as it is. */
export function pruned(css, used) {
  let kept = "";
  let at = 0;
  while (at < css.length) {
    const open = css.indexOf("{", at);
    const statement = css.indexOf(";", at);
    if (open === -1) return kept + css.slice(at);
    if (statement !== -1 && statement < open) {
      kept += css.slice(at, statement + 1);
      at = statement + 1;
      continue;
    }
    const close = endOfBlock(css, open);
    const head = css.slice(at, open).trim();
    const body = css.slice(open + 1, close);
    at = close + 1;
    if (/^@(media|supports|container|layer)\b/.test(head)) {
      const inner = pruned(body, used);
      if (inner.trim() !== "") kept += `${head}{${inner}}`;
    } else {
      const selectors = head.startsWith("@") ? [head] : alternatives(head).filter((one) => isUsed(one, used));
      if (selectors.length > 0) kept += `${selectors.join(",")}{${body}}`;
    }
  }
  return kept;
}

function isUsed(selector, used) {
  const classes = selector.match(CLASS);
  return classes === null || classes.some((name) => used.has(name));
}

/** By commas that are in no brackets. */
function alternatives(selectors) {
  const parts = [""];
  let depth = 0;
  for (const character of selectors) {
    if (character === "(" || character === "[") depth += 1;
    if (character === ")" || character === "]") depth -= 1;
    if (character === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += character;
  }
  return parts;
}

function endOfBlock(css, open) {
  let depth = 0;
  for (let at = open; at < css.length; at += 1) {
    const character = css[at];
    if (character === '"' || character === "'") {
      at = css.indexOf(character, at + 1);
      if (at === -1) break;
    } else if (character === "{") depth += 1;
    else if (character === "}" && (depth -= 1) === 0) return at;
  }
  throw new Error("A block of a style sheet does not end");
}
