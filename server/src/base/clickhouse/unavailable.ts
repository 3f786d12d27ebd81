// TOO_MANY_SIMULTANEOUS_QUERIES, NO_FREE_CONNECTION, SOCKET_TIMEOUT, NETWORK_ERROR, ABORTED, MEMORY_LIMIT_EXCEEDED,
// TABLE_IS_READ_ONLY, NOT_ENOUGH_SPACE, TOO_MANY_PARTS, ALL_CONNECTION_TRIES_FAILED, TOO_FEW_LIVE_REPLICAS,
// UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE, UNKNOWN_STATUS_OF_INSERT, QUERY_WAS_CANCELLED, SYSTEM_ERROR,
// CANNOT_SCHEDULE_TASK, QUERY_WAS_CANCELLED_BY_CLIENT
const UNAVAILABLE = new Set("202 203 209 210 236 241 242 243 252 279 285 286 319 394 425 439 735".split(" "));

/** The statement took longer than its limit (TIMEOUT_EXCEEDED). */
export const TIMEOUT = "159";

/**
 * Whether ClickHouse was unreachable, stopping, or short of a resource: the same statement may succeed later. The
 * outcome of a write is then unknown.
 */
export function isClickHouseUnavailable(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  // E…: Node.js's codes for failed or broken connections
  return typeof code === "string" && (UNAVAILABLE.has(code) || code.startsWith("E"));
}
