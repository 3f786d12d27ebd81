import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { testS3 } from "../../../test/s3.ts";
import { connect, type Sql } from "../../base/db/connect.ts";
import { EmbeddedPostgres } from "../../base/db/embedded-postgres.ts";
import { migrate, MIGRATIONS, newestMigration } from "../../base/db/migrate.ts";
import { generateKey } from "../../base/secrets/keyring.ts";
import { createBackup } from "./create-backup.ts";
import { restoreBackup } from "./restore-backup.ts";
import { verifyArchive } from "./verify-archive.ts";

const OLDER = 80;
const DEPLOYMENT = `heddle_d_${"0a".repeat(16)}`;
const PASSWORD = "of-the-deployment";
const folder = mkdtempSync(join(tmpdir(), "heddle-backup-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const s3 = await testS3();
s3.createBucket("backups");
const credentials = s3.createKey();
const env = {
  HEDDLE_BACKUP_PART_MB: "8",
  HEDDLE_BACKUP_ENDPOINT: s3.endpoint,
  HEDDLE_BACKUP_ACCESS_KEY_ID: credentials.access_key_id,
  HEDDLE_BACKUP_SECRET_ACCESS_KEY: credentials.secret_access_key,
};
const passphrase = "correct horse";
const KEY = generateKey();
const large = randomBytes(40 * 1024 * 1024);

/** Works on databases of an embedded Postgres, which then stops. */
async function withPostgres<T>(
  dataDir: string,
  work: (open: (database?: string, role?: string) => Sql) => Promise<T>,
): Promise<T> {
  const postgres = new EmbeddedPostgres({ dataDir });
  const address = await postgres.start();
  const opened: Sql[] = [];
  try {
    return await work((database = "heddle", role) => {
      const uri = new URL(address.uri);
      uri.pathname = `/${database}`;
      if (role !== undefined) [uri.username, uri.password] = [role, PASSWORD];
      const sql = connect({ uri: uri.href, socket: role === undefined ? address.socket : null }, { max: 1 });
      opened.push(sql);
      return sql;
    });
  } finally {
    for (const sql of opened) await sql.end({ timeout: 1 });
    await postgres.stop();
  }
}

test("restores the databases of an older version and of deployments from a bucket, with roles, files and keys", async () => {
  const [source, target] = [join(folder, "source"), join(folder, "target")];
  await withPostgres(source, async (open) => {
    const sql = open();
    await migrate(sql, MIGRATIONS, { upTo: OLDER });
    // without the functions of triggers, which a restore installs
    await sql`set session_replication_role = replica`;
    await sql`create table "of a graph" (n integer)`;
    await sql`insert into threads (thread_id, metadata) select gen_random_uuid(), jsonb_build_object('n', n) from generate_series(1, 500) n`;
    await sql`insert into trace_secrets (name, secret) values ('large', ${large})`;
    await sql`select setval('runs_seq_seq', 4711)`;
    await sql.unsafe(`create role "${DEPLOYMENT}" login password '${PASSWORD}' connection limit 7`);
    await sql.unsafe(`create database "${DEPLOYMENT}" owner "${DEPLOYMENT}"`);
    const own = open(DEPLOYMENT, DEPLOYMENT);
    await migrate(own);
    await own`insert into threads (thread_id) values (gen_random_uuid())`;
  });
  mkdirSync(join(source, "blobs", "a"), { recursive: true });
  writeFileSync(join(source, "blobs", "a", "b"), "attachment");
  writeFileSync(join(source, "secrets.keys"), KEY);
  mkdirSync(join(source, "control", "uploads"), { recursive: true });
  writeFileSync(join(source, "control", "uploads", "project.tar.gz"), "project");
  mkdirSync(join(source, "control", "builds", "old", "src"), { recursive: true });
  writeFileSync(join(source, "control", "builds", "old", "complete"), "");
  writeFileSync(join(source, "control", "control.lock"), "");

  const archive = "s3://backups/nightly/1.tar";
  const request = { location: { dataDir: source, env }, to: archive, withoutKeys: false, onProgress: () => {} };
  await expect(createBackup({ ...request, passphrase: undefined })).rejects.toThrow("HEDDLE_BACKUP_PASSPHRASE");
  const result = await createBackup({ ...request, passphrase });
  expect(result).toMatchObject({
    attachments: { files: 1, bytes: 10 },
    control: { files: 1 },
    keys: "encrypted",
    authenticated: true,
  });
  expect(result.builds).toEqual({ copied: 0, left_out: 1 });
  expect(result.notes).toEqual([expect.stringContaining("not Heddle's are not in the archive: of a graph")]);
  await expect(createBackup({ ...request, passphrase })).rejects.toThrow("exists already");
  expect(await verifyArchive(archive, env, { passphrase })).toMatchObject({
    sections: result.sections,
    authenticated: true,
  });
  expect(existsSync(join(source, "blobs", "a", "b"))).toBe(true);

  const onto = {
    location: { dataDir: target, env },
    from: archive,
    withoutKeys: false,
    passphrase,
    onProgress: () => {},
  };
  const restored = await restoreBackup(onto);
  expect(restored.databases).toEqual(result.databases);
  expect(readFileSync(join(target, "blobs", "a", "b"), "utf8")).toBe("attachment");
  expect(readFileSync(join(target, "secrets.keys"), "utf8")).toBe(KEY);
  expect(readdirSync(join(target, "control"), { recursive: true })).toEqual([
    "builds",
    "uploads",
    "uploads/project.tar.gz",
  ]);
  await withPostgres(target, async (open) => {
    const sql = open();
    const read = (query: string) => sql.unsafe(query).then(([row]) => row);
    expect(await read("select count(*)::int as n from threads")).toEqual({ n: 500 });
    expect(await read("select max(version) as version from heddle_migrations")).toEqual({
      version: await newestMigration(),
    });
    expect(await read("select nextval('runs_seq_seq')::int as next")).toEqual({ next: 4712 });
    expect(await read(`select rolconnlimit as n from pg_roles where rolname = '${DEPLOYMENT}'`)).toEqual({ n: 7 });
    const own = open(DEPLOYMENT, DEPLOYMENT);
    expect(await own`select count(*)::int as n from threads`).toEqual([{ n: 1 }]);
    await own`delete from threads`;
  });
  await expect(restoreBackup(onto)).rejects.toThrow("this one holds data");
}, 600_000);

test("restores prompts with the bytes of their manifests, and what refers to them", async () => {
  const [source, target] = [join(folder, "prompts"), join(folder, "restored prompts")];
  const manifests = [
    '{ "a" :1.0,"nul":"\\u0000","half":"\\ud83d","é":"😀\\t\\\\N"}',
    `{"text":"${"\\n\t\\\\.".repeat(9999)}"}`,
  ];
  // a fork comes before its origin, and a commit before its parent
  const [fork, origin] = ["00000000-0000-7000-8000-000000000001", "00000000-0000-7000-8000-000000000002"];
  await withPostgres(source, async (open) => {
    const sql = open();
    await migrate(sql);
    await sql`
      insert into prompts (repo_id, tenant_id, repo_handle, repo_type, is_public, readme, upstream_repo_id, last_commit_id)
      values (${origin}, ${origin}, 'origin', 'prompt', false, '# \\N', null, null), (${fork}, ${origin}, 'fork', 'prompt', false, '', ${origin}, ${fork})`;
    for (const [position, manifest] of manifests.entries()) {
      await sql`
        insert into prompt_commits (commit_id, repo_id, tenant_id, commit_hash, position, manifest, manifest_sha)
        values (${[fork, origin][position]!}, ${fork}, ${origin}, ${String(position)}, ${position}, ${manifest}, ${Buffer.from([0, 255, 92])})`;
    }
    await sql`insert into prompt_tags (tag_id, repo_id, tag_name, commit_id) values (${fork}, ${fork}, 'production', ${origin})`;
    await sql`
      insert into prompt_tag_moves (move_id, tenant_id, repo_id, tag_name, to_commit_id) values (${fork}, ${origin}, ${fork}, 'production', ${origin})`;
    await sql`insert into prompt_environments (tenant_id, model_id, environments) values (${origin}, ${fork}, '{dev}')`;
  });
  const archive = join(folder, "prompts.tar");
  const shared = { withoutKeys: true, passphrase: undefined, onProgress: () => {} };
  await createBackup({ ...shared, location: { dataDir: source, env }, to: archive });
  await restoreBackup({ ...shared, location: { dataDir: target, env }, from: archive });
  await withPostgres(target, async (open) => {
    const sql = open();
    const commits = await sql`select manifest, manifest_sha from prompt_commits order by position`;
    expect(commits).toEqual(manifests.map((manifest) => ({ manifest, manifest_sha: Buffer.from([0, 255, 92]) })));
    const [prompt] = await sql`select readme, upstream_repo_id, last_commit_id from prompts where repo_handle = 'fork'`;
    expect(prompt).toEqual({ readme: "", upstream_repo_id: origin, last_commit_id: fork });
    expect(await sql`select tag_name, commit_id from prompt_tags`).toEqual([
      { tag_name: "production", commit_id: origin },
    ]);
    expect(await sql`select to_commit_id from prompt_tag_moves`).toEqual([{ to_commit_id: origin }]);
    expect(await sql`select environments from prompt_environments`).toEqual([{ environments: ["dev"] }]);
  });
}, 600_000);
