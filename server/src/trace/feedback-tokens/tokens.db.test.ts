import { expect, test } from "vitest";

import { WORKSPACE } from "../../../test/principal.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { uuid7 } from "../../base/ids.ts";
import { issueFeedbackTokens } from "./issue-tokens.ts";

const OTHER = { "x-test-workspace": "00000000-0000-7000-8000-000000000002" };

const { sql, call } = await testTracePlatform({ HEDDLE_TRACE_PUBLIC_URL: "https://traces.example/" });

async function issue(more: Record<string, unknown> = {}) {
  const run_id = uuid7();
  const { json } = await call("POST", "/feedback/tokens", { run_id, feedback_key: "thumbs", ...more });
  const feedback = async () => (await call("GET", `/feedback?run=${run_id}`)).json;
  return { run_id, id: json.id as string, path: `/api/v1/feedback/tokens/${json.id}`, feedback };
}

test("tokens are issued singly and in batches, are random, and are listed", async () => {
  const run_id = uuid7();
  const response = await call("POST", "/feedback/tokens", { run_id, feedback_key: "a" });
  expect(response.json).toMatchObject({
    feedback_key: "a",
    url: `https://traces.example/api/v1/feedback/tokens/${response.json.id}`,
  });
  expect(response.json.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const lifetime = Date.parse(response.json.expires_at) - Date.now();
  expect(lifetime).toBeGreaterThan(2.99 * 3_600_000);
  expect(lifetime).toBeLessThan(3.01 * 3_600_000);

  const many = await call("POST", "/api/v1/feedback/tokens", [
    { run_id, feedback_key: "b", expires_in: { days: 1, hours: 2 } },
    { run_id, feedback_key: "c", expires_at: "2099-01-01T00:00:00Z" },
  ]);
  expect(many.json.map((token: { feedback_key: string }) => token.feedback_key)).toEqual(["b", "c"]);
  expect(Date.parse(many.json[0].expires_at) - Date.now()).toBeCloseTo(26 * 3_600_000, -5);
  expect(Date.parse(many.json[1].expires_at)).toBe(Date.parse("2099-01-01T00:00:00Z"));

  const listed = await call("GET", `/feedback/tokens?run_id=${run_id}&limit=100&offset=0`);
  expect(listed.json).toEqual([response.json, ...many.json]);
  expect((await call("GET", `/feedback/tokens?run_id=${run_id}`, undefined, OTHER)).json).toEqual([]);
});

test("rejects an invalid request for tokens with the reason", async () => {
  const body = { run_id: uuid7(), feedback_key: "k" };
  for (const wrong of [
    { expires_at: "2020-01-01T00:00:00Z" },
    { expires_in: { minutes: 0 } },
    { expires_in: { hours: -1 } },
    { run_id: "x" },
    { feedback_key: "" },
    { feedback_config: { type: "continuous", min: 2, max: 1 } },
  ]) {
    const { status } = await call("POST", "/feedback/tokens", { ...body, ...wrong });
    expect({ wrong, status }).toEqual({ wrong, status: 422 });
  }
  expect((await call("POST", "/feedback/tokens", [])).status).toBe(422);
});

test("a link creates feedback, the same link updates it, and another one adds more", async () => {
  const { path, feedback, run_id } = await issue();
  const correction = encodeURIComponent(JSON.stringify({ answer: "zwölf & mehr" }));
  const link = `${path}?score=1&value=good&comment=${encodeURIComponent("très bien")}&correction=${correction}`;
  const first = await call("GET", link);
  expect(first.status).toBe(200);
  expect(first.headers.get("cache-control")).toBe("no-store");
  expect(first.headers.get("access-control-allow-origin")).toBe("*");
  const [stored] = await feedback();
  expect(stored).toMatchObject({
    run_id,
    key: "thumbs",
    score: 1,
    value: "good",
    comment: "très bien",
    correction: { answer: "zwölf & mehr" },
    feedback_source: { type: "api", user_id: null },
  });

  await call("GET", link);
  const again = await feedback();
  expect(again).toHaveLength(1);
  expect(again[0].id).toBe(stored.id);
  expect(again[0].modified_at > stored.modified_at).toBe(true);

  await call("GET", `${path}?score=0`);
  await call("GET", `${path}?score=0.0`);
  expect(await feedback()).toHaveLength(2);
  // POST always adds
  await call("POST", path, { score: 0 });
  await call("POST", path, { score: 0 });
  expect(await feedback()).toHaveLength(4);
});

test("concurrent requests to one link create one feedback", async () => {
  const { path, feedback } = await issue();
  await Promise.all(Array.from({ length: 20 }, () => call("GET", `${path}?score=1`)));
  expect(await feedback()).toHaveLength(1);
});

test("POST also accepts metadata, and null for omitted fields", async () => {
  const { path, feedback } = await issue();
  const body = { score: null, value: 4, comment: null, correction: { a: [1] }, metadata: { page: "/home" } };
  const response = await call("POST", path, body, { Origin: "https://app.example" });
  expect(response.status).toBe(200);
  expect(response.headers.get("access-control-allow-origin")).toBe("*");
  expect((await feedback())[0]).toMatchObject({
    score: null,
    value: 4,
    comment: null,
    correction: { a: [1] },
    feedback_source: { type: "api", metadata: { page: "/home" } },
  });
  expect((await call("POST", path, "<a/>", { "Content-Type": "application/xml" })).status).toBe(415);
  expect((await call("POST", path, "{")).status).toBe(400);
  expect(await feedback()).toHaveLength(1);
});

test("an HTML form is a judgement, whose fields are those of a link", async () => {
  const { path, feedback } = await issue();
  const form = { "Content-Type": "application/x-www-form-urlencoded", Accept: "text/html" };
  const sent = await call("POST", path, "score=1&comment=tr%C3%A8s+bien&value=&button=x", form);
  expect([sent.status, sent.text]).toEqual([200, expect.stringContaining("Thank you")]);
  expect(await feedback()).toMatchObject([{ score: 1, comment: "très bien" }]);
  expect((await call("POST", path, "score=high", form)).status).toBe(422);
  expect((await call("POST", path, `comment=${"x".repeat(70_000)}`, form)).status).toBe(413);
  expect(await feedback()).toHaveLength(1);
});

test("a link without a judgement, as previews open it, records nothing and says what is missing", async () => {
  const { path, feedback } = await issue();
  for (const query of ["", "?", "?score=", "?utm_source=chat"]) {
    const opened = await call("GET", `${path}${query}`, undefined, { Accept: "text/html" });
    expect([query, opened.status, opened.text]).toEqual([query, 422, expect.stringContaining("?score=1")]);
  }
  expect(await feedback()).toEqual([]);
});

test("query parameters are parsed as numbers, booleans or text", async () => {
  const { path, feedback } = await issue();
  const value = async (query: string) => {
    await sql`delete from feedback`;
    expect((await call("GET", `${path}?${query}`)).status).toBe(200);
    const [{ score, value: stored, correction }] = await feedback();
    return { score, stored, correction };
  };
  expect(await value("score=0.5&value=5")).toMatchObject({ score: 0.5, stored: 5 });
  expect(await value("score=true&value=false")).toMatchObject({ score: 1, stored: false });
  expect(await value("score=-2e-1&value=5%20stars")).toMatchObject({ score: -0.2, stored: "5 stars" });
  expect(await value('value={"a":1}&correction="plain"')).toMatchObject({ stored: { a: 1 }, correction: "plain" });
  expect(await value("value=a%00b")).toMatchObject({ score: null, stored: "a\uFFFDb" });
  expect(await value("score=1&score=0")).toMatchObject({ score: 0 });
  for (const wrong of ["score=high", "score=Infinity", "correction={", "correction=5"]) {
    const response = await call("GET", `${path}?${wrong}`);
    expect({ wrong, status: response.status }).toEqual({ wrong, status: 422 });
    expect(response.headers.get("cache-control")).toBe("no-store");
  }
});

test("rejects values outside the token's configuration", async () => {
  const { path, feedback } = await issue({ feedback_config: { type: "continuous", min: 0, max: 1 } });
  expect((await call("GET", `${path}?score=2`)).status).toBe(422);
  expect((await call("POST", path, { score: -1 })).text).toContain("at least 0");
  expect((await call("POST", path, { score: 1 })).status).toBe(200);
  expect(await feedback()).toHaveLength(1);
});

test("an unknown token is 404, an expired or revoked one 410, for GET and POST", async () => {
  for (const token of [uuid7(), "nonsense", "00000000-0000-0000-0000-000000000000'"]) {
    const response = await call("GET", `/feedback/tokens/${encodeURIComponent(token)}?score=1`);
    expect({ token, status: response.status }).toEqual({ token, status: 404 });
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect((await call("POST", `/feedback/tokens/${encodeURIComponent(token)}`, { score: 1 })).status).toBe(404);
  }
  const expired = await issue();
  await sql`update feedback_tokens set expires_at = now() - interval '1 second' where token_id = ${expired.id}`;
  const revoked = await issue();
  expect((await call("DELETE", revoked.path, undefined, OTHER)).status).toBe(404);
  expect((await call("DELETE", revoked.path)).status).toBe(204);
  expect((await call("DELETE", revoked.path)).status).toBe(204);
  for (const { path, feedback } of [expired, revoked]) {
    const response = await call("GET", `${path}?score=1`);
    expect(response.status).toBe(410);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect((await call("POST", path, { score: 1 })).status).toBe(410);
    expect(await feedback()).toEqual([]);
  }
});

test("a browser gets a page, also for a dead link; HEAD and prefetch requests create no feedback", async () => {
  const { path, feedback, id } = await issue();
  const html = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
  expect((await call("HEAD", `${path}?score=1`)).status).toBe(200);
  expect((await call("GET", `${path}?score=1`, undefined, { ...html, "Sec-Purpose": "prefetch" })).status).toBe(503);
  expect(await feedback()).toEqual([]);
  const page = await call("GET", `${path}?score=1`, undefined, html);
  expect(page.headers.get("content-type")).toBe("text/html; charset=UTF-8");
  expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(page.headers.get("cache-control")).toBe("no-store");
  expect(page.text).toContain('<html lang="en">');
  expect(page.text).toContain("<h1>Thank you</h1>");
  expect(await feedback()).toHaveLength(1);

  await call("DELETE", `/feedback/tokens/${id}`);
  const expired = await call("GET", `${path}?score=1`, undefined, html);
  expect(expired.status).toBe(410);
  expect(expired.text).toContain("<h1>Feedback not recorded</h1>");
});

test("any origin may submit, also when the operator limits origins elsewhere", async () => {
  const { call: ask } = await testTracePlatform({ HEDDLE_CORS_ORIGINS: "https://console.example" });
  const headers = { Origin: "https://app.example", "Access-Control-Request-Method": "POST" };
  const allowed = async (path: string) =>
    (await ask("OPTIONS", path, undefined, headers)).headers.get("access-control-allow-origin");
  expect(await allowed(`/api/v1/feedback/tokens/${uuid7()}`)).toBe("*");
  expect(await allowed("/api/v1/feedback")).toBe(null);
});

test("other modules issue tokens through a function", async () => {
  const runs = [uuid7(), uuid7()];
  const expires_at = new Date(Date.now() + 60_000);
  const tokens = await issueFeedbackTokens(
    sql,
    "http://127.0.0.1:1984",
    WORKSPACE,
    runs.map((run_id) => ({ run_id, feedback_key: "k", expires_at })),
  );
  expect(tokens[1]!.url).toBe(`http://127.0.0.1:1984/api/v1/feedback/tokens/${tokens[1]!.id}`);
  expect(Date.parse(tokens[0]!.expires_at)).toBe(expires_at.getTime());
  await call("GET", `${new URL(tokens[1]!.url).pathname}?score=1`);
  expect((await call("GET", `/feedback?run=${runs[1]}`)).json).toHaveLength(1);
});
