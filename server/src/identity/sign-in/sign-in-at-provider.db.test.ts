import { randomUUID } from "node:crypto";

import { beforeEach, expect, test } from "vitest";

import { testDatabase } from "../../../test/db.ts";
import { testTenants } from "../../../test/identity.ts";
import { testProvider } from "../../../test/openid-provider.ts";
import { testSignIn } from "../../../test/sign-in.ts";
import { upsertInvitation } from "../members/sql.ts";
import { BUILT_IN_ROLES } from "../roles/built-in.ts";
import { deleteIdentities } from "./sql.ts";

const ORIGIN = "https://heddle.test";
const client = { id: "heddle", secret: "a client's secret", redirectUri: `${ORIGIN}/auth/oidc/callback` };
const provider = await testProvider(client);
const db = await testDatabase();
const { a } = await testTenants(db);
const env = {
  HEDDLE_PUBLIC_URL: ORIGIN,
  HEDDLE_OIDC_ISSUER: provider.issuer,
  HEDDLE_OIDC_CLIENT_ID: client.id,
  HEDDLE_OIDC_CLIENT_SECRET: client.secret,
};
const { call, addPerson, audited } = await testSignIn(db, env);
const anna = await addPerson("anna@a.example", a, null);

beforeEach(async () => {
  provider.rejects = false;
  await db.sql`delete from sign_in_attempts`;
  await db.sql`delete from user_identities`;
  await db.sql`delete from sessions`;
  await db.sql`update users set disabled_at = null`;
});

const responseCookies = (headers: Headers): string =>
  headers
    .getSetCookie()
    .map((line) => line.split(";")[0]!)
    .join("; ");

async function begin(returnTo = "/runs") {
  const response = await call("GET", `/auth/oidc/login?return_to=${encodeURIComponent(returnTo)}`);
  return {
    status: response.status,
    to: response.headers.get("location") ?? "",
    cookie: responseCookies(response.headers),
  };
}

/** Headers that a page sends after returning from the provider: the cookie, and the token from its address. */
function readSession(headers: Headers) {
  const [, token] = /#csrf_token=(heddle_csrf_[0-9a-f]{64})$/.exec(headers.get("location")!)!;
  return { cookie: headers.getSetCookie()[0]!.split(";")[0]!, "x-heddle-csrf": token! };
}

const comeBack = (url: URL, cookie: string) => call("GET", url.pathname + url.search, undefined, { cookie });

async function signIn() {
  const begun = await begin();
  return comeBack(await provider.visit(begun.to), begun.cookie);
}

test("a user verified by the provider is signed in, with PKCE, state and nonce", async () => {
  provider.account = { sub: "anna-1", email: "Anna@A.example", email_verified: true };
  const begun = await begin("/runs?tab=all");
  expect(begun.status).toBe(302);
  const parameters = Object.fromEntries(new URL(begun.to).searchParams);
  expect(parameters).toMatchObject({
    code_challenge_method: "S256",
    response_type: "code",
    redirect_uri: client.redirectUri,
  });
  expect(parameters["code_challenge"]!.length).toBeGreaterThan(40);
  expect(begun.cookie).toMatch(/^__Host-heddle_oidc=/);

  const response = await comeBack(await provider.visit(begun.to), begun.cookie);
  const location = expect.stringMatching(/^\/runs\?tab=all#csrf_token=heddle_csrf_[0-9a-f]{64}$/);
  expect([response.status, response.headers.get("location")]).toEqual([302, location]);
  const cookies = response.headers.getSetCookie();
  expect(cookies[0]).toMatch(/^__Host-heddle_session=heddle_session_\w{64}; .*HttpOnly; Secure; SameSite=Lax/);
  expect(cookies[1]).toMatch(/^__Host-heddle_oidc=; Max-Age=0/);
  const me = await call("GET", "/me", undefined, readSession(response.headers));
  expect(me.json).toMatchObject({ kind: "session", userId: anna });
  expect(audited.at(-1)).toMatchObject({ operation: "POST /login", status: 200, target: { method: "oidc" } });
  expect((await call("GET", "/auth/sign-in-methods")).json.oidc.path).toBe("/auth/oidc/login");
});

test("after the first sign-in the provider's subject identifies the user, not the address", async () => {
  provider.account = { sub: "anna-1", email: "anna@a.example", email_verified: true };
  expect((await signIn()).status).toBe(302);
  provider.account = { sub: "anna-1", email: "anna@new.example", email_verified: true };
  expect((await signIn()).status).toBe(302);
  const rows = await db.sql`select subject, user_id from user_identities`;
  expect([...rows]).toEqual([{ subject: "anna-1", user_id: anna }]);
});

test("another person who gets the address at the provider does not get the account", async () => {
  provider.account = { sub: "anna-1", email: "anna@a.example", email_verified: true };
  expect((await signIn()).status).toBe(302);
  provider.account = { sub: "bert-2", email: "anna@a.example", email_verified: true };
  const rejected = await signIn();
  expect([rejected.status, rejected.json.detail]).toEqual([403, expect.stringContaining("heddle users unlink")]);
  expect(rejected.headers.getSetCookie().join()).not.toContain("heddle_session");
  const rows = await db.sql`select subject, user_id from user_identities`;
  expect([...rows]).toEqual([{ subject: "anna-1", user_id: anna }]);
  await deleteIdentities(db.sql, anna);
  expect((await signIn()).status).toBe(302);
});

test("an invited user gets an account at the first sign-in", async () => {
  await upsertInvitation(db.sql, {
    id: randomUUID(),
    organization_id: a.organizationId,
    email: "new@a.example",
    full_name: null,
    organization_role_id: BUILT_IN_ROLES.ORGANIZATION_USER,
    workspace_ids: [a.workspaceId],
    workspace_role_id: BUILT_IN_ROLES.WORKSPACE_VIEWER,
    read_only: false,
  });
  provider.account = { sub: "new-1", email: "new@a.example", email_verified: true, name: "Nina New" };
  const response = await signIn();
  expect(response.status).toBe(302);
  expect((await call("GET", "/me", undefined, readSession(response.headers))).json).toMatchObject({
    name: "new@a.example",
  });
  const [user] = await db.sql`select full_name from users where email = 'new@a.example'`;
  expect(user!["full_name"]).toBe("Nina New");
});

test("rejects unknown, unverified and disabled users", async () => {
  for (const account of [
    { sub: "x", email: "stranger@a.example", email_verified: true },
    { sub: "y", email: "anna@a.example", email_verified: false },
    { sub: "z", email: "anna@a.example" },
    { sub: "w" },
  ]) {
    provider.account = account;
    const response = await signIn();
    expect([response.status, response.headers.getSetCookie()], `as ${account.sub}`).toEqual([403, []]);
  }
  provider.account = { sub: "anna-1", email: "anna@a.example", email_verified: true };
  await db.sql`update users set disabled_at = now() where id = ${anna}`;
  expect((await signIn()).status).toBe(403);
});

test("rejects a callback from another browser, a repeated one, and one with another state", async () => {
  provider.account = { sub: "anna-1", email: "anna@a.example", email_verified: true };
  const [mine, theirs] = [await begin(), await begin()];
  const back = await provider.visit(mine.to);
  expect((await comeBack(back, "")).status).toBe(400);
  expect((await comeBack(back, theirs.cookie)).status).toBe(400);
  expect((await comeBack(back, "__Host-heddle_oidc=rubbish")).status).toBe(400);
  expect((await comeBack(back, mine.cookie)).status).toBe(302);
  expect((await comeBack(back, mine.cookie)).status).toBe(400);

  const other = await provider.visit(theirs.to);
  other.searchParams.set("state", "made up");
  expect((await comeBack(other, theirs.cookie)).status).toBe(400);
  other.searchParams.set("code", "made up");
  other.searchParams.delete("iss");
  expect((await comeBack(other, theirs.cookie)).status).toBe(400);
  expect(await db.sql`select 1 from sessions`).toHaveLength(1);
});

test("rejects a verifier or a nonce of another attempt", async () => {
  provider.account = { sub: "anna-1", email: "anna@a.example", email_verified: true };
  for (const part of ["verifier", "nonce"]) {
    const [mine, theirs] = [await begin(), await begin()];
    const read = (cookie: string) => JSON.parse(Buffer.from(cookie.split("=")[1]!, "base64url").toString());
    const mixed = { ...read(mine.cookie), [part]: read(theirs.cookie)[part] };
    const cookie = `__Host-heddle_oidc=${Buffer.from(JSON.stringify(mixed)).toString("base64url")}`;
    expect((await comeBack(await provider.visit(mine.to), cookie)).status, `another ${part}`).toBe(400);
  }
});

test("reports that the user rejected at the provider", async () => {
  provider.rejects = true;
  const response = await signIn();
  expect([response.status, response.json.detail]).toEqual([
    403,
    "The identity provider denied the sign-in: access_denied.",
  ]);
});

test("error_to returns the browser with the reason in a cookie, and rejects another site", async () => {
  provider.rejects = true;
  const begun = await call("GET", "/auth/oidc/login?error_to=%2Fsign-in%3Fnext%3D%252Fruns");
  const back = await comeBack(await provider.visit(begun.headers.get("location")!), responseCookies(begun.headers));
  expect([back.status, back.headers.get("location")]).toEqual([302, "/sign-in?next=%2Fruns"]);
  const reason = encodeURIComponent("The identity provider denied the sign-in: access_denied.");
  expect(back.headers.getSetCookie()).toContainEqual(
    expect.stringMatching(new RegExp(`^heddle_sign_in_problem=${reason}; .*Max-Age=60.*Secure`)),
  );
  expect((await call("GET", "/auth/oidc/login?error_to=//evil.test/")).status).toBe(422);
});

test("rejects a redirect to another site after the sign-in", async () => {
  for (const bad of ["https://evil.test/", "//evil.test/", "/\\evil.test", "\\\\evil.test", "evil", "/a\nb"]) {
    expect((await begin(bad)).status, `back to ${bad}`).toBe(422);
  }
});

test("calls the provider through the outbound guard, and reports its failures", async () => {
  const guarded = await testSignIn(db, { ...env, HEDDLE_OIDC_ISSUER: "https://169.254.169.254" });
  expect((await guarded.call("GET", "/auth/oidc/login")).status).toBe(422);
  const unreachable = await testSignIn(db, { ...env, HEDDLE_OIDC_ISSUER: "http://127.0.0.1:1" });
  expect((await unreachable.call("GET", "/auth/oidc/login")).status).toBe(502);
});

test("rejects an incomplete configuration at the start", async () => {
  const start = (more: Record<string, string>) =>
    testSignIn(db, { HEDDLE_OIDC_ISSUER: "https://idp.example", ...more });
  await expect(start({})).rejects.toThrow("HEDDLE_OIDC_CLIENT_ID");
  await expect(start({ HEDDLE_OIDC_CLIENT_ID: "x" })).rejects.toThrow("HEDDLE_PUBLIC_URL");
  await expect(
    start({ HEDDLE_OIDC_ISSUER: "http://idp.example", HEDDLE_OIDC_CLIENT_ID: "x", HEDDLE_PUBLIC_URL: ORIGIN }),
  ).rejects.toThrow("https");
  await expect(start({ HEDDLE_PUBLIC_URL: "not a url" })).rejects.toThrow("HEDDLE_PUBLIC_URL");
});
