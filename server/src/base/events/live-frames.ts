import type { Redis } from "ioredis";

import type { Log } from "../log.ts";

/**
 * Receives frames made by another server: the number of the first, and all of them as sent over the wire. `ended`: none
 * will follow.
 */
export type OnFrames = (streamId: string, first: number, frames: string, ended: boolean) => void;

const PREFIX = "heddle:frames:";

/**
 * Distributes new frames between servers through Redis' publish and subscribe. Messages may be delayed or lost: a
 * receiver that sees a gap in the numbers reads the database, which has all frames. While Redis is unavailable, readers
 * poll the database twice a second.
 */
export class LiveFrames {
  readonly #publisher: Redis;
  readonly #subscriber: Redis;
  #onFrames: OnFrames = () => {};
  #subscribed = new Set<string>();

  private constructor(publisher: Redis, subscriber: Redis) {
    this.#publisher = publisher;
    this.#subscriber = subscriber;
  }

  /** Connects without waiting for Redis. Throws for an invalid address. */
  static async connect(uri: string, log: Log): Promise<LiveFrames> {
    if (!/^rediss?:\/\//.test(uri)) throw new Error("REDIS_URI must begin with redis:// or rediss://");
    const { Redis } = await import("ioredis");
    const open = (connectionName: string) => {
      const redis = new Redis(uri, {
        connectionName,
        connectTimeout: 2000,
        enableOfflineQueue: false,
        maxRetriesPerRequest: 0,
        retryStrategy: (times) => Math.min(100 * times, 1000),
      });
      let isDown = false;
      redis.on("ready", () => {
        if (isDown) log.warn(`Redis is available again (${connectionName})`);
        isDown = false;
      });
      redis.on("error", (error: Error) => {
        if (!isDown)
          log.warn(
            { err: error },
            "Redis is unavailable: streams between servers fall back to the slower path through the database",
          );
        isDown = true;
      });
      return redis;
    };
    const live = new LiveFrames(open("heddle-publish"), open("heddle-subscribe"));
    live.#subscriber.on("message", (channel: string, message: string) => {
      const end = message.indexOf("\n");
      const [first, ended] = message.slice(0, end).split(" ");
      live.#onFrames(channel.slice(PREFIX.length), Number(first), message.slice(end + 1), ended === "ended");
    });
    live.#subscriber.on("ready", () => {
      const channels = [...live.#subscribed].map((id) => PREFIX + id);
      if (channels.length > 0) live.#subscriber.subscribe(...channels).catch(() => {});
    });
    return live;
  }

  get connected(): boolean {
    return this.#publisher.status === "ready";
  }

  listen(onFrames: OnFrames): void {
    this.#onFrames = onFrames;
  }

  publish(streamId: string, first: number, frames: string, ended: boolean): void {
    // receivers that miss the message poll the database
    const head = ended ? `${first} ended` : String(first);
    this.#publisher.publish(PREFIX + streamId, `${head}\n${frames}`).catch(() => {});
  }

  /** Subscribes; the subscription survives reconnects. */
  subscribe(streamId: string): void {
    if (this.#subscribed.has(streamId)) return;
    this.#subscribed.add(streamId);
    this.#subscriber.subscribe(PREFIX + streamId).catch(() => {});
  }

  unsubscribe(streamId: string): void {
    if (!this.#subscribed.delete(streamId)) return;
    this.#subscriber.unsubscribe(PREFIX + streamId).catch(() => {});
  }

  close(): void {
    this.#publisher.disconnect();
    this.#subscriber.disconnect();
  }
}
