import { Button, Group, Loader } from "@mantine/core";
import { useEffect } from "react";

import { Problem } from "./problem.tsx";

/** Pages of a list: an infinite query, or a query that can be repeated for more rows. */
export interface Pages {
  data?: unknown;
  error?: unknown;
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  isFetchNextPageError?: boolean;
  fetchNextPage: () => unknown;
}

/** Loads the next page while the reader is near the end; after an error only `NextPage` does. */
export function useNextPage(pages: Pages | undefined, isNear: boolean) {
  const isWanted = isNear && pages !== undefined && pages.hasNextPage && !pages.isFetchingNextPage && !pages.error;
  useEffect(() => {
    if (isWanted) void pages.fetchNextPage();
    // a page that leaves the reader near the end is followed by the next
  }, [isWanted, pages?.data]);
}

interface NextPageProps {
  pages: Pages | undefined;
  /** Text of the button that loads the next page; absent where `useNextPage` does. */
  label?: string;
}

/** The end of a list: a loader, the error of the next page with a retry, or a button for more. */
export function NextPage({ pages, label }: NextPageProps) {
  if (!pages) return null;
  const { error, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = pages;
  if (isFetchNextPageError && !isFetchingNextPage) {
    return <Problem error={error} title="Could not load more" onRetry={() => fetchNextPage()} />;
  }
  if (label === undefined ? !isFetchingNextPage : !hasNextPage) return null;
  return (
    <Group justify="center" p={label === undefined ? 6 : "sm"}>
      {label === undefined ? (
        <Loader size="xs" role="img" aria-label="Loading more" />
      ) : (
        <Button variant="default" size="xs" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {label}
        </Button>
      )}
    </Group>
  );
}
