import { expect, test } from "vitest";

import type { Principal } from "../../base/auth/principal.ts";
import type { Project } from "../project/read-project.ts";
import type { AgentSettings } from "../settings.ts";
import { admitOwnCode } from "./in-process-client.ts";
import { OwnCodeApi } from "../project/own-code-api.ts";

const api = new OwnCodeApi("http://127.0.0.1:2999", {} as AgentSettings);
const project = { config: { http: { mount_prefix: "/team" } } } as unknown as Project;
const described = JSON.parse(api.describe(project)) as { url: string; header: string; key: string };
const reject = {
  authenticate: () => {
    throw new Error("rejected");
  },
};
const served = { organizationId: "o", workspaceId: "w", plan: "free" } as unknown as Principal;
const authenticator = admitOwnCode(reject, api, () => served);
const ask = (headers: Record<string, string>) =>
  authenticator.authenticate({ headers: new Headers(headers), method: "GET", ip: "127.0.0.1" });

test("processes of the project learn the URL with its prefix", () => {
  expect(described.url).toBe("http://127.0.0.1:2999/team");
});

test("admits requests with this server's key only, and leaves those with a credential to its check", () => {
  expect(ask({ [described.header]: described.key })).toMatchObject({ workspaceId: "w" });
  const other = JSON.parse(new OwnCodeApi("http://127.0.0.1:2999", {} as AgentSettings).describe(project)) as {
    key: string;
  };
  expect(other.key).not.toBe(described.key);
  for (const key of [other.key, "", described.key.slice(1)])
    expect(() => ask({ [described.header]: key })).toThrow("rejected");
  expect(() => ask({ [described.header]: described.key, "x-api-key": "lsv2_x" })).toThrow("rejected");
});
