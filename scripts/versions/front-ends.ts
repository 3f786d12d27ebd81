/**
 * Drives front ends from npm, unmodified, in a browser against the examples: chat, tool calls, interrupts, and a reload
 * in the middle of a stream. The server requires a key, and the pages have an origin that HEDDLE_CORS_ORIGINS lists.
 *
 *     node --import tsx scripts/versions/front-ends.ts [--only NAME]… [--url URL --key KEY --port PORT]
 *
 * With `--url`, another server is tested, which must allow the origins http://app.example:PORT and http://localhost:PORT.
 * Packages are installed at the pinned versions below the user's cache. Exits with 1 if a check fails.
 */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { build, type Plugin } from "esbuild";
import { chromium } from "playwright-core";

import { startExamples } from "../../conformance/server.ts";
import { checkFrontEnd } from "../../conformance/front-ends/checks.ts";
import { checkPlainPage } from "../../conformance/front-ends/plain-page.ts";

const SOURCES = fileURLToPath(new URL("../../conformance/front-ends", import.meta.url));
const CACHE = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "heddle", "front-ends");
/** A name that the browser resolves to this machine, so that pages have a foreign origin. */
const PAGE_HOST = "app.example";
const STRANGER_HOST = "stranger.example";
/** Front ends that use `crypto.randomUUID`, which http pages have on localhost only. */
const SECURE_CONTEXT = ["copilotkit"];
/** Front ends that are another one's page with an addition to its query. */
const VARIANTS: Record<string, { of: string; query: Record<string, string> }> = {
  "use-stream-react-websocket": { of: "use-stream-react", query: { transport: "websocket" } },
};

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    url: { type: "string" },
    key: { type: "string" },
    port: { type: "string", default: "0" },
  },
});
const known = readdirSync(SOURCES).filter((name) => existsSync(join(SOURCES, name, "package.json")));
const all = [...known, ...Object.keys(VARIANTS), "plain"];
const names = all.filter((name) => !values.only || values.only.includes(name));
if (names.length === 0) throw new Error(`--only must name one of ${all.join(", ")}`);

const pages = new Map<string, string>();
const web = createServer((request, response) => {
  const path = new URL(request.url!, "http://x").pathname;
  const script = /^\/([\w-]+)\.js$/.exec(path)?.[1];
  response.setHeader("content-type", script ? "text/javascript" : "text/html");
  const name = path.slice(1);
  response.end(
    script
      ? pages.get(script)
      : `<!doctype html><meta charset="utf-8"><title>${name}</title><div id="root"></div><script type="module" src="/${name}.js"></script>`,
  );
});
await new Promise<void>((done) => web.listen(Number(values.port), "127.0.0.1", done));
const { port } = web.address() as AddressInfo;
const origin = `http://${PAGE_HOST}:${port}`;
const secureOrigin = `http://localhost:${port}`;

const server = values.url
  ? { url: values.url, stop: async () => {} }
  : await startExamples({ HEDDLE_AUTH: "required", HEDDLE_CORS_ORIGINS: `${origin},${secureOrigin}` });
const key = values.key ?? (await printedKey());
const browser = await chromium.launch({
  executablePath: ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find((path) => existsSync(path))!,
  args: [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    `--host-resolver-rules=MAP ${PAGE_HOST} 127.0.0.1, MAP ${STRANGER_HOST} 127.0.0.1`,
  ],
});
let failed = 0;
let passed = 0;
try {
  for (const name of names) {
    const report = (check: string, error?: string) => {
      if (error === undefined) passed++;
      else failed++;
      console.log(
        `${error === undefined ? "ok  " : "FAIL"} ${name}: ${check}${error === undefined ? "" : `\n     ${error}`}`,
      );
    };
    if (name === "plain") {
      pages.set("plain", "");
      const frontEnd = { browser, page: `${origin}/plain`, apiUrl: server.url, key, report };
      await checkPlainPage(frontEnd, `http://${STRANGER_HOST}:${port}/plain`);
      continue;
    }
    const folder = VARIANTS[name]?.of ?? name;
    const directory = install(folder);
    pages.set(name, await bundle(folder, directory));
    const runtime = name === "copilotkit" ? await startRuntime(directory, server.url, key) : undefined;
    try {
      const query = new URLSearchParams({ api: server.url, key, ...VARIANTS[name]?.query });
      if (runtime) query.set("runtime", runtime.url);
      await checkFrontEnd({
        browser,
        page: `${SECURE_CONTEXT.includes(name) ? secureOrigin : origin}/${name}?${query}`,
        apiUrl: server.url,
        key,
        report,
      });
    } finally {
      runtime?.process.kill();
    }
  }
} finally {
  await browser.close();
  web.close();
  await server.stop();
}
console.log(`${passed} checks passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

/** Returns the key that the first start prints, after the banner. */
async function printedKey(): Promise<string> {
  for (const deadline = Date.now() + 20_000; ;) {
    const key = "printed" in server ? /lsv2_sk_\w+/.exec(await server.printed())?.[0] : undefined;
    if (key) return key;
    if (Date.now() > deadline) {
      await server.stop();
      throw new Error("The first start printed no key.");
    }
    await sleep(50);
  }
}

/** Installs an application's packages once per version of its package.json. @returns the directory */
function install(name: string): string {
  const manifest = readFileSync(join(SOURCES, name, "package.json"));
  const directory = join(CACHE, `${name}-${createHash("sha256").update(manifest).digest("hex").slice(0, 12)}`);
  if (!existsSync(join(directory, "installed"))) {
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, "package.json"), manifest);
    const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--legacy-peer-deps"];
    const { status, stderr } = spawnSync("npm", args, { cwd: directory, encoding: "utf8" });
    if (status !== 0) throw new Error(`npm install of ${name} failed:\n${stderr.slice(-2000)}`);
    writeFileSync(join(directory, "installed"), "");
  }
  for (const folder of ["apps", name]) {
    cpSync(join(SOURCES, folder), join(directory, folder), {
      recursive: true,
      filter: (file) => !file.endsWith("package.json"),
    });
  }
  return directory;
}

async function bundle(name: string, directory: string): Promise<string> {
  const entry = ["app.tsx", "app.ts"].map((file) => join(directory, name, file)).find((file) => existsSync(file))!;
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    outdir: directory,
    format: "esm",
    platform: "browser",
    conditions: ["svelte"],
    jsx: "automatic",
    loader: { ".woff2": "empty", ".woff": "empty", ".ttf": "empty" },
    define: { "process.env.NODE_ENV": '"production"' },
    logLevel: "error",
    logOverride: { "ignored-bare-import": "silent" },
    plugins: [svelte(directory)],
  });
  return outputFiles.find(({ path }) => path.endsWith(".js"))!.text;
}

type Compile = (text: string, options: { filename: string; generate: "client" }) => { js: { code: string } };
interface SvelteCompiler {
  compile: Compile;
  compileModule: Compile;
}

/** Compiles Svelte components and modules with the application's own compiler. */
function svelte(directory: string): Plugin {
  return {
    name: "svelte",
    setup(plugins) {
      const load = () => import(join(directory, "node_modules/svelte/src/compiler/index.js"));
      plugins.onLoad({ filter: /\.svelte$|\.svelte\.js$/ }, async ({ path }) => {
        const { compile, compileModule } = (await load()) as SvelteCompiler;
        const text = readFileSync(path, "utf8");
        const options = { filename: path, generate: "client" as const };
        const { js } = path.endsWith(".js") ? compileModule(text, options) : compile(text, options);
        return { contents: js.code, loader: "js" };
      });
    },
  };
}

async function startRuntime(
  directory: string,
  url: string,
  apiKey: string,
): Promise<{ url: string; process: ChildProcess }> {
  const child = spawn(process.execPath, [join(directory, "copilotkit", "runtime.mjs"), url, apiKey], {
    stdio: ["ignore", "pipe", process.env["HEDDLE_FRONT_ENDS_LOG"] ? "inherit" : "ignore"],
    env: { ...process.env, COPILOTKIT_TELEMETRY_DISABLED: "true", DO_NOT_TRACK: "1" },
  });
  for await (const line of createInterface({ input: child.stdout! })) {
    const port = /^port (\d+)$/.exec(line)?.[1];
    if (port) return { url: `http://127.0.0.1:${port}/api/copilotkit`, process: child };
  }
  throw new Error("CopilotKit's runtime did not start.");
}
