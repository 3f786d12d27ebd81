import { AppError } from "../../base/errors.ts";

/** Invalid expression. Status 400, because the contract leaves it open (§3.2) and it is a syntax error. */
export class FilterError extends AppError {
  /** Cause, without the position. */
  readonly reason: string;
  /** Index of the first offending character, from 0, in UTF-16 units. */
  readonly position: number;

  constructor(reason: string, position: number) {
    super(400, `Invalid filter at character ${position}: ${reason}`);
    this.name = "FilterError";
    this.reason = reason;
    this.position = position;
  }
}
