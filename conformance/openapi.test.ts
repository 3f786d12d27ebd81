import { Validator } from "@langchain/core/utils/json_schema";
import { beforeAll, describe, expect, test } from "vitest";
import { request } from "./http.ts";

const T = "/threads/{thread_id}";
const R = `${T}/runs/{run_id}`;

/** Operations of the agent server's contract, except crons, protocol v2 and routes of other protocols. */
const operations = [
  ...["/ok", "/ready", "/readyz", "/livez", "/info", "/docs", "/openapi.json", "/metrics"].map((path) => `get ${path}`),
  ...["", "/search", "/count"].map((path) => `post /assistants${path}`),
  ...["get", "patch", "delete"].map((method) => `${method} /assistants/{assistant_id}`),
  ...["graph", "schemas", "subgraphs", "subgraphs/{namespace}"].map((path) => `get /assistants/{assistant_id}/${path}`),
  ...["versions", "latest"].map((path) => `post /assistants/{assistant_id}/${path}`),
  ...["", "/search", "/count", "/prune"].map((path) => `post /threads${path}`),
  ...["get", "patch", "delete"].map((method) => `${method} ${T}`),
  ...["copy", "state", "state/checkpoint", "history", "runs", "runs/stream", "runs/wait"].map(
    (path) => `post ${T}/${path}`,
  ),
  ...["state", "state/{checkpoint_id}", "history", "runs"].map((path) => `get ${T}/${path}`),
  ...["", "/join", "/stream"].map((path) => `get ${R}${path}`),
  `delete ${R}`,
  `post ${R}/cancel`,
  ...["", "/stream", "/wait", "/batch", "/cancel"].map((path) => `post /runs${path}`),
  "get /runs/{run_id}/stream",
  ...["put", "get", "delete"].map((method) => `${method} /store/items`),
  "post /store/items/search",
  "post /store/namespaces",
];

interface Document {
  openapi: string;
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
}
interface Operation {
  responses: Record<string, { content?: Record<string, { schema?: object }> }>;
}

describe("the OpenAPI document", () => {
  let document: Document;
  beforeAll(async () => {
    document = (await request("GET", "/openapi.json")).json;
  });

  test("is OpenAPI 3.1", () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
  });

  test("names every operation", () => {
    const named = new Set(
      Object.entries(document.paths).flatMap(([path, item]) => Object.keys(item).map((method) => `${method} ${path}`)),
    );
    expect(operations.filter((operation) => !named.has(operation))).toEqual([]);
  });

  test("lists assistants, threads and runs first", () => {
    expect(document.tags.slice(0, 3).map(({ name }) => name)).toEqual(["Assistants", "Threads", "Runs"]);
    expect(document.tags).toContainEqual({ name: "Store" });
  });

  test("resolves every reference", () => {
    const dangling = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]*)"/g)]
      .map(([, pointer]) => pointer!)
      .filter((pointer) => lookUp(document, pointer) === undefined);
    expect(dangling).toEqual([]);
  });

  test("matches the server's responses", async () => {
    const thread = (await request("POST", "/threads", { metadata: { a: 1 } })).json.thread_id;
    const waiting = (await request("POST", "/threads", {})).json.thread_id;
    await request("POST", `/threads/${waiting}/runs/wait`, { assistant_id: "approval", input: { topic: "t" } });
    const body = { assistant_id: "counter", input: { add: 1 } };
    const run = (await request("POST", `/threads/${thread}/runs`, body)).json.run_id;
    await request("GET", `/threads/${thread}/runs/${run}/join`);
    await request("PUT", "/store/items", { namespace: ["openapi"], key: "k", value: { a: 1 } });

    const samples: [string, string, string, unknown?][] = [
      ["get", "/ok", "/ok"],
      ["get", "/ready", "/ready"],
      ["get", "/readyz", "/readyz"],
      ["get", "/livez", "/livez"],
      ["get", "/info", "/info"],
      ["post", "/assistants", "/assistants", { graph_id: "agent", config: null }],
      ["post", "/assistants/search", "/assistants/search", {}],
      ["post", "/assistants/count", "/assistants/count", {}],
      ["get", "/assistants/{assistant_id}", "/assistants/agent"],
      ["get", "/assistants/{assistant_id}/graph", "/assistants/agent/graph"],
      ["get", "/assistants/{assistant_id}/schemas", "/assistants/counter/schemas"],
      ["get", "/assistants/{assistant_id}/subgraphs", "/assistants/nested/subgraphs"],
      ["post", "/assistants/{assistant_id}/versions", "/assistants/agent/versions", {}],
      ["post", "/threads", "/threads", {}],
      ["post", "/threads/search", "/threads/search", {}],
      ["post", "/threads/search", "/threads/search", { select: ["thread_id"] }],
      ["post", "/threads/count", "/threads/count", {}],
      ["get", T, `/threads/${thread}`],
      ["get", T, `/threads/${waiting}`],
      ["patch", T, `/threads/${thread}`, { metadata: { b: 2 } }],
      ["post", `${T}/copy`, `/threads/${waiting}/copy`],
      ["get", `${T}/state`, `/threads/${thread}/state`],
      ["get", `${T}/state`, `/threads/${waiting}/state?subgraphs=true`],
      ["post", `${T}/history`, `/threads/${thread}/history`, {}],
      ["post", `${T}/state`, `/threads/${thread}/state`, { values: { total: 1 }, as_node: "double" }],
      ["post", `${T}/runs`, `/threads/${thread}/runs`, body],
      ["get", `${T}/runs`, `/threads/${thread}/runs`],
      ["get", R, `/threads/${thread}/runs/${run}`],
      ["post", "/runs", "/runs", body],
      ["post", "/runs/batch", "/runs/batch", [body]],
      ["get", "/store/items", "/store/items?namespace=openapi&key=k"],
      ["get", "/store/items", "/store/items?namespace=openapi&key=none"],
      ["post", "/store/items/search", "/store/items/search", { namespace_prefix: ["openapi"] }],
      ["post", "/store/namespaces", "/store/namespaces", {}],
    ];
    for (const [method, path, real, sent] of samples) {
      const answer = await request(method.toUpperCase(), real, sent);
      const declared = document.paths[path]?.[method]?.responses[answer.status]?.content?.["application/json"]?.schema;
      expect(declared, `${method} ${path} declares an answer ${answer.status}: ${answer.text}`).toBeDefined();
      const schema = { ...document, ...declared, $id: "http://openapi.test/" };
      const { valid, errors } = new Validator(schema as never, "2020-12", false).validate(answer.json);
      expect(errors, `${method} ${real} answers ${answer.text}`).toEqual([]);
      expect(valid).toBe(true);
    }
  });
});

/** Resolves a JSON pointer without its leading slash. */
function lookUp(document: unknown, pointer: string): unknown {
  let target = document;
  for (const part of pointer.split("/")) {
    const key = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    target = (target as Record<string, unknown> | undefined)?.[key];
  }
  return target;
}
