import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import MiniSearch from "minisearch";
import { afterAll, beforeAll, expect, test } from "vitest";

import { buildDocs } from "./docs-site.mjs";

const site = mkdtempSync(join(tmpdir(), "heddle-docs-"));
let pages: string[];
beforeAll(() => {
  buildDocs(site);
  pages = readdirSync(site, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(".html"));
});
afterAll(() => rmSync(site, { recursive: true, force: true }));

test("every document is a page, and every link on the site leads to one of its files or to the console", () => {
  expect(pages).toEqual(
    expect.arrayContaining(["index.html", "rules.html", "changelog.html", join("architecture", "runs.html")]),
  );
  const dead = pages.flatMap((name) => {
    const targets = [...readFileSync(join(site, name), "utf8").matchAll(/(?:href|src)="(\/[^"#]*)/g)].map(
      ([, path]) => path!,
    );
    return targets
      .filter((path) => path !== "/" && path !== "/docs/")
      .map((path) => join(site, path.slice("/docs/".length)))
      .filter((file) => !existsSync(file) && !existsSync(`${file}.html`));
  });
  expect(dead).toEqual([]);
});

test("pages load nothing from other hosts and have no inline scripts", () => {
  for (const name of pages) {
    const html = readFileSync(join(site, name), "utf8");
    expect(html).not.toMatch(/<(?:script|link|img|iframe)[^>]+(?:src|href)="(?:https?:)?\/\//);
    expect(html.match(/<script[^>]*>/g)).toEqual(['<script type="module" src="/docs/docs.js">']);
  }
});

test("the search finds sections by their words", () => {
  const options = { fields: ["title", "page", "text"], storeFields: ["title", "page", "url"] };
  const search = MiniSearch.loadJSON(readFileSync(join(site, "search.json"), "utf8"), options);
  expect(search.search("HEDDLE_MAX_VALUE_MB").map(({ page }) => String(page))).toContain("Settings");
  const [first] = search.search("legal holds", { boost: { title: 4, page: 2 }, combineWith: "AND" });
  expect(first).toMatchObject({ page: "Deletion and legal holds", url: expect.stringMatching(/^\/docs\/deletion#/) });
});
