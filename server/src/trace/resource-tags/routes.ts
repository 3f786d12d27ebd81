import { z } from "zod";

import { notFound } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { rawJson, route, type Route } from "../../base/http/route.ts";
import type { TraceDeps } from "../deps.ts";
import { changeLabel, checkRight, createLabel, readableTypes, tagResource } from "./change-tags.ts";
import * as schema from "./schema.ts";
import * as rows from "./sql.ts";

const tag = "Tags of resources";
const keys = v1("/workspaces/current/tag-keys");
const singleKey = v1("/workspaces/current/tag-keys/:tag_key_id");
const values = v1("/workspaces/current/tag-keys/:tag_key_id/tag-values");
const singleValue = v1("/workspaces/current/tag-keys/:tag_key_id/tag-values/:tag_value_id");

/** Returns the only item of a JSON array. */
function only(items: string, what: string): Response {
  if (items === "[]") throw notFound(`${what} not found`);
  return rawJson(items.slice(1, -1));
}

/** Routes of the tags that a workspace gives to its projects, datasets, prompts and other resources. */
export function resourceTagRoutes({ sql }: Pick<TraceDeps, "sql">): Route[] {
  const key = async (tenantId: string, id: string) => only(await rows.listKeys(sql, tenantId, id), "Tag key");
  const value = async (tenantId: string, keyId: string, id: string) =>
    only(await rows.listValues(sql, tenantId, keyId, id), "Tag value");
  return [
    route({
      tag,
      method: "GET",
      ...keys,
      permission: "workspaces:read",
      summary: "List the tag keys of the workspace",
      out: { 200: z.array(schema.tagKey) },
      handler: async ({ principal }) => rawJson(await rows.listKeys(sql, principal.workspaceId)),
    }),
    route({
      tag,
      method: "POST",
      ...keys,
      permission: "projects:update",
      summary: "Create a tag key",
      auditFields: ["key"],
      body: schema.keyCreate,
      out: { 200: schema.tagKey },
      errors: [409],
      async handler({ body, principal: { workspaceId } }) {
        return key(workspaceId, await createLabel(sql, workspaceId, { ...body, text: body.key }));
      },
    }),
    route({
      tag,
      method: "GET",
      ...singleKey,
      permission: "workspaces:read",
      summary: "Get a tag key",
      params: schema.keyParams,
      out: { 200: schema.tagKey },
      errors: [404],
      handler: ({ params, principal }) => key(principal.workspaceId, params.tag_key_id),
    }),
    route({
      tag,
      method: "PATCH",
      ...singleKey,
      permission: "projects:update",
      summary: "Change a tag key; null clears its description",
      auditFields: ["key"],
      params: schema.keyParams,
      body: schema.keyUpdate,
      out: { 200: schema.tagKey },
      errors: [404, 409],
      async handler({ params: { tag_key_id: id }, body, principal: { workspaceId } }) {
        await changeLabel(rows.updateKey(sql, workspaceId, id, { ...body, text: body.key }), body.key);
        return key(workspaceId, id);
      },
    }),
    route({
      tag,
      method: "DELETE",
      ...singleKey,
      permission: "projects:update",
      summary: "Delete a tag key with its values, also from all resources",
      params: schema.keyParams,
      out: { 200: z.null() },
      errors: [404],
      async handler({ params, principal }) {
        if (!(await rows.deleteKey(sql, principal.workspaceId, params.tag_key_id))) throw notFound("Tag key not found");
        return rawJson("null");
      },
    }),
    route({
      tag,
      method: "GET",
      ...values,
      permission: "workspaces:read",
      summary: "List the values of a tag key",
      params: schema.keyParams,
      out: { 200: z.array(schema.tagValue) },
      errors: [404],
      async handler({ params: { tag_key_id: id }, principal: { workspaceId } }) {
        const items = await rows.listValues(sql, workspaceId, id);
        if (items === "[]") await key(workspaceId, id);
        return rawJson(items);
      },
    }),
    route({
      tag,
      method: "POST",
      ...values,
      permission: "projects:update",
      summary: "Create a value of a tag key",
      auditFields: ["value"],
      params: schema.keyParams,
      body: schema.valueCreate,
      out: { 200: schema.tagValue },
      errors: [404, 409],
      async handler({ params: { tag_key_id: keyId }, body, principal: { workspaceId } }) {
        return value(workspaceId, keyId, await createLabel(sql, workspaceId, { ...body, text: body.value }, keyId));
      },
    }),
    route({
      tag,
      method: "GET",
      ...singleValue,
      permission: "workspaces:read",
      summary: "Get a value of a tag key",
      params: schema.valueParams,
      out: { 200: schema.tagValue },
      errors: [404],
      handler: ({ params, principal }) => value(principal.workspaceId, params.tag_key_id, params.tag_value_id),
    }),
    route({
      tag,
      method: "PATCH",
      ...singleValue,
      permission: "projects:update",
      summary: "Change a value of a tag key; null clears its description",
      auditFields: ["value"],
      params: schema.valueParams,
      body: schema.valueUpdate,
      out: { 200: schema.tagValue },
      errors: [404, 409],
      async handler({ params: { tag_key_id: keyId, tag_value_id: id }, body, principal: { workspaceId } }) {
        await changeLabel(rows.updateValue(sql, workspaceId, keyId, id, { ...body, text: body.value }), body.value);
        return value(workspaceId, keyId, id);
      },
    }),
    route({
      tag,
      method: "DELETE",
      ...singleValue,
      permission: "projects:update",
      summary: "Delete a value of a tag key, also from all resources",
      params: schema.valueParams,
      out: { 200: z.null() },
      errors: [404],
      async handler({ params: { tag_key_id: keyId, tag_value_id: id }, principal }) {
        if (!(await rows.deleteValue(sql, principal.workspaceId, keyId, id))) throw notFound("Tag value not found");
        return rawJson("null");
      },
    }),
    route({
      tag,
      method: "GET",
      ...v1("/workspaces/current/tags"),
      permission: "workspaces:read",
      summary: "List all tag keys with their values",
      out: { 200: z.array(schema.keyWithValues) },
      handler: async ({ principal }) => rawJson(await rows.listTags(sql, principal.workspaceId)),
    }),
    route({
      tag,
      method: "GET",
      ...v1("/workspaces/current/tags/resource"),
      permission: "workspaces:read",
      summary: "List the tags of a resource",
      query: schema.resourceQuery,
      out: { 200: z.array(schema.keyWithTaggings) },
      errors: [403],
      async handler({ query, principal }) {
        checkRight(principal, query.resource_type, "read");
        const byId = JSON.parse(await rows.listTagsOf(sql, principal.workspaceId, [query])) as Record<string, unknown>;
        return rawJson(JSON.stringify(byId[query.resource_id]));
      },
    }),
    route({
      tag,
      method: "POST",
      ...v1("/workspaces/current/tags/resources"),
      permission: "workspaces:read",
      summary: "List the tags of many resources, by their ids",
      body: schema.resourcesBody,
      out: { 200: z.record(z.guid(), z.array(schema.keyWithTaggings)) },
      errors: [403],
      async handler({ body, principal }) {
        for (const type of new Set(body.map((resource) => resource.resource_type))) checkRight(principal, type, "read");
        return rawJson(await rows.listTagsOf(sql, principal.workspaceId, body));
      },
    }),
    route({
      tag,
      method: "GET",
      ...v1("/workspaces/current/taggings"),
      permission: "workspaces:read",
      summary: "List the resources of each tag, or of one",
      query: schema.taggingsQuery,
      out: { 200: z.array(schema.taggingsOfValue) },
      handler: async ({ query, principal }) =>
        rawJson(await rows.listTaggings(sql, principal.workspaceId, readableTypes(principal), query.tag_value_id)),
    }),
    route({
      tag,
      method: "POST",
      ...v1("/workspaces/current/taggings"),
      permission: "workspaces:read",
      summary: "Give a resource a tag; requires the permission to change it",
      auditFields: ["tag_value_id", "resource_type", "resource_id"],
      body: schema.taggingCreate,
      out: { 200: schema.tagging },
      errors: [403, 404],
      handler: async ({ body, principal }) =>
        rawJson(await sql.begin((tx) => tagResource(tx, principal, body.tag_value_id, body))),
    }),
    route({
      tag,
      method: "DELETE",
      ...v1("/workspaces/current/taggings/:tagging_id"),
      permission: "workspaces:read",
      summary: "Take a tag from a resource; requires the permission to change it",
      params: schema.taggingParams,
      out: { 200: z.null() },
      errors: [403, 404],
      async handler({ params: { tagging_id: id }, principal }) {
        const type = await rows.findTagging(sql, principal.workspaceId, id);
        if (!type) throw notFound("Tagging not found");
        checkRight(principal, type, "update");
        await rows.deleteTagging(sql, principal.workspaceId, id);
        return rawJson("null");
      },
    }),
  ];
}
