import { tmpdir } from "node:os";

import { expect, test } from "vitest";

import { testDatabase } from "../../../server/test/db.ts";
import { testSignIn } from "../../../server/test/sign-in.ts";
import { runHeddle } from "../../test/run-heddle.ts";

const db = await testDatabase();

const users = (args: string[], input?: string) =>
  runHeddle(["users", ...args], { DATABASE_URI: db.uri, HEDDLE_DATA_DIR: tmpdir() }, input);

const email = "anna@a.example";

test("creates the first user, who can sign in, and shows the password once", async () => {
  const created = await users(["create", "--email", "Anna@A.example", "--name", "Anna"]);
  expect(created).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("is admin of the organization and all its workspaces."),
  });
  const password = /shown only once: (\S{20})\n/.exec(created.stdout)![1]!;
  const { call } = await testSignIn(db);
  expect((await call("POST", "/login", { email, password })).status).toBe(200);

  expect(await users(["create", "--email", email])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("already"),
  });
  expect((await users(["list"])).stdout).toMatch(
    new RegExp(`^EMAIL +NAME  ROLES\\n${email}  Anna  Organization Admin, Admin of Default\\n$`),
  );

  const reset = await users(["password", "--email", email, "--password-stdin"], "a password of mine\n");
  expect(reset).toMatchObject({ code: 0, stdout: "The password is set.\n" });
  expect((await call("POST", "/login", { email, password })).status).toBe(401);
  const session = await call("POST", "/login", { email, password: "a password of mine" });
  expect(session.status).toBe(200);

  expect((await users(["disable", "--email", email])).stdout).toBe(`${email} is disabled.\n`);
  const headers = { authorization: `Bearer ${session.json.access_token}` };
  expect((await call("GET", "/me", undefined, headers)).status).toBe(401);
  expect((await call("POST", "/login", { email, password: "a password of mine" })).status).toBe(401);
  expect((await users(["enable", "--email", email])).code).toBe(0);
  expect((await call("POST", "/login", { email, password: "a password of mine" })).status).toBe(200);

  await db.sql`insert into user_identities (issuer, subject, user_id) select 'https://a.example', 'x', id from users`;
  expect((await users(["unlink", "--email", email])).stdout).toBe(`${email} has no identity at a provider now.\n`);
  expect(await db.sql`select 1 from user_identities`).toHaveLength(0);

  const log = await db.sql`select operation from audit_log where actor_kind = 'system' order by id`;
  expect(log.map((line) => line["operation"])).toEqual([
    "heddle users create",
    "heddle users password",
    "heddle users disable",
    "heddle users enable",
    "heddle users unlink",
  ]);
});

test("creates editors and viewers of a workspace, with or without a password", async () => {
  const options = ["--role", "viewer", "--no-password"];
  expect(await users(["create", "--email", "v@a.example", ...options])).toMatchObject({
    code: 0,
    stdout: "v@a.example is viewer of Default.\n",
  });
  expect((await users(["list"])).stdout).toMatch(/^v@a\.example +Organization User, Viewer of Default, no password$/m);
});

test("rejects invalid arguments, unknown users and weak passwords", async () => {
  const mistakes: [string[], number, string][] = [
    [["promote"], 2, 'Unknown action "promote"'],
    [["create"], 2, "--email"],
    [["create", "--email", "x@y.z", "--role", "king"], 2, "--role"],
    [["create", "--email", "no-address"], 1, "is not an e-mail address"],
    [["create", "--email", "x@y.z", "--workspace", "00000000-0000-7000-8000-0000000000ff"], 1, "no workspace"],
    [["disable", "--email", "nobody@a.example"], 1, "There is no user"],
  ];
  await Promise.all(
    mistakes.map(async ([args, code, message]) => {
      expect(await users(args)).toMatchObject({ code, stderr: expect.stringContaining(message) });
    }),
  );
  const weak = await users(["create", "--email", "w@a.example", "--password-stdin"], "short");
  expect(weak).toMatchObject({ code: 1, stderr: expect.stringContaining("at least 12 characters") });
  expect((await users(["list"])).stdout).not.toContain("w@a.example");
});
