import type { WireError } from "../../../host-kit/src/host-protocol.ts";

/** A failed call whose caller should receive this status. */
export class CallError extends Error {
  readonly status: number;
  override name: string;

  constructor(status: number, name: string, message: string) {
    super(message);
    this.status = status;
    this.name = name;
  }

  get wire(): WireError {
    return { status: this.status, name: this.name, message: this.message };
  }
}
