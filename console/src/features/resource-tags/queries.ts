import { queryOptions } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";
import type { operations } from "../../api/trace.d.ts";

export type TagKey =
  operations["get_api_v1_workspaces_current_tags"]["responses"][200]["content"]["application/json"][number];
export type Resource = operations["get_api_v1_workspaces_current_tags_resource"]["parameters"]["query"];

export const tagsQuery = queryOptions({
  queryKey: ["resource-tags"],
  queryFn: ({ signal }) => data(traceApi.GET("/api/v1/workspaces/current/tags", { signal })),
});

/** Query for the tags of a resource, with the id of the tagging by `key: value`. */
export const tagsOfQuery = (query: Resource) =>
  queryOptions({
    queryKey: ["resource-tags", query],
    async queryFn({ signal }) {
      const keys = await data(traceApi.GET("/api/v1/workspaces/current/tags/resource", { params: { query }, signal }));
      return new Map(
        keys.flatMap(({ key, values }) =>
          values.map(({ value, taggings }) => [`${key}: ${value}`, taggings[0]!.id] as const),
        ),
      );
    },
  });

/** Gives a resource the tag `key: value`, which is created if necessary. */
export async function tagResource(keys: readonly TagKey[], name: string, resource: Resource): Promise<void> {
  const at = name.indexOf(":");
  const key = name.slice(0, Math.max(0, at)).trim();
  const value = name.slice(at + 1).trim();
  if (key === "" || value === "") throw new Error('Write a tag as "key: value", such as "team: search".');
  const known = keys.find((each) => each.key === key);
  const params = (id: string) => ({ params: { path: { tag_key_id: id } } });
  const { id } = known ?? (await data(traceApi.POST("/api/v1/workspaces/current/tag-keys", { body: { key } })));
  const found =
    known?.values.find((each) => each.value === value) ??
    (await data(
      traceApi.POST("/api/v1/workspaces/current/tag-keys/{tag_key_id}/tag-values", { ...params(id), body: { value } }),
    ));
  await data(traceApi.POST("/api/v1/workspaces/current/taggings", { body: { ...resource, tag_value_id: found.id } }));
}

export const untagResource = (taggingId: string) =>
  traceApi.DELETE("/api/v1/workspaces/current/taggings/{tagging_id}", {
    params: { path: { tagging_id: taggingId } },
  });
