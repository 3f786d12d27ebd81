import { randomUUID } from "node:crypto";
import { request as httpRequest } from "node:http";
import { describe, expect, test } from "vitest";
import { url } from "./clients.ts";
import { UNKNOWN_ID } from "./frames.ts";
import { request } from "./http.ts";

const PYTHON_CLIENT = { "user-agent": "langgraph-sdk-py/0.4.14" };

const newThread = async (body: object = {}) => (await request("POST", "/threads", body)).json.thread_id as string;

describe("the format of errors", () => {
  /** Requests, and the status for the Python client. */
  const failing: [status: number, method: string, path: string, body?: unknown][] = [
    [404, "GET", `/threads/${UNKNOWN_ID}`],
    [404, "GET", `/threads/${UNKNOWN_ID}/state`],
    [404, "GET", `/assistants/${UNKNOWN_ID}`],
    [422, "GET", "/assistants/no-such-graph"],
    [404, "POST", "/runs/wait", { assistant_id: UNKNOWN_ID }],
    [422, "POST", "/runs/wait", { assistant_id: "no-such-graph" }],
    [422, "POST", "/runs/stream", { assistant_id: "no-such-graph" }],
    [422, "POST", "/runs", { assistant_id: 7 }],
    [422, "POST", "/runs/crons", { assistant_id: "no-such-graph", schedule: "* * * * *" }],
    [422, "POST", "/threads", '{"a":'],
    [422, "POST", "/threads/search", { limit: 0 }],
    [422, "PUT", "/store/items", { key: "x" }],
    [404, "DELETE", `/runs/crons/${UNKNOWN_ID}`],
    [404, "GET", "/no-such-path"],
  ];

  test.each(failing)(
    "is JSON with `detail` for the Python client: %i for %s %s",
    async (status, method, path, body) => {
      const answer = await request(method, path, body, PYTHON_CLIENT);
      expect(answer.status).toBe(status);
      expect(answer.headers.get("content-type")).toBe("application/json");
      expect(answer.json).toEqual({ detail: expect.stringMatching(/.{9}/) });
    },
  );

  test.each(failing)("is bare text for other clients: %i for %s %s", async (_, method, path, body) => {
    const [python, other] = [await request(method, path, body, PYTHON_CLIENT), await request(method, path, body)];
    expect(other.headers.get("content-type")).toBe("text/plain;charset=UTF-8");
    expect(other.text).toBe(python.json.detail);
    expect(other.json).toBeUndefined();
  });
});

describe("unknown resources", () => {
  test.each([
    ["GET", ""],
    ["PATCH", ""],
    ["DELETE", ""],
    ["GET", "/state"],
    ["POST", "/state"],
    ["GET", `/state/${UNKNOWN_ID}`],
    ["POST", "/state/checkpoint"],
    ["GET", "/history"],
    ["POST", "/history"],
    ["GET", "/runs"],
    ["GET", `/runs/${UNKNOWN_ID}`],
    ["DELETE", `/runs/${UNKNOWN_ID}`],
    ["GET", `/runs/${UNKNOWN_ID}/join`],
    ["GET", `/runs/${UNKNOWN_ID}/stream`],
    ["POST", `/runs/${UNKNOWN_ID}/cancel`],
  ])("%s on an unknown thread%s is 404", async (method, path) => {
    const body = { PATCH: { metadata: {} }, POST: { values: {} } }[method];
    const answer = await request(method, `/threads/${UNKNOWN_ID}${path}`, body);
    expect(answer.status).toBe(404);
    expect(answer.text).toMatch(/not found/i);
  });

  test.each([
    ["GET", ""],
    ["PATCH", ""],
    ["DELETE", ""],
    ["GET", "/graph"],
    ["GET", "/schemas"],
    ["GET", "/subgraphs"],
    ["POST", "/versions"],
    ["POST", "/latest"],
  ])("%s on an unknown assistant%s is 404", async (method, path) => {
    const body = { PATCH: {}, POST: path === "/latest" ? { version: 1 } : {} }[method];
    for (const id of [UNKNOWN_ID, "no-such-graph"]) {
      expect((await request(method, `/assistants/${id}${path}`, body)).status).toBe(404);
    }
  });

  test.each(["", "/wait", "/stream"])(
    "a run%s with an unknown assistant is 404 and names the assistant",
    async (path) => {
      const thread = await newThread();
      for (const assistant_id of [UNKNOWN_ID, "no-such-graph"]) {
        for (const prefix of ["", `/threads/${thread}`]) {
          const answer = await request("POST", `${prefix}/runs${path}`, { assistant_id, input: {} });
          expect(answer.status).toBe(404);
          expect(answer.text).toContain(`No assistant found for "${assistant_id}"`);
        }
      }
      expect((await request("GET", `/threads/${thread}/runs`)).json).toEqual([]);
    },
  );

  // The JavaScript dev server starts the run, which then fails.
  test.each(["", "/wait", "/stream"])("a run%s from an unknown checkpoint is 404", async (path) => {
    const thread = await newThread();
    await request("POST", `/threads/${thread}/runs/wait`, { assistant_id: "counter", input: {} });
    for (const from of [{ checkpoint_id: UNKNOWN_ID }, { checkpoint: { checkpoint_id: UNKNOWN_ID } }]) {
      const body = { assistant_id: "counter", input: {}, ...from };
      expect((await request("POST", `/threads/${thread}/runs${path}`, body)).status).toBe(404);
    }
  });

  test("a state update at an unknown checkpoint is 404", async () => {
    const thread = await newThread();
    await request("POST", `/threads/${thread}/runs/wait`, { assistant_id: "counter", input: {} });
    const body = { values: { total: 1 }, checkpoint_id: UNKNOWN_ID };
    expect((await request("POST", `/threads/${thread}/state`, body)).status).toBe(404);
  });

  test("rejects supersteps of an unknown node and creates no thread", async () => {
    const thread_id = randomUUID();
    const supersteps = [{ updates: [{ values: { total: 1 }, as_node: "no-such-node" }] }];
    const answer = await request("POST", "/threads", { thread_id, metadata: { graph_id: "counter" }, supersteps });
    expect(answer.status).toBe(422);
    expect((await request("GET", `/threads/${thread_id}`)).status).toBe(404);
  });

  test("rejects supersteps without a graph and creates no thread", async () => {
    const thread_id = randomUUID();
    const supersteps = [{ updates: [{ values: { total: 1 }, as_node: "increment" }] }];
    expect((await request("POST", "/threads", { thread_id, supersteps })).status).toBeOneOf([400, 422]);
    expect((await request("GET", `/threads/${thread_id}`)).status).toBe(404);
  });

  test("a route that does not exist is 404", async () => {
    expect((await request("GET", "/no/such/route")).status).toBe(404);
  });
});

// The JavaScript dev server answers a violated schema with 400.
describe("malformed requests", () => {
  test.each([
    ["/threads", { metadata: "text" }],
    ["/threads", { thread_id: "no-uuid" }],
    ["/threads", { if_exists: "explode" }],
    ["/threads", []],
    ["/threads/search", { limit: 0 }],
    ["/threads/search", { limit: "ten" }],
    ["/threads/search", { limit: 1e300 }],
    ["/threads/search", { offset: -1 }],
    ["/threads/search", { status: "sleepy" }],
    ["/threads/search", { sort_by: "; drop table threads" }],
    ["/threads/search", { ids: ["no-uuid"] }],
    ["/threads/search", { select: ["no_such_field"] }],
    ["/threads/count", { metadata: 7 }],
    ["/threads/prune", {}],
    ["/assistants", {}],
    ["/assistants", { graph_id: 7 }],
    ["/assistants", { graph_id: "agent", assistant_id: "no-uuid" }],
    ["/assistants/search", { sort_order: "sideways" }],
    ["/assistants/agent/latest", { version: "one" }],
    ["/runs", {}],
    ["/runs", { assistant_id: 7 }],
    ["/runs", { assistant_id: "agent", stream_mode: "telepathy" }],
    ["/runs", { assistant_id: "agent", multitask_strategy: "fight" }],
    ["/runs", { assistant_id: "agent", after_seconds: "soon" }],
    ["/runs", { assistant_id: "agent", config: "text" }],
    ["/runs", { assistant_id: "agent", interrupt_before: 7 }],
    ["/runs", { assistant_id: "agent", command: { goto: 7 } }],
    ["/runs/wait", { assistant_id: "agent", metadata: [] }],
    ["/runs/stream", { assistant_id: "agent", stream_mode: ["values", 7] }],
    ["/runs/batch", { assistant_id: "agent" }],
    ["/runs/batch", []],
    ["/store/items/search", { namespace_prefix: "text" }],
    ["/store/items/search", { namespace_prefix: [], limit: -1 }],
    ["/store/namespaces", { max_depth: "deep" }],
  ])("POST %s %j is 422 with a message", async (path, body) => {
    const answer = await request("POST", path, body);
    expect(answer.status).toBe(422);
    expect(answer.text.length).toBeGreaterThan(10);
  });

  test.each([
    ["POST", "/threads"],
    ["POST", "/threads/search"],
    ["POST", "/assistants"],
    ["POST", "/runs"],
    ["POST", "/runs/wait"],
    ["POST", "/runs/stream"],
    ["PUT", "/store/items"],
    ["POST", "/store/items/search"],
  ])("%s %s with broken JSON is 400", async (method, path) => {
    for (const body of ['{"a":', "{]", "nonsense", '{"a":1}x']) {
      const answer = await request(method, path, body);
      expect(answer.status).toBe(400);
      expect(answer.text).toContain("Malformed JSON in request body");
    }
  });

  test.each([
    ["GET", "/threads/not-a-uuid"],
    ["DELETE", "/threads/not-a-uuid"],
    ["GET", "/threads/not-a-uuid/state"],
    ["GET", "/threads/not-a-uuid/runs"],
    ["GET", `/threads/${UNKNOWN_ID}/runs/not-a-uuid`],
    ["GET", `/threads/${UNKNOWN_ID}/runs/not-a-uuid/stream`],
    ["GET", "/runs/not-a-uuid/stream"],
    ["GET", `/threads/${UNKNOWN_ID}'; drop table threads; --`],
  ])("%s %s with an id that is no UUID is 404 or 422", async (method, path) => {
    expect((await request(method, path)).status).toBeOneOf([404, 422]);
  });

  test("a path with a control character is 400", async () => {
    for (const path of ["/threads/%00", "/assistants/a%0Ab"]) expect((await request("GET", path)).status).toBe(400);
  });

  test.each(["limit=ten", "limit=-1", "limit=1e9", "offset=-1", "status=sleepy"])(
    "a list with %s is 422",
    async (query) => {
      const thread = await newThread();
      expect((await request("GET", `/threads/${thread}/runs?${query}`)).status).toBe(422);
    },
  );

  test("an error response is the bare message as text", async () => {
    const answer = await request("GET", `/assistants/${UNKNOWN_ID}`);
    expect(answer).toMatchObject({ status: 404, text: "Assistant not found" });
    expect(answer.headers.get("content-type")).toMatch(/^text\/plain/);
  });

  test("rejects JSON nested a hundred thousand levels deep and keeps serving", async () => {
    const metadata = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
    expect((await request("POST", "/threads", `{"metadata":${metadata}}`)).status).toBeOneOf([400, 422]);
    expect((await request("GET", "/ok")).status).toBe(200);
  });

  test("a body over the limit is 413, and the server keeps serving", async () => {
    expect(await postHuge("/threads", 80 * 1024 * 1024)).toBe(413);
    expect((await request("GET", "/ok")).status).toBe(200);
  });
});

/** Sends a body until the answer arrives, which may be before the end of the body. */
function postHuge(path: string, bytes: number): Promise<number> {
  return new Promise((done, fail) => {
    const headers = { "content-type": "application/json", "content-length": bytes };
    let status = 0;
    const sending = httpRequest(url + path, { method: "POST", headers }, (response) => {
      done((status = response.statusCode!));
      sending.destroy();
    });
    sending.on("error", (error) => status || fail(error));
    const block = Buffer.alloc(1024 * 1024, " ");
    let left = bytes / block.length;
    const send = () => {
      while (left-- > 0) if (!sending.write(block)) return void sending.once("drain", send);
      sending.end();
    };
    send();
  });
}
