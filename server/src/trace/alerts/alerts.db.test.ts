/** Alert rules on real databases, with receivers on loopback. Ticks are moved by changing the rule's row. */
import { randomBytes } from "node:crypto";

import { Webhook } from "standardwebhooks";
import { expect, test, vi } from "vitest";

import { ALL_PERMISSIONS, type Permission } from "../../base/auth/permissions.ts";
import { testDatabase } from "../../../test/db.ts";
import { receiver } from "../../../test/receiver.ts";
import { microseconds, sampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { smtpServer } from "../../../test/smtp-server.ts";
import { createCaller } from "../../../test/call.ts";
import { openGuard, testPrincipal } from "../../../test/principal.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { createTraceApp } from "../../trace-app.ts";
import { PLATFORM_METRICS, type PlatformMetric } from "./definition.ts";
import { readPlatformMetric } from "./platform-metrics.ts";

const SECRET = `whsec_${randomBytes(32).toString("base64")}`;
const smtp = await smtpServer();
const pagerduty = await receiver((response) => response.writeHead(202).end('{"status":"success"}'));
const db = await testDatabase();
const { call, sql, platform } = await testTracePlatform(
  {
    HEDDLE_WEBHOOK_SECRETS: SECRET,
    HEDDLE_WEBHOOK_RETRY_MS: "50",
    HEDDLE_SMTP_URL: smtp.url,
    HEDDLE_SMTP_FROM: "Heddle <alerts@heddle.example>",
    HEDDLE_PAGERDUTY_URL: `${pagerduty.url}/v2/enqueue`,
    HEDDLE_CONSOLE_URL: "https://heddle.example",
  },
  { db },
);
const waitFor = <T>(what: () => T | Promise<T>) => vi.waitFor(what, { timeout: 20_000, interval: 30 });

let count = 0;
async function project() {
  const name = `watched-${++count}`;
  const { json } = await call("POST", "/sessions", { name });
  /** Sends runs that began in the past minutes. */
  const runs = (number: number, minutesAgo: number, fields: object = {}) =>
    sendRuns(
      call,
      Array.from({ length: number }, (_, index) =>
        sampleRun(name, { start_time: microseconds(Date.now() - minutesAgo * 60_000 - index), ...fields }),
      ),
    );
  return { id: json.id as string, name, runs };
}

function callerWith(permissions: Permission[]) {
  const authenticator = { authenticate: () => testPrincipal(undefined, permissions) };
  return createCaller(createTraceApp(platform.deps, { ...openGuard, authenticator }));
}

const RULE = {
  name: "Errors",
  description: "",
  type: "threshold",
  attribute: "error_count",
  aggregation: "sum",
  operator: "gt",
  threshold: 2,
  window_minutes: 5,
};

async function create(session: string, rule: object = {}, actions: object[] = []) {
  const created = await call("POST", `/v1/platform/alerts/${session}`, { rule: { ...RULE, ...rule }, actions });
  expect([created.status, created.text]).toEqual([201, expect.anything()]);
  return created.json.rule.id as string;
}

const read = async (session: string, id: string) => (await call("GET", `/v1/platform/alerts/${session}/${id}`)).json;
interface Shown {
  group: string;
  value: number;
  last_value: number;
  fired_at: string;
  began_at: string;
  deliveries: { status: string; recipient: string | null }[];
}
const incidents = async (id: string) =>
  (await call("GET", `/v1/platform/alert-incidents?alert_rule_id=${id}`)).json as Shown[];

/** Lets the next ticks come at once: as if the last evaluation had been minutes ago. */
async function pass(id: string, minutes = 1): Promise<void> {
  await waitFor(async () => {
    const updated = await sql`
      update alert_rules set available_at = now(), evaluated_at = date_trunc('minute', now()) - make_interval(mins => ${minutes})
      where rule_id = ${id} and lease_id is null and available_at > now() returning 1`;
    expect(updated).toHaveLength(1);
  });
  platform.deps.alertEvaluator.wake();
  await waitFor(async () => {
    const [now] = await sql<{ done: boolean; error: string | null }[]>`
      select lease_id is null and available_at > now() as done, error from alert_rules where rule_id = ${id}`;
    expect(now).toEqual({ done: true, error: null });
  });
}

test("a firing and its resolution reach every channel once, in order, signed and without secrets in the API", async () => {
  const { id: session, runs, name } = await project();
  const hook = await receiver((response, _, times) => response.writeHead(times === 1 ? 500 : 200).end());
  const [slack, teams] = [await receiver(), await receiver()];
  const rule = await create(session, { severity: "critical", filter: 'eq(name, "sample")' }, [
    { target: "webhook", config: { url: `${hook.url}/alerts`, headers: { authorization: "Bearer sesame" } } },
    { target: "slack", config: { url: `${slack.url}/services/T0/sesame` } },
    { target: "teams", config: { url: `${teams.url}/workflows/sesame` } },
    { target: "pagerduty", config: { routing_key: "sesame-key" } },
    { target: "email", config: { to: ["ops@heddle.example"] } },
  ]);
  const shown = await read(session, rule);
  expect(JSON.stringify(shown)).not.toContain("sesame");
  const stored = await sql`select row_to_json(r)::text as text from alert_rules r`;
  expect(JSON.stringify(stored)).not.toContain("sesame");

  await runs(3, 1, { error: "ValueError('no')" });
  await pass(rule);
  expect((await read(session, rule)).rule).toMatchObject({ status: "firing", firing: 1, session_name: name });
  await waitFor(() => {
    expect([hook, slack, teams, pagerduty].map(({ received }) => received.length)).toEqual([2, 1, 1, 1]);
    expect(smtp.received).toHaveLength(1);
  });
  const [failed, fired] = hook.received;
  expect(fired!.headers["webhook-id"]).toBe(failed!.headers["webhook-id"]);
  expect(fired!.headers["authorization"]).toBe("Bearer sesame");
  new Webhook(SECRET).verify(fired!.body, fired!.headers as Record<string, string>);
  expect(fired!.json).toMatchObject({
    event: "alert.firing",
    severity: "critical",
    value: 3,
    threshold: 2,
    rule: { id: rule, name: "Errors", session_name: name },
    url: `https://heddle.example/alerts/${rule}`,
  });
  expect(slack.received[0]).toMatchObject({
    path: "/services/T0/sesame",
    json: { text: expect.stringContaining("3") },
  });
  expect(teams.received[0]!.json).toMatchObject({
    type: "message",
    attachments: [{ contentType: "application/vnd.microsoft.card.adaptive", content: { type: "AdaptiveCard" } }],
  });
  const key = fired!.json.incident_id as string;
  expect(pagerduty.received[0]!.json).toMatchObject({
    routing_key: "sesame-key",
    event_action: "trigger",
    dedup_key: key,
    payload: { severity: "critical", summary: expect.stringContaining("Errors"), source: `heddle/${session}` },
  });
  expect(smtp.received[0]).toMatchObject({ from: "alerts@heddle.example", to: ["ops@heddle.example"] });
  expect(smtp.received[0]!.text).toMatch(/^Subject: Firing: Errors$/m);

  await pass(rule);
  await sql`update alert_rules set definition = definition || '{"threshold": 3}' where rule_id = ${rule}`;
  await pass(rule);
  await waitFor(() => expect([hook, pagerduty].map(({ received }) => received.length)).toEqual([3, 2]));
  expect(hook.received[2]!.json).toMatchObject({ event: "alert.resolved", incident_id: key, reason: "recovered" });
  expect(pagerduty.received[1]!.json).toEqual({
    routing_key: "sesame-key",
    event_action: "resolve",
    dedup_key: key,
  });
  await waitFor(async () => {
    const [incident] = await incidents(rule);
    expect(incident).toMatchObject({ id: key, status: "resolved", value: 3, worst_value: 3, threshold: 3 });
    expect(incident!.deliveries.map((delivery) => delivery.status)).toEqual(Array(10).fill("delivered"));
  });
});

test("a condition must hold for some evaluations, and missed ticks are made up for", async () => {
  const { id: session, runs } = await project();
  const rule = await create(session, { for_evaluations: 3 });
  await runs(3, 4, { error: "no" });
  await pass(rule);
  expect((await read(session, rule)).rule).toMatchObject({ status: "pending", pending: 1 });
  await sql`delete from alert_groups where rule_id = ${rule}`;
  await pass(rule, 4);
  const [incident] = await incidents(rule);
  const { evaluated_at } = (await read(session, rule)).rule;
  // the third of the four ticks, or of five if a minute has passed meanwhile
  expect([60_000, 120_000]).toContain(Date.parse(evaluated_at) - Date.parse(incident!.fired_at));
  expect(Date.parse(incident!.fired_at) - Date.parse(incident!.began_at)).toBe(120_000);
  expect((await read(session, rule)).rule.error).toBeNull();
});

test("groups fire by themselves, with hysteresis, percentages and a minimum of runs", async () => {
  const { id: session, runs } = await project();
  const model = (name: string) => ({ run_type: "llm", extra: { metadata: { ls_model_name: name } } });
  const rule = await create(session, {
    aggregation: "pct",
    threshold: 40,
    resolve_threshold: 20,
    min_runs: 4,
    group_by: { attribute: "model" },
  });
  await runs(2, 1, { ...model("a"), error: "no" });
  await runs(2, 2, model("a"));
  await runs(1, 1, { ...model("b"), error: "no" });
  await pass(rule);
  expect((await incidents(rule)).map(({ group, value }) => [group, value])).toEqual([["a", 50]]);
  await runs(2, 1, model("a"));
  await pass(rule);
  expect((await incidents(rule))[0]).toMatchObject({ status: "firing", worst_value: 50 });
  expect(Math.round((await incidents(rule))[0]!.last_value)).toBe(33);
  await runs(10, 1, model("a"));
  await pass(rule);
  expect((await incidents(rule))[0]).toMatchObject({ status: "resolved", reason: "recovered" });
});

test("a rule whose groups are those of another metadata key resolves what fires, and one with another name does not", async () => {
  const { id: session, runs } = await project();
  const by = (path: string) => ({ group_by: { attribute: "metadata", path } });
  const rule = await create(session, by("customer"));
  const change = (fields: object) => call("PATCH", `/v1/platform/alerts/${session}/${rule}`, { rule: fields });
  await runs(3, 1, { error: "no", extra: { metadata: { customer: "a", team: "b" } } });
  await pass(rule);
  expect(await incidents(rule)).toMatchObject([{ group: "a", status: "firing" }]);
  expect((await change({ name: "other", description: "d", ...by("customer") })).status).toBe(200);
  expect(await incidents(rule)).toMatchObject([{ group: "a", status: "firing" }]);
  expect((await change(by("team"))).status).toBe(200);
  expect(await incidents(rule)).toMatchObject([{ group: "a", status: "resolved", reason: "changed" }]);

  // as the console sends a group without a path
  const named = await create(session, { group_by: { attribute: "name" } });
  await pass(named);
  const same = { rule: { group_by: { attribute: "name", path: null } } };
  expect((await call("PATCH", `/v1/platform/alerts/${session}/${named}`, same)).status).toBe(200);
  expect(await incidents(named)).toMatchObject([{ group: "sample", status: "firing" }]);
});

test("fires on a change against the previous period, on absence, and on feedback", async () => {
  const { id: session, runs, name } = await project();
  await runs(2, 8);
  await runs(7, 1);
  const change = await create(session, {
    type: "change",
    attribute: "run_count",
    threshold: null,
    threshold_multiplier: 3,
    threshold_window_minutes: 10,
  });
  await pass(change);
  // two runs in ten minutes are one in five
  expect((await incidents(change))[0]).toMatchObject({ value: 7, threshold: 3 });

  const absence = await create((await project()).id, { type: "absence", window_minutes: 10 });
  await pass(absence);
  expect(await incidents(absence)).toMatchObject([{ status: "firing", value: 0 }]);

  const scored = sampleRun(name, { start_time: microseconds(Date.now() - 60_000) });
  await sendRuns(call, [scored]);
  await call("POST", "/feedback", { run_id: scored.id, trace_id: scored.id, key: "helpful", score: 0.25 });
  const score = { attribute: "feedback_score", aggregation: "avg", operator: "lt", threshold: 0.5 };
  const feedback = await create(session, { ...score, feedback_key: "helpful" });
  await waitFor(async () => {
    await pass(feedback);
    expect(await incidents(feedback)).toMatchObject([{ value: 0.25 }]);
  });
});

test("a silenced rule fires without messages, and tells it when the silence ends", async () => {
  const { id: session, runs } = await project();
  const hook = await receiver();
  const later = new Date(Date.now() + 3_600_000).toISOString();
  const rule = await create(session, { silenced_until: later }, [{ target: "webhook", config: { url: hook.url } }]);
  await runs(3, 1, { error: "no" });
  await pass(rule);
  expect(await incidents(rule)).toMatchObject([{ status: "firing", told_at: null, deliveries: [] }]);
  await call("PATCH", `/v1/platform/alerts/${session}/${rule}`, { rule: { silenced_until: null } });
  await pass(rule);
  await waitFor(() => expect(hook.received.map(({ json }) => json.event)).toEqual(["alert.firing"]));
  await call("PATCH", `/v1/platform/alerts/${session}/${rule}`, { rule: { enabled: false } });
  await waitFor(() => expect(hook.received.map(({ json }) => json.event)).toEqual(["alert.firing", "alert.resolved"]));
  expect((await read(session, rule)).rule).toMatchObject({ status: "disabled", firing: 0 });
});

test("rejects what it cannot evaluate, and names the field", async () => {
  const { id: session } = await project();
  const post = (rule: object, actions: object[] = []) =>
    call("POST", `/v1/platform/alerts/${session}`, { rule: { ...RULE, ...rule }, actions });
  const wrong: [string, object, object[]?][] = [
    ["rule.filter", { filter: "eq(" }],
    ["rule.aggregation", { attribute: "latency", aggregation: "pct" }],
    ["rule.threshold", { threshold: null }],
    ["rule.threshold_multiplier", { type: "change" }],
    ["rule.resolve_threshold", { resolve_threshold: 3 }],
    ["rule.interval_minutes", { interval_minutes: 6 }],
    ["window_minutes", { window_minutes: 10_081 }],
    ["actions.0.target", {}, [{ target: "dynatrace" }]],
    ["actions.0.config.url", {}, [{ target: "slack", config: { url: "http://169.254.169.254/latest" } }]],
    ["actions.0.config.routing_key", {}, [{ target: "pagerduty", config: { routing_key: "••••••••" } }]],
  ];
  for (const [field, rule, actions] of wrong) {
    const { status, text } = await post(rule, actions);
    expect([field, status, text]).toEqual([field, 422, expect.stringContaining(field.split(".").at(-1)!)]);
  }
  const id = await create(session, {}, [{ target: "pagerduty", config: { routing_key: "sesame" } }]);
  // masked values keep the stored ones, also with contract's whole bodies
  const { rule, actions } = await read(session, id);
  const changed = await call("PATCH", `/v1/platform/alerts/${session}/${id}`, {
    rule: { ...RULE, name: "New" },
    actions,
  });
  expect([changed.status, changed.json.rule]).toEqual([
    200,
    { ...rule, name: "New", updated_at: expect.any(String), evaluated_at: changed.json.rule.evaluated_at },
  ]);
  expect(changed.json.actions[0].id).toBe(actions[0].id);
  expect(
    (await call("GET", "/v1/platform/alerts")).json.map((item: { rule: { id: string } }) => item.rule.id),
  ).toContain(id);
  expect((await call("DELETE", `/v1/platform/alerts/${session}/${id}`)).status).toBe(200);
  expect((await call("GET", `/v1/platform/alerts/${session}/${id}`)).status).toBe(404);
  expect(await platform.deps.secrets.get({ purpose: "alert-rule", id })).toBeNull();
});

test("a test message reports the exact answers of the receivers", async () => {
  const { id: session } = await project();
  const slack = await receiver((response) => response.writeHead(403).end("invalid_token"));
  const { json } = await call("POST", `/v1/platform/alerts/${session}/test`, {
    rule: { name: "Tried" },
    actions: [
      { target: "slack", config: { url: slack.url } },
      { target: "email", config: { to: ["ops@heddle.example"] } },
      { target: "email", config: { to: ["nobody@heddle.example"] } },
    ],
  });
  expect(json.results).toMatchObject([
    { target: "slack", status: "failed", status_code: 403, answer: "invalid_token" },
    { target: "email", status: "delivered", status_code: 250, answer: "250 2.0.0 queued as 1" },
    { target: "email", status: "failed", status_code: 550, answer: expect.stringContaining("no such user") },
  ]);
});

test("each recipient of an e-mail has its own retries, and a removed channel is told that the incident has ended", async () => {
  const { id: session, runs } = await project();
  const hook = await receiver();
  const before = smtp.received.length;
  const mail = {
    target: "email",
    config: { to: ["a@heddle.example", "nobody@heddle.example", "later@heddle.example"] },
  };
  const rule = await create(session, {}, [mail, { target: "webhook", config: { url: hook.url } }]);
  await runs(3, 1, { error: "no" });
  await pass(rule);
  await waitFor(async () => {
    const [incident] = await incidents(rule);
    const of = incident!.deliveries.map(({ recipient, status }) => `${recipient} ${status}`);
    expect(of.toSorted()).toEqual([
      "a@heddle.example delivered",
      "later@heddle.example delivered",
      "nobody@heddle.example failed",
      "null delivered",
    ]);
  });
  expect(smtp.received.slice(before).map(({ to }) => to.join())).toHaveLength(2);
  const shown = await read(session, rule);
  const actions = shown.actions.filter(({ target }: { target: string }) => target === "email");
  const changed = await call("PATCH", `/v1/platform/alerts/${session}/${rule}`, { actions });
  expect(changed.json.actions).toMatchObject([{ target: "email" }]);
  await waitFor(() => expect(hook.received.map(({ json }) => json.event)).toEqual(["alert.firing", "alert.resolved"]));
  expect(hook.received[1]!.json).toMatchObject({ reason: "channel_removed", resolved_at: expect.any(String) });
  await call("PATCH", `/v1/platform/alerts/${session}/${rule}`, { actions });
  expect((await sql`select jsonb_array_length(actions) as n from alert_rules where rule_id = ${rule}`)[0]).toEqual({
    n: 1,
  });
  expect((await incidents(rule))[0]).toMatchObject({ status: "firing" });
});

test("a preview counts how often a rule would have fired", async () => {
  const { id: session, runs } = await project();
  for (const hoursAgo of [2, 20, 200]) await runs(3, hoursAgo * 60, { error: "no" });
  const preview = (rule: object, hours?: number) =>
    call("POST", `/v1/platform/alerts/${session}/preview`, { rule: { ...RULE, ...rule }, hours });
  const whole = (await preview({})).json;
  expect([whole.fired, whole.incidents.map(({ value }: { value: number }) => value)]).toEqual([3, [3, 3, 3]]);
  expect((await preview({}, 24)).json).toMatchObject({ fired: 2, step_minutes: 1 });
  expect((await preview({ threshold: 3 })).json.fired).toBe(0);
  expect(whole.series[0].points.length).toBeGreaterThan(100);
  const reader = callerWith(["rules:read"]);
  const answer = await reader("POST", `/v1/platform/alerts/${session}/preview`, { rule: RULE });
  expect([answer.status, answer.text]).toEqual([403, expect.stringContaining("runs:read")]);
});

test("alerts on the platform read the shared database, and are for its administrators", async () => {
  const { organizationId } = testPrincipal();
  await sql`insert into organizations (id, display_name) values (${organizationId}, 'First')`;
  const rule = { attribute: "platform.failing_checks", aggregation: "avg", operator: "gte", threshold: 0 };
  const id = await create("all", rule);
  await pass(id, 5);
  expect(await incidents(id)).toMatchObject([{ status: "firing", value: 0 }]);
  const post = (fields: object, session = "all") =>
    call("POST", `/v1/platform/alerts/${session}`, { rule: { ...RULE, ...rule, ...fields }, actions: [] });
  for (const fields of [{ aggregation: "sum" }, { type: "absence" }, { filter: "eq(is_root, true)" }]) {
    expect([fields, (await post(fields)).status]).toEqual([fields, 422]);
  }
  expect((await post({}, (await project()).id)).status).toBe(422);
  expect((await call("POST", "/v1/platform/alerts/all/preview", { rule: { ...RULE, ...rule } })).status).toBe(422);
  const metrics = Object.keys(PLATFORM_METRICS) as PlatformMetric[];
  for (const name of metrics) {
    const window = { since: new Date(Date.now() - 60_000), until: new Date() };
    expect([name, await readPlatformMetric(platform.deps, name, window)]).toEqual([name, 0]);
  }

  const permissions = ALL_PERMISSIONS.filter((permission) => permission !== "organization:manage");
  const other = callerWith(permissions);
  expect((await other("POST", "/v1/platform/alerts/all", { rule: { ...RULE, ...rule }, actions: [] })).status).toBe(
    403,
  );
  expect((await other("GET", `/v1/platform/alerts/all/${id}`)).status).toBe(404);
  expect((await other("PATCH", `/v1/platform/alerts/all/${id}`, { rule: { name: "x" } })).status).toBe(404);
  expect((await other("DELETE", `/v1/platform/alerts/all/${id}`)).status).toBe(404);
  const seen = await Promise.all(
    [
      "/v1/platform/alerts?limit=500",
      "/v1/platform/alerts/all?limit=500",
      "/v1/platform/alert-incidents?limit=200",
    ].map(async (path) => (await other("GET", path)).text),
  );
  expect(seen.join()).not.toContain(id);
});
