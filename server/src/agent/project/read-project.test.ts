import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { readProject } from "./read-project.ts";

const dir = mkdtempSync(join(tmpdir(), "heddle-project-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const file = join(dir, "langgraph.json");

const GRAPHS = { agent: "./agent.ts:graph" };
function project(config: object) {
  writeFileSync(file, JSON.stringify({ graphs: GRAPHS, ...config }));
  return readProject(file, {});
}

/** Keys of langgraph.json with an invalid value, and the expected message. */
const WRONG: [object, RegExp][] = [
  [{ graphs: [] }, /graphs: /],
  [{ graphs: { agent: 1 } }, /graphs\.agent: must be "\.\/file\.ts:export"/],
  [{ graphs: { agent: { description: "without a path" } } }, /graphs\.agent: /],
  [{ env: 1 }, /env: must be a file, a map of variables, or a list/],
  [{ env: "missing.env" }, /"env" names .*missing\.env, which cannot be read \(ENOENT\)/],
  [{ env: { A: { b: 1 } } }, /env: must be/],
  [{ heddle: { hosts: { isolated: "agent" } } }, /heddle\.hosts\.isolated: must be true, or a list of graphs/],
  [{ heddle: { hosts: { isolated: ["agents"] } } }, /heddle\.hosts\.isolated names graphs .* does not have: agents/],
  [{ node_version: "18" }, /node_version: must be "20", "22", "24" or "26", not "18"/],
  [{ node_version: "latest" }, /node_version: /],
  [{ heddle: { queues: {} } }, /heddle: .*queues/],
  [{ heddle: { queue: { rate: [] } } }, /heddle\.queue: .*rate/],
  [
    { heddle: { queue: { concurrency: [{ key: "user", limit: 1 }] } } },
    /heddle\.queue\.concurrency\.0\.key: must be "all"/,
  ],
  [{ heddle: { queue: { concurrency: [{ key: "graph" }] } } }, /heddle\.queue\.concurrency\.0\.limit: /],
  [{ heddle: { queue: { throttle: [{ key: "all", limit: 1 }] } } }, /heddle\.queue\.throttle\.0\.period: /],
  [
    { heddle: { queue: { priority: [{ name: "a" }, { name: "a" }] } } },
    /heddle\.queue\.priority: must have distinct names/,
  ],
  [{ heddle: { queue: { fair: "users" } } }, /heddle\.queue\.fair: must be/],
  [
    { heddle: { queue: { debounce: { seconds: 5, longest: 4 } } } },
    /heddle\.queue\.debounce\.longest: must not be less than seconds/,
  ],
  [
    { heddle: { queue: { debounce: { seconds: 5, graphs: ["agent", "agents"] } } } },
    /heddle\.queue\.debounce\.graphs names graphs that "graphs" does not have: agents\./,
  ],
  ...["concurrency", "waiting"].map((name): [object, RegExp] => [
    { heddle: { queue: { [name]: [{ key: "all", limit: 1, graphs: ["agents"] }] } } },
    new RegExp(`heddle\\.queue\\.${name}\\.0\\.graphs names graphs .* does not have: agents`),
  ]),
  [
    { heddle: { queue: { throttle: [{ key: "all", limit: 1, period: 1, graphs: ["agents"] }] } } },
    /heddle\.queue\.throttle\.0\.graphs names graphs .* does not have: agents/,
  ],
  [
    { heddle: { queue: { priority: [{ name: "a" }, { name: "b", match: { graph: "agents" } }] } } },
    /heddle\.queue\.priority\.1\.match\.graph names graphs .* does not have: agents/,
  ],
  [{ node_loader: "bun" }, /node_loader: must be one of tsx, ts-node, not "bun"/],
  [{ node_loader: "ts-node" }, /node_loader: ts-node is not supported/],
  [{ store: { index: { embed: "openai:x" } } }, /store\.index\.dims: /],
  [{ store: { index: { dims: 0, embed: "openai:x" } } }, /store\.index\.dims: /],
  [{ store: { index: { dims: 3, embed: 5 } } }, /store\.index\.embed: /],
  [{ store: { index: { dims: 3, embed: "a:b", fields: "text" } } }, /store\.index\.fields: /],
  [{ store: { ttl: { default_ttl: -1 } } }, /store\.ttl\.default_ttl: /],
  [{ store: { ttl: { default_ttl: 1e14 } } }, /store\.ttl\.default_ttl: Too big/],
  [{ checkpointer: { ttl: { default_ttl: 1e14 } } }, /checkpointer\.ttl\.default_ttl: Too big/],
  [{ checkpointer: { ttl: { sweep_interval_minutes: 1e14 } } }, /checkpointer\.ttl\.sweep_interval_minutes: Too big/],
  [{ store: { ttl: { refresh_on_read: "yes" } } }, /store\.ttl\.refresh_on_read: /],
  [{ store: { ttl: { sweep_interval_minutes: 0 } } }, /store\.ttl\.sweep_interval_minutes: /],
  [{ store: { path: "./store.ts:store" } }, /store\.path is not supported/],
  [
    { checkpointer: { ttl: { strategy: "forget" } } },
    /checkpointer\.ttl\.strategy: must be one of delete, keep_latest/,
  ],
  [{ checkpointer: { ttl: { default_ttl: "1h" } } }, /checkpointer\.ttl\.default_ttl: /],
  [{ checkpointer: { ttl: { sweep_limit: 0 } } }, /checkpointer\.ttl\.sweep_limit: /],
  [{ checkpointer: { path: "./saver.ts:saver" } }, /checkpointer\.path is not supported/],
  [{ checkpointer: { backend: "mongo" } }, /checkpointer\.backend is not supported/],
  [{ checkpointer: { serde: { pickle_fallback: true } } }, /checkpointer\.serde is not supported/],
  [{ auth: { path: 1 } }, /auth\.path: /],
  [{ auth: { handler: "./auth.ts:auth" } }, /auth\.path: is required/],
  [{ auth: { disable_studio_auth: "no" } }, /auth\.disable_studio_auth: /],
  [{ auth: { openapi: { security: {} } } }, /auth\.openapi\.security: /],
  [{ auth: { cache: { cache_keys: [] } } }, /auth\.cache\.cache_keys: /],
  [{ auth: { cache: { cache_keys: ["a"], ttl_seconds: 0 } } }, /auth\.cache\.ttl_seconds: /],
  [{ auth: { cache: { cache_keys: ["a"], max_size: 0.5 } } }, /auth\.cache\.max_size: /],
  [{ http: { app: 1 } }, /http\.app: /],
  [
    { http: { cors: { allow_origins: ["app.example"] } } },
    /http\.cors\.allow_origins\.0: must be origins .*"app\.example"/,
  ],
  [{ http: { cors: { allow_origin_regex: "(" } } }, /http\.cors\.allow_origin_regex: must be a regular expression/],
  [{ http: { cors: { allow_methods: "GET" } } }, /http\.cors\.allow_methods: /],
  [{ http: { cors: { allow_headers: [1] } } }, /http\.cors\.allow_headers\.0: /],
  [{ http: { cors: { allow_credentials: true } } }, /http\.cors\.allow_credentials: cannot be true when every origin/],
  [{ http: { cors: { expose_headers: "x" } } }, /http\.cors\.expose_headers: /],
  [{ http: { cors: { max_age: -1 } } }, /http\.cors\.max_age: /],
  [{ http: { configurable_headers: { includes: "x-*" } } }, /http\.configurable_headers\.includes: /],
  [
    { http: { configurable_headers: { excludes: ["a b"] } } },
    /http\.configurable_headers\.excludes\.0: must be header names/,
  ],
  [{ http: { logging_headers: { includes: [""] } } }, /http\.logging_headers\.includes\.0: /],
  [{ http: { middleware_order: "auth_last" } }, /http\.middleware_order: /],
  [{ http: { enable_custom_route_auth: 1 } }, /http\.enable_custom_route_auth: /],
  [{ http: { mount_prefix: "agents" } }, /http\.mount_prefix: must be a path such as "\/agents"/],
  ...["assistants", "threads", "runs", "store", "meta", "mcp", "a2a", "ui", "webhooks"].map(
    (name): [object, RegExp] => [{ http: { [`disable_${name}`]: "true" } }, new RegExp(`http\\.disable_${name}: `)],
  ),
  [{ webhooks: [] }, /webhooks: /],
  [{ encryption: {} }, /encryption\.path: /],
  [{ ui: { agent: 1 } }, /ui\.agent: /],
  [{ ui: { "a/b": "./ui.tsx" } }, /names of ui bundles/],
  [{ ui_config: { shared: "react" } }, /ui_config\.shared: /],
  [{ dependencies: "." }, /dependencies: /],
  [{ dockerfile_lines: "RUN true" }, /dockerfile_lines: /],
  [{ docker_compose_file: 1 }, /docker_compose_file: /],
  [{ base_image: 1 }, /base_image: /],
  [{ image_distro: "alpine" }, /image_distro: must be one of debian, wolfi, bookworm/],
  [{ api_version: "new" }, /api_version: must be a version/],
  [{ api_version: "0.7", _INTERNAL_docker_tag: "x" }, /api_version: cannot be combined with/],
  [{ python_version: "2.7" }, /python_version: must be one of 3\.10, 3\.11, 3\.12, 3\.13, 3\.14/],
  [{ pip_config_file: 1 }, /pip_config_file: /],
  [{ pip_installer: "poetry" }, /pip_installer: /],
  [{ keep_pkg_tools: "pip" }, /keep_pkg_tools: /],
  [{ source: { kind: "git" } }, /source\.kind: /],
  [{ source: { kind: "uv" } }, /source is not supported: .* uv\.lock/],
];

test.each(WRONG)("rejects %j by name", async (config, message) => {
  await expect(project(config)).rejects.toThrow(message);
});

test("reports keys without effect by name, without an error", async () => {
  const { warnings } = await project({
    dockerfile_lines: ["RUN true"],
    keep_pkg_tools: true,
    htpp: {},
    http: {
      disable_mpc: true,
      cors: { allow_origin: "*" },
      configurable_headers: { includes: ["x-*", "Authorization", "X-Heddle-Own-Code"] },
    },
    env: ["NOT_SET_HERE"],
  });
  expect(warnings).toHaveLength(8);
  for (const named of [
    "Authorization, which runs never get",
    "X-Heddle-Own-Code",
    "dockerfile_lines",
    "keep_pkg_tools",
    "htpp",
    "http.disable_mpc",
    "http.cors.allow_origin",
    "NOT_SET_HERE",
  ]) {
    expect(warnings.join("\n")).toContain(named);
  }
});

test("reports a version of Node that is newer than the running one", async () => {
  const major = Number(process.versions.node.split(".")[0]);
  for (const version of ["20", "22", "24", "26"]) {
    const { warnings } = await project({ node_version: version });
    const message = `The project requires Node ${version}, but this is Node ${process.versions.node}.`;
    expect([version, warnings]).toEqual([version, Number(version) > major ? [message] : []]);
  }
});

test("applies defaults to missing keys", async () => {
  const { config } = await project({ checkpointer: { ttl: { default_ttl: 5 } }, http: { mount_prefix: "/agents/" } });
  expect(config.http).toMatchObject({
    disable_runs: false,
    middleware_order: "middleware_first",
    mount_prefix: "/agents",
  });
  expect(config.checkpointer?.ttl).toEqual({
    strategy: "delete",
    default_ttl: 5,
    sweep_interval_minutes: 5,
    sweep_limit: 1000,
  });
  expect((await project({})).config.http.disable_meta).toBe(false);
});

test("env is a file, a map or a list of names", async () => {
  writeFileSync(join(dir, ".env"), "A=1\n");
  expect((await project({ env: ".env" })).env).toEqual({ A: "1" });
  expect((await project({ env: { A: 1, B: true } })).env).toEqual({ A: "1", B: "true" });
  expect((await project({ env: ["A"] })).env).toEqual({});
});

test("isolated graphs are named, or all of them are, also by LangGraph's variable", async () => {
  const isolated = async (config: object) => [...(await project(config)).isolated];
  expect(await isolated({})).toEqual([]);
  expect(await isolated({ heddle: { hosts: { isolated: ["agent"] } } })).toEqual(["agent"]);
  expect(await isolated({ heddle: { hosts: { isolated: true } } })).toEqual(["agent"]);
  expect(await isolated({ env: { BG_JOB_ISOLATED_LOOPS: "True" } })).toEqual(["agent"]);
  expect(await isolated({ env: { BG_JOB_ISOLATED_LOOPS: "false" } })).toEqual([]);
});
