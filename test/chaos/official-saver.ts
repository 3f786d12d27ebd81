import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";

import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";

import type { Language } from "./language.ts";

export interface SavedHead {
  id: string;
  done?: string[] | null;
}

/** LangGraph's own saver of the graphs' language. */
export interface OfficialSaver {
  /** Reads the newest checkpoint of a thread; rejects if the saver cannot. */
  head(thread: string): Promise<SavedHead | null>;
  end(): Promise<void>;
}

export const openOfficialSaver = (language: Language, uri: string): OfficialSaver =>
  language === "python" ? new PythonSaver(uri) : javascriptSaver(uri);

function javascriptSaver(uri: string): OfficialSaver {
  const saver = PostgresSaver.fromConnString(uri);
  return {
    async head(thread) {
      const tuple = await saver.getTuple({ configurable: { thread_id: thread, checkpoint_ns: "" } });
      if (!tuple) return null;
      const { done } = tuple.checkpoint.channel_values as { done?: string[] };
      return { id: tuple.checkpoint.id, ...(done && { done }) };
    },
    end: () => saver.end(),
  };
}

/** Reads in a process of the interpreter that HEDDLE_PYTHON names, which answers in the order of the questions. */
class PythonSaver implements OfficialSaver {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #waiting: { resolve(head: SavedHead | null): void; reject(error: Error): void }[] = [];
  readonly #ended: Promise<void>;

  constructor(uri: string) {
    const script = fileURLToPath(new URL("project-python/official_saver.py", import.meta.url));
    const python = process.env["HEDDLE_PYTHON"] ?? "python3";
    this.#child = spawn(python, [script, uri], { stdio: ["pipe", "pipe", "inherit"] });
    this.#child.on("error", () => {});
    this.#child.stdin.on("error", () => {});
    createInterface(this.#child.stdout).on("line", (line) => {
      const answer = JSON.parse(line) as SavedHead | { error: string } | null;
      const waiting = this.#waiting.shift()!;
      if (answer && "error" in answer) waiting.reject(new Error(answer.error));
      else waiting.resolve(answer);
    });
    this.#ended = new Promise((done) =>
      this.#child.once("close", () => {
        const error = new Error(`${python} cannot read with langgraph-checkpoint-postgres and psycopg`);
        for (const waiting of this.#waiting.splice(0)) waiting.reject(error);
        done();
      }),
    );
  }

  head(thread: string): Promise<SavedHead | null> {
    if (this.#child.exitCode !== null) return Promise.reject(new Error("The official saver has exited"));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#child.stdin.write(`${thread}\n`);
    });
  }

  end(): Promise<void> {
    this.#child.stdin.end();
    return this.#ended;
  }
}
