import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer, type AddressInfo, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, expect, test } from "vitest";

import type { Finding } from "../../../server/src/admin/doctor/finding.ts";
import { connect } from "../../../server/src/base/db/connect.ts";
import { migrateDatabase } from "../../../server/src/base/db/migrate.ts";
import { restoreMarker } from "../../../server/src/base/db/unfinished-restore.ts";
import { generateSecretsKey } from "../../../server/src/admin/secrets.ts";
import { recordRole } from "../../../server/src/base/installed-roles.ts";
import { LIVE } from "../../../server/src/base/health.ts";
import { freePort } from "../../../server/src/base/free-port.ts";
import { createLog } from "../../../server/src/base/log.ts";
import { openSecrets } from "../../../server/src/base/secrets/secrets.ts";
import { testDatabase } from "../../../server/test/db.ts";
import { runHeddle } from "../../test/run-heddle.ts";
import { examine as examineInstallation, readOptions } from "./doctor.ts";

const db = await testDatabase();
const folder = mkdtempSync(join(tmpdir(), "heddle-doctor-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const FREE_PORTS = {
  HEDDLE_AGENT_PORT: "0",
  HEDDLE_TRACE_PORT: "0",
  HEDDLE_CONTROL_PORT: "0",
  HEDDLE_CONSOLE_PORT: "0",
};

/** Findings by their checks, and the exit code that they mean. */
function summarize(findings: Finding[]) {
  const of = (check: string) => findings.find((finding) => finding.check === check);
  return { findings, of, code: findings.some(({ status }) => status === "error") ? 1 : 0 };
}

/** Examines an installation within this process, as `heddle doctor` does. */
async function examine(env: Record<string, string>, ...args: string[]) {
  const findings: Finding[] = [];
  const variables = { PATH: process.env["PATH"], ...env };
  for await (const finding of examineInstallation(readOptions(args, variables), variables)) findings.push(finding);
  return summarize(findings);
}

const examineDatabase = (env: Record<string, string>) =>
  examine({ DATABASE_URI: db.uri, HEDDLE_DATA_DIR: folder, ...FREE_PORTS, ...env });

test("reports lost durability and nothing else of a sound installation, and exits with 1", async () => {
  const env = { DATABASE_URI: db.uri, HEDDLE_DATA_DIR: folder, ...FREE_PORTS };
  const { code, stdout } = await runHeddle(["doctor", "--json"], env);
  const { findings, of } = summarize((JSON.parse(stdout) as { findings: Finding[] }).findings);
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
    const { code, of } = await examineDatabase({
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
  const { of } = await examineDatabase({ HEDDLE_SECRETS_KEYS: generateSecretsKey() });
  expect(of("postgres.schema")).toMatchObject({ status: "error", message: expect.stringContaining("version 9000") });
  expect(of("secrets-keys.stored")).toMatchObject({
    status: "error",
    message: expect.stringMatching(/^1 of 1 stored/),
  });
});

/** Examines a data directory without a database, so that nothing else is wrong. */
const examineDirectory = (dataDir: string, env: Record<string, string> = {}, ...args: string[]) =>
  examine(env, "--data-dir", dataDir, ...args);

const newDirectory = (name = "data"): string => {
  const directory = join(mkdtempSync(join(folder, "installation-")), name);
  mkdirSync(directory, { mode: 0o700 });
  return directory;
};

async function listen(server: Server): Promise<string> {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return String((server.address() as AddressInfo).port);
}

test("misspelled settings are found, and no variables of others", async () => {
  const dataDir = newDirectory();
  const { code, of } = await examineDirectory(dataDir, {
    ...FREE_PORTS,
    HEDDLE_WEBHOK_SECRETS: "x",
    HEDDLE_MY_TEAM: "y",
    HEDDLE_CONTROL_SERVICE_HOST: "10.0.0.1",
    HTTP_PROXY: "",
  });
  expect(of("settings.misspelled")).toMatchObject({
    status: "warning",
    message: expect.stringContaining("HEDDLE_WEBHOK_SECRETS"),
    advice: expect.stringContaining("HEDDLE_WEBHOOK_SECRETS"),
  });
  expect(of("settings.unknown")).toMatchObject({
    status: "skipped",
    message: expect.stringMatching(/no HEDDLE_MY_TEAM;/),
  });
  expect(code).toBe(0);
  const corrected = await examineDirectory(dataDir, { ...FREE_PORTS, HEDDLE_WEBHOOK_SECRETS: "x" });
  expect(corrected.of("settings.misspelled")).toBeUndefined();
});

test("only the ports of servers that belong to the installation are errors", async () => {
  const others = [createServer((socket) => socket.end("220 mail\r\n")), createServer((socket) => socket.end("x"))];
  const [agent, console] = [await listen(others[0]!), await listen(others[1]!)];
  const taken = ["--console-port", console, "--trace-port", "0", "--control-port", "0"];
  // not given as flags: that alone would tell that they are needed
  const env = { PORT: "", HEDDLE_TRACE_PORT: "0" };
  try {
    const statuses = async (dataDir: string, ...args: string[]) => {
      const { code, of } = await examineDirectory(dataDir, env, ...taken, ...args);
      return [code, of("port.agent")?.status, of("port.console")?.status];
    };
    const up = newDirectory();
    recordRole(up, "control");
    recordRole(up, "trace");
    expect(await statuses(up)).toEqual([0, "skipped", "warning"]);
    const wanted = ["--port", agent];
    expect(await statuses(up, ...wanted)).toEqual([1, "error", "warning"]);
    expect(await statuses(newDirectory(), "--role", "trace")).toEqual([0, "skipped", "skipped"]);
    expect(await statuses(newDirectory(), "--role", "console")).toEqual([1, "skipped", "error"]);
    expect(await statuses(newDirectory(), "--role", "worker,trace", ...wanted)).toEqual([1, "error", "skipped"]);
    // of Heddle 0.6
    const old = newDirectory();
    mkdirSync(join(old, "control"), { mode: 0o700 });
    expect((await statuses(old)).slice(0, 2)).toEqual([0, "skipped"]);
    const usage = await runHeddle(["doctor", "--role", "nothing"], env);
    expect([usage.code, usage.stderr]).toEqual([2, expect.stringContaining('There is no role "nothing"')]);
  } finally {
    for (const server of others) server.close();
  }
});

test("a server that starts or is busy is no other program", async () => {
  const starting = createHttpServer((request, response) => {
    if (request.url === "/livez") response.end(JSON.stringify(LIVE));
    else response.writeHead(503).end('{"detail":"Starting."}');
  });
  const busy = createHttpServer((_, response) => void setTimeout(() => response.end(JSON.stringify(LIVE)), 4000));
  const silent = createServer(() => {});
  const ports = [await listen(starting), await listen(busy), await listen(silent)];
  const flags = ["--port", ports[0]!, "--trace-port", ports[1]!, "--control-port", ports[2]!, "--console-port", "0"];
  try {
    const { code, of } = await examineDirectory(newDirectory(), {}, ...flags);
    expect(["agent", "trace", "control"].map((name) => of(`port.${name}`)?.status)).toEqual(["ok", "ok", "warning"]);
    expect(of("port.control")?.message).toContain("does not answer");
    expect(code).toBe(0);
  } finally {
    for (const server of [starting, busy, silent]) server.close();
    busy.closeAllConnections();
  }
}, 120_000);

const bin = join(folder, "bin");
mkdirSync(bin);
const launcher = fileURLToPath(new URL("../../bin/heddle.js", import.meta.url));
writeFileSync(join(bin, "heddle"), `#!/bin/sh\nexec ${process.execPath} ${launcher} "$@"\n`, { mode: 0o755 });

/** Runs the command of an advice, as it is printed. */
function follow(advice: string | undefined): void {
  const [, command] = /[Rr]un: (.*)$/s.exec(advice ?? "") ?? [];
  if (command === undefined) throw new Error(`no command in: ${advice}`);
  execFileSync("sh", ["-ec", command], { env: { PATH: `${bin}:${process.env["PATH"]}` }, stdio: "pipe" });
}

const chmods = (directory: string, modes: Record<string, number>) => {
  for (const [path, mode] of Object.entries(modes)) {
    mkdirSync(join(directory, path), { recursive: true });
    chmodSync(join(directory, path), mode);
  }
};

/** A deployment with a system user. */
const withUser = (directory: string) => {
  mkdirSync(join(directory, "control", "deployments", "d"), { recursive: true });
  writeFileSync(join(directory, "control", "deployments", "d", "uid"), "2077216992\n");
};
const PASSAGES = { "": 0o711, control: 0o711, "control/builds": 0o711, "control/instances": 0o711 };

const WRONG: [
  title: string,
  check: string,
  status: string,
  arrange: (directory: string) => Record<string, string> | void,
][] = [
  [
    "key file that others can read",
    "secrets-keys",
    "error",
    (directory) => writeFileSync(join(directory, "secrets.keys"), `${generateSecretsKey()}\n`, { mode: 0o644 }),
  ],
  [
    "missing key file",
    "secrets-keys",
    "error",
    (directory) => ({ HEDDLE_SECRETS_KEY_FILE: join(directory, "my keys") }),
  ],
  ["readable data directory", "data-directory", "warning", (directory) => chmods(directory, { "": 0o755 })],
  [
    "readable data directory of deployments",
    "data-directory",
    "warning",
    (directory) => {
      withUser(directory);
      chmods(directory, { ...PASSAGES, "": 0o755, "control/deployments": 0o711 });
    },
  ],
  [
    "data directory that deployments cannot enter",
    "data-directory",
    "error",
    (directory) => {
      withUser(directory);
      chmods(directory, { ...PASSAGES, "control/deployments": 0o711, "control/builds": 0o700, "": 0o700 });
    },
  ],
  [
    "readable traces in a directory that others may enter",
    "data-directory",
    "warning",
    (directory) => chmods(directory, { ...PASSAGES, "control/deployments": 0o711, chdb: 0o755, blobs: 0o750 }),
  ],
];

test.each(WRONG)("the advice about a %s corrects it", async (_, check, status, arrange) => {
  const directory = newDirectory("it's the data");
  const env = { ...FREE_PORTS, ...arrange(directory) };
  const before = await examineDirectory(directory, env);
  expect([before.of(check)?.status, before.code]).toEqual([status, status === "error" ? 1 : 0]);
  follow(before.of(check)?.advice);
  const after = await examineDirectory(directory, env);
  expect([after.of(check)?.status, after.code]).toEqual(["ok", 0]);
});

test("a directory as heddle up leaves it for system users of deployments is sound", async () => {
  const directory = newDirectory();
  withUser(directory);
  chmods(directory, { ...PASSAGES, "control/deployments": 0o711, chdb: 0o700, postgres: 0o700 });
  rmSync(join(directory, "postgres"), { recursive: true });
  const { of } = await examineDirectory(directory, FREE_PORTS);
  expect(of("data-directory")).toMatchObject({ status: "ok" });
  expect(statSync(directory).mode & 0o777).toBe(0o711);
});

test("the advice about a missing privilege is the statement that grants it", async () => {
  const [role, database] = [`Role_${process.pid}`, `Of_role_${process.pid}`];
  const uri = new URL(db.uri);
  uri.pathname = `/${database}`;
  await db.sql.unsafe(`create role "${role}" login password 'word'`);
  await db.sql.unsafe(`create database "${database}"`);
  const owner = connect({ uri: uri.href, socket: null }, { max: 1 });
  try {
    [uri.username, uri.password] = [role, "word"];
    const before = await examineDatabase({ DATABASE_URI: uri.href });
    expect(before.of("postgres.privileges")).toMatchObject({ status: "error" });
    const [, statement] = /run: (grant .*)$/.exec(before.of("postgres.privileges")!.advice!) ?? [];
    await expect(migrateDatabase({ uri: uri.href, socket: null })).rejects.toThrow("permission denied");
    await owner.unsafe(statement!);
    const after = await examineDatabase({ DATABASE_URI: uri.href });
    expect(after.of("postgres.privileges")).toBeUndefined();
    await migrateDatabase({ uri: uri.href, socket: null });
  } finally {
    await owner.end();
    await db.sql.unsafe(`drop database "${database}" with (force)`);
    await db.sql.unsafe(`drop role "${role}"`);
  }
}, 120_000);

test("an unfinished restore is named", async () => {
  const directory = newDirectory();
  writeFileSync(restoreMarker(directory), "");
  const { code, of } = await examineDirectory(directory, FREE_PORTS);
  expect(of("restore")).toMatchObject({ status: "error", advice: expect.stringContaining("heddle restore") });
  expect(code).toBe(1);
});

const FOLLOWED: [check: string, before: Record<string, string>, advice: RegExp, after: Record<string, string>][] = [
  ["access", { HEDDLE_AUTH: "published" }, /set HEDDLE_AUTH=required/, { HEDDLE_AUTH: "required" }],
  [
    "access",
    { HEDDLE_AUTH: "off", HEDDLE_PUBLIC_URL: "https://heddle.example" },
    /No server starts/,
    { HEDDLE_AUTH: "auto" },
  ],
  [
    "access.tls",
    { HEDDLE_PUBLIC_URL: "http://heddle.example" },
    /set HEDDLE_PUBLIC_URL to its https/,
    { HEDDLE_PUBLIC_URL: "https://heddle.example" },
  ],
  ["outbound", { HEDDLE_OUTBOUND_ALLOW: "0.0.0.0/0" }, /List the hosts/, { HEDDLE_OUTBOUND_ALLOW: "10.1.2.3:9000" }],
  ["outbound", { HEDDLE_OUTBOUND_ALLOW: "a b:c" }, /Correct HEDDLE_OUTBOUND_ALLOW/, { HEDDLE_OUTBOUND_ALLOW: "a" }],
  ["settings", { HEDDLE_JOBS: "many" }, /Correct the variable/, { HEDDLE_JOBS: "4" }],
  ["redis", { REDIS_URI: "http://127.0.0.1" }, /Check REDIS_URI/, { REDIS_URI: "" }],
  ["port.trace", { HEDDLE_HOST: "192.0.2.1", HEDDLE_TRACE_PORT: "39999" }, /Set --host/, { HEDDLE_HOST: "127.0.0.1" }],
];

test.each(FOLLOWED)("the advice about %s with %j is followed by a setting", async (check, before, advice, after) => {
  const directory = newDirectory();
  const wrong = await examineDirectory(directory, { ...FREE_PORTS, ...before });
  expect(wrong.of(check)).toMatchObject({
    status: expect.stringMatching(/warning|error/),
    advice: expect.stringMatching(advice),
  });
  const right = await examineDirectory(directory, { ...FREE_PORTS, ...before, ...after });
  expect(["ok", "skipped", undefined]).toContain(right.of(check)?.status);
});

test("the advice about a taken port is followed by a flag", async () => {
  const other = createServer((socket) => socket.end("220 mail\r\n"));
  const port = await listen(other);
  try {
    const directory = newDirectory();
    const env = { ...FREE_PORTS, HEDDLE_TRACE_PORT: port };
    const taken = await examineDirectory(directory, env, "--role", "trace");
    expect(taken.of("port.trace")?.advice).toBe("Choose another port with --trace-port.");
    const free = String(await freePort());
    const chosen = await examineDirectory(directory, env, "--role", "trace", "--trace-port", free);
    expect([chosen.code, chosen.of("port.trace")?.status]).toEqual([0, "ok"]);
  } finally {
    other.close();
  }
});
