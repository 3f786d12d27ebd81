import { Writable } from "node:stream";

import fc from "fast-check";
import { expect, test } from "vitest";

import { logTo } from "./log.ts";
import { scrubSecrets } from "./scrub-secrets.ts";

const KEY = `lsv2_sk_${"0a".repeat(32)}_0123456789`;
const SESSION = `heddle_session_${"b1".repeat(32)}`;
const CSRF = `heddle_csrf_${"c2".repeat(32)}`;

function logged(...line: [object, string]): string {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  logTo("debug", stream).debug(...line);
  return lines.join("");
}

test("removes secrets from the log in any position", () => {
  const secrets = {
    [KEY]: { err: new Error(`no such key ${KEY}`) },
    [SESSION]: { headers: { cookie: `a=b; heddle_session=${SESSION}` } },
    [CSRF]: { headers: { authorization: `Bearer ${SESSION}.${CSRF}`, "x-heddle-csrf": CSRF } },
    "swordfish-1": { url: "https://hooks.example/x?token=swordfish-1&a=1" },
    "swordfish-2": { err: new Error("connect postgres://heddle:swordfish-2@db:5432/heddle failed") },
    "swordfish-3": { body: { password: "swordfish-3", nested: [{ client_secret: "swordfish-3" }] } },
    "swordfish-4": { text: JSON.stringify({ a: JSON.stringify({ api_key: "swordfish-4" }) }) },
    "c3dvcmRmaXNoOnN3b3JkZmlzaA==": { authorization: "Basic c3dvcmRmaXNoOnN3b3JkZmlzaA==" },
    "eyJhbGciOi.x-y_z.sig": { note: "sent Authorization: Bearer eyJhbGciOi.x-y_z.sig to it" },
    "swordfish-5": { url: "/auth/oidc/callback?code=swordfish-5&state=swordfish-5" },
    "swordfish-6": { "x-api-key": "swordfish-6" },
    "swordfish-7": { return: "/x?next=%2Fy%3Ftoken%3Dswordfish-7" },
  };
  for (const [secret, fields] of Object.entries(secrets)) {
    const line = logged(fields, `with ${KEY}`);
    expect(line, `of ${JSON.stringify(fields)}`).not.toContain(secret);
    expect(line).toContain("…");
  }
});

test("keeps other values, and a line stays valid JSON", () => {
  const fields = { run_id: "01a1fe3f-2d31-7000-8ab1-201fd913bb79", path: "/threads/x?limit=10", key_id: "a", ms: 12.5 };
  expect(JSON.parse(logged(fields, "a run has ended"))).toMatchObject({ ...fields, msg: "a run has ended" });
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), (value, text) => {
      JSON.parse(logged({ value, password: text, url: `?token=${text}` }, text));
    }),
    { numRuns: 500 },
  );
});

test("scrubs long lines in bounded time, whatever their content", () => {
  const evil = [
    '"password',
    "\\",
    "a:",
    "bearer ",
    "&a_token",
    "a.a",
    'password\\":\\"x',
    "sk-a",
    "://a:b",
    'token":"\\',
  ];
  for (const piece of evil) {
    const line = piece.repeat(1_000_000 / piece.length);
    const started = performance.now();
    scrubSecrets(line);
    expect(performance.now() - started, `a megabyte of ${piece}`).toBeLessThan(5000);
  }
});
