import { UsageError } from "./flags.ts";

/** Returns a server's URL without the trailing slash. */
export function parseBaseUrl(url: string): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new UsageError(`--url must begin with http:// or https://, not "${url}".`);
  }
  return url.replace(/\/+$/, "");
}

/** Returns why a server did not answer; `fetch` itself only reports that it failed. */
export function describeFailure(error: unknown): string {
  const { cause, message } = error as Error & { cause?: { message?: string; code?: string } };
  return cause?.message || cause?.code || message;
}

/** A request that a server rejected. */
export class RejectedError extends Error {
  override name = "RejectedError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(`${status} ${message}`);
    this.status = status;
  }
}

/** The message of an error answer, whose field depends on the part of the API. */
export function messageIn(text: string): string {
  try {
    const { detail, error, message } = JSON.parse(text) as Record<string, unknown>;
    const found = detail ?? error ?? message;
    return typeof found === "string" ? found : JSON.stringify(found ?? text).slice(0, 500);
  } catch {
    return text.slice(0, 500);
  }
}
