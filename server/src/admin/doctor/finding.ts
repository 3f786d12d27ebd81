/** Result of one check of `heddle doctor`. */
export interface Finding {
  /** Name of the check, such as `postgres.clock`: stable, for scripts. */
  check: string;
  /** `warning`: works, but not as it should. `error`: a server would fail or lose data. `skipped`: not in use. */
  status: "ok" | "warning" | "error" | "skipped";
  /** State that was found, in one sentence. */
  message: string;
  /** Next step; present for warnings and errors. */
  advice?: string;
  /** Measured figures; each name ends in its unit. */
  figures?: Record<string, number>;
}

/** A check: yields one finding or several, in the order in which they are printed. */
export type Findings = AsyncGenerator<Finding, void>;

export const ok = (check: string, message: string, figures?: Finding["figures"]): Finding => ({
  check,
  status: "ok",
  message,
  ...(figures && { figures }),
});

export const skipped = (check: string, message: string): Finding => ({ check, status: "skipped", message });

export const warning = (check: string, message: string, advice: string, figures?: Finding["figures"]): Finding => ({
  check,
  status: "warning",
  message,
  advice,
  ...(figures && { figures }),
});

export const failure = (check: string, message: string, advice: string, figures?: Finding["figures"]): Finding => ({
  check,
  status: "error",
  message,
  advice,
  ...(figures && { figures }),
});

/** Returns the reason of a failed call in one line; `fetch` and some drivers name it only in the cause. */
export function reason(error: unknown): string {
  const { cause, message, code } = error as Error & { code?: string; cause?: { message?: string; code?: string } };
  const text = cause?.message || cause?.code || message || code || String(error);
  return text.split("\n", 1)[0]!.replace(/\.$/, "");
}
