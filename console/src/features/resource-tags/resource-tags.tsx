import { MultiSelect, TagsInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { notifyFailure } from "../../ui/notify.ts";
import { usePermission } from "../settings/use-permission.ts";
import { type Resource, tagResource, tagsOfQuery, tagsQuery, untagResource } from "./queries.ts";

interface ResourceTagsProps extends Resource {
  /** Permission that changes the resource. */
  permission: string;
}

/** Field that shows and changes the workspace tags of a resource, at once. */
export function ResourceTags({ permission, ...resource }: ResourceTagsProps) {
  const client = useQueryClient();
  const { data: keys = [] } = useQuery(tagsQuery);
  const { data: tags = new Map<string, string>() } = useQuery(tagsOfQuery(resource));
  const denial = usePermission(permission);
  const change = useMutation({
    async mutationFn(names: string[]) {
      for (const [name, id] of tags) if (!names.includes(name)) await untagResource(id);
      for (const name of names) if (!tags.has(name)) await tagResource(keys, name, resource);
    },
    onError: notifyFailure("Could not change the tags"),
    onSettled: () => client.invalidateQueries({ queryKey: tagsQuery.queryKey }),
  });
  return (
    <TagsInput
      label="Workspace tags"
      description={denial ?? 'As "key: value". A new one is created when you press Enter.'}
      size="xs"
      maw={640}
      data={keys.flatMap(({ key, values }) => values.map(({ value }) => `${key}: ${value}`))}
      value={[...tags.keys()]}
      readOnly={denial !== null || change.isPending}
      onChange={(names) => change.mutate(names)}
    />
  );
}

interface TagFilterProps {
  /** Comma-separated ids of values. */
  value: string;
  onChange: (value: string) => void;
}

/** Filter of a list by workspace tags; absent in workspaces that have none. */
export function TagFilter({ value, onChange }: TagFilterProps) {
  const { data: keys = [] } = useQuery(tagsQuery);
  if (value === "" && !keys.some(({ values }) => values.length > 0)) return null;
  return (
    <MultiSelect
      aria-label="Filter by workspace tags"
      placeholder={value === "" ? "All workspace tags" : ""}
      size="xs"
      w={{ base: "100%", xs: 220 }}
      searchable
      clearable
      data={keys.map(({ key, values }) => ({
        group: key,
        items: values.map(({ id, value: label }) => ({ value: id, label })),
      }))}
      value={value === "" ? [] : value.split(",")}
      onChange={(ids) => onChange(ids.join(","))}
    />
  );
}
