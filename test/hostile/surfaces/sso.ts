/**
 * Answers of an OpenID provider: tokens with wrong signatures, algorithms, audiences and times, claims of other types,
 * and bodies that are no JSON or have no end. A session may follow only from a token that is right in everything.
 */
import fc from "fast-check";

import { HOSTILE_TEXTS, mutate, mutations, sizes, writeJson } from "../json-values.ts";
import type { ProviderAnswer } from "../hostile-provider.ts";
import type { Pieces } from "../pieces.ts";
import { type Outcome, sendStep, type Session, type Surface } from "../surface.ts";

interface SsoInput {
  algorithm: string;
  claims: Record<string, unknown>;
  /** Names of claims that are as they should be; the others are missing or wrong. */
  wrong: string[];
  status: number;
  type: string;
  /** In place of the token endpoint's body. */
  body: Pieces | null;
  changes: Parameters<typeof mutate>[1];
  userinfo: Pieces;
  query: string;
}

const CLAIMS = ["iss", "aud", "exp", "iat", "nonce", "sub", "email", "email_verified", "name"];

export const sso: Surface<SsoInput> = {
  name: "sso",
  servers: ["trace"],
  weight: 1,
  inputs() {
    const value = fc.constantFrom<unknown>(null, 0, -1, 1e308, true, [], {}, "", "x", ...HOSTILE_TEXTS);
    const inputs = fc.record({
      algorithm: fc.oneof(
        { weight: 4, arbitrary: fc.constant("RS256") },
        { weight: 1, arbitrary: fc.constantFrom("none", "HS256", "ES256", "RS512", "") },
      ),
      claims: fc.dictionary(fc.constantFrom(...CLAIMS, "acr", "__proto__", "azp", "nbf"), value, { maxKeys: 2 }),
      wrong: fc.subarray(CLAIMS, { maxLength: 2 }),
      status: fc.oneof(
        { weight: 5, arbitrary: fc.constant(200) },
        { weight: 1, arbitrary: fc.constantFrom(201, 204, 302, 400, 401, 404, 500, 503, 999) },
      ),
      type: fc.oneof(
        { weight: 5, arbitrary: fc.constant("application/json") },
        { weight: 1, arbitrary: fc.constantFrom("text/html", "", "application/json;charset=utf-16") },
      ),
      body: fc.option(
        fc.oneof(
          fc.constantFrom<Pieces>([], ["{"], ["null"], ["[]"], ['"x"'], ["\0"], [{ hex: "ff" }]),
          sizes().map((times): Pieces => ['{"a":', { repeat: "[", times }]),
          sizes().map((times): Pieces => ["[", { repeat: "{},", times }, "{}]"]),
          fc.constant<Pieces>([{ repeat: " ", times: 50_000_000 }]),
        ),
        { freq: 3 },
      ),
      changes: mutations(2),
      userinfo: fc.constantFrom<Pieces>(
        ["{}"],
        ['{"sub":"x"}'],
        ['{"sub":"anna","email":"anna@example.com","email_verified":true}'],
        ["[]"],
        ["{"],
      ),
      query: fc.constantFrom(
        "",
        "",
        "",
        "&iss=http://a.example",
        "&error=access_denied",
        "&state=x",
        "&code=x",
        "&error=%00&error_description=%ff",
        "&iss=&state=",
      ),
    });
    return () => inputs;
  },
  run: signIn,
};

async function signIn(input: SsoInput, session: Session): Promise<Outcome> {
  const { world } = session;
  const { provider } = world;
  await world.forgetAttempts();
  const begun = await sendStep(
    { server: "trace", caller: "nobody", method: "GET", target: "/auth/oidc/login" },
    session,
  );
  const to = begun.headers["location"];
  if (begun.status !== 302 || !to?.startsWith(provider.issuer)) {
    return {
      label: `start ${begun.status}`,
      problem: `the sign-in does not start: ${begun.body.toString("utf8").slice(0, 200)}`,
    };
  }
  const { searchParams } = new URL(to);
  const now = Math.floor(Date.now() / 1000);
  const right = {
    iss: provider.issuer,
    aud: provider.clientId,
    exp: now + 300,
    iat: now,
    nonce: searchParams.get("nonce"),
    sub: "anna",
    email: "anna@example.com",
    email_verified: true,
  };
  const claims = {
    ...Object.fromEntries(Object.entries(right).filter(([name]) => !input.wrong.includes(name))),
    ...input.claims,
  };
  const tokens = mutate(
    { access_token: "x", token_type: "Bearer", expires_in: 300, id_token: provider.sign(claims, input.algorithm) },
    input.changes,
    [],
  );
  const answer = (body: Pieces): ProviderAnswer => ({
    status: input.status,
    headers: input.type === "" ? {} : { "content-type": input.type },
    body,
  });
  const code = provider.script({
    token: answer(input.body ?? writeJson(tokens)),
    userinfo: { status: 200, headers: { "content-type": "application/json" }, body: input.userinfo },
  });
  const cookie = begun.headers["set-cookie"]?.split(";")[0] ?? "";
  const target = `/auth/oidc/callback?code=${code}&state=${searchParams.get("state")}${input.query}`;
  const ended = await sendStep(
    { server: "trace", caller: "nobody", method: "GET", target, headers: [["cookie", cookie]] },
    session,
  );
  provider.scripts.delete(code);
  const label = `callback ${ended.status}`;
  const isSignedIn = /csrf_token=/.test(ended.headers["location"] ?? "");
  const isRight =
    input.algorithm === "RS256" &&
    input.changes.length === 0 &&
    input.body === null &&
    ["iss", "aud", "exp", "iat", "nonce", "sub", "email", "email_verified"].every(
      (name) => !input.wrong.includes(name) && !(name in input.claims),
    );
  if (isSignedIn && !isRight && !isHarmless(claims, right))
    return { label: "signed in", problem: "a session follows from a wrong token" };
  if (ended.status >= 500 && ended.status !== 502 && ended.status !== 503) {
    return { label, problem: `a server error: ${ended.status} ${ended.body.toString("utf8").slice(0, 300)}` };
  }
  return { label: isSignedIn ? "signed in" : label };
}

/** What decides about a session is right: its claims have the values that they should have, whatever else is there. */
function isHarmless(claims: Record<string, unknown>, right: Record<string, unknown>): boolean {
  const same = ["iss", "nonce"].every((name) => claims[name] === right[name]);
  const isForUs = [claims["aud"]].flat().includes(right["aud"]);
  return same && isForUs && typeof claims["exp"] === "number" && claims["exp"] > Date.now() / 1000;
}
