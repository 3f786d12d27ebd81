import { tmpdir } from "node:os";

import { expect, test } from "vitest";

import { createLog } from "../../base/log.ts";
import { GraphHost, type HostEvents, type HostOptions } from "./graph-host.ts";
import type { HostLaunch } from "./host-language.ts";

/** Starts a program that sends one frame and waits. Returns the reason why the host ended. */
function endOf(header: object, usesDatabase: boolean): Promise<string> {
  const program = `
    const head = Buffer.from(process.argv[1]);
    const prefix = Buffer.alloc(8);
    prefix.writeUInt32LE(head.length, 0);
    require("node:fs").writeSync(3, Buffer.concat([prefix, head]));
    setInterval(() => {}, 1000);`;
  const launch = {
    command: process.execPath,
    args: () => ["-e", program, JSON.stringify(header)],
    environment: {},
    project: {},
    usesDatabase,
  } as unknown as HostLaunch;
  return new Promise((resolve) => {
    const options = {
      launch,
      project: { dir: tmpdir(), env: {} },
      database: { uri: "postgres://nowhere", socket: null },
      ownCodeApi: { describe: () => "" },
      checkpoints: () => ({}),
      silenceMs: 8000,
      log: createLog("silent"),
    } as unknown as HostOptions;
    const host = new GraphHost(options, { onExit: (_host, reason) => resolve(reason) } as HostEvents);
    host.start();
  });
}

test.each([
  ["an unknown frame", { t: "run.paused" }, true, 'broke the protocol: unknown frame "run.paused"'],
  ["a checkpoint although the host has a connection", { t: "checkpoint.hurry" }, true, /access to the database/],
  [
    "values beyond the body",
    { t: "checkpoint.write", id: 1, item: { blobs: [{ bytes: 1 }], writes: [] } },
    false,
    "broke the protocol: a value exceeds the body of its frame",
  ],
])("%s ends the host", async (_title, header, usesDatabase, reason) => {
  expect(await endOf(header, usesDatabase)).toMatch(reason);
});
