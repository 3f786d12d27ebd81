import { expect, test } from "vitest";

import { ALL_PERMISSIONS } from "../base/auth/permissions.ts";
import type { Principal } from "../base/auth/principal.ts";
import { unauthorized } from "../base/errors.ts";
import { withTracingKey, workspaceTracingKey } from "./tracing-key.ts";

const KEY = "a-key-of-some-length";
const scope = { organizationId: "o", workspaceId: "w", plan: "enterprise" } as const;
const rejecting = {
  authenticate(): Principal {
    throw unauthorized("somebody else decides");
  },
};
const ask = (headers: Record<string, string>) =>
  withTracingKey(rejecting, KEY, scope).authenticate({
    headers: new Headers(headers),
    method: "POST",
    ip: "127.0.0.1",
  }) as Principal;

test("the key authenticates Heddle itself, only for sending traces and issuing feedback links", () => {
  const principal = ask({ "x-api-key": KEY, "x-tenant-id": "another" });
  expect(principal).toMatchObject({ ...scope, actor: { kind: "system" } });
  const may = ALL_PERMISSIONS.filter((permission) => principal.permissions.has(permission));
  expect(may).toEqual(["runs:create", "feedback:create"]);
});

test("passes other credentials to the next authenticator", () => {
  for (const headers of [
    {},
    { "x-api-key": "a-key-of-some-lengtH" },
    { "x-api-key": "" },
    { authorization: `Bearer ${KEY}` },
  ]) {
    expect(() => ask(headers as Record<string, string>)).toThrow("somebody else decides");
  }
});

const OTHER = "00000000-0000-7000-8000-00000000000b";
const find = (workspaceId: string) =>
  Promise.resolve(
    workspaceId === OTHER ? { organizationId: "o2", workspaceId, plan: "developer" as const } : undefined,
  );
const askWith = async (key: string) =>
  withTracingKey(rejecting, KEY, scope, find).authenticate({
    headers: new Headers({ "x-api-key": key }),
    method: "POST",
    ip: "127.0.0.1",
  });

test("a key of a workspace is valid for that workspace and one purpose, and no other can be derived from it", async () => {
  const sending = await askWith(workspaceTracingKey(KEY, OTHER, "send"));
  expect([sending.workspaceId, [...sending.permissions]]).toEqual([OTHER, ["runs:create", "feedback:create"]]);
  const deleting = await askWith(workspaceTracingKey(KEY, OTHER, "delete-project"));
  expect([...deleting.permissions]).toEqual(["projects:read", "projects:delete"]);
  const forged = [
    workspaceTracingKey(KEY, OTHER, "send").replace("_send_", "_delete-project_"),
    workspaceTracingKey(KEY, OTHER, "send").replace(/b_/, "c_"),
    workspaceTracingKey("another", OTHER, "send"),
    workspaceTracingKey(workspaceTracingKey(KEY, OTHER, "send"), OTHER, "delete-project"),
  ];
  for (const key of forged) await expect(askWith(key)).rejects.toThrow("somebody else decides");
  const nowhere = workspaceTracingKey(KEY, OTHER.replace(/b$/, "d"), "send");
  await expect(askWith(nowhere)).rejects.toThrow("does not exist");
});
