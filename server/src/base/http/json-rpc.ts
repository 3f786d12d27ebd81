import type { Context } from "hono";
import { z } from "zod";

import { AppError, coerceError } from "../errors.ts";
import type { Log } from "../log.ts";
import { boundedParse } from "./bounded-parse.ts";
import { describeIssues, translate } from "./errors.ts";
import { readJson } from "./json-body.ts";
import { rawJson } from "./route.ts";

/** JSON-RPC 2.0 §5.1. */
const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;

export type RpcId = string | number | null;

/** Response schema for the OpenAPI document: either a result or an error. */
export const rpcAnswer = z
  .object({
    jsonrpc: z.literal("2.0"),
    id: z.union([z.string(), z.number(), z.null()]),
    result: z.unknown().optional(),
    error: z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() }).optional(),
  })
  .meta({ id: "JsonRpcAnswer" });

/** Error response of a method. `code` is defined by JSON-RPC or the protocol that uses it. */
export class RpcError extends Error {
  override name = "RpcError";
  readonly code: number;
  /** HTTP status of the response, where the protocol demands one. */
  readonly status: number | undefined;
  readonly data: unknown;

  constructor(code: number, message: string, { status, data }: { status?: number; data?: unknown } = {}) {
    super(message);
    this.code = code;
    this.status = status;
    this.data = data;
  }
}

interface RpcMessage {
  /** Undefined for a notification, which gets no response. */
  id: RpcId | undefined;
  /** Undefined for a response from the client. */
  method: string | undefined;
  params: unknown;
}

/** Reads one message. Throws RpcError when it is malformed. */
async function readRpc(c: Context): Promise<RpcMessage> {
  let body: unknown;
  try {
    body = await readJson(c);
  } catch (error) {
    if (!(error instanceof AppError) || error.status === 413) throw error;
    throw new RpcError(error.status === 400 ? PARSE_ERROR : INVALID_REQUEST, error.message);
  }
  if (Array.isArray(body))
    throw new RpcError(INVALID_REQUEST, "Batches are not supported; send one message per request.");
  const { jsonrpc, id, method, params, result, error } = body as Record<string, unknown>;
  const isId = id === undefined || id === null || typeof id === "string" || typeof id === "number";
  if (jsonrpc !== "2.0" || !isId) throw new RpcError(INVALID_REQUEST, "The request is not a JSON-RPC 2.0 message.");
  if (typeof method === "string") return { id: id as RpcId | undefined, method, params };
  if (result === undefined && error === undefined) {
    throw new RpcError(INVALID_REQUEST, "The JSON-RPC request has no method.");
  }
  return { id: undefined, method: undefined, params };
}

export const rpcResult = (id: RpcId, result: unknown): string => JSON.stringify({ jsonrpc: "2.0", id, result });

/** Serializes an error response. Errors of the caller keep their message; internal details are not disclosed. */
export function rpcFailure(id: RpcId, thrown: unknown): string {
  const error =
    thrown instanceof RpcError
      ? { code: thrown.code, message: thrown.message, data: thrown.data }
      : thrown instanceof AppError && thrown.status < 500
        ? { code: INVALID_PARAMS, message: thrown.message }
        : { code: INTERNAL_ERROR, message: internalMessage(thrown) };
  return JSON.stringify({ jsonrpc: "2.0", id, error });
}

/** Returns the reason for a transient failure; hides the details of a bug. */
function internalMessage(thrown: unknown): string {
  if (thrown instanceof AppError) return thrown.message;
  const { status, message } = translate(thrown);
  return status === 503 ? message : "Internal error";
}

/** Whether to log the error: a bug, or a failure of the server. */
const isInternal = (thrown: unknown): boolean =>
  !(thrown instanceof RpcError) && !(thrown instanceof AppError && thrown.status < 500);

/** A message that expects a response. */
export interface RpcRequest {
  id: RpcId;
  method: string;
  params: unknown;
}

export interface RpcProtocol {
  log: Log;
  /** Name for the log, such as `MCP`. */
  name: string;
  /** Checks the request's headers; throws RpcError. */
  check?: (c: Context) => void;
  /** Responds to notifications; without it, a message without an id is malformed. */
  notified?: (c: Context) => Response;
}

/**
 * Responds to one message. Anything that is not JSON-RPC or not part of the protocol gets 400; a failed method is
 * reported in a response of status 200, under the request's id.
 */
export async function answerRpc(
  c: Context,
  { log, name, check, notified }: RpcProtocol,
  call: (request: RpcRequest) => Promise<Response>,
): Promise<Response> {
  let id: RpcId = null;
  try {
    check?.(c);
    const message = await readRpc(c);
    if (message.method === undefined || message.id === undefined) {
      if (notified) return notified(c);
      throw new RpcError(INVALID_REQUEST, "The JSON-RPC request has no id.");
    }
    id = message.id;
    return await call({ id, method: message.method, params: message.params });
  } catch (error) {
    if (isInternal(error)) log.error({ err: coerceError(error) }, `${name} request failed`);
    const malformed = id === null && error instanceof RpcError ? 400 : 200;
    return rawJson(rpcFailure(id, error), {}, (error instanceof RpcError && error.status) || malformed);
  }
}

/** Validates a method's parameters. @throws RpcError -32602 */
export function rpcParams<S extends z.ZodType>(schema: S, params: unknown): z.output<S> {
  const parsed = boundedParse(schema, params ?? {});
  if (!parsed.success) throw new RpcError(INVALID_PARAMS, describeIssues(parsed.error));
  return parsed.data;
}
