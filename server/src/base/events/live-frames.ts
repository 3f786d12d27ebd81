import type { Redis } from "ioredis";

import type { Log } from "../log.ts";

/**
 * Told of frames that another server has made: number of the first one, and all of them as they go over the wire.
 * `ended`: none will follow.
 */
export type OnFrames = (streamId: string, first: number, frames: string, ended: boolean) => void;

const PREFIX = "heddle:frames:";

/**
 * New frames on their way between servers, through Redis' publish and subscribe. A message may be lost, come late or
 * never: whoever gets a number that is not the next one reads the database, which has all of them. While Redis is
 * away readers look there twice a second.
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

  /** Does not wait for Redis. Throws for an address that is none. */
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
      let away = false;
      redis.on("ready", () => {
        if (away) log.warn(`Redis is back (${connectionName})`);
        away = false;
      });
      redis.on("error", (error: Error) => {
        if (!away) log.warn({ err: error }, "Redis is away: streams between servers go through the database, slower");
        away = true;
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
    // who does not hear it will look
    const head = ended ? `${first} ended` : String(first);
    this.#publisher.publish(PREFIX + streamId, `${head}\n${frames}`).catch(() => {});
  }

  /** Outlives the connection. */
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
