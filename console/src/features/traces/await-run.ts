import { ApiError } from "../../api/api-error.ts";

const EVERY_MS = 1000;
const TRIES = 120;

/** How to ask for a run that its client has just named, and perhaps not sent yet. */
export const AWAIT_RUN = {
  retry: (failures: number, error: Error) => failures < TRIES && error instanceof ApiError && error.status === 404,
  retryDelay: EVERY_MS,
};
