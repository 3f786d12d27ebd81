/** Limit of `count` per `seconds`, for each holder separately. `name` is unique among the limits of a server. */
export interface Limit {
  name: string;
  count: number;
  seconds: number;
}

/** One holder's window of a limit. `holder` is an address or a digest, never a credential. */
export interface Bucket {
  limit: Limit;
  holder: string;
}

/** State of a bucket. */
export interface Use {
  limit: Limit;
  used: number;
  /** Milliseconds until the window ends; the whole window for an empty bucket. */
  resetMs: number;
}

export interface TakeResult {
  /** Whether every bucket had room. If not, nothing was taken from any. */
  allowed: boolean;
  /** States after the take, in the order of the requested buckets. */
  uses: Use[];
}

/**
 * Fixed windows: a bucket's window starts with the first take and resets when it ends. Windows are therefore aligned
 * neither to the clock nor to each other.
 */
export interface Windows {
  /** Takes one from each bucket, or from none. */
  take(buckets: Bucket[]): TakeResult | Promise<TakeResult>;
  /** Gives one back, if the window in which it was taken has not ended. */
  giveBack(bucket: Bucket): void | Promise<void>;
  read(buckets: Bucket[]): Use[] | Promise<Use[]>;
  stop(): void | Promise<void>;
}
