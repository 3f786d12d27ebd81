import { AppError } from "../errors.ts";

/** Why a call out did not come to an answer. */
export type OutboundReason =
  /** The URL is none that we call: its scheme, credentials in it, its form. */
  | "bad_url"
  /** The address, or a name's address, is not for us to call. */
  | "blocked"
  /** Too many redirects, or one that is not followed. */
  | "redirect"
  /** A time limit passed. */
  | "timeout"
  /** The answer is larger than the limit, as sent or unpacked. */
  | "too_large"
  /** The name is unknown, nobody listens, TLS failed, the answer is no HTTP. */
  | "network";

/**
 * A call out that was refused or failed. Its message may be shown to whoever chose the target: it names the host,
 * but no address that a name led to, for that would let a stranger explore the operator's network.
 * Status 422 for what the caller has to change, 502 for what the other side did.
 */
export class OutboundError extends AppError {
  override name = "OutboundError";
  readonly reason: OutboundReason;

  constructor(reason: OutboundReason, message: string, cause?: unknown) {
    super(reason === "bad_url" || reason === "blocked" ? 422 : 502, message, { cause });
    this.reason = reason;
  }
}
