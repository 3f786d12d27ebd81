import { AppError } from "../../base/errors.ts";

/** An expression that cannot be understood: 400, because the contract leaves the status open (§3.2) and it is syntax. */
export class FilterError extends AppError {
  /** What is wrong, without the position. */
  readonly reason: string;
  /** Index of the first character of what is wrong, from 0, in UTF-16 units. */
  readonly position: number;

  constructor(reason: string, position: number) {
    super(400, `Invalid filter at character ${position}: ${reason}`);
    this.name = "FilterError";
    this.reason = reason;
    this.position = position;
  }
}
