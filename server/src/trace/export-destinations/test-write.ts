import { StorageError, type StorageReason } from "../../base/blob/s3-error.ts";
import { AppError, coerceError } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import { OutboundError } from "../../base/outbound/outbound-error.ts";
import type { Outbound } from "../../base/outbound/outbound.ts";
import { type ExportDestination, keyIn, openBucket } from "./bucket.ts";

/** Messages for the causes documented by the contract, in its words, and for the others. */
const WORDS: Record<StorageReason, string> = {
  access_denied: "Access denied",
  bucket_not_valid: "Bucket is not valid",
  key_not_known: "Key ID you provided does not exist",
  invalid_endpoint: "Invalid endpoint",
  no_credentials: "No credentials",
  unavailable: "The store is unavailable",
  rejected: "The store rejected the request",
};

/**
 * Writes a file under `<prefix>/tmp/` and deletes it if permitted; otherwise it stays. Resolves
 * to the failure, described for the destination's owner, or to null.
 */
export async function testWrite(
  destination: Pick<ExportDestination, "config" | "credentials">,
  outbound: Outbound,
  timeoutMs: number,
): Promise<string | null> {
  const key = keyIn(destination.config, "tmp", `heddle-test-${uuid7()}.txt`);
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const bucket = await openBucket(destination, outbound, { attempts: 2, requestMs: timeoutMs, silenceMs: timeoutMs });
    const text = "Heddle wrote this object to test its write access. It can be deleted.\n";
    await bucket.put(key, Buffer.from(text), { contentType: "text/plain; charset=utf-8", signal });
    // missing permission to delete is not an error, nor is a slow delete
    await bucket.delete(key, signal).catch(() => {});
    return null;
  } catch (thrown) {
    return explain(coerceError(thrown), timeoutMs);
  }
}

function explain(error: Error, timeoutMs: number): string {
  if (error instanceof OutboundError) return `${WORDS.invalid_endpoint}: ${error.message}`;
  if (error.name === "TimeoutError") return `${WORDS.invalid_endpoint}: no answer within ${timeoutMs} ms`;
  if (!(error instanceof StorageError)) throw error;
  return `${WORDS[error.isForeign ? "invalid_endpoint" : error.reason]}: ${error.message}`;
}

/** Builds the error of a test that failed. */
export const testFailed = (where: string, failure: string): AppError =>
  new AppError(400, `Failed to validate S3 destination: ${failure} [tested in ${where}]`);
