/**
 * Every declared operation of every space: paths, query strings, headers and JSON bodies, valid by the document and
 * then mutated.
 */
import fc from "fast-check";

import { type SchemaContext, valuesOf } from "../from-schema.ts";
import type { Caller, HttpInput } from "../http-input.ts";
import {
  changeText,
  HOSTILE_TEXTS,
  mutate,
  mutations,
  type Mutation,
  type TextChange,
  textChanges,
  writeJson,
} from "../json-values.ts";
import type { ServerName } from "../servers.ts";
import { runHttp, type Surface } from "../surface.ts";
import type { Operation, World } from "../world.ts";
import { UNDECLARED_BODIES } from "./undeclared-bodies.ts";

/** Mostly with a key: without one, a request ends before its body is read. */
export const callers = (): fc.Arbitrary<Caller> =>
  fc.oneof(
    { weight: 8, arbitrary: fc.constant<Caller>("key") },
    { weight: 1, arbitrary: fc.constant<Caller>("nobody") },
    { weight: 1, arbitrary: fc.constant<Caller>("stranger") },
  );

/** On the platforms the other tenant is a tenant, whose own requests may change what is its own. */
const callersOf = (server: ServerName): fc.Arbitrary<Caller> =>
  callers().map((caller) => (caller === "stranger" && server !== "agent" ? "key" : caller));

/** Routes of a listener itself. */
const OF_LISTENERS = /^\/v2\/listeners\/\{listener_id\}\/(?:self|work|reports)$/;

interface Endpoint {
  method: string;
  path: string;
  operation: Operation;
}

/** Requests that would end what is tested: the caller's own key or workspace. */
const LEFT_OUT = new Set(["DELETE /api/v1/workspaces/{workspace_id}", "POST /internal/truncate"]);

export function listEndpoints(world: World, server: ServerName): Endpoint[] {
  const { paths } = world.documents[server]!;
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

export const json: Surface<HttpInput> = {
  name: "json",
  servers: ["agent", "trace", "control"],
  weight: 10,
  inputs(world, server) {
    const endpoints = listEndpoints(world, server).filter(
      ({ method, path, operation }) => !LEFT_OUT.has(`${method} ${path}`) && readsJson(method, path, operation),
    );
    const made = new Map<Endpoint, fc.Arbitrary<HttpInput>>();
    return (n) => {
      const endpoint = endpoints[n % endpoints.length]!;
      let inputs = made.get(endpoint);
      if (!inputs) made.set(endpoint, (inputs = requestsTo(endpoint, world, server)));
      return inputs;
    };
  },
  run: runHttp,
};

/** Other content types have their own surfaces. */
const readsJson = (method: string, path: string, { requestBody }: Operation): boolean =>
  !requestBody || "application/json" in requestBody.content || `${method} ${path}` in UNDECLARED_BODIES;

export function requestsTo(
  { method, path, operation }: Endpoint,
  world: World,
  server: ServerName,
): fc.Arbitrary<HttpInput> {
  const context: SchemaContext = { components: world.documents[server]!.components.schemas, ids: world.ids[server] };
  const name = `${method} ${path}`;
  const schema = UNDECLARED_BODIES[name] ?? operation.requestBody?.content["application/json"]?.schema;
  const parameters = operation.parameters ?? [];
  const ids = world.allIds(server);
  return fc
    .record({
      caller: OF_LISTENERS.test(path) ? fc.constantFrom<Caller>("listener", "listener", "key") : callersOf(server),
      path: fc.record(
        Object.fromEntries(
          parameters.filter((each) => each.in === "path").map((each) => [each.name, pathValues(each, context, ids)]),
        ),
      ),
      query: queries(
        parameters.filter((each) => each.in === "query"),
        context,
        ids,
      ),
      headers: headerValues(parameters.filter((each) => each.in === "header")),
      body:
        schema === undefined ? fc.constant(undefined) : fc.tuple(valuesOf(schema, context), mutations(), textChanges()),
    })
    .map((made) => {
      const target = path.replace(/\{(\w+)\}/g, (_, parameter: string) => made.path[parameter] ?? "x");
      return {
        server,
        caller: made.caller,
        method,
        target: target + (made.query === "" ? "" : `?${made.query}`),
        ...(made.headers.length > 0 && { headers: made.headers }),
        ...(made.body && { body: writeBody(made.body, ids) }),
        operation: name,
      };
    });
}

const writeBody = ([value, changes, text]: [unknown, Mutation[], TextChange], ids: readonly string[]) =>
  changeText(writeJson(mutate(value, changes, ids)), text);

/** Percent-encodes a text to bytes, including malformed text. */
export const encodeText = (text: string): string => encodeURIComponent(Buffer.from(text).toString());

type Parameter = NonNullable<Operation["parameters"]>[number];

const pathValues = (
  { name, schema }: Parameter,
  context: SchemaContext,
  ids: readonly string[],
): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 5, arbitrary: valuesOf(schema, context, name).map((value) => encodeText(toText(value)) || "x") },
    {
      weight: 1,
      arbitrary: fc.constantFrom(...HOSTILE_TEXTS.filter((text) => text !== "")).map((text) => encodeText(text)),
    },
    { weight: 1, arbitrary: fc.constantFrom(...(ids.length > 0 ? ids : ["x"])) },
  );

const toText = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "object" ? JSON.stringify(value) : String(value);

function queries(parameters: Parameter[], context: SchemaContext, ids: readonly string[]): fc.Arbitrary<string> {
  if (parameters.length === 0) {
    return fc.oneof(
      { weight: 9, arbitrary: fc.constant("") },
      { weight: 1, arbitrary: fc.constantFrom("x=1", "%", "=", "__proto__=1&constructor[x]=1", "&".repeat(2000)) },
    );
  }
  const pairs = parameters.map(({ name, schema }) => {
    const valid = valuesOf(schema, context, name).map((value) =>
      [value]
        .flat()
        .map((item) => `${name}=${encodeText(toText(item))}`)
        .join("&"),
    );
    const hostile = fc.constantFrom(...HOSTILE_TEXTS).map((text) => `${name}=${encodeText(text)}`);
    const foreign = fc.constantFrom(...(ids.length > 0 ? ids : ["x"])).map((id) => `${name}=${id}`);
    const odd = fc.constantFrom(
      name,
      `${name}=`,
      `${name}[]=1`,
      `${name}=%ff%fe`,
      `${name}=%`,
      `${name}=${"x".repeat(5000)}`,
      `${name}=a&${name}=b`,
    );
    return fc.oneof(
      { weight: 6, arbitrary: valid },
      { weight: 2, arbitrary: hostile },
      { weight: 1, arbitrary: foreign },
      { weight: 1, arbitrary: odd },
    );
  });
  // mostly few parameters, or the first invalid one hides the others
  return fc
    .subarray(pairs.map((_, n) => n))
    .chain((chosen) => fc.tuple(...chosen.map((n) => pairs[n]!)).map((texts) => texts.join("&")));
}

/** A few characters that a header can contain. */
const headerValues = (parameters: Parameter[]): fc.Arbitrary<[string, string][]> =>
  parameters.length === 0
    ? fc.constant([])
    : fc.array(
        fc.tuple(
          fc.constantFrom(...parameters.map(({ name }) => name)),
          fc.oneof(
            fc.constantFrom(
              ...HOSTILE_TEXTS.map((text) => printable(text)),
              "\xff\xfe",
              "return=minimal",
              "0",
              "-1",
              "1".repeat(60),
            ),
            fc.string({ maxLength: 30 }).map((text) => printable(text)),
          ),
        ),
        { maxLength: 3 },
      );

const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, "?").trim();
