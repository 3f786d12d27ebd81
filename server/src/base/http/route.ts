import type { Context, Hono } from "hono";
import type { z } from "zod";

import { AppError } from "../errors.ts";
import { describeIssues } from "./errors.ts";
import { readJson } from "./json-body.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** What an operation demands of its caller. `public`: nothing. Others are enforced where identity is built in. */
export type Access = "public" | "threads" | "assistants" | "store";

type Shape = z.ZodType | undefined;
type Infer<S> = S extends z.ZodType ? z.output<S> : undefined;

/** A declared endpoint. The OpenAPI document is made of these, so `in` and `out` are documentation and law. */
export interface Route<P extends Shape = Shape, Q extends Shape = Shape, B extends Shape = Shape> {
  method: Method;
  /** Full literal path, with `:name` parameters. */
  path: string;
  /** Further paths that answer the same, kept out of the document. */
  aliases?: string[];
  summary: string;
  tag: string;
  access: Access;
  params?: P;
  query?: Q;
  body?: B;
  /** Response schema by status; null is an empty body, a string a content type other than JSON. */
  out: Record<number, z.ZodType | string | null>;
  handler(input: { params: Infer<P>; query: Infer<Q>; body: Infer<B>; c: Context }): Response | Promise<Response>;
}

/** Declares an endpoint; exists for the inference of the handler's input. */
export function route<P extends Shape = undefined, Q extends Shape = undefined, B extends Shape = undefined>(
  spec: Route<P, Q, B>,
): Route {
  return spec as unknown as Route;
}

export function mountRoutes(app: Hono, routes: Route[]): void {
  for (const spec of routes) {
    for (const path of [spec.path, ...(spec.aliases ?? [])]) {
      app.on(spec.method, path, async (c) => {
        const params = spec.params ? check(spec.params, c.req.param(), "path") : undefined;
        const query = spec.query ? check(spec.query, queryOf(c), "query") : undefined;
        const body = spec.body ? check(spec.body, await readJson(c), "body") : undefined;
        return spec.handler({ params, query, body, c } as never);
      });
    }
  }
}

function check(schema: z.ZodType, value: unknown, where: string): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new AppError(422, `Invalid ${where}: ${describeIssues(parsed.error)}`);
}

function queryOf(c: Context): Record<string, string | string[]> {
  return Object.fromEntries(Object.entries(c.req.queries()).map(([key, all]) => [key, all.length > 1 ? all : all[0]!]));
}

/** JSON text that is sent as it is, for what the database or a graph host has already printed. */
export function rawJson(text: string | Buffer, headers: Record<string, string> = {}, status = 200): Response {
  return new Response(text as BodyInit, { status, headers: { "Content-Type": "application/json", ...headers } });
}
