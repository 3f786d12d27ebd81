import { expect, test } from "vitest";

import { ConfigError, readOptions } from "../base/config/options.ts";
import { resolveExposure } from "./exposure.ts";
import { identityOptions } from "./settings.ts";

const judge = (env: Record<string, string>, host = "127.0.0.1") =>
  resolveExposure(readOptions(identityOptions, env), host);

test("requires no key on loopback without signs of public exposure", () => {
  for (const [host, env] of [
    ["127.0.0.1", {}],
    ["localhost", { HEDDLE_PUBLIC_URL: "http://localhost:3000" }],
    ["::1", { HEDDLE_GATEWAY_DOMAIN: "agents.localhost" }],
  ] as [string, Record<string, string>][]) {
    expect([host, judge(env, host).keysNeeded]).toEqual([host, false]);
  }
});

test.each([
  ["0.0.0.0", {}, "listens on 0.0.0.0"],
  ["", {}, "all addresses"],
  ["127.0.0.1", { HEDDLE_TRUSTED_PROXIES: "127.0.0.1" }, "HEDDLE_TRUSTED_PROXIES"],
  ["127.0.0.1", { HEDDLE_PUBLIC_URL: "https://heddle.example" }, "https://heddle.example"],
  ["127.0.0.1", { HEDDLE_TRACE_PUBLIC_URL: "https://traces.example" }, "https://traces.example"],
  ["127.0.0.1", { HEDDLE_CONTROL_PUBLIC_URL: "https://agents.example" }, "https://agents.example"],
  ["127.0.0.1", { HEDDLE_GATEWAY_DOMAIN: "agents.example" }, "agents.example"],
] as [string, Record<string, string>, string][])(
  "requires keys on %j with %j, and the start logs the reason",
  (host, env, reason) => {
    expect(judge(env, host)).toEqual({ keysNeeded: true, explanation: expect.stringContaining(reason) });
    expect(() => judge({ ...env, HEDDLE_AUTH: "off" }, host)).toThrow(ConfigError);
  },
);
