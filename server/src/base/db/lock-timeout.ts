/** SQLSTATE of a lock that could not be acquired within `lock_timeout`. */
const LOCK_NOT_AVAILABLE = "55P03";

/** A lock that could not be acquired in time, as Postgres reports it. */
export class LockTimeoutError extends Error {
  readonly code = LOCK_NOT_AVAILABLE;
}

/** Resolves to whether the work got its locks in time. Rejects on any other failure. */
export const lockedInTime = (work: PromiseLike<unknown>): Promise<boolean> =>
  Promise.resolve(work).then(
    () => true,
    (error: unknown) => {
      if ((error as { code?: string }).code === LOCK_NOT_AVAILABLE) return false;
      throw error;
    },
  );
