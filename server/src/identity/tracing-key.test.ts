import { expect, test } from "vitest";

import { ALL_PERMISSIONS } from "../base/auth/permissions.ts";
import type { Principal } from "../base/auth/principal.ts";
import { unauthorized } from "../base/errors.ts";
import { withTracingKey } from "./tracing-key.ts";

const KEY = "a-key-of-some-length";
const place = { organizationId: "o", workspaceId: "w", plan: "enterprise" } as const;
const refusing = {
  authenticate(): Principal {
    throw unauthorized("somebody else decides");
  },
};
const ask = (headers: Record<string, string>) =>
  withTracingKey(refusing, KEY, place).authenticate({
    headers: new Headers(headers),
    method: "POST",
    ip: "127.0.0.1",
  }) as Principal;

test("the key lets in Heddle itself, for sending traces and issuing feedback links and for nothing else", () => {
  const principal = ask({ "x-api-key": KEY, "x-tenant-id": "another" });
  expect(principal).toMatchObject({ ...place, actor: { kind: "system" } });
  const may = ALL_PERMISSIONS.filter((one) => principal.permissions.has(one));
  expect(may).toEqual(["runs:create", "feedback:create"]);
});

test("about everybody else the others decide", () => {
  for (const headers of [
    {},
    { "x-api-key": "a-key-of-some-lengtH" },
    { "x-api-key": "" },
    { authorization: `Bearer ${KEY}` },
  ]) {
    expect(() => ask(headers as Record<string, string>)).toThrow("somebody else decides");
  }
});
