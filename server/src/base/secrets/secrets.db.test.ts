import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { pino } from "pino";
import { afterAll, expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { defaultKeyFile, prependKey, removeKey } from "./key-file.ts";
import { generateKey, Keyring } from "./keyring.ts";
import { rotateSecrets } from "./rotate.ts";
import { openSecrets, type Secrets, type SecretsOptions } from "./secrets.ts";

const logged: string[] = [];
const log = pino({ level: "trace" }, { write: (line: string) => void logged.push(line) });
const dirs: string[] = [];
afterAll(() => {
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
});

function dataDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "heddle-secrets-"));
  dirs.push(dir);
  return dir;
}

type Sql = SecretsOptions["sql"];
const withKeys = (sql: Sql, secretsKeys: string): Promise<Secrets> =>
  openSecrets({ sql, log, dataDir: "/nonexistent", settings: { secretsKeys, secretsKeyFile: undefined } });
const withFile = (sql: Sql, dir: string, secretsKeyFile?: string): Promise<Secrets> =>
  openSecrets({ sql, log, dataDir: dir, settings: { secretsKeys: undefined, secretsKeyFile } });

const W = "00000000-0000-7000-8000-000000000001";
const ref = (id: string, purpose = "webhook") => ({ purpose, id, workspaceId: W });

test("stores, reads, replaces and deletes a secret, and stores nothing readable", async () => {
  const { sql } = await testDatabase();
  const secrets = await withFile(sql, dataDir());
  await secrets.put(ref("a"), "first value");
  await secrets.put(ref("a"), "second value");
  await secrets.put(ref("a", "destination"), "another");
  expect(await secrets.get(ref("a"))).toBe("second value");
  expect(await secrets.get(ref("a", "destination"))).toBe("another");
  const [{ dump }] = await sql<[{ dump: string }]>`
    select string_agg(encode(ciphertext, 'escape') || encode(wrapped_key, 'escape'), '') as dump from secrets`;
  expect(dump).not.toMatch(/value|another/);
  await secrets.delete(ref("a"));
  expect(await secrets.get(ref("a"))).toBeNull();
  await secrets.deleteOfWorkspace(W);
  expect(await sql`select 1 from secrets`).toHaveLength(0);
});

test("stores a secret together with its record or not at all", async () => {
  const { sql } = await testDatabase();
  const secrets = await withFile(sql, dataDir());
  const failing = sql.begin(async (tx) => {
    await secrets.put(ref("a"), "v", tx);
    throw new Error("the record could not be written");
  });
  await expect(failing).rejects.toThrow("the record");
  expect(await secrets.get(ref("a"))).toBeNull();
});

test("does not open a row that was altered or moved in the database", async () => {
  const { sql } = await testDatabase();
  const secrets = await withFile(sql, dataDir());
  await secrets.put(ref("a"), "alpha");
  await secrets.put(ref("b"), "beta");
  await sql`update secrets set id = case id when 'a' then 'c' else 'd' end`;
  await expect(secrets.get(ref("c"))).rejects.toThrow(/copied from another row/);
  await sql`update secrets set id = case id when 'c' then 'a' else 'b' end`;
  expect(await secrets.get(ref("a"))).toBe("alpha");
  await sql`update secrets set ciphertext = (select ciphertext from secrets where id = 'b') where id = 'a'`;
  await expect(secrets.get(ref("a"))).rejects.toThrow(/altered/);
});

test("the first start creates a key file with owner-only access, and simultaneous starts share one key", async () => {
  const { sql } = await testDatabase();
  const dir = dataDir();
  const [first, other] = await Promise.all([withFile(sql, dir), withFile(sql, dir)]);
  expect(first.keyring.ids).toEqual(other.keyring.ids);
  expect(statSync(defaultKeyFile(dir)).mode & 0o777).toBe(0o600);
  await first.put(ref("a"), "v");
  expect(await other.get(ref("a"))).toBe("v");
  logged.length = 0;
  chmodSync(defaultKeyFile(dir), 0o644);
  await withFile(sql, dir);
  expect(logged.join("")).toContain("users other than its owner");
});

test("rejects the start when stored secrets need a missing key, and names it", async () => {
  const { sql } = await testDatabase();
  const keys = generateKey();
  const [id] = keys.split(":") as [string];
  await (await withKeys(sql, keys)).put(ref("a"), "v");
  const elsewhere = dataDir();
  await expect(withKeys(sql, generateKey())).rejects.toThrow(new RegExp(`${id} \\(1 secrets\\)`));
  await expect(withFile(sql, elsewhere)).rejects.toThrow(
    new RegExp(`encrypted with the key ${id}, but its key file .*secrets.keys`),
  );
  // and no new key was created that would hide the mistake
  expect(existsSync(defaultKeyFile(elsewhere))).toBe(false);
  const impostor = `${id}:${generateKey().split(":")[1]}`;
  await expect(withKeys(sql, impostor)).rejects.toThrow(/differs from the key with this id/);
  expect(await (await withKeys(sql, `${generateKey()},${keys}`)).get(ref("a"))).toBe("v");
});

test("a configured key file must exist", async () => {
  const { sql } = await testDatabase();
  await expect(withFile(sql, dataDir(), "/nonexistent/keys")).rejects.toThrow(
    /The file \/nonexistent\/keys .* does not exist/,
  );
});

test("of two servers with different keys, only the first can store secrets", async () => {
  const { sql } = await testDatabase();
  const [first, other] = [await withKeys(sql, generateKey()), await withKeys(sql, generateKey())];
  const outcomes = await Promise.allSettled([first.put(ref("a"), "v"), other.put(ref("b"), "v")]);
  expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(String((outcomes.find(({ status }) => status === "rejected") as PromiseRejectedResult).reason)).toMatch(
    /all servers of a database need the same keys/,
  );
  // once no secret is left, the next server starts with a new key
  await sql`delete from secrets`;
  await other.put(ref("b"), "v");
  expect(await other.get(ref("b"))).toBe("v");
});

test("a rotation under concurrent writes loses nothing and leaves nothing under the old key", async () => {
  const { sql } = await testDatabase();
  const dir = dataDir();
  const servers = [await withFile(sql, dir), await withFile(sql, dir)];
  for (let i = 0; i < 150; i++) await servers[0]!.put(ref(`old-${i}`), `value old-${i}`);
  const [old] = servers[0]!.keyring.ids;

  let going = true;
  const written = new Map<string, string>();
  const writers = servers.flatMap((server, s) =>
    [0, 1].map(async (w) => {
      for (let i = 0; going; i++) {
        // half of them replace secrets that are being rotated
        const id = i % 2 === 0 ? `old-${(i + w * 40 + s * 75) % 150}` : `new-${s}-${w}-${i}`;
        const mine = `${id} by ${s} ${w}`;
        if (i % 2 === 0 && (s !== 0 || w !== 0)) continue;
        await server.put(ref(id), mine);
        written.set(id, mine);
        expect(await servers[1 - s]!.get(ref(id))).toBe(mine);
      }
    }),
  );
  prependKey(defaultKeyFile(dir), generateKey());
  const ring = new Keyring(readFileSync(defaultKeyFile(dir), "utf8"), "file");
  const rotation = await rotateSecrets(sql, ring, ring.newest, { batch: 10 });
  going = false;
  await Promise.all(writers);

  expect(rotation).toMatchObject({ freed: [old], damaged: [] });
  const rows = await sql<{ id: string; key_id: string }[]>`select id, key_id from secrets`;
  expect(new Set(rows.map((row) => row.key_id))).toEqual(new Set([ring.newest.id]));
  removeKey(defaultKeyFile(dir), old!);
  const after = await withFile(sql, dir);
  expect(after.keyring.ids).toEqual([ring.newest.id]);
  expect(rows.length).toBeGreaterThan(150);
  for (const { id } of rows) expect(await after.get(ref(id))).toBe(written.get(id) ?? `value ${id}`);
});

test("resumes an interrupted rotation", async () => {
  const { sql } = await testDatabase();
  const [a, b] = [generateKey(), generateKey()];
  const first = await withKeys(sql, a);
  for (let i = 0; i < 30; i++) await first.put(ref(`${i}`), `v${i}`);
  const both = await withKeys(sql, `${b},${a}`);
  let batches = 0;
  const die = (name: string) => {
    if (name === "secrets-batch-rewrapped" && ++batches === 2) throw new Error("killed");
  };
  const to = both.keyring.newest;
  await expect(rotateSecrets(sql, both.keyring, to, { batch: 10, faultPoint: die })).rejects.toThrow("killed");
  for (let i = 0; i < 30; i++) expect(await both.get(ref(`${i}`))).toBe(`v${i}`);
  await expect(withKeys(sql, b)).rejects.toThrow(/10 secrets/);
  expect(await rotateSecrets(sql, both.keyring, to, { batch: 10 })).toMatchObject({ rewrapped: 10 });
  expect(await (await withKeys(sql, b)).get(ref("29"))).toBe("v29");
  expect(await rotateSecrets(sql, both.keyring, to)).toEqual({ rewrapped: 0, freed: [], damaged: [] });
});

test("a damaged secret does not stop the rotation of the others, and prevents the release of its key", async () => {
  const { sql } = await testDatabase();
  const [a, b] = [generateKey(), generateKey()];
  const first = await withKeys(sql, a);
  for (const id of ["x", "y", "z"]) await first.put(ref(id), id);
  await sql`update secrets set wrapped_key = '\\x01' where id = 'y'`;
  const both = await withKeys(sql, `${b},${a}`);
  const rotation = await rotateSecrets(sql, both.keyring, both.keyring.newest, { batch: 1 });
  expect(rotation).toEqual({ rewrapped: 2, freed: [], damaged: [{ purpose: "webhook", id: "y" }] });
});

test("writes no value and no key to the log", async () => {
  const { sql } = await testDatabase();
  const keys = generateKey();
  const secrets = await withKeys(sql, keys);
  await secrets.put(ref("a"), "v3ry-s3cret");
  await sql`update secrets set ciphertext = '\\x0102'`;
  await secrets.get(ref("a")).catch((error: unknown) => log.error({ err: error, secrets }, "failed"));
  expect(logged.join("")).toContain("cannot be decrypted");
  expect(logged.join("")).not.toContain("v3ry-s3cret");
  expect(logged.join("")).not.toContain(keys.split(":")[1]);
});
