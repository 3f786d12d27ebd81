import { beforeEach, expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { testTenants } from "../../../test/identity.ts";
import { PASSWORD, testSignIn } from "../../../test/sign-in.ts";

const db = await testDatabase();
const { a } = await testTenants(db);
const { app, call, audited, addPerson } = await testSignIn(db);
const anna = await addPerson("anna@a.example", a);
await addPerson("no-password@a.example", a, null);
const ANNA = { email: "anna@a.example", password: PASSWORD };
const WRONG = "The e-mail address or the password is wrong.";

beforeEach(async () => {
  await db.sql`delete from sign_in_attempts`;
});

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const signIn = async (): Promise<string> => (await call("POST", "/login", ANNA)).json.access_token;
/**
 * Waits until a session has ended everywhere: a second, for which servers may use their cache, and another for a busy
 * machine.
 */
async function untilRejected(headers: Record<string, string>): Promise<void> {
  const status = async () => (await call("GET", "/me", undefined, headers)).status;
  await expect.poll(status, { timeout: 30_000, interval: 20 }).toBe(401);
}
const responseCookie = (headers: Headers): string => headers.get("set-cookie")!.split(";")[0]!;
/** Headers that a page of ours sends: the cookie, and the token that sign-in returned to the page. */
const sessionHeaders = (answer: { headers: Headers; json: { csrf_token: string } }) => ({
  cookie: responseCookie(answer.headers),
  "x-heddle-csrf": answer.json.csrf_token,
});

test("the right password opens a session that works as a bearer token, and only hashes are stored", async () => {
  const response = await call("POST", "/api/v1/login", { ...ANNA, email: " Anna@A.example " });
  expect(response.status).toBe(200);
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(response.headers.get("set-cookie")).toBeNull();
  const token = response.json.access_token;
  expect(token).toMatch(/^heddle_session_[0-9a-f]{64}$/);
  const me = await call("GET", "/me", undefined, bearer(token));
  expect(me.json).toMatchObject({ kind: "session", name: "anna@a.example", userId: anna, workspace: a.workspaceId });

  const [session] = await db.sql`select s::text as row from sessions s where user_id = ${anna}`;
  expect(session!["row"]).not.toContain(token.slice(-64));
  const [{ password_hash: hash } = {}] = await db.sql<
    { password_hash?: string }[]
  >`select password_hash from user_passwords where user_id = ${anna}`;
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
});

test("accepts HTTP Basic, as the contract's clients send it", async () => {
  const basic = `Basic ${Buffer.from(`anna@a.example:${PASSWORD}`).toString("base64")}`;
  expect((await call("POST", "/login", undefined, { Authorization: basic })).status).toBe(200);
  const wrong = `Basic ${Buffer.from("anna@a.example:no").toString("base64")}`;
  expect((await call("POST", "/login", undefined, { Authorization: wrong })).status).toBe(401);
  expect((await call("POST", "/login", undefined, { Authorization: "Basic ===" })).status).toBe(401);
});

test("a wrong password, an unknown address, a disabled user and one without a password get the same response", async () => {
  const disabled = await addPerson("gone@a.example", a);
  await db.sql`update users set disabled_at = now() where id = ${disabled}`;
  for (const credentials of [
    { ...ANNA, password: "wrong" },
    { email: "nobody@a.example", password: PASSWORD },
    { email: "gone@a.example", password: PASSWORD },
    { email: "no-password@a.example", password: "x" },
  ]) {
    const { status, json } = await call("POST", "/login", credentials);
    expect({ status, json, credentials }).toEqual({ status: 401, json: { detail: WRONG }, credentials });
  }
});

test("an unknown address takes as long as a known one", async () => {
  // alternating, and the minimum of each, because the machine has other load
  const shortest: Record<string, number> = {
    "anna@a.example": 1e9,
    "nobody@a.example": 1e9,
    "no-password@a.example": 1e9,
  };
  for (let round = 0; round < 12; round++) {
    await db.sql`delete from sign_in_attempts`;
    for (const email of Object.keys(shortest)) {
      const started = performance.now();
      await call("POST", "/login", { email, password: "wrong" });
      shortest[email] = Math.min(shortest[email]!, performance.now() - started);
    }
  }
  const [known, ...others] = Object.values(shortest) as [number, number, number];
  // without the comparison with a dummy hash, it would be a tenth
  for (const other of others) {
    expect(other).toBeGreaterThan(known / 3);
    expect(other).toBeLessThan(known * 3);
  }
});

test("ten wrong attempts lock the account for that network, and other accounts stay open", async () => {
  const attempt = (password: string) => call("POST", "/login", { ...ANNA, password });
  const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => attempt(`wrong ${n}`)));
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
  const rejected = await attempt(PASSWORD);
  expect(rejected.status).toBe(429);
  expect(Number(rejected.headers.get("retry-after"))).toBeGreaterThan(800);
  await addPerson("ben@a.example", a);
  expect((await call("POST", "/login", { email: "ben@a.example", password: PASSWORD })).status).toBe(200);
  // unknown accounts are counted in the same way: otherwise the difference would reveal which exist
  const unknown = () => call("POST", "/login", { email: "who@a.example", password: "wrong" });
  for (let n = 0; n < 10; n++) expect((await unknown()).status).toBe(401);
  expect((await unknown()).status).toBe(429);
});

test("a success resets the counter, and a lock ends with its window", async () => {
  for (let n = 0; n < 9; n++) await call("POST", "/login", { ...ANNA, password: "wrong" });
  expect((await call("POST", "/login", ANNA)).status).toBe(200);
  for (let n = 0; n < 9; n++) expect((await call("POST", "/login", { ...ANNA, password: "wrong" })).status).toBe(401);
  await call("POST", "/login", { ...ANNA, password: "wrong" });
  expect((await call("POST", "/login", ANNA)).status).toBe(429);
  await db.sql`update sign_in_attempts set window_ends = now() - interval '1 second'`;
  expect((await call("POST", "/login", ANNA)).status).toBe(200);
});

test("a session ends after its idle time and after its maximum age", async () => {
  const token = await signIn();
  const status = async () => (await call("GET", "/me", undefined, bearer(token))).status;
  await db.sql`update sessions set last_used_at = now() - make_interval(secs => idle_seconds)`;
  expect(await status()).toBe(401);
  const other = await signIn();
  await db.sql`update sessions set expires_at = now() - interval '1 second'`;
  expect((await call("GET", "/me", undefined, bearer(other))).status).toBe(401);
});

test("use keeps a session alive", async () => {
  const token = await signIn();
  await db.sql`update sessions set last_used_at = now() - interval '2 minutes'`;
  expect((await call("GET", "/me", undefined, bearer(token))).status).toBe(200);
  const [{ fresh } = {}] = await db.sql<
    { fresh?: boolean }[]
  >`select max(last_used_at) > now() - interval '10 seconds' as fresh from sessions`;
  expect(fresh).toBe(true);
});

test("signing out ends the session, or all sessions of the user", async () => {
  const [first, two, three] = [await signIn(), await signIn(), await signIn()];
  const status = async (token: string) => (await call("GET", "/me", undefined, bearer(token))).status;
  for (const token of [first, two, three]) expect(await status(token)).toBe(200);
  expect((await call("POST", "/logout", {}, bearer(first))).status).toBe(204);
  await untilRejected(bearer(first));
  expect(await status(two)).toBe(200);
  expect((await call("POST", "/logout", { everywhere: true }, bearer(two))).status).toBe(204);
  await untilRejected(bearer(two));
  await untilRejected(bearer(three));
  expect((await call("POST", "/logout", {}, bearer(three))).status).toBe(204);
});

test("a browser session has two parts, only one of which scripts can read", async () => {
  const response = await call("POST", "/login", { ...ANNA, cookie: true }, { "x-heddle-csrf": "1" });
  expect(response.json).toEqual({
    token_type: "bearer",
    expires_at: expect.any(String),
    csrf_token: expect.stringMatching(/^heddle_csrf_[0-9a-f]{64}$/),
  });
  expect(response.headers.getSetCookie()[0]).toMatch(
    /^heddle_session=heddle_session_[0-9a-f]{64}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/,
  );
  const session = sessionHeaders(response);
  expect((await call("GET", "/me", undefined, session)).status).toBe(200);
  const out = await call("POST", "/logout", {}, session);
  expect(out.headers.get("set-cookie")).toMatch(/^heddle_session=; Max-Age=0; Path=\/; HttpOnly; SameSite=Lax$/);
  await untilRejected(session);
});

test("a session cookie without its CSRF token grants no access", async () => {
  const signInBrowser = () => call("POST", "/login", { ...ANNA, cookie: true }, { "x-heddle-csrf": "1" });
  const [session, other] = [sessionHeaders(await signInBrowser()), sessionHeaders(await signInBrowser())];
  const token = session.cookie.split("=")[1]!;
  for (const headers of [
    { cookie: session.cookie },
    { ...session, "x-heddle-csrf": "1" },
    { ...session, "x-heddle-csrf": other["x-heddle-csrf"] },
    { ...session, "x-heddle-csrf": token },
    bearer(token),
    bearer(session["x-heddle-csrf"]),
  ]) {
    expect((await call("GET", "/me", undefined, headers)).status).toBe(401);
    expect((await call("POST", "/me", {}, headers)).status).toBe(401);
  }
  expect((await call("POST", "/logout", {}, { ...session, "x-heddle-csrf": "1" })).status).toBe(204);
  expect((await call("GET", "/me", undefined, session)).status).toBe(200);
});

test("a change with a session cookie must come from the same origin", async () => {
  const response = await call("POST", "/login", { ...ANNA, cookie: true }, { "x-heddle-csrf": "1" });
  const { cookie, ...csrf } = sessionHeaders(response);
  const post = async (headers: Record<string, string>) =>
    (
      await app.request("http://heddle.test/me", {
        method: "POST",
        headers: { host: "heddle.test", cookie, ...headers },
      })
    ).status;
  expect(await post({})).toBe(401);
  const good = { ...csrf, origin: "http://heddle.test", "sec-fetch-site": "same-origin" };
  expect(await post(good)).toBe(200);
  expect(await post(csrf)).toBe(200);
  expect(await post({ ...good, origin: "http://evil.test" })).toBe(403);
  expect(await post({ ...good, origin: "null" })).toBe(403);
  expect(await post({ ...good, "sec-fetch-site": "cross-site" })).toBe(403);
  expect(await post({ ...good, "sec-fetch-site": "same-site" })).toBe(403);
  expect((await app.request("http://heddle.test/logout", { method: "POST", headers: { cookie } })).status).toBe(403);
  // a token sent by the caller's own script is no cookie
  expect((await call("POST", "/me", {}, bearer(await signIn()))).status).toBe(200);
});

test("rejects a sign-in from another site", async () => {
  const body = { ...ANNA, cookie: true };
  expect((await call("POST", "/login", body)).status).toBe(403);
  const foreign = { "x-heddle-csrf": "1", "sec-fetch-site": "cross-site" };
  expect((await call("POST", "/login", body, foreign)).status).toBe(403);
});

test("over https the cookie has the __Host- prefix and Secure, and the bare name is ignored", async () => {
  const secure = await testSignIn(db, { HEDDLE_PUBLIC_URL: "https://heddle.example/" });
  const headers = { "x-heddle-csrf": "1", origin: "https://heddle.example" };
  const response = await secure.call("POST", "/login", { ...ANNA, cookie: true }, headers);
  expect(response.headers.get("set-cookie")).toMatch(
    /^__Host-heddle_session=.*; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
  const session = sessionHeaders(response);
  expect((await secure.call("GET", "/me", undefined, session)).status).toBe(200);
  const bare = session.cookie.replace("__Host-", "");
  expect((await secure.call("GET", "/me", undefined, { ...session, cookie: bare })).status).toBe(401);
});

test("a new password needs the old one, has a minimum length, and ends the other sessions", async () => {
  const email = "carla@a.example";
  await addPerson(email, a);
  const open = async (password: string) => (await call("POST", "/login", { email, password })).json?.access_token;
  const [mine, other] = [await open(PASSWORD), await open(PASSWORD)];
  const change = (current: string, next: string) =>
    call("POST", "/auth/password", { current_password: current, new_password: next }, bearer(mine));
  expect((await change("wrong", "a new long password")).status).toBe(401);
  for (const weak of ["short", "aaaaaaaaaaaaaaaa", email]) expect((await change(PASSWORD, weak)).status).toBe(422);
  expect((await change(PASSWORD, "a new long password")).status).toBe(204);
  expect((await call("GET", "/me", undefined, bearer(mine))).status).toBe(200);
  await untilRejected(bearer(other));
  expect(await open(PASSWORD)).toBeUndefined();
  expect(await open("a new long password")).toBeDefined();
  // a key does not identify a person
  const withKey = { "x-api-key": a.admin };
  const response = await call("POST", "/auth/password", { current_password: "x", new_password: "y" }, withKey);
  expect(response.status).toBe(403);
});

test("a hash with weaker parameters is replaced at the next sign-in", async () => {
  const { hash } = await import("@node-rs/argon2");
  const weak = await hash(PASSWORD, { memoryCost: 8192, timeCost: 1, parallelism: 1 });
  await db.sql`update user_passwords set password_hash = ${weak} where user_id = ${anna}`;
  await signIn();
  const [{ password_hash: now } = {}] = await db.sql<
    { password_hash?: string }[]
  >`select password_hash from user_passwords where user_id = ${anna}`;
  expect(now).toMatch(/m=19456,t=2,p=1/);
  await signIn();
});

test("records sign-ins, failures and sign-outs, without the input", async () => {
  audited.length = 0;
  const token = await signIn();
  await call("POST", "/login", { email: "my-password-by-mistake", password: "oops" });
  await call("POST", "/logout", {}, bearer(token));
  const lines = audited.map(({ operation, status, principal }) => [operation, status, principal?.actor.userId]);
  expect(lines).toEqual([
    ["POST /login", 200, anna],
    ["POST /login", 401, undefined],
    ["POST /logout", 204, anna],
  ]);
  expect(audited[0]!.principal).toMatchObject({ organizationId: a.organizationId, workspaceId: a.workspaceId });
  expect(JSON.stringify(audited)).not.toMatch(/mistake|oops|heddle_session_/);
});

test("rejects invalid input by field", async () => {
  expect((await call("POST", "/login", {})).status).toBe(401);
  expect((await call("POST", "/login", { email: 1, password: "x" })).json.detail).toContain("email");
  expect((await call("POST", "/login", { ...ANNA, password: "x".repeat(3000) })).status).toBe(422);
  expect((await call("POST", "/login", { email: "a\u0000b@c.example", password: "x" })).status).toBe(401);
  expect((await call("GET", "/auth/oidc/login")).status).toBe(404);
});

test("password sign-in can be switched off", async () => {
  const off = await testSignIn(db, { HEDDLE_PASSWORD_SIGN_IN: "off" });
  expect((await off.call("POST", "/login", ANNA)).status).toBe(403);
  expect((await off.call("GET", "/auth/sign-in-methods")).json).toEqual({ password: false, oidc: null });
});

test("the sweep removes expired sessions and attempts", async () => {
  const { sweepSignIns } = await import("./sql.ts");
  await signIn();
  await db.sql`update sessions set last_used_at = now() - interval '1 year'`;
  await db.sql`update sign_in_attempts set window_ends = now() - interval '1 year'`;
  expect(await sweepSignIns(db.sql, 1000)).toBeGreaterThan(1);
  expect(await db.sql`select 1 from sessions union all select 1 from sign_in_attempts`).toHaveLength(0);
});
