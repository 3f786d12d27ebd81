/** Budgets on real databases. Background evaluation is off: each test evaluates at its own times. */
import { expect, test, vi } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { receiver } from "../../../test/receiver.ts";
import { type SampleRun, sampleRun, sendRuns } from "../../../test/sample-runs.ts";
import { testTracePlatform } from "../../../test/trace-platform.ts";
import { claimAlertRule } from "../alerts/evaluation-sql.ts";
import { evaluateBudget } from "./evaluate-budget.ts";
import { budget } from "./schema.ts";

const db = await testDatabase();
const env = { HEDDLE_ALERT_CONCURRENCY: "0", HEDDLE_WEBHOOK_RETRY_MS: "50" };
const { call, sql, platform } = await testTracePlatform(env, { db });
const waitFor = <T>(what: () => T | Promise<T>) => vi.waitFor(what, { timeout: 20_000, interval: 30 });

let count = 0;
async function project() {
  const name = `budget-${++count}`;
  return { id: (await call("POST", "/sessions", { name })).json.id as string, name };
}

/** A trace of one model call below a root that names its user. */
function spend(project: string, at: string, total_cost: number | undefined, user?: string): SampleRun[] {
  const start_time = at.replace("Z", ".000000Z");
  const extra = { metadata: user === undefined ? {} : { user_id: user } };
  const root = sampleRun(project, { start_time, extra });
  const usage = { input_tokens: 9, output_tokens: 1, total_tokens: 10, total_cost };
  const outputs = total_cost === undefined ? {} : { usage_metadata: usage };
  return [root, sampleRun(project, { start_time, run_type: "llm", outputs }, { parent: root })];
}

const send = (runs: SampleRun[][]) => sendRuns(call, runs.flat());

async function create(session_id: string | null, terms: object) {
  const created = await call("POST", "/v1/platform/budgets", { name: "Models", limit_usd: 100, session_id, ...terms });
  expect([created.status, created.text]).toEqual([201, expect.anything()]);
  expect(Object.keys(created.json).toSorted()).toEqual(Object.keys(budget.shape).toSorted());
  return created.json.id as string;
}

/** Evaluates a budget as of a time; the last evaluation is forgotten, as after a restart. */
async function evaluate(id: string, at: string) {
  await sql`update alert_rules set available_at = '2000-01-01', evaluated_at = null where rule_id = ${id}`;
  const claimed = (await claimAlertRule(sql, 60, []))!;
  expect(claimed.rule_id).toBe(id);
  await evaluateBudget(platform.deps, { ...claimed, now: new Date(at) }, new AbortController().signal);
}

const read = async (id: string, month = "2026-10") =>
  (await call("GET", `/v1/platform/budgets/${id}?month=${month}`)).json;
const notices = async (id: string) =>
  (await call("GET", `/v1/platform/alert-incidents?alert_rule_id=${id}&limit=200`)).json as {
    group: string;
    level: string;
    period: string;
    value: number;
    threshold: number;
    status: string;
    reason: string | null;
  }[];
const levels = async (id: string) => (await notices(id)).map(({ period, level }) => `${period} ${level}`).toSorted();

test("traces of which the root went elsewhere count as in the totals of their project", async () => {
  const { id: session, name } = await project();
  const { name: other } = await project();
  const id = await create(session, {});
  const whole = await create(null, {});
  const [root, call_] = spend(name, "2026-08-12T10:00:00Z", 8, "ada");
  const [, lost] = spend(name, "2026-08-12T11:00:00Z", 4);
  await sendRuns(call, [{ ...root!, session_name: other }, call_!, lost!]);
  for (const budget of [id, whole]) await evaluate(budget, "2026-08-21T00:00:00Z");
  expect((await read(id, "2026-08")).month).toMatchObject({ spent_usd: 12 });
  const { json } = await call("GET", `/sessions/${session}?include_stats=true`);
  expect(Number(json.total_cost)).toBe(12);
  // once in the whole workspace, though it has a head in each of its projects
  expect((await read(whole, "2026-08")).month).toMatchObject({ spent_usd: 12 });
});

test("spend is that of the month, its forecast goes on at the mean of the recent days", async () => {
  const { id: session, name } = await project();
  const id = await create(session, {});
  await send([spend(name, "2026-09-30T23:59:59Z", 1000), spend(name, "2026-10-02T10:00:00Z", 45)]);
  await evaluate(id, "2026-10-21T00:00:00Z");
  expect(await levels(id)).toEqual([]);
  expect((await read(id)).month).toMatchObject({ spent_usd: 45, forecast_usd: 45, reached: null });
  expect((await read(id, "2026-09")).month).toMatchObject({ spent_usd: 1000, reached: 100 });

  await send([spend(name, "2026-10-20T10:00:00Z", 7)]);
  await evaluate(id, "2026-10-21T12:00:00Z");
  await evaluate(id, "2026-10-21T12:00:00Z");
  expect(await levels(id)).toEqual(["2026-10 50", "2026-10 forecast"]);
  // 7 in the day and a half since the first spend of the week, for 10.5 days
  expect((await read(id)).month).toMatchObject({ spent_usd: 52, forecast_usd: 101, reached: 50 });
});

test("each threshold of a month is told once, also for costs that arrive late, and one that is skipped not", async () => {
  const { id: session, name } = await project();
  const hook = await receiver();
  const slack = await receiver();
  const id = await create(session, {
    actions: [
      { target: "webhook", config: { url: hook.url } },
      { target: "slack", config: { url: slack.url } },
    ],
  });
  const late = spend(name, "2026-10-10T10:00:00Z", undefined);
  await send([spend(name, "2026-10-09T10:00:00Z", 10), late]);
  await evaluate(id, "2026-10-10T12:00:00Z");
  expect(await levels(id)).toEqual(["2026-10 forecast"]);
  expect((await notices(id))[0]).toMatchObject({ value: expect.closeTo(153.33, 2), threshold: 100 });
  // the cost of a run of the past day arrives after it
  const outputs = { usage_metadata: { input_tokens: 9, output_tokens: 1, total_tokens: 10, total_cost: 75 } };
  await call("PATCH", `/runs/${late[1]!.id}`, { trace_id: late[0]!.id, dotted_order: late[1]!.dotted_order, outputs });
  for (const at of ["2026-10-11T12:00:00Z", "2026-10-11T12:05:00Z"]) await evaluate(id, at);
  expect(await levels(id)).toEqual(["2026-10 80", "2026-10 forecast"]);
  await send([spend(name, "2026-10-31T23:00:00Z", 20)]);
  // the month stays under watch for three days
  await evaluate(id, "2026-11-01T00:10:00Z");
  await evaluate(id, "2026-10-31T23:50:00Z");
  await evaluate(id, "2026-11-01T00:10:00Z");
  expect((await levels(id)).filter((level) => level.startsWith("2026-10"))).toEqual([
    "2026-10 100",
    "2026-10 80",
    "2026-10 forecast",
  ]);
  expect((await notices(id)).every(({ status }) => status === "firing")).toBe(true);
  await evaluate(id, "2026-11-04T00:10:00Z");
  const ended = (await notices(id)).filter(({ period }) => period === "2026-10");
  expect(ended.map(({ reason }) => reason)).toEqual(Array(3).fill("period_ended"));
  await waitFor(() => {
    const events = hook.received.filter(({ json }) => json.period === "2026-10").map(({ json }) => json.event);
    expect(events.toSorted()).toEqual([...Array(3).fill("alert.firing"), ...Array(3).fill("alert.resolved")]);
  });
  const texts = slack.received.map(({ json }) => json.text as string).filter((text) => text.includes("2026-10"));
  expect(texts).toHaveLength(3);
  expect(texts.join()).toContain("cost: $105 (≥ 100 % of the budget of $100 for 2026-10)");
  // what was spent stays known when the runs are gone
  await sql`update budget_days set read_at = now()`;
  expect((await read(id)).month.spent_usd).toBe(105);
});

test("a budget of users watches a thousand of them, whatever they are called", async () => {
  const { id: session, name } = await project();
  const id = await create(session, { per: "user", limit_usd: 10, forecast_threshold: null });
  const hostile = [
    "",
    "<!channel> [x](http://evil.example)",
    "a\u0000b\u001e\u001f",
    "\ud800",
    "Robert'); drop",
    "'\\",
  ];
  const users = [...hostile, "y".repeat(100_000), ...Array.from({ length: 1000 }, (_, n) => `user-${n}`)];
  await send(users.map((user, n) => spend(name, "2026-10-05T10:00:00Z", n < 150 ? 9 : 0.5, user)));
  await send([spend(name, "2026-10-06T10:00:00Z", 3, "user-0"), spend(name, "2026-10-06T10:00:00Z", 3)]);
  await evaluate(id, "2026-10-07T00:00:00Z");
  expect(await notices(id)).toHaveLength(100);
  for (let n = 0; n < 3; n++) await evaluate(id, "2026-10-07T00:05:00Z");
  const given = await notices(id);
  // without the user of an empty name
  expect(given).toHaveLength(149);
  expect(new Set(given.map(({ group }) => group)).size).toBe(149);
  expect(given.find(({ group }) => group === "user-0")).toMatchObject({ level: "100", value: 12, threshold: 10 });
  expect((await read(id)).month).toMatchObject({
    user: "user-0",
    compared_usd: 12,
    spent_usd: 150 * 9 + 857 * 0.5 + 6,
    reached: 100,
  });
  const found = await call("GET", `/v1/platform/budgets/${id}/spend?month=2026-10&search=CHANNEL`);
  expect(found.json.users).toMatchObject([{ user: hostile[1], spent_usd: 9, percent_of_limit: 90 }]);
  expect(found.json.days.find(({ day }: { day: string }) => day === "2026-10-06")).toMatchObject({ spent_usd: 6 });
  const page = await call("GET", `/v1/platform/budgets/${id}/spend?month=2026-10&limit=200&offset=900`);
  expect(page.json.users).toHaveLength(106);
});

test("months and days are those of the time zone; a raised limit ends its notices and gives new ones", async () => {
  const { id: session, name } = await project();
  const id = await create(session, { time_zone: "Europe/Berlin", forecast_threshold: null });
  // 00:30 of November in Berlin, 00:30 and 02:30 of the day that has 25 hours
  await send([
    spend(name, "2026-10-31T23:30:00Z", 60),
    spend(name, "2026-10-24T22:30:00Z", 1),
    spend(name, "2026-10-25T22:30:00Z", 2),
  ]);
  await evaluate(id, "2026-11-02T12:00:00Z");
  expect(await levels(id)).toEqual(["2026-11 50"]);
  const october = (await call("GET", `/v1/platform/budgets/${id}/spend?month=2026-10`)).json;
  expect(october.days.filter((day: { spent_usd: number }) => day.spent_usd > 0)).toEqual([
    { day: "2026-10-25", spent_usd: 3 },
  ]);
  expect((await read(id, "2026-11")).month).toMatchObject({
    since: "2026-10-31T23:00:00.000Z",
    until: "2026-11-30T23:00:00.000Z",
    spent_usd: 60,
  });
  const change = (body: object) => call("PATCH", `/v1/platform/budgets/${id}`, body);
  // another threshold gives no notice again
  expect((await change({ thresholds: [50, 55, 80] })).json.thresholds).toEqual([50, 55, 80]);
  await evaluate(id, "2026-11-02T12:05:00Z");
  expect(await levels(id)).toEqual(["2026-11 50", "2026-11 55"]);
  await change({ limit_usd: 120, thresholds: [50] });
  await evaluate(id, "2026-11-02T12:10:00Z");
  expect((await notices(id)).map(({ threshold, status, reason }) => [threshold, status, reason])).toEqual([
    [60, "firing", null],
    [55, "resolved", "changed"],
    [50, "resolved", "changed"],
  ]);
});

test("rejects terms that it cannot watch, and names the field", async () => {
  const post = (terms: object) => call("POST", "/v1/platform/budgets", { name: "Models", limit_usd: 100, ...terms });
  const wrong: [string, object][] = [
    ["limit_usd", { limit_usd: 0 }],
    ["limit_usd", { limit_usd: "many" }],
    ["name", { name: " " }],
    ["time_zone", { time_zone: "Mars/Olympus" }],
    ["time_zone", { time_zone: "+02:00" }],
    ["thresholds", { thresholds: [0] }],
    ["filter", { filter: "eq(" }],
    ["per", { per: "planet" }],
    ["actions.0.config.url", { actions: [{ target: "slack", config: { url: "http://169.254.169.254/" } }] }],
  ];
  for (const [field, terms] of wrong) {
    const { status, text } = await post(terms);
    expect([field, status, text]).toEqual([field, 422, expect.stringContaining(field.split(".").at(-1)!)]);
  }
  expect((await post({ session_id: crypto.randomUUID() })).status).toBe(404);
  const { id } = (await post({})).json;
  // a budget is no alert rule, and an alert rule no budget
  expect((await call("GET", `/v1/platform/alerts/all/${id}`)).status).toBe(404);
  expect((await call("PATCH", `/v1/platform/alerts/all/${id}`, { rule: { name: "x" } })).status).toBe(404);
  expect((await call("DELETE", `/v1/platform/alerts/all/${id}`)).status).toBe(404);
  expect((await call("GET", `/v1/platform/budgets/${id}/spend?month=2026-13`)).status).toBe(422);
  expect((await call("DELETE", `/v1/platform/budgets/${id}`)).status).toBe(200);
  expect((await call("GET", `/v1/platform/budgets/${id}`)).status).toBe(404);
});
