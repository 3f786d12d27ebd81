/** Filter expressions by the grammar of docs/filter-language.md, with wrong names, types, depths and lengths. */
import fc from "fast-check";

import { FIELD_NAMES } from "../../../server/src/trace/filter/fields.ts";
import type { HttpInput } from "../http-input.ts";
import { HOSTILE_TEXTS, sizes } from "../json-values.ts";
import type { Pieces } from "../pieces.ts";
import { runHttp, type Surface } from "../surface.ts";
import { callers } from "./json.ts";

const FUNCTIONS = [
  "eq",
  "neq",
  "gt",
  "gte",
  "lt",
  "lte",
  "in",
  "has",
  "exists",
  "search",
  "like",
  "and",
  "or",
  "not",
  "xor",
  "",
];
const FIELDS = [
  ...FIELD_NAMES,
  "metadata_key",
  "metadata_value",
  "feedback_key",
  "feedback_score",
  "input_key",
  "input_value",
  "execution_order",
  "__proto__",
  "tenant_id",
  "x",
  '"name"',
];
const VALUES = [
  "1",
  "-1",
  "0.5",
  "1e308",
  "1e400",
  "9".repeat(50),
  "null",
  "true",
  "false",
  '"x"',
  "'x'",
  '""',
  '"2024-01-01T00:00:00Z"',
  '"99999-99-99"',
  "[]",
  '["a","b"]',
  "[1,2]",
  "[[1]]",
  "NaN",
  "x",
  '"%"',
  '"_%\\\\"',
  '"\\u0000"',
  '"\\ud800"',
  '"a',
  "(",
  '"{\\"a\\":1}"',
  '"00000000-0000-7000-8000-0000000000ff"',
];

const { expression } = fc.letrec<{ expression: string; argument: string }>((tie) => ({
  expression: fc
    .tuple(
      fc.constantFrom(...FUNCTIONS),
      fc.array(tie("argument"), { maxLength: 3 }),
      fc.constantFrom("", ",", " ", "\n", ")"),
    )
    .map(([name, args, end]) => `${name}(${args.join(", ")}${end === "," ? "," : ""})${end === ")" ? ")" : ""}`),
  argument: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { weight: 4, arbitrary: fc.constantFrom(...FIELDS) },
    { weight: 4, arbitrary: fc.constantFrom(...VALUES) },
    { weight: 1, arbitrary: fc.constantFrom(...HOSTILE_TEXTS).map((text) => JSON.stringify(text)) },
    { weight: 3, arbitrary: tie("expression") },
  ),
}));

/** Mostly correct: a comparison of a field that exists. */
const comparison = fc
  .tuple(fc.constantFrom(...FUNCTIONS), fc.constantFrom(...FIELDS), fc.constantFrom(...VALUES))
  .map(([name, field, value]) => `${name}(${field}, ${value})`);

const large = fc.oneof(
  fc
    .tuple(fc.constantFrom("and(", "not(", "or(", "("), sizes())
    .map(([open, times]): Pieces => [
      { repeat: open, times: Math.min(times, 100_000) },
      "eq(name, 1)",
      { repeat: ")", times: Math.min(times, 100_000) },
    ]),
  fc
    .tuple(comparison, sizes())
    .map(([text, times]): Pieces => [
      "or(",
      { repeat: `${text.replaceAll("#", "")},`, times: Math.min(times, 50_000) },
      ")",
    ]),
  sizes().map((times): Pieces => [
    "in(id, [",
    { repeat: "'00000000-0000-7000-8000-0000000000ff',", times: Math.min(times, 50_000) },
    "])",
  ]),
  sizes().map((times): Pieces => ["search('", { repeat: "a%_", times: Math.min(times, 500_000) }, "')"]),
);

export const filters: Surface<HttpInput> = {
  name: "filters",
  servers: ["trace"],
  weight: 3,
  inputs(world, server) {
    const known = world.ids[server];
    const session = known["session_id"]?.[0] ?? "x";
    const ids = world.allIds(server);
    const filter = fc.oneof(
      { weight: 4, arbitrary: expression.map((text): Pieces => [text]) },
      { weight: 4, arbitrary: comparison.map((text): Pieces => [text]) },
      { weight: 1, arbitrary: large },
      { weight: 1, arbitrary: fc.constantFrom(...HOSTILE_TEXTS).map((text): Pieces => [text]) },
    );
    const inputs = fc
      .record({
        caller: callers(),
        filter,
        name: fc.constantFrom("filter", "trace_filter", "tree_filter", "filter", "search_filter"),
        target: fc.constantFrom(
          "/api/v1/runs/query",
          "/api/v1/runs/stats",
          "/api/v1/runs/group",
          "/api/v1/runs/query/validate",
          "/api/v1/runs/stats/timeline",
          "/api/v1/runs/stats/histogram",
          "/api/v2/runs/query",
        ),
        more: fc.constantFrom(
          "{}",
          '"limit":1',
          '"order":"asc"',
          '"is_root":true',
          '"select":["id","name","inputs"]',
          '"start_time":"2020-01-01T00:00:00Z"',
          '"cursor":"x"',
        ),
        session: fc.oneof(
          { weight: 3, arbitrary: fc.constant(session) },
          { weight: 1, arbitrary: fc.constantFrom(...ids) },
        ),
      })
      .map(({ caller, filter: text, name, target, more, session: project }): HttpInput => ({
        server,
        caller: caller === "stranger" ? "nobody" : caller,
        method: "POST",
        target,
        // the filter is a JSON string, piece by piece
        body: [
          `{"session":["${project}"],"session_ids":["${project}"],${more === "{}" ? "" : `${more},`}"${name}":"`,
          ...text.map((piece) =>
            typeof piece === "string"
              ? escape(piece)
              : "repeat" in piece
                ? { ...piece, repeat: escape(piece.repeat) }
                : piece,
          ),
          '"}',
        ],
      }));
    return () => inputs;
  },
  run: runHttp,
};

const escape = (text: string): string => JSON.stringify(text).slice(1, -1);
