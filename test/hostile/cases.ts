/** Inputs that once broke a rule, replayed by every run before the generated ones. */
import type { ServerName } from "./servers.ts";

export interface FixedCase {
  title: string;
  surface: string;
  server: ServerName;
  input: unknown;
}

export const FIXED_CASES: readonly FixedCase[] = [];
