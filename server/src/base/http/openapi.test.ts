import { expect, test } from "vitest";
import { z } from "zod";

import { openApiDocument } from "./openapi.ts";
import { route } from "./route.ts";

test("describes the parameters of the literal path, with and without a declared schema", () => {
  const spec = route({
    method: "GET",
    path: "/files/:file_id/:name{[a-z]+}/:part",
    params: z.object({ file_id: z.uuid() }),
    permission: "public",
    publicBecause: "a test",
    summary: "A file",
    tag: "files",
    out: { 200: null },
    handler: () => new Response(),
  });
  const document = openApiDocument(
    [spec],
    { title: "t", version: "1", description: "d" },
    { errors: "detail", limited: false },
  ) as { paths: Record<string, { get: { parameters: object[] } }> };
  expect(document.paths["/files/{file_id}/{name}/{part}"]!.get.parameters).toMatchObject([
    { name: "file_id", in: "path", required: true, schema: { format: "uuid" } },
    { name: "name", in: "path", required: true, schema: { type: "string", pattern: "^(?:[a-z]+)$" } },
    { name: "part", in: "path", required: true, schema: { type: "string" } },
  ]);
});

test("documents that a body may arrive too slowly, except on a public route, whose bodies have a separate budget", () => {
  const shared = { method: "POST", summary: "", tag: "t", out: { 200: null }, handler: () => new Response() } as const;
  const body = z.object({});
  const known = { ...shared, permission: "deployments:create" } as const;
  const { paths } = openApiDocument(
    [
      route({ ...known, path: "/json", body }),
      route({ ...known, path: "/parts", reads: ["multipart/form-data"] }),
      route({ ...known, path: "/none" }),
      route({ ...shared, path: "/public", body, permission: "public", publicBecause: "a test" }),
    ],
    { title: "t", version: "1", description: "d" },
    { errors: "detail", limited: false },
  ) as { paths: Record<string, { post: { responses: Record<string, object> } }> };
  const slow = Object.keys(paths).filter((path) => "408" in paths[path]!.post.responses);
  expect(slow).toEqual(["/json", "/parts"]);
});
