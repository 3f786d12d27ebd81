import type { ErrorCode } from "./schema.ts";

/** Failure of a command; becomes an answer of type `error`. */
export class ProtocolError extends Error {
  override name = "ProtocolError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

export const invalidArgument = (message: string): ProtocolError => new ProtocolError("invalid_argument", message);
