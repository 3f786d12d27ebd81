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
