/** The dashboard and the alerts in deploy/ against the metrics of running servers. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { createLog } from "../../server/src/base/log.ts";
import { Started } from "../../server/src/base/started.ts";
import { openGateway } from "../../server/src/control/gateway/open-gateway.ts";
import { atEnd } from "../../server/test/at-end.ts";
import { openGuard } from "../../server/test/principal.ts";
import { startSpaces } from "../../test/security/spaces.ts";

const path = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const read = (name: string) => readFileSync(path(name), "utf8");
const RULES = "deploy/prometheus/rules.yml";

const { db, all } = await startSpaces();
const started = new Started();
atEnd(() => started.stop());
const gateway = await openGateway(
  {
    database: { uri: db.uri, socket: null },
    log: createLog("silent"),
    host: "here",
    settings: { databasePool: 2, healthGraceSecs: 60 },
  },
  started,
);
const expositions = await Promise.all([
  ...all.map(async (space) => (await space.mount(openGuard).request("/metrics")).text()),
  gateway.metrics.registry.metrics(),
]);

/** Names of the series that servers of all roles expose. */
const exposed = new Set(["up"]);
for (const text of expositions) {
  for (const [, name, type] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    exposed.add(name!);
    if (type === "histogram") for (const suffix of ["_bucket", "_count", "_sum"]) exposed.add(name! + suffix);
  }
}

const named = (text: string) => [...new Set(text.match(/\b(?:heddle|nodejs|process)_[a-z\d_]+\b/g))];
const unknown = (text: string) => named(text).filter((name) => !exposed.has(name));

test("every metric of the alerts is exposed by a running server", () => {
  const expressions = read(RULES);
  expect(named(expressions).length).toBeGreaterThan(10);
  expect(unknown(expressions)).toEqual([]);
  expect(unknown(read("deploy/prometheus/rules.test.yml"))).toEqual([]);
});

test("every metric of the dashboard is exposed by a running server, and each of Heddle's is shown or documented", () => {
  const { panels } = JSON.parse(read("deploy/grafana/heddle.json")) as {
    panels: { title: string; targets?: { expr: string }[] }[];
  };
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  expect(expressions.length).toBeGreaterThan(40);
  expect(unknown(expressions.join("\n"))).toEqual([]);
  const documented = read("docs/observability.md");
  expect(unknown(documented)).toEqual([]);
  const types = expositions.flatMap((text) => [...text.matchAll(/^# TYPE (heddle_\S+) /gm)].map((match) => match[1]!));
  expect(types.filter((name) => !documented.includes(name))).toEqual([]);
});

test("every alert has a section in the runbook, and names it", () => {
  const rules = read(RULES);
  const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map((match) => match[1]!);
  const runbooks = [...rules.matchAll(/runbook: "docs\/observability.md#(\w+)"/g)].map((match) => match[1]!);
  const sections = [...read("docs/observability.md").matchAll(/^### (\w+)$/gm)].map((match) => match[1]!);
  expect(runbooks).toEqual(alerts.map((name) => name.toLowerCase()));
  expect(sections).toEqual(alerts);
});

const hasPromtool = spawnSync("promtool", ["--version"]).error === undefined;

test.skipIf(!hasPromtool)("promtool accepts the alerts, and they fire when they should", () => {
  for (const args of [
    ["check", "rules", path(RULES)],
    ["test", "rules", path("deploy/prometheus/rules.test.yml")],
  ]) {
    const { status, stdout, stderr } = spawnSync("promtool", args, { encoding: "utf8" });
    expect({ status, output: status === 0 ? "" : stdout + stderr }).toEqual({ status: 0, output: "" });
  }
});
