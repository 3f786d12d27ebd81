import { Loading } from "./loading.tsx";
import { Problem } from "./problem.tsx";

export interface Loadable {
  data?: unknown;
  error: unknown;
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
  const failed = queries.filter(({ error }) => error);
  if (failed.length > 0) {
    const retry = () => Promise.all(failed.map(({ refetch }) => refetch()));
    return <Problem error={failed[0]!.error} title={title} onRetry={retry} />;
  }
  return queries.some(({ data }) => data === undefined) ? <Loading rows={rows} /> : null;
}
