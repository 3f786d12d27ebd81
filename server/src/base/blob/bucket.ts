import type { Readable } from "node:stream";

/**
 * Somebody else's bucket. Keys are whole, without the bucket's name. Every call throws StorageError (s3-error.ts),
 * which says whether trying again can help; what an aborted signal was aborted with is thrown as it is.
 */
export interface Bucket {
  /** Writes, or overwrites, one object in one request. */
  put(key: string, content: Uint8Array, options?: PutOptions): Promise<StoredObject>;
  /**
   * Writes a stream of any length: in one request when it fits in a part, else as a multipart upload, of which
   * nothing is left when it fails and abort is permitted. The object is there whole, or as it was before. A chunk is
   * not touched any more when the next one is asked for.
   */
  upload(key: string, content: AsyncIterable<Uint8Array>, options?: UploadOptions): Promise<StoredObject>;
  /** Undefined where there is none. */
  head(key: string, signal?: AbortSignal): Promise<{ size: number; etag: string | null } | undefined>;
  get(key: string, signal?: AbortSignal): Promise<{ size: number; content: Readable } | undefined>;
  /** Without complaint about what there is not. */
  delete(key: string, signal?: AbortSignal): Promise<void>;
  /** In the order of keys, `limit` (at most 1000) a page; `after` is the last key of the page before. */
  list(prefix: string, page?: { after?: string; limit?: number; signal?: AbortSignal }): Promise<ListedObject[]>;
  /** Ends a multipart upload whose process did not; without complaint about one that is over. */
  abortUpload(key: string, uploadId: string, signal?: AbortSignal): Promise<void>;
  /**
   * Ends every multipart upload of this key, also those whose id was never learned.
   *
   * @returns how many; null where the store does not let us look (s3:ListBucketMultipartUploads)
   */
  abortUploads(key: string, signal?: AbortSignal): Promise<number | null>;
  close(): void;
}

export interface PutOptions {
  contentType?: string;
  signal?: AbortSignal | undefined;
}

export interface UploadOptions extends PutOptions {
  /** Bytes to come. Chooses the parts' size, and an upload with more or fewer is aborted instead of completed. */
  size?: number;
  /**
   * As a multipart upload, however short: somebody else can end one by its id, and then it never becomes an object. A
   * request of a process that was frozen arrives when it wakes. What fits in a part goes in one request all the same
   * where the store permits no multipart uploads.
   */
  alwaysInParts?: boolean;
  /** Awaited before the first part is sent, so that the upload can be ended after this process was killed. */
  onStart?: (uploadId: string) => void | Promise<void>;
  /** Bytes that the store has acknowledged so far. */
  onProgress?: (bytes: number) => void;
}

export interface StoredObject {
  bytes: number;
  etag: string;
  /** Of what was sent, in hexadecimal. */
  sha256: string;
}

export interface ListedObject {
  key: string;
  size: number;
}
