import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { htmlPage, inlineBlocks } from "../../base/http/html-page.ts";
import { markdownToHtml } from "../../base/http/markdown.ts";
import { route, type Route } from "../../base/http/route.ts";

const DIRECTORY = fileURLToPath(new URL("../../../../docs", import.meta.url));

/** Documents about this server, by file name. */
export const GUIDES = {
  "filter-language": "The filter language",
  tracing: "Tracing of graph runs",
  deletion: "Deletion and legal holds",
  "bulk-export": "Bulk export",
  "export-permissions": "Permissions of export destinations",
  versions: "Versions of the hosted service",
} as const;

const STYLE = `
:root { color-scheme: light dark; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 48rem; margin: 2rem auto 4rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
pre { overflow: auto; padding: .6rem; border: 1px solid #8884; border-radius: 4px; } code { font: .88em ui-monospace, monospace; }
table { border-collapse: collapse; display: block; overflow: auto; } th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border: 1px solid #8884; }
`;

/** Serves the documents as pages, so that they are available without internet access. */
export function guideRoutes(): Route[] {
  // relative, for installations below a prefix of their address
  const links = Object.entries(GUIDES).map(([name, title]) => `<a href="../docs/${name}">${title}</a>`);
  const page = (title: string, content: string): string =>
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${STYLE}</style><nav><a href="../docs">API</a> · ${links.join(" · ")}</nav><main>${content}</main></html>`;
  const blocks = inlineBlocks(page("", ""));
  return Object.entries(GUIDES).map(([name, title]) =>
    route({
      tag: "System",
      method: "GET",
      path: `/docs/${name}`,
      permission: "public",
      publicBecause: "it is public documentation and contains no data",
      summary: `Read the guide: ${title}`,
      out: { 200: "text/html" },
      handler: async () =>
        htmlPage(page(title, markdownToHtml(await readFile(join(DIRECTORY, `${name}.md`), "utf8"))), blocks),
    }),
  );
}
