/**
 * A new revision every ten seconds while waits, streams and background runs continue at the same address: no request
 * fails, no step is lost or repeated, no frame is dropped. Takes 40 s; HEDDLE_STORM_SECONDS=300 runs longer (`npm run
 * storm`).
 */
import { rmSync } from "node:fs";

import { afterAll, expect, test } from "vitest";

import { dropDeploymentDatabases, testDataDirectory } from "../../server/test/control-plane.ts";
import { testDatabase } from "../../server/test/db.ts";
import { createArchive, createDeployment, deployArchive } from "../../server/test/deploy.ts";
import { ControlProcess } from "./control-process.ts";
import { revisionStorm } from "./revision-storm.ts";

const seconds = Number(process.env["HEDDLE_STORM_SECONDS"] ?? 40);
const db = await testDatabase();
const directory = testDataDirectory();
const control = await ControlProcess.create(directory, db.uri);
afterAll(async () => {
  await control.end("SIGTERM");
  await dropDeploymentDatabases(db);
  rmSync(directory, { recursive: true, force: true });
}, 60_000);

test(
  "successive revisions cause callers of the deployment no errors",
  async () => {
    await control.start({ HEDDLE_DRAIN_SECONDS: "60", HEDDLE_MIN_HEALTHY_MS: "500", HEDDLE_LOG_LEVEL: "warn" });
    const outcome = await revisionStorm({
      url: control.url,
      call: control.call,
      database: db.uri,
      create: (name, secrets) => createDeployment(control.call, name, secrets),
      deploy: (id, files) => deployArchive(control.call, id, createArchive(files)),
      forMs: seconds * 1000,
      everyMs: 10_000,
      pauseMs: 100,
      say: (line) => console.log(line),
    });
    const { wrong, ...statistics } = outcome;
    const quantile = (values: number[], share: number) =>
      values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1];
    console.log(
      JSON.stringify({
        ...statistics,
        switches: { median: quantile(statistics.switches, 0.5), longest: Math.max(...statistics.switches) },
        deployments: { median: quantile(statistics.deployments, 0.5), longest: Math.max(...statistics.deployments) },
      }),
    );
    expect(wrong).toEqual([]);
    // revisions may supersede one another, but several must have served
    expect(statistics.revisions["DEPLOYED"]).toBeGreaterThanOrEqual(Math.min(3, seconds / 10));
    expect(Object.keys(statistics.revisions).filter((status) => !/^(DEPLOYED|SKIPPED)$/.test(status))).toEqual([]);
    expect(statistics.servers).toBeGreaterThanOrEqual(statistics.revisions["DEPLOYED"]! - 1);
    expect(statistics.runs).toBeGreaterThan(seconds);
  },
  seconds * 1000 + 200_000,
);
