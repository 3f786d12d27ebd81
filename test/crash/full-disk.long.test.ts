/**
 * A disk that is really full, under everything that a server writes: its Postgres, its traces, its log. Requests get
 * 503 with the reason, the process survives, probes report the state correctly, and service recovers once there is
 * space again.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { FileBlobStore } from "../../server/src/base/blob/blob-store.ts";
import { prependKey } from "../../server/src/base/secrets/key-file.ts";
import { receiveUpload } from "../../server/src/control/uploads/receive-upload.ts";
import { type Installation, newInstallation, ServerProcess } from "./server-process.ts";
import { TraceProcess } from "./trace-process.ts";

const SETTINGS = { HEDDLE_MIN_FREE_DISK_MB: "2", HEDDLE_LOG_LEVEL: "debug", HEDDLE_HOSTS: "1" };
const canMount = spawnSync("unshare", ["-m", "true"], { stdio: "ignore" }).status === 0;

/** Creates an installation on a separate file system. */
function smallInstallation(megabytes: number): Installation {
  const installation = newInstallation();
  const { directory, remove } = installation;
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=755`, "tmpfs", directory]);
  onTestFinished(() => {
    execFileSync("umount", ["-l", directory]);
    remove();
  });
  return installation;
}

/** Fills the disk to the last byte. @returns a function that frees the space */
function fill({ directory }: Installation): () => void {
  const file = join(directory, "filler");
  const descriptor = openSync(file, "w");
  for (let size = 1 << 22; size >= 1;) {
    try {
      if (writeSync(descriptor, Buffer.alloc(size)) < size) size >>= 1;
    } catch {
      size >>= 1;
    }
  }
  closeSync(descriptor);
  return () => rmSync(file);
}

async function ask(url: string, method = "GET", body?: object): Promise<{ status: number; text: string }> {
  const init = { method, ...(body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }) };
  const response = await fetch(url, init);
  return { status: response.status, text: await response.text() };
}

const ready = async (url: string) => {
  const { status, text } = await ask(`${url}/ready`);
  return `${status} ${(JSON.parse(text) as { detail?: string }).detail ?? ""}`;
};

test.skipIf(!canMount)(
  "an agent server on a full disk responds with 503 and the reason, stays alive, and recovers",
  async () => {
    const installation = smallInstallation(200);
    const server = await ServerProcess.create(installation, SETTINGS);
    onTestFinished(() => server.stop());
    await server.start();
    await expect.poll(() => ready(server.url)).toBe("200 ");
    const { pid } = server;
    const create = (megabytes: number) =>
      ask(`${server.url}/threads`, "POST", {
        metadata: { filler: randomUUID().repeat((megabytes * 1024 * 1024) / 36) },
      });
    const thread = JSON.parse((await create(0.1)).text) as { thread_id: string };

    const makeRoom = fill(installation);
    const answers = [];
    for (let i = 0; i < 12; i++) answers.push(await create(0.5));
    const rejected = answers.filter(({ status }) => status !== 200);
    expect(rejected.length).toBeGreaterThan(0);
    for (const response of rejected) expect(response.status).toBe(503);
    expect(rejected.map(({ text }) => text)).toContain("The database's disk is full.");
    await expect.poll(() => ready(server.url)).toMatch(/^503 .*disk full/);
    expect((await ask(`${server.url}/ok`)).status).toBe(200);

    makeRoom();
    await expect.poll(() => ready(server.url)).toBe("200 ");
    expect((await ask(`${server.url}/threads/${thread.thread_id}`)).status).toBe(200);
    const run = await ask(`${server.url}/runs/wait`, "POST", { assistant_id: "echo", input: {} });
    expect(run.status).toBe(200);
    server.assertAlive();
    expect(server.pid).toBe(pid);
  },
);

test.skipIf(!canMount)(
  "a trace platform on a full disk responds with 503 and the reason, stays alive, and recovers",
  async () => {
    const installation = smallInstallation(300);
    const server = await TraceProcess.create(installation);
    onTestFinished(() => server.stop());
    await server.start(SETTINGS);
    const send = () => {
      const id = randomUUID();
      const start_time = "2026-11-21T10:00:00.000001Z";
      const fields = { trace_id: id, dotted_order: `20261121T100000000001Z${id}`, session_name: "full" };
      const inputs = { text: Array.from({ length: 6000 }, () => randomUUID()).join(" ") };
      return ask(`${server.url}/runs`, "POST", { id, name: "n", run_type: "chain", start_time, inputs, ...fields });
    };
    expect((await send()).status).toBe(202);

    const makeRoom = fill(installation);
    const answers = [];
    for (let i = 0; i < 8; i++) answers.push(await send());
    for (const { status } of answers) expect([202, 503]).toContain(status);
    expect(answers.at(-1)).toEqual({ status: 503, text: expect.stringMatching(/disk is full/) });
    await expect.poll(() => ready(server.url)).toMatch(/^503 .*disk full/);
    expect((await ask(`${server.url}/ok`)).status).toBe(200);

    makeRoom();
    await expect.poll(() => ready(server.url)).toBe("200 ");
    expect((await send()).status).toBe(202);
  },
);

test.skipIf(!canMount)("a write that does not fit fails completely and leaves nothing behind", async () => {
  const { directory } = smallInstallation(1);
  const keys = join(directory, "secrets.keys");
  const text = `${"0123456789abcdef:key\n".repeat(30_000)}`;
  writeFileSync(keys, text);
  expect(() => prependKey(keys, "ffffffffffffffff:key")).toThrow("ENOSPC");
  expect(readFileSync(keys, "utf8")).toBe(text);

  const blobs = new FileBlobStore(join(directory, "blobs"));
  await expect(blobs.put("a/b", randomBytes(2 << 20))).rejects.toThrow("ENOSPC");
  expect(readdirSync(join(directory, "blobs", "a"))).toEqual([]);

  const archive = Buffer.concat([Buffer.of(0x1f, 0x8b), randomBytes(2 << 20)]);
  const upload = receiveUpload(new Blob([archive]).stream(), join(directory, "uploads", "x"), 1 << 30);
  await expect(upload).rejects.toMatchObject({ status: 503, headers: { "Retry-After": "5" } });
  expect(readdirSync(join(directory, "uploads"))).toEqual([]);
  expect(readdirSync(directory).toSorted()).toEqual(["blobs", "secrets.keys", "uploads"]);
});
