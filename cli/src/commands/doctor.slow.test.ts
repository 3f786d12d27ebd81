import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import type { Finding } from "../../../server/src/admin/doctor/finding.ts";
import { generateSecretsKey } from "../../../server/src/admin/secrets.ts";
import { createLog } from "../../../server/src/base/log.ts";
import { openSecrets } from "../../../server/src/base/secrets/secrets.ts";
import { testDatabase } from "../../../server/test/db.ts";
import { runHeddle } from "../../test/run-heddle.ts";

const db = await testDatabase();
const folder = mkdtempSync(join(tmpdir(), "heddle-doctor-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const FREE_PORTS = {
  HEDDLE_AGENT_PORT: "0",
  HEDDLE_TRACE_PORT: "0",
  HEDDLE_CONTROL_PORT: "0",
  HEDDLE_CONSOLE_PORT: "0",
};

/** Runs `heddle doctor --json` and returns its findings by their checks. */
async function examine(env: Record<string, string>, ...args: string[]) {
  const variables = { DATABASE_URI: db.uri, HEDDLE_DATA_DIR: folder, ...FREE_PORTS, ...env };
  const { code, stdout } = await runHeddle(["doctor", "--json", ...args], variables);
  const { findings, errors } = JSON.parse(stdout) as { findings: Finding[]; errors: number };
  const of = (check: string) => findings.find((finding) => finding.check === check);
  return { code, findings, errors, of };
}

test("reports lost durability and nothing else of a sound installation, and exits with 1", async () => {
  const { code, findings, of } = await examine({});
  // the tests' cluster runs without fsync
  expect(of("postgres.durability")).toMatchObject({
    status: "error",
    message: expect.stringContaining("fsync and full_page_writes and synchronous_commit are off"),
    advice: expect.stringContaining("postgresql.conf"),
  });
  expect(findings.filter(({ status, check }) => status === "error" && check !== "postgres.durability")).toEqual([]);
  expect(code).toBe(1);
  for (const check of ["node", "settings", "postgres", "postgres.clock", "postgres.schema", "outbound", "origins"]) {
    expect([check, of(check)?.status]).toEqual([check, "ok"]);
  }
  expect(Math.abs(of("postgres.clock")!.figures!["skew_ms"]!)).toBeLessThan(1000);
  // each problem comes with the next step
  expect(findings.filter(({ status, advice }) => /warning|error/.test(status) && !advice)).toEqual([]);
});

test("names each problem of a broken one: settings, port, keys, servers that do not answer, access", async () => {
  const keys = join(folder, "keys");
  writeFileSync(keys, `${generateSecretsKey()}\n`);
  chmodSync(keys, 0o644);
  const other = createServer((socket) => socket.end("220 mail\r\n"));
  await new Promise<void>((done) => other.listen(0, "127.0.0.1", done));
  const { port } = other.address() as AddressInfo;
  try {
    const { code, of } = await examine({
      DATABASE_URI: "postgres://nobody:secret-word@127.0.0.1:1/none",
      HEDDLE_AGENT_PORT: String(port),
      HEDDLE_JOBS: "many",
      HEDDLE_SECRETS_KEY_FILE: keys,
      CLICKHOUSE_URL: "http://127.0.0.1:1/default",
      REDIS_URI: "redis://127.0.0.1:1",
      HEDDLE_AUTH: "off",
      HEDDLE_PUBLIC_URL: "http://heddle.example",
      HEDDLE_OUTBOUND_ALLOW: "0.0.0.0/0",
    });
    expect(code).toBe(1);
    const found = (check: string) => [of(check)?.status, `${of(check)?.message} ${of(check)?.advice}`] as const;
    expect(found("settings")).toEqual([
      "error",
      expect.stringMatching(/HEDDLE_JOBS must be a whole number.*not "many"/),
    ]);
    expect(found("port.agent")).toEqual(["error", expect.stringMatching(/Another program listens.*--port/)]);
    expect(found("secrets-keys")).toEqual(["error", expect.stringContaining(`chmod 600 ${keys}`)]);
    expect(found("postgres")).toEqual(["error", expect.stringMatching(/cannot be reached: .*DATABASE_URI/)]);
    expect(found("clickhouse")).toEqual(["error", expect.stringContaining("CLICKHOUSE_URL")]);
    // streams work without Redis
    expect(found("redis")).toEqual(["warning", expect.stringContaining("REDIS_URI")]);
    expect(found("access")).toEqual(["error", expect.stringContaining("HEDDLE_AUTH is off")]);
    expect(found("outbound")).toEqual(["warning", expect.stringContaining("nearly all private addresses")]);
    const text = await runHeddle(["doctor"], {
      DATABASE_URI: "postgres://u:secret-word@127.0.0.1:1/none",
      ...FREE_PORTS,
    });
    expect(text.stdout).toMatch(/^ERROR {3}postgres: /m);
    expect(text.stdout).not.toContain("secret-word");
  } finally {
    other.close();
  }
});

test("reports a schema that is newer than the program, and secrets whose key is missing", async () => {
  await db.sql`insert into heddle_migrations (version, name) values (9000, '9000_future.sql')`;
  const settings = { secretsKeys: generateSecretsKey(), secretsKeyFile: undefined };
  const secrets = await openSecrets({ sql: db.sql, log: createLog("silent"), dataDir: folder, settings });
  await secrets.put({ purpose: "test", id: "one", workspaceId: null }, "word");
  const { of } = await examine({ HEDDLE_SECRETS_KEYS: generateSecretsKey() });
  expect(of("postgres.schema")).toMatchObject({ status: "error", message: expect.stringContaining("version 9000") });
  expect(of("secrets-keys.stored")).toMatchObject({
    status: "error",
    message: expect.stringMatching(/^1 of 1 stored/),
  });
});
