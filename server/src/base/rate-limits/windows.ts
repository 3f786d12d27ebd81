/** So many in so many seconds, for each holder on its own. `name` is unique among the limits of a server. */
export interface Limit {
  name: string;
  count: number;
  seconds: number;
}

/** One holder's share of a limit. `holder` is an address or a digest, never a credential. */
export interface Bucket {
  limit: Limit;
  holder: string;
}

/** Where a bucket stands. */
export interface Use {
  limit: Limit;
  used: number;
  /** Milliseconds until the window ends; the whole window for a bucket that is empty. */
  resetMs: number;
}

export interface Taken {
  /** Whether every bucket had room. When one had none, nothing was taken from any. */
  allowed: boolean;
  /** In the order of the buckets that were asked for, after the taking. */
  uses: Use[];
}

/**
 * Fixed windows: a bucket's window starts with what is first taken from it, and when it ends the bucket is empty.
 * Windows are therefore not aligned to the clock nor to each other (contract trace-platform §7).
 */
export interface Windows {
  /** Takes one from each bucket, or from none. */
  take(buckets: Bucket[]): Taken | Promise<Taken>;
  /** Gives one back, if the window in which it was taken still runs. */
  giveBack(bucket: Bucket): void | Promise<void>;
  read(buckets: Bucket[]): Use[] | Promise<Use[]>;
  stop(): void | Promise<void>;
}
