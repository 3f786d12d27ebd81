/** Pushes of Git hosts, correctly signed, with hostile contents, and wrong signatures. */
import { createHmac } from "node:crypto";

import fc from "fast-check";

import type { HttpInput } from "../http-input.ts";
import { changeText, HOSTILE_TEXTS, mutate, mutations, textChanges, writeJson } from "../json-values.ts";
import { encodePieces } from "../pieces.ts";
import { runHttp, type Surface } from "../surface.ts";

const PUSH = {
  ref: "refs/heads/main",
  before: "0".repeat(40),
  after: "1".repeat(40),
  repository: {
    full_name: "a/b",
    clone_url: "https://git.invalid/nothing.git",
    html_url: "https://git.invalid/nothing",
    git_http_url: "https://git.invalid/nothing.git",
    ssh_url: "git@git.invalid:nothing.git",
  },
  project: { git_http_url: "https://git.invalid/nothing.git", web_url: "https://git.invalid/nothing" },
  commits: [{ id: "1".repeat(40), added: ["a"], modified: [], removed: [] }],
  pusher: { name: "x", email: "x@a.example" },
};
const SIGNATURES = [
  "",
  "sha256=",
  "sha256=00",
  "sha1=x",
  "\xff",
  `sha256=${"0".repeat(64)}`,
  `sha256=${"g".repeat(64)}`,
];

export const webhooks: Surface<HttpInput> = {
  name: "webhooks",
  servers: ["control"],
  weight: 1,
  inputs(world, server) {
    const { id, secret } = world.integration;
    const inputs = fc
      .record({
        host: fc.constantFrom("github", "gitlab"),
        id: fc.oneof(
          { weight: 6, arbitrary: fc.constant(id) },
          { weight: 1, arbitrary: fc.constantFrom(...world.allIds(server)) },
          {
            weight: 1,
            arbitrary: fc
              .constantFrom(...HOSTILE_TEXTS.filter((text) => text !== ""))
              .map((text) => encodeURIComponent(Buffer.from(text).toString())),
          },
        ),
        event: fc.constantFrom("push", "Push Hook", "ping", "", "__proto__", "x".repeat(5000)),
        value: fc.tuple(mutations(4), textChanges()),
        signature: fc.oneof(
          { weight: 5, arbitrary: fc.constant(null) },
          { weight: 1, arbitrary: fc.constantFrom(...SIGNATURES) },
        ),
        type: fc.oneof(
          { weight: 5, arbitrary: fc.constant("application/json") },
          {
            weight: 1,
            arbitrary: fc.constantFrom(
              "application/x-www-form-urlencoded",
              "",
              "application/jsonx",
              "application/json;charset=\xff",
            ),
          },
        ),
      })
      .map(({ host, id: integration, event, value: [changes, text], signature, type }): HttpInput => {
        const body = changeText(writeJson(mutate(PUSH, changes, world.allIds(server))), text);
        const signed = `sha256=${createHmac("sha256", secret).update(encodePieces(body)).digest("hex")}`;
        return {
          server,
          caller: "nobody",
          method: "POST",
          target: `/webhooks/${host}/${integration}`,
          headers: [
            ["content-type", type],
            ...(host === "github"
              ? ([
                  ["x-github-event", event],
                  ["x-hub-signature-256", signature ?? signed],
                ] as const)
              : ([
                  ["x-gitlab-event", event],
                  ["x-gitlab-token", signature ?? secret],
                ] as const)),
          ],
          body,
          operation: `POST /webhooks/${host}/{integration_id}`,
        };
      });
    return () => inputs;
  },
  run: runHttp,
};
