/** What must hold for every answer, whatever was sent. */
import { type Schema as JsonSchema, Validator } from "@cfworker/json-schema";

import { type HttpInput, pathAsRead } from "./http-input.ts";
import type { RawAnswer } from "./raw-client.ts";
import type { OpenApi, ResponseObject, World } from "./world.ts";

/** Statuses with which Node.js itself rejects a head, without a body. */
const OF_THE_PARSER = new Set([400, 408, 413, 417, 431, 505]);

/** Returns what is wrong with an answer. */
export function checkAnswer(input: HttpInput, answer: RawAnswer, world: World): string | undefined {
  const { status, headers, body, end } = answer;
  if (end === "closed" && status === 0) {
    // connections end without a response only where the head cannot be read
    return input.rawHead ? undefined : "the connection was closed without a response";
  }
  if (status === 0) return undefined;
  const text = body.toString("utf8");
  const isUpstream = status === 502 && isDocumented(input, status, world);
  if (status >= 500 && !isOverload(input, answer, text) && !isUpstream)
    return `a server error: ${status} ${text.slice(0, 300)}`;
  const shown = showsHidden(input, text, world);
  if (shown !== undefined) return shown;
  if (input.caller === "stranger" && status < 300 && input.operation !== undefined && !isPublic(input, world)) {
    return `a key to another workspace is answered with ${status}`;
  }
  // a deployment answers, and JSON-RPC has its own errors
  if (input.operation === undefined && (/^\/+d\//.test(input.target) || text.startsWith('{"jsonrpc"')))
    return undefined;
  // rejected before routing, so in the format of the space rather than of the route
  if (status === 400 && text.includes("The path contains a control character.")) return undefined;
  const isFromParser = OF_THE_PARSER.has(status) && body.length === 0 && headers["connection"] === "close";
  if (end === "complete" && !isFromParser) return checkShape(input, answer, text, world);
  return undefined;
}

/** Whether a route says that it calls other services, which may fail. */
function isDocumented(input: HttpInput, status: number, { documents }: World): boolean {
  const document = documents[input.server];
  if (document === undefined) return false;
  const operation = input.operation ?? findOperation(document, input);
  return operation !== undefined && findResponse(document, operation, status) !== undefined;
}

/** The declared operation of a target, as the router reads it: dots resolved as in URLs, then decoded. */
function findOperation({ paths }: OpenApi, { method, target }: HttpInput): string | undefined {
  const plain = pathAsRead(target);
  const declared = method === "HEAD" ? "GET" : method;
  const path = Object.keys(paths).find(
    (each) => paths[each]![declared.toLowerCase()] && RegExp(`^${each.replaceAll(/\{[^}]+\}/g, "[^/]+")}$`).test(plain),
  );
  return path === undefined ? undefined : `${declared} ${path}`;
}

/** A server that is loaded says so, why, and for how long. */
const isOverload = ({ method }: HttpInput, { status, headers }: RawAnswer, text: string): boolean =>
  status === 503 && Number(headers["retry-after"]) > 0 && (text.length > 2 || method === "HEAD");

function showsHidden(input: HttpInput, text: string, world: World): string | undefined {
  if (world.publicTokens.some((token) => input.target.includes(token))) return undefined;
  const sent = JSON.stringify(input.body ?? []) + input.target;
  const seen = world.hiddenFrom(input.caller).find((mark) => text.includes(mark) && !sent.includes(mark));
  if (seen === undefined) return undefined;
  const at = text.indexOf(seen);
  return `shows what is not the caller's: …${text.slice(Math.max(0, at - 150), at + 100)}…`;
}

function isPublic({ server, operation }: HttpInput, { documents }: World): boolean {
  const [method, path] = operation!.split(" ") as [string, string];
  const security = (documents[server]?.paths[path]?.[method.toLowerCase()] as { security?: unknown[] } | undefined)
    ?.security;
  return security?.length === 0;
}

const validators = new WeakMap<object, Validator>();

function validatorOf(schema: object, document: OpenApi): Validator {
  let validator = validators.get(schema);
  if (!validator) {
    const { schemas } = document.components;
    validator = new Validator({ ...schema, components: { schemas } } as unknown as JsonSchema, "2020-12");
    validators.set(schema, validator);
  }
  return validator;
}

/** Returns how an answer differs from the document: its status, its content type, its schema. */
function checkShape(
  { server, method, operation }: HttpInput,
  { status, headers, body }: RawAnswer,
  text: string,
  { documents }: World,
): string | undefined {
  const document = documents[server];
  // a project's own app answers as it likes
  if (!document || server === "app" || server === "python") return undefined;
  const declared = findResponse(document, operation, status);
  // before routing: the preflight of a browser, an unknown path, a method that has no route
  if (declared === undefined) return operation === undefined ? undefined : `the status ${status} is not documented`;
  const contents = Object.entries(declared.content ?? {});
  if (contents.length === 0) return undefined;
  if (method === "HEAD" || (body.length === 0 && status === 431)) return undefined;
  const type = (headers["content-type"] ?? "").split(";")[0]!.trim().toLowerCase();
  const content = contents.find(([name]) => name.toLowerCase() === type)?.[1];
  if (!content) return `the content type ${type || "(none)"} of ${status} is not documented: ${text.slice(0, 200)}`;
  if (!content.schema || !type.endsWith("json")) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return `the body of ${status} is no JSON: ${text.slice(0, 200)}`;
  }
  const { valid, errors } = validatorOf(content.schema, document).validate(value);
  if (valid) return undefined;
  const issue = errors.at(-1)!;
  return `the body of ${status} is not as documented: ${issue.instanceLocation} ${issue.error} in ${text.slice(0, 300)}`;
}

/** Answers to unknown paths have the shape of any other error of the space. */
function findResponse(document: OpenApi, operation: string | undefined, status: number): ResponseObject | undefined {
  if (operation === undefined) {
    const names = Object.keys(document.components.responses).filter((name) => name.startsWith(`Error${status}`));
    const variants = names.map((name) => document.components.responses[name]!);
    const content = Object.assign({}, ...variants.map((variant) => variant.content)) as ResponseObject["content"];
    return variants.length === 1
      ? variants[0]
      : variants.length > 1
        ? { content: withoutSchemas(content!) }
        : undefined;
  }
  const [method, path] = operation.split(" ") as [string, string];
  const found = document.paths[path]?.[method.toLowerCase()]?.responses[status];
  if (!found || !("$ref" in found)) return found as ResponseObject | undefined;
  return document.components.responses[(found as { $ref: string }).$ref.split("/").at(-1)!];
}

/** Several families of errors: only the content types are compared. */
const withoutSchemas = (content: NonNullable<ResponseObject["content"]>): NonNullable<ResponseObject["content"]> =>
  Object.fromEntries(Object.keys(content).map((type) => [type, {}]));
