import { spawn } from "node:child_process";
import { once } from "node:events";

import { expect, onTestFinished, test } from "vitest";

import { findListener } from "./flood.ts";

const SERVER = `
  const { openSync, closeSync } = require("node:fs");
  // a descriptor below the listener's
  const low = openSync("/dev/null");
  const server = require("node:net").createServer().listen(0, "127.0.0.1", () => {
    process.send(server.address().port);
    closeSync(low);
    for (;;) closeSync(openSync("/dev/null"));
  });
`;

test("finds the process that listens at a port while it opens and closes files", async () => {
  const server = spawn(process.execPath, ["--eval", SERVER], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  onTestFinished(() => void server.kill("SIGKILL"));
  const [port] = (await once(server, "message")) as [number];
  const found = Array.from({ length: 30 }, () => findListener(port));
  expect([...new Set(found)]).toEqual([server.pid]);
});
