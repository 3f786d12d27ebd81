/**
 * Multipart bodies of runs and of examples: parts by the grammar of RFC 7578 with hostile names, headers, lengths and
 * JSON, boundaries that occur in contents, and thousands of parts.
 */
import fc from "fast-check";

import { valuesOf } from "../from-schema.ts";
import type { HttpInput } from "../http-input.ts";
import { HOSTILE_TEXTS, mutate, mutations, sizes, writeJson } from "../json-values.ts";
import type { Piece, Pieces } from "../pieces.ts";
import { runHttp, type Surface } from "../surface.ts";
import { callers } from "./json.ts";
import { RUN_SCHEMA } from "./undeclared-bodies.ts";

const EXAMPLE_SCHEMA = {
  type: "object",
  properties: {
    id: { type: "string", format: "uuid" },
    created_at: { type: "string", format: "date-time" },
    metadata: { type: "object", additionalProperties: true },
    split: { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] },
    source_run_id: { type: "string", format: "uuid" },
    use_source_run_io: { type: "boolean" },
  },
};
const BOUNDARIES = [
  "b",
  "-",
  "----WebKitFormBoundaryx",
  "a'()+_,-./:=?",
  "x".repeat(70),
  "x".repeat(300),
  "",
  "\xff",
  "a b",
  '"q"',
];
const TYPES = [
  "application/json",
  "application/json; length=5",
  "text/plain",
  "application/octet-stream",
  "image/png",
  "",
  "x/y; charset=\xff",
  "multipart/mixed; boundary=c",
  "application/x-",
];

export const multipart: Surface<HttpInput> = {
  name: "multipart",
  servers: ["trace"],
  weight: 2,
  inputs(world, server) {
    const ids = world.allIds(server);
    const known = world.ids[server];
    const dataset = known["dataset_id"]?.[0] ?? "x";
    const context = { components: {}, ids: known };
    const content = fc.oneof(
      {
        weight: 4,
        arbitrary: fc
          .tuple(valuesOf(RUN_SCHEMA, context), mutations(2))
          .map(([value, changes]): Pieces => writeJson(mutate(value, changes, ids))),
      },
      {
        weight: 2,
        arbitrary: fc
          .tuple(valuesOf(EXAMPLE_SCHEMA, context), mutations(2))
          .map(([value, changes]): Pieces => writeJson(mutate(value, changes, ids))),
      },
      {
        weight: 2,
        arbitrary: fc
          .tuple(valuesOf(true, context), mutations(2))
          .map(([value, changes]): Pieces => writeJson(mutate(value, changes, ids))),
      },
      { weight: 1, arbitrary: sizes().map((times): Pieces => [{ repeat: "\0\xff", times }]) },
      {
        weight: 1,
        arbitrary: fc.constantFrom<Pieces>([], ["--b"], ["\r\n--b--\r\n"], ["\r\n--b\r\n"], [{ hex: "fffe00" }]),
      },
    );
    const uuid = fc.oneof(
      { weight: 3, arbitrary: fc.uuid() },
      { weight: 1, arbitrary: fc.constantFrom(...ids) },
      { weight: 1, arbitrary: fc.constantFrom(...HOSTILE_TEXTS) },
    );
    const field = fc.constantFrom(
      "inputs",
      "outputs",
      "events",
      "extra",
      "error",
      "serialized",
      "attachments",
      "metadata",
      "__proto__",
      "constructor",
      "",
      "a.b",
      "x".repeat(3000),
    );
    const kind = fc.constantFrom("post", "patch", "feedback", "attachment", "example", "other", "");
    const name = fc.oneof(
      { weight: 4, arbitrary: fc.tuple(kind, uuid).map((parts) => parts.join(".")) },
      { weight: 4, arbitrary: fc.tuple(kind, uuid, field).map((parts) => parts.join(".")) },
      { weight: 2, arbitrary: fc.tuple(uuid, field).map((parts) => parts.join(".")) },
      { weight: 1, arbitrary: fc.tuple(kind, uuid, fc.constant("attachment"), field).map((parts) => parts.join(".")) },
      { weight: 1, arbitrary: fc.constantFrom(...HOSTILE_TEXTS) },
    );
    const part = fc
      .record({
        name,
        type: fc.oneof(
          { weight: 4, arbitrary: fc.constant("application/json") },
          { weight: 1, arbitrary: fc.constantFrom(...TYPES) },
        ),
        file: fc.option(fc.constantFrom(...HOSTILE_TEXTS, "a.png"), { freq: 4 }),
        length: fc.option(fc.constantFrom("0", "-1", "5", "1e9", "99999999999999999999", "x", "4294967295"), {
          freq: 4,
        }),
        more: fc.option(
          fc.constantFrom(
            "Content-Encoding: gzip\r\n",
            "Content-Transfer-Encoding: base64\r\n",
            "x\r\n",
            ": y\r\n",
            `X: ${"y".repeat(20_000)}\r\n`,
            "a: b\r\n".repeat(500),
          ),
          { freq: 4 },
        ),
        content,
      })
      .map(({ name: called, type, file, length, more, content: inner }): { head: string; content: Pieces } => ({
        head: `Content-Disposition: form-data; name="${quote(called)}"${file === null ? "" : `; filename="${quote(file)}"`}\r\n${type === "" ? "" : `Content-Type: ${type}\r\n`}${length === null ? "" : `Content-Length: ${length}\r\n`}${more ?? ""}`,
        content: inner,
      }));
    const inputs = fc
      .record({
        caller: callers(),
        target: fc.constantFrom<[string, string]>(
          ["POST", "/api/v1/runs/multipart"],
          ["POST", "/api/v1/runs/multipart"],
          ["POST", `/api/v1/platform/datasets/${dataset}/examples`],
          ["PATCH", `/api/v1/platform/datasets/${dataset}/examples`],
          ["POST", `/api/v1/datasets/upload`],
          ["POST", `/api/v1/examples/upload/${dataset}`],
        ),
        boundary: fc.oneof(
          { weight: 5, arbitrary: fc.constant("b") },
          { weight: 1, arbitrary: fc.constantFrom(...BOUNDARIES) },
        ),
        parts: fc.array(part, { maxLength: 5 }),
        many: fc.oneof(
          { weight: 8, arbitrary: fc.constant(0) },
          { weight: 1, arbitrary: sizes().map((times) => Math.min(times, 200_000)) },
        ),
        end: fc.oneof(
          { weight: 5, arbitrary: fc.constant("--b--\r\n") },
          { weight: 1, arbitrary: fc.constantFrom("", "--b", "--b-", "--b--", "--b\r\n", "--b--garbage") },
        ),
        encode: fc.oneof(
          { weight: 5, arbitrary: fc.constant<("gzip" | "zstd")[]>([]) },
          { weight: 1, arbitrary: fc.constantFrom<("gzip" | "zstd")[]>(["gzip"], ["zstd"]) },
        ),
      })
      .map(({ caller, target: [method, target], boundary, parts, many, end, encode }): HttpInput => {
        const body: Piece[] = [];
        for (const { head, content: inner } of parts) body.push(`--${boundary}\r\n${head}\r\n`, ...inner, "\r\n");
        if (many > 0)
          body.push({ repeat: `--${boundary}\r\nContent-Disposition: form-data; name="x.#"\r\n\r\n\r\n`, times: many });
        body.push(end.replace("b", boundary));
        return {
          server,
          caller: caller === "stranger" ? "nobody" : caller,
          method,
          target,
          headers: [["content-type", `multipart/form-data; boundary=${boundary}`]],
          body,
          ...(encode.length > 0 && { encode }),
        };
      });
    return () => inputs;
  },
  run: runHttp,
};

const quote = (text: string): string => text.replaceAll(/["\r\n]/g, "_");
