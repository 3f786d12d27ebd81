import { expect, test } from "vitest";

import { parseReference } from "./image-reference.ts";
import { readCredentials } from "./registry-credentials.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;

test.each([
  ["agent", ["docker.io", "agent", null, null]],
  ["team/agent:1.2", ["docker.io", "team/agent", "1.2", null]],
  ["localhost/agent", ["localhost", "localhost/agent", null, null]],
  [
    "registry.example:5000/team/sub/agent:v1",
    ["registry.example:5000", "registry.example:5000/team/sub/agent", "v1", null],
  ],
  [`ghcr.io/team/agent:v1@${DIGEST}`, ["ghcr.io", "ghcr.io/team/agent", "v1", DIGEST]],
  ["[::1]:5000/agent", ["[::1]:5000", "[::1]:5000/agent", null, null]],
])("parses %s as Docker does", (text, [registry, name, tag, digest]) => {
  expect(parseReference(text)).toEqual({ registry, name, tag, digest });
});

test.each([
  "",
  "Agent",
  "a//b",
  "agent:",
  "agent@sha256:12",
  `sha256:${"a".repeat(64)}`,
  "sha256:abc123",
  "../agent",
  "agent tag",
  "-v/agent",
  "a".repeat(600),
  "x/../../y",
])("rejects %j as an image reference", (text) => expect(parseReference(text)).toBeNull());

test("finds credentials by registry, in each form that Docker writes", () => {
  const auth = Buffer.from("me:pass:word").toString("base64");
  const text = JSON.stringify({
    auths: {
      "registry.example:5000": { auth },
      "https://index.docker.io/v1/": { username: "hub", password: "x" },
    },
  });
  expect(readCredentials(text, "registry.example:5000")).toEqual({ username: "me", password: "pass:word" });
  expect(readCredentials(text, "docker.io")).toEqual({ username: "hub", password: "x" });
  expect(readCredentials(text, "registry.example")).toBeNull();
  expect(() => readCredentials("s3cret", "docker.io")).toThrow(/^it is not JSON((?!s3cret).)*$/);
  expect(() => readCredentials('{"auth":"s3cret"}', "docker.io")).toThrow(/^it is not of the form((?!s3cret).)*$/);
});
