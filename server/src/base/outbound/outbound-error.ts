import { AppError } from "../errors.ts";

/** Cause of a failed outbound call. */
export type OutboundReason =
  /** Unacceptable URL: its scheme, credentials in it, its form. */
  | "bad_url"
  /** The address, or a name's address, is not permitted. */
  | "blocked"
  /** Too many redirects, or one that is not followed. */
  | "redirect"
  /** A time limit was exceeded. */
  | "timeout"
  /** The response is larger than the limit, as sent or decoded. */
  | "too_large"
  /** Unknown name, refused connection, TLS failure, or a response that is not HTTP. */
  | "network";

/**
 * An outbound call that was rejected or failed. The message is safe to show to the user who chose the target: it names
 * the host, but no resolved address, which would let strangers explore the operator's network. Status 422 for what the
 * caller has to change, 502 for failures of the target.
 */
export class OutboundError extends AppError {
  override name = "OutboundError";
  readonly reason: OutboundReason;

  constructor(reason: OutboundReason, message: string, cause?: unknown) {
    super(reason === "bad_url" || reason === "blocked" ? 422 : 502, message, { cause });
    this.reason = reason;
  }
}
