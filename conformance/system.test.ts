import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { url } from "./clients.ts";
import { collect } from "./frames.ts";
import { openStream, request } from "./http.ts";

describe("the server", () => {
  test("/ok responds with ok", async () => {
    expect((await request("GET", "/ok")).json).toMatchObject({ ok: true });
    expect((await request("GET", "/ok?check_db=1")).json).toMatchObject({ ok: true });
  });

  test("/info returns versions and flags", async () => {
    const { json } = await request("GET", "/info");
    expect(json).toMatchObject({ version: expect.any(String), flags: { assistants: true } });
  });

  test("/metrics uses the Prometheus text format", async () => {
    const { status, text, headers } = await request("GET", "/metrics");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toContain("text/plain");
    expect(text).toMatch(/^# TYPE \w+ (counter|gauge|histogram|summary)$/m);
  });

  test("the examples' guide extracts a thread's id from a response", () => {
    const guide = readFileSync(new URL("../examples/README.md", import.meta.url), "utf8");
    const line = /^T=.*$/m.exec(guide)![0].replace("localhost:2024", url);
    expect(execFileSync("sh", ["-c", `${line}; echo "$T"`]).toString()).toMatch(
      /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\n$/,
    );
  });

  test("/docs is an HTML page", async () => {
    const { status, headers } = await request("GET", "/docs");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toContain("text/html");
  });

  test("CORS allows a page of another local port to call and to read the exposed headers", async () => {
    const origin = "http://localhost:5173";
    const preflight = await request("OPTIONS", "/threads", undefined, {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type,x-api-key",
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-methods")).toContain("POST");
    expect(preflight.headers.get("access-control-allow-headers")).toContain("x-api-key");
    const answer = await request("POST", "/threads", {}, { origin });
    expect(answer.headers.get("access-control-allow-origin")).toBeOneOf(["*", origin]);
    const exposed = answer.headers.get("access-control-expose-headers")!.toLowerCase();
    for (const header of ["content-location", "x-pagination-total"]) expect(exposed).toContain(header);
  });
});

// The JavaScript dev server has no such paths.
describe("the alias /thread/", () => {
  test("serves runs as /threads/ does", async () => {
    const { thread_id } = (await request("POST", "/threads", {})).json;
    const base = `/thread/${thread_id}/runs`;
    const body = { assistant_id: "counter", input: { add: 1 } };
    expect((await request("POST", `${base}/wait`, body)).json).toMatchObject({ total: 2 });
    const run = (await request("POST", base, body)).json;
    expect((await request("GET", `${base}/${run.run_id}/join`)).json).toMatchObject({ total: 6 });
    expect((await request("GET", `${base}/${run.run_id}`)).json).toMatchObject({ run_id: run.run_id, thread_id });
    expect((await request("GET", base)).json).toHaveLength(2);
    const stream = await openStream("POST", `${base}/stream`, body);
    expect((await collect(stream.frames)).at(-1)).toMatchObject({ event: "values", data: { total: 14 } });
    const late = await openStream("GET", `${base}/${run.run_id}/stream`);
    expect(late.response.status).toBe(200);
    await collect(late.frames);
    expect((await request("POST", `${base}/${run.run_id}/cancel`)).status).toBe(409);
    expect((await request("DELETE", `${base}/${run.run_id}`)).status).toBe(204);
  });
});
