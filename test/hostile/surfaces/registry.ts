/** The image registry: paths, digests, ranges and manifests of the OCI distribution and image specifications. */
import { createHash } from "node:crypto";

import fc from "fast-check";

import type { Caller, HttpInput } from "../http-input.ts";
import { HOSTILE_TEXTS, mutate, mutations, sizes, writeJson } from "../json-values.ts";
import type { Pieces } from "../pieces.ts";
import { runHttp, type Surface } from "../surface.ts";

const sha256 = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;
const PUSHED = "{}";
const DIGESTS = [
  sha256(PUSHED),
  sha256("none"),
  "sha256:",
  "sha256:../../x",
  "sha512:00",
  `sha256:${"A".repeat(64)}`,
  `sha256%3A${sha256("none").slice(7)}`,
  "md5:x",
  "",
];
const NAMES = [
  "agent",
  "a/b/c",
  "a".repeat(300),
  "a__b",
  "A",
  "..",
  "a//b",
  "%2e%2e",
  "a/blobs/uploads",
  "a-".repeat(50),
  `${"a/".repeat(100)}a`,
  "__proto__",
  "a..b",
];
const REFERENCES = [
  "latest",
  "v1",
  "..",
  "%2e%2e%2fv1",
  "x".repeat(128),
  "x".repeat(129),
  "__proto__",
  "constructor",
  ".",
  "-x",
  "a%00b",
  "a%0a",
];
const TYPES = [
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "text/html",
  "",
];
const RANGES = ["0-0", "0-99", "5-1", "999999999999999-9999999999999999", "bytes 0-5/6", "-1", "x", "0-", "\xff"];

const MANIFEST = {
  schemaVersion: 2,
  mediaType: TYPES[0],
  config: { mediaType: "application/vnd.oci.image.config.v1+json", digest: sha256(PUSHED), size: 2 },
  layers: [
    {
      mediaType: "application/vnd.oci.image.layer.v1.tar+gzip",
      digest: sha256(PUSHED),
      size: 2,
      annotations: { a: "b" },
    },
  ],
  annotations: { "org.opencontainers.image.title": "x" },
};
const INDEX = {
  schemaVersion: 2,
  mediaType: TYPES[1],
  manifests: [
    { mediaType: TYPES[0], digest: sha256(PUSHED), size: 2, platform: { os: "linux", architecture: "amd64" } },
  ],
};

export const registry: Surface<HttpInput> = {
  name: "registry",
  servers: ["control"],
  weight: 2,
  inputs(world, server) {
    const { own, foreign } = world.registries;
    const owner = fc.oneof({ weight: 6, arbitrary: fc.constant(own) }, { weight: 1, arbitrary: fc.constant(foreign) });
    const digest = fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...DIGESTS) },
      {
        weight: 1,
        arbitrary: fc.constantFrom(...HOSTILE_TEXTS).map((text) => encodeURIComponent(Buffer.from(text).toString())),
      },
    );
    const manifest = fc
      .tuple(fc.constantFrom<unknown>(MANIFEST, INDEX, {}, []), mutations(4))
      .map(([value, changes]): Pieces => writeJson(mutate(value, changes, world.allIds(server))));
    const blob = fc.oneof(
      fc.constant<Pieces>([PUSHED]),
      sizes().map((times): Pieces => [{ repeat: "x", times }]),
      fc.constant<Pieces>([{ hex: "1f8b0800" }]),
    );
    const request = fc.oneof(
      {
        weight: 4,
        arbitrary: fc
          .tuple(
            fc.constantFrom("PUT", "PUT", "GET", "HEAD", "DELETE", "POST"),
            fc.oneof(fc.constantFrom(...REFERENCES), digest),
            manifest,
          )
          .map(([method, reference, body]) => ({ method, rest: `manifests/${reference}`, body })),
      },
      {
        weight: 2,
        arbitrary: fc
          .tuple(digest, blob)
          .map(([text, body]) => ({ method: "POST", rest: `blobs/uploads/?digest=${text}`, body })),
      },
      {
        weight: 1,
        arbitrary: fc.tuple(digest, fc.constantFrom(...NAMES)).map(([text, from]) => ({
          method: "POST",
          rest: `blobs/uploads/?mount=${text}&from=d/${foreign.id}/${from}`,
          body: [] as Pieces,
        })),
      },
      {
        weight: 1,
        arbitrary: fc
          .tuple(fc.constantFrom("GET", "PATCH", "PUT", "DELETE"), fc.uuid(), digest, blob)
          .map(([method, id, text, body]) => ({ method, rest: `blobs/uploads/${id}?digest=${text}`, body })),
      },
      {
        weight: 1,
        arbitrary: fc
          .tuple(fc.constantFrom("GET", "HEAD", "DELETE"), digest)
          .map(([method, text]) => ({ method, rest: `blobs/${text}`, body: [] as Pieces })),
      },
      {
        weight: 1,
        arbitrary: fc
          .constantFrom(
            "tags/list",
            "tags/list?n=0&last=x",
            `tags/list?n=${"9".repeat(30)}`,
            "tags/list?last=%ff",
            "tags/other",
            "referrers/x",
            "",
          )
          .map((rest) => ({ method: "GET", rest, body: [] as Pieces })),
      },
    );
    const inputs = fc
      .record({
        owner,
        name: fc.oneof(
          { weight: 5, arbitrary: fc.constant("agent") },
          { weight: 1, arbitrary: fc.constantFrom(...NAMES) },
        ),
        request,
        type: fc.constantFrom(...TYPES),
        range: fc.option(fc.constantFrom(...RANGES), { freq: 3 }),
        password: fc.oneof(
          { weight: 8, arbitrary: fc.constant(own.token) },
          {
            weight: 1,
            arbitrary: fc.constantFrom("", "x", `${own.token}x`, own.token.replace(own.id, foreign.id), "..", "\xff"),
          },
        ),
      })
      .map(({ owner: { id }, name, request: { method, rest, body }, type, range, password }): HttpInput => ({
        server,
        caller: "nobody" satisfies Caller,
        method,
        target: `/v2/d/${id}/${name}/${rest}`,
        headers: [
          ["authorization", `Basic ${Buffer.from(`x:${password}`, "latin1").toString("base64")}`],
          ...(type === "" ? [] : ([["content-type", type]] as const)),
          ...(range === null ? [] : ([["content-range", range]] as const)),
        ],
        ...(method !== "GET" && method !== "HEAD" && { body }),
      }));
    return () => inputs;
  },
  async run(input, session) {
    const outcome = await runHttp(input, session);
    const { foreign } = session.world.registries;
    if (
      outcome.problem === undefined &&
      input.target.startsWith(`/v2/d/${foreign.id}`) &&
      outcome.label.startsWith("2")
    ) {
      return { ...outcome, problem: "another deployment's images can be reached" };
    }
    // errors have the format of the distribution specification
    return outcome.problem?.includes("content type application/json") ? { label: outcome.label } : outcome;
  },
};
