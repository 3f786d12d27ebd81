import { Text } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useMemo } from "react";

import { count } from "../../ui/format.ts";
import { Loading } from "../../ui/loading.tsx";
import { Page } from "../../ui/page.tsx";
import { ExamplesTable } from "../datasets/examples-table.tsx";
import { sharedDatasetQuery, sharedExamplesQuery } from "./queries.ts";
import { SharedFrame } from "./shared-frame.tsx";
import { NotShared } from "./shared-trace-page.tsx";

/** Dataset behind a public link, readable without an account. */
export function SharedDatasetPage() {
  const { token } = useParams({ from: "/public/$token/d" });
  const dataset = useQuery(sharedDatasetQuery(token));
  const found = useInfiniteQuery({ ...sharedExamplesQuery(token), enabled: dataset.isSuccess });
  const examples = useMemo(() => found.data?.pages.flat() ?? [], [found.data]);
  const error = dataset.error ?? (found.isFetchNextPageError ? null : found.error);
  return (
    <SharedFrame title="A shared dataset">
      <Page title={dataset.data?.name ?? "Shared dataset"}>
        {error ? (
          <NotShared error={error} onRetry={dataset.error ? dataset.refetch : found.refetch} />
        ) : !dataset.data || found.isPending ? (
          <Loading rows={12} />
        ) : (
          <>
            <Text size="sm" c="dimmed" mb="sm">
              {[dataset.data.description, `${count(dataset.data.example_count)} examples`].filter(Boolean).join(" · ")}
            </Text>
            <ExamplesTable examples={examples} pages={found} />
          </>
        )}
      </Page>
    </SharedFrame>
  );
}
