import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { pino } from "pino";
import { afterAll, expect, test } from "vitest";

import { openSecrets, type Secrets } from "../../../server/src/base/secrets/secrets.ts";
import { testDatabase } from "../../../server/test/db.ts";
import { runHeddle } from "../../test/run-heddle.ts";

const db = await testDatabase();
const dataDir = mkdtempSync(join(tmpdir(), "heddle-cli-secrets-"));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const heddle = (args: string[], env: Record<string, string> = {}) =>
  runHeddle(args, { DATABASE_URI: db.uri, HEDDLE_DATA_DIR: dataDir, ...env });

const open = (secretsKeys?: string): Promise<Secrets> =>
  openSecrets({
    sql: db.sql,
    log: pino({ level: "silent" }),
    dataDir,
    settings: { secretsKeys, secretsKeyFile: undefined },
  });
const ref = (id: string) => ({ purpose: "webhook", id, workspaceId: null });
const KEYS = join(dataDir, "secrets.keys");
const idsInFile = () => readFileSync(KEYS, "utf8").match(/^[^#:\n]+(?=:)/gm)!;

test("resumes a killed rotation with the same key while a server keeps working", async () => {
  const server = await open();
  for (let i = 0; i < 450; i++) await server.put(ref(`${i}`), `value ${i}`);
  const [old] = idsInFile();

  const killed = await heddle(["secrets", "rotate"], { HEDDLE_FAULT_POINTS: "secrets-batch-rewrapped:1" });
  expect(killed.signal).toBe("SIGKILL");
  const [fresh] = idsInFile();
  expect(fresh).not.toBe(old);
  const status = await heddle(["secrets", "status"]);
  expect(status.stdout).toContain(`${fresh}  200 secrets, current`);
  expect(status.stdout).toContain(`${old}  250 secrets`);
  await server.put(ref("meanwhile"), "written under the new key");
  expect(await server.get(ref("0"))).toBe("value 0");

  expect(await heddle(["secrets", "retire", "--key", old!])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("250 secrets still use the key"),
  });
  const done = await heddle(["secrets", "rotate"]);
  expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining("250 secrets re-encrypted") });
  expect(idsInFile()).toEqual([fresh, old]);
  expect(await heddle(["secrets", "retire", "--key", old!])).toMatchObject({ code: 0 });
  expect(idsInFile()).toEqual([fresh]);
  expect(await heddle(["secrets", "retire", "--key", fresh!])).toMatchObject({ code: 1 });
  const restarted = await open();
  for (const id of ["0", "300", "449"]) expect(await restarted.get(ref(id))).toBe(`value ${id}`);
  expect(await restarted.get(ref("meanwhile"))).toBe("written under the new key");

  const log = await db.sql`select actor_kind, operation, target from audit_log where actor_kind = 'system' order by id`;
  expect(log).toMatchObject([
    { operation: "heddle secrets rotate", target: { to: fresh, rewrapped: "250" } },
    { operation: "heddle secrets retire", target: { key: old } },
  ]);
});

test("rotates to the first key of the environment, and reports when it is already in use", async () => {
  const line = readFileSync(KEYS, "utf8").match(/^[^#\n]+:.+$/m)![0];
  const generated = (await heddle(["secrets", "generate"])).stdout.trim();
  expect(generated).toMatch(/^\d{4}-\d\d-\d\d-[0-9a-f]{6}:[A-Za-z0-9+/]{43}=$/);
  const same = await heddle(["secrets", "rotate"], { HEDDLE_SECRETS_KEYS: line });
  expect(same).toMatchObject({ code: 1, stderr: expect.stringContaining("is already the current one") });
  const both = `${generated},${line}`;
  const done = await heddle(["secrets", "rotate"], { HEDDLE_SECRETS_KEYS: both });
  expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining("451 secrets re-encrypted") });
  expect(await (await open(generated)).get(ref("7"))).toBe("value 7");
  // the file's key is outdated: it lacks the new one, which is reported, too
  expect(await heddle(["secrets", "status"])).toMatchObject({ code: 1, stdout: expect.stringContaining("MISSING") });
  for (const { stdout, stderr } of [same, done]) {
    expect(stdout + stderr).not.toContain(line.split(":")[1]);
    expect(stdout + stderr).not.toContain(generated.split(":")[1]);
  }
});

test("a server without a key that stored secrets need does not start, and names the key", async () => {
  const project = fileURLToPath(new URL("../../../server/test/fixtures/agent-project/langgraph.json", import.meta.url));
  const stranger = (await heddle(["secrets", "generate"])).stdout.trim();
  const ended = await heddle(["serve", "--role", "agent", "--config", project, "--port", "0"], {
    HEDDLE_SECRETS_KEYS: stranger,
    HEDDLE_HOSTS: "1",
  });
  expect(ended.code).toBe(1);
  expect(ended.stderr).toMatch(
    /holds secrets encrypted with keys that are not in HEDDLE_SECRETS_KEYS: \S+ \(451 secrets\)/,
  );
});

test("exports the whole audit log and verifies it", async () => {
  const file = join(dataDir, "audit.csv");
  expect(await heddle(["audit", "export", "--format", "csv", "--output", file])).toMatchObject({ code: 0 });
  expect(readFileSync(file, "utf8").split("\r\n")[1]).toContain("heddle secrets rotate");
  // an existing file is not overwritten
  expect(await heddle(["audit", "export", "--output", file])).toMatchObject({ code: 1 });
  const lines = (await heddle(["audit", "export"])).stdout.trimEnd().split("\n");
  expect(lines.map((line) => (JSON.parse(line) as { operation: string }).operation)).toEqual([
    "heddle secrets rotate",
    "heddle secrets retire",
    "heddle secrets rotate",
  ]);
  expect((await heddle(["audit", "export", "--to", "2020-01-01T00:00:00Z"])).stdout).toBe("");
  writeFileSync(KEYS, (await heddle(["secrets", "generate"])).stdout);
  // without the keys of the seals the lines cannot be checked, which is no success
  const unchecked = await heddle(["audit", "verify"]);
  expect(unchecked).toMatchObject({ code: 1, stdout: expect.stringContaining("3 lines, 0 sound") });
  expect(unchecked.stdout).toContain("which is not available");
});

test("rejects invalid arguments with a usage error", async () => {
  const mistakes: [string[], string, Record<string, string>?][] = [
    [["secrets", "turn"], 'Unknown action "turn"'],
    [["secrets", "retire"], "--key"],
    [["audit", "export", "--from", "soon"], "--from must be an ISO 8601 time"],
    [["audit", "export", "--format", "xml"], "--format must be"],
    [["secrets", "status"], "contains no Heddle data", { DATABASE_URI: "" }],
  ];
  await Promise.all(
    mistakes.map(async ([args, message, env]) => {
      expect(await heddle(args, env)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
    }),
  );
});
