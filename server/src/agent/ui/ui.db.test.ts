import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";

import { createElement } from "react";
import * as JsxRuntime from "react/jsx-runtime";
import * as React from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { createCaller } from "../../../test/call.ts";
import { openGuard } from "../../../test/principal.ts";
import { createAgentApp } from "../../agent-app.ts";
import { unauthorized } from "../../base/errors.ts";
import { readProject } from "../project/read-project.ts";
import { UiBundles } from "./ui-bundles.ts";

const PROJECT = fileURLToPath(new URL("../../../test/fixtures/ui-project/langgraph.json", import.meta.url));
const { call, agent } = await testAgentServer({ HEDDLE_LOG_LEVEL: "silent" }, PROJECT);

const OUTER = {
  "x-forwarded-proto": "https",
  "x-forwarded-host": "agents.example",
  "x-forwarded-prefix": "/d/weather",
};

test("behind a trusted proxy, URLs have the outer scheme, host and prefix; other peers' headers do not count", async () => {
  const settings = { ...agent.deps.settings, trustedProxies: ["127.0.0.1/32"] };
  const proxied = createCaller(createAgentApp({ ...agent.deps, settings }, openGuard));
  const base = "https://agents.example/d/weather/ui/weather";
  const html = (await proxied("POST", "/ui/weather", { name: "w" }, { host: "127.0.0.1:1", ...OUTER })).text;
  expect(html).toContain(`<script src="${base}/entrypoint.js"`);
  expect(html).toContain(`href="${base}/entrypoint.css"`);
  const odd = { ...OUTER, "x-forwarded-prefix": `/"><script>` };
  expect((await proxied("POST", "/ui/weather", { name: "w" }, odd)).text).toContain("https://agents.example/ui/");
  const evil = { ...OUTER, "x-forwarded-host": `a"><script>` };
  expect((await proxied("POST", "/ui/weather", { name: "w" }, evil)).status).toBe(400);
  const direct = await call("POST", "/ui/weather", { name: "w" }, { host: "localhost:2024", ...OUTER });
  expect(direct.text).toContain(`src="http://localhost:2024/ui/weather/entrypoint.js"`);
});

test("returns HTML that loads a component's script and styles from the requested host", async () => {
  const response = await call("POST", "/ui/weather", { name: "it's" }, { host: "localhost:2024" });
  expect(response.headers.get("content-type")).toBe("text/html; charset=UTF-8");
  expect(response.text).toBe(
    `<link rel="stylesheet" href="http://localhost:2024/ui/weather/entrypoint.css" />\n` +
      `<script src="http://localhost:2024/ui/weather/entrypoint.js" ` +
      `onload='__LGUI_weather.render("it&#39;s", "{{shadowRootId}}")'></script>`,
  );
  expect((await call("POST", "/ui/weather", { name: "w" }, { host: "agents.example" })).text).toContain(
    `src="//agents.example/ui/`,
  );
  expect((await call("POST", "/ui/weather", { name: "w" }, { host: `a"><script>` })).status).toBe(400);
  expect((await call("POST", "/ui/weather", {})).status).toBe(422);
});

test("the script renders the component with the page's own React", async () => {
  const { text } = await call("GET", "/ui/weather/entrypoint.js");
  const required: string[] = [];
  const responded: [string, React.FC<{ city: string }>][] = [];
  const modules: Record<string, unknown> = {
    react: React,
    "react/jsx-runtime": JsxRuntime,
    "the-page-has-it": { word: "Hello" },
  };
  const page = createContext({
    document: {
      getElementById: () => ({ shadowRoot: { appendChild: (node: unknown) => node } }),
      createElement: () => ({}),
    },
    [Symbol.for("LGUI_REQUIRE")]: (name: string) => {
      required.push(name);
      return modules[name];
    },
    [Symbol.for("LGUI_EXT_STORE")]: {
      respond: (id: string, component: React.FC<{ city: string }>) => void responded.push([id, component]),
    },
  });
  runInContext(`${text}; __LGUI_weather.render("weather", "root-1");`, page);
  const [[id, Weather]] = responded as [[string, React.FC<{ city: string }>]];
  expect(id).toBe("root-1");
  expect(renderToStaticMarkup(createElement(Weather, { city: "Berlin" }))).toBe(`<p class="weather">Hello, Berlin</p>`);
  expect(required.toSorted()).toEqual(["react", "react/jsx-runtime", "the-page-has-it"]);
  // React itself is not bundled
  expect(text.length).toBeLessThan(5000);
});

test("serves built files to every page without a key, and no others", async () => {
  const closed = createCaller(
    createAgentApp(agent.deps, {
      ...openGuard,
      authenticator: { authenticate: () => Promise.reject(unauthorized("nobody gets in")) },
    }),
  );
  const style = await closed("GET", "/ui/weather/entrypoint.css");
  expect([style.status, style.headers.get("content-type")]).toEqual([200, "text/css; charset=UTF-8"]);
  expect(style.headers.get("cross-origin-resource-policy")).toBe("cross-origin");
  expect(style.text).toContain(".weather");
  expect((await closed("POST", "/ui/weather", { name: "weather" })).status).toBe(401);
  for (const file of ["ui.tsx", "..%2flanggraph.json", "entrypoint.map"]) {
    expect((await closed("GET", `/ui/weather/${file}`)).status).toBe(404);
  }
});

test("returns 404 for an unknown agent, and 500 for a component that cannot be built", async () => {
  const unknown = await call("POST", "/ui/nobody", { name: "weather" });
  expect([unknown.status, unknown.text]).toEqual([404, `UI not found for agent "nobody"`]);
  expect((await call("POST", "/ui/constructor", { name: "x" })).status).toBe(404);
  expect((await call("POST", "/ui/broken", { name: "x" })).status).toBe(500);
});

test("names a missing entry file at start", async () => {
  const project = await readProject(PROJECT);
  project.config.ui = { weather: "./nowhere.tsx" };
  await expect(new UiBundles().configure(project)).rejects.toThrow(/ui\.weather: there is no file .*nowhere\.tsx/);
});
