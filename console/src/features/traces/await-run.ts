import { ApiError } from "../../api/api-error.ts";

const EVERY_MS = 1000;
const TRIES = 120;

/** Query options for a run whose id its client knows, but which it may not have sent yet. */
export const AWAIT_RUN = {
  retry: (failures: number, error: Error) => failures < TRIES && error instanceof ApiError && error.status === 404,
  retryDelay: EVERY_MS,
};
