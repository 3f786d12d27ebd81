import { UsageError } from "./flags.ts";

/** A server's address without the slash at its end. */
export function baseOf(url: string): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new UsageError(`--url must begin with http:// or https://, not "${url}".`);
  }
  return url.replace(/\/+$/, "");
}

/** Why nobody answered; `fetch` itself only says that it failed. */
export function whyNot(error: unknown): string {
  const { cause, message } = error as Error & { cause?: { message?: string; code?: string } };
  return cause?.message || cause?.code || message;
}
