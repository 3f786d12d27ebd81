import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";
import { Hono } from "hono";

const page = (name: string) => fileURLToPath(new URL(`../page/${name}`, import.meta.url));

/** The page's script with its packages, bundled once at the first request. */
let bundle: Promise<string> | undefined;
async function bundlePage(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [page("main.tsx")],
    bundle: true,
    write: false,
    minify: true,
    format: "esm",
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"production"' },
  });
  return outputFiles[0]!.text;
}

/** What the page may load: its own script and styles. It calls this server, and feedback links at the trace platform. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src *; frame-ancestors 'none'";

/** Serves the page beside the API. It needs no token: the page sends the user's with its requests. */
export const app = new Hono()
  .get("/chat", async (c) => {
    // without its own policy, the server sends one for APIs, with which a page loads nothing
    c.header("content-security-policy", POLICY);
    return c.html(await readFile(page("index.html"), "utf8"));
  })
  .get("/chat/page.js", async (c) => {
    bundle ??= bundlePage();
    return c.body(await bundle, 200, { "content-type": "text/javascript" });
  });
