import { expect, test } from "vitest";

import { readOptions } from "../../base/config/options.ts";
import { addressOptions } from "../../identity/exposure.ts";
import { matchHost, matchPath } from "./route-match.ts";

test.each([
  ["/d/a", "a", "/"],
  ["/d/a/", "a", "/"],
  ["/d/a?x=1", "a", "/?x=1"],
  ["/d/a-1/threads/x?y", "a-1", "/threads/x?y"],
])("%s is routed to a deployment", (url, slug, path) => {
  expect(matchPath(url)).toEqual({ slug, path, prefix: `/d/${slug}`, shown: `/d/${slug}` });
});

test.each(["/", "/d", "/d/", "/d/A/x", "/D/a", "/v2/deployments", "/d/../v2", "//d/a", "/d/-a"])(
  "%s is routed to the control plane",
  (url) => expect(matchPath(url)).toBeNull(),
);

test.each([
  ["story.agents.example", "/threads?x", "story", "/threads?x"],
  ["STORY.Agents.Example:8443", "/d/other", "story", "/d/other"],
  ["story.agents.example.", "?x=1", "story", "/?x=1"],
  ["story.agents.example", "*", "story", "/"],
  ["story.agents.example", "http://agents.example/v2/deployments", "story", "/"],
  ["a.b.agents.example", "/v2/deployments", null, "/v2/deployments"],
  [".agents.example", "/v2/deployments", null, "/v2/deployments"],
  ["x_y.agents.example", "/", null, "/"],
])("below the domain every path is routed to a deployment: %s %s", (host, url, slug, path) => {
  expect(matchHost("agents.example", host, url)).toMatchObject({ slug, path, prefix: "" });
});

test("other hosts are routed as without a domain", () => {
  for (const host of ["agents.example", "notagents.example", "", "evil.example", "agents.example.evil.example"]) {
    expect(matchHost("agents.example", host, "/v2/deployments")).toBeNull();
    expect(matchHost("agents.example", host, "/d/a/x")).toMatchObject({ slug: "a", path: "/x", prefix: "/d/a" });
  }
});

test("reads a domain as given, or with a leading dot or star", () => {
  const read = (text: string) => readOptions(addressOptions, { HEDDLE_GATEWAY_DOMAIN: text }).gatewayDomain;
  expect([read("Agents.Example"), read("*.agents.example"), read(".localhost")]).toEqual([
    "agents.example",
    "agents.example",
    "localhost",
  ]);
  for (const text of ["https://a.example", "a b", "a.example/x", "-a.example"])
    expect(() => read(text)).toThrow("domain");
});
