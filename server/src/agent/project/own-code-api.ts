/**
 * Access of the project's Python code, which runs in its own processes, to this server's API: `get_client()` of
 * langgraph_sdk without a URL calls it (graph-host-python/heddle_host/own_client.py). Each start of the server has
 * another key, which only those processes receive.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";

import { mountPrefix } from "./mount-prefix.ts";
import type { Project } from "./read-project.ts";

type MountSettings = Parameters<typeof mountPrefix>[0]["settings"];

const HEADER = "x-heddle-own-code";

export class OwnCodeApi {
  readonly #key = randomBytes(32).toString("base64url");
  readonly #origin: string;
  readonly #settings: MountSettings;

  /** @param origin URL under which this server is reached on its machine */
  constructor(origin: string, settings: MountSettings) {
    this.#origin = origin;
    this.#settings = settings;
  }

  /** Returns the description of the API that a process of the project receives, as JSON. */
  describe(project: Project): string {
    const url = this.#origin + mountPrefix({ settings: this.#settings, project });
    return JSON.stringify({ url, header: HEADER, key: this.#key });
  }

  /** Whether a request was sent by such a process. */
  admits(headers: Headers): boolean {
    const given = Buffer.from(headers.get(HEADER) ?? "");
    const key = Buffer.from(this.#key);
    return given.length === key.length && timingSafeEqual(given, key);
  }
}
