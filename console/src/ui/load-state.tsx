import type { ReactNode } from "react";

import { Loading } from "./loading.tsx";
import { Problem } from "./problem.tsx";

export interface Loadable {
  data?: unknown;
  error: unknown;
  /** Whether the error is that of a further page of a list, which `NextPage` shows at its end. */
  isFetchNextPageError?: boolean;
  refetch: () => unknown;
}

interface LoadStateProps {
  /** One query, or all that the content needs. */
  query: Loadable | Loadable[];
  /** Count of placeholder rows. */
  rows?: number;
  /** Title of the error. */
  title?: string;
}

/**
 * What stands beside or instead of the data of queries: the first error, with a button to retry, else placeholders while
 * data is missing, else nothing. Data that is loaded is shown by the caller, also beside an error.
 */
export function LoadState({ query, rows, title }: LoadStateProps) {
  const queries = Array.isArray(query) ? query : [query];
  const failed = queries.filter(({ error, isFetchNextPageError }) => error && !isFetchNextPageError);
  if (failed.length > 0) {
    const retry = () => Promise.all(failed.map(({ refetch }) => refetch()));
    return <Problem error={failed[0]!.error} title={title} onRetry={retry} />;
  }
  return queries.some(({ data }) => data === undefined) ? <Loading rows={rows} /> : null;
}

interface LoadedListProps extends LoadStateProps {
  query: Loadable;
  /** Rows of the list, none while it is loading. */
  list: readonly unknown[];
  /** Stands for a list without rows. */
  empty: ReactNode;
  /** Table of the rows. */
  children: ReactNode;
}

/** A list in all of its states: its `LoadState`, and once it is loaded, its table or what stands for an empty one. */
export function LoadedList({ list, empty, children, ...state }: LoadedListProps) {
  return (
    <>
      <LoadState {...state} />
      {state.query.data !== undefined && (list.length === 0 ? empty : children)}
    </>
  );
}
