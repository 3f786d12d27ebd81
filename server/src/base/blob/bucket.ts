import type { Readable } from "node:stream";

/**
 * A bucket of an S3-compatible store. Keys are complete, without the bucket's name. Every call throws StorageError
 * (s3-error.ts), whose `canHeal` indicates whether a retry can succeed; an aborted call rejects with the signal's
 * reason, unchanged.
 */
export interface Bucket {
  /** Writes or overwrites one object in one request. */
  put(key: string, content: Uint8Array, options?: PutOptions): Promise<StoredObject>;
  /**
   * Writes a stream of any length: in one request when it fits in a part, else as a multipart upload, which is aborted
   * without residue on failure, if the store permits that. The write is atomic. A chunk is no longer used once the next
   * one is requested.
   */
  upload(key: string, content: AsyncIterable<Uint8Array>, options?: UploadOptions): Promise<StoredObject>;
  /** Undefined when the object does not exist. */
  head(key: string, signal?: AbortSignal): Promise<{ size: number; etag: string | null } | undefined>;
  get(key: string, signal?: AbortSignal): Promise<{ size: number; content: Readable } | undefined>;
  /** Ignores a missing object. */
  delete(key: string, signal?: AbortSignal): Promise<void>;
  /** Lists keys in order, `limit` (at most 1000) per page; `after` is the last key of the previous page. */
  list(prefix: string, page?: { after?: string; limit?: number; signal?: AbortSignal }): Promise<ListedObject[]>;
  /** Aborts a multipart upload that its process left behind; ignores one that is over. */
  abortUpload(key: string, uploadId: string, signal?: AbortSignal): Promise<void>;
  /**
   * Aborts every multipart upload of this key, including those with an unknown id.
   *
   * @returns the number aborted; null when the store does not permit listing (s3:ListBucketMultipartUploads)
   */
  abortUploads(key: string, signal?: AbortSignal): Promise<number | null>;
  close(): void;
}

export interface PutOptions {
  contentType?: string;
  signal?: AbortSignal | undefined;
}

export interface UploadOptions extends PutOptions {
  /** Expected bytes. Determines the part size; an upload with more or fewer is aborted instead of completed. */
  size?: number;
  /** Part size of content of unknown size, at most 10,000 parts; 8 MiB by default. Memory holds four parts. */
  partBytes?: number;
  /**
   * Uses a multipart upload, however short the content: another process can abort it by its id, so that it never
   * becomes an object, whereas a plain request of a frozen process arrives when the process resumes. Content that fits
   * in a part is still sent in one request when the store permits no multipart uploads.
   */
  alwaysInParts?: boolean;
  /** Awaited before the first part is sent, so that the upload can be aborted after this process was killed. */
  onStart?: (uploadId: string) => void | Promise<void>;
  /** Reports the bytes that the store has acknowledged so far. */
  onProgress?: (bytes: number) => void;
}

export interface StoredObject {
  bytes: number;
  etag: string;
  /** Hash of the content, in hexadecimal. */
  sha256: string;
}

export interface ListedObject {
  key: string;
  size: number;
}
