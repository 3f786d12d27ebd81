import { Button, Text } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";

import { notifyFailure } from "../../ui/notify.ts";
import { RUN_SEARCH, type RunSearch } from "./run-search.ts";
import { saveViewOnce, viewsQuery } from "./view-queries.ts";
import { viewOfSearch } from "./view-record.ts";

/** A named filter as earlier versions kept it in the browser. */
interface BrowserFilter extends Pick<RunSearch, "tab" | "filter" | "trace_filter" | "tree_filter" | "text"> {
  name: string;
  /** Id of the view that it becomes; set before the first attempt. */
  id?: string;
}

/** Offers to save filters that this browser keeps as views; each is removed when the server has it. */
export function BrowserFilters({ projectId, columns }: { projectId: string; columns: readonly string[] }) {
  const client = useQueryClient();
  const [kept, setKept] = useLocalStorage<BrowserFilter[]>({
    key: `heddle.filters.${projectId}`,
    defaultValue: [],
    getInitialValueInEffect: false,
  });
  const save = useMutation({
    mutationFn: async () => {
      const filters = kept.map((filter) => ({ ...filter, id: filter.id ?? crypto.randomUUID() }));
      setKept(filters);
      for (const [index, { id, name, ...filter }] of filters.entries()) {
        const body = { ...viewOfSearch({ ...RUN_SEARCH, ...filter }, columns), display_name: name, is_shared: false };
        await saveViewOnce(projectId, { ...body, id });
        setKept(filters.slice(index + 1));
      }
    },
    onError: notifyFailure("Could not save the filters of this browser"),
    onSettled: () => client.invalidateQueries({ queryKey: viewsQuery(projectId).queryKey }),
  });
  if (kept.length === 0) return null;
  return (
    <>
      <Text size="xs" c="dimmed">
        This browser keeps {kept.length === 1 ? "a filter" : `${kept.length} filters`}:{" "}
        {kept.map(({ name }) => name).join(", ")}
      </Text>
      <Button size="compact-xs" variant="default" loading={save.isPending} onClick={() => save.mutate()}>
        Save as views
      </Button>
    </>
  );
}
