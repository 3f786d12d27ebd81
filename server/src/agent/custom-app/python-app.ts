/**
 * Serves the project's ASGI app. Requests that its routes may take go to the process of the project's
 * Python code. If the app has middleware, all requests do. The app's own router decides which of its routes takes a
 * request; what none takes comes back, and the server answers it, through the middleware.
 *
 * Where the app's routes require authentication, the process is told the caller, or that there is none: then no route
 * of the app is considered, whatever the path (graph-host-python/heddle_host/project_code/app.py).
 */
import type { Context, MiddlewareHandler, Next } from "hono";

import { deferred } from "../../base/deferred.ts";
import { AppError } from "../../base/errors.ts";
import { forgetCaller, takesRequest } from "../../base/http/route.ts";
import type { AppDescription, CodeFrame, CodeRequest } from "../python-code/code-frames.ts";
import type { CodeProcess } from "../python-code/code-process.ts";
import { describeRequest } from "../python-code/describe-request.ts";

export interface PythonAppOptions {
  process(): CodeProcess;
  describe(): AppDescription;
  /** Authenticates the callers of the app's own routes, where the project enables it. */
  authenticate: ((c: Context) => Promise<object>) | null;
}

const NO_BODY = new Set([101, 204, 205, 304]);

const REJECTION = "heddle.pythonAppRejection";

export function pythonAppHandler(options: PythonAppOptions): MiddlewareHandler {
  return async (c, next) => {
    const { paths, wraps } = options.describe();
    const own = takesRequest(c);
    const described = describeRequest(c.req.raw, c.req.path);
    const mayTake = paths === null ? !own : isAmong(paths, described.path);
    if (!mayTake && !wraps) return next();
    const request: CodeRequest = { ...described, own };
    if (options.authenticate) {
      request.guarded = true;
      if (mayTake || !own) {
        try {
          request.user = await options.authenticate(c);
        } catch (error) {
          if (!wraps) {
            if (own) return next();
            throw error;
          }
          c.set(REJECTION, error);
        }
      }
    }
    await exchange(c, next, options.process(), request);
  };
}

/** Selects the requests to ask the app about; the app decides about them. */
const isAmong = ({ exact, below }: NonNullable<AppDescription["paths"]>, path: string): boolean =>
  exact.includes(path.replace(/\/+$/, "")) || below.some((prefix) => path.startsWith(prefix));

/** Rejects unauthenticated requests that the app's middleware has let pass and no route of the server takes. */
export const rejectUnauthenticated: MiddlewareHandler = (c, next) => {
  const rejection = c.get(REJECTION) as unknown;
  if (rejection !== undefined && !takesRequest(c)) throw rejection as Error;
  return next();
};

/** Sends one request to the app and sets its response. */
async function exchange(c: Context, next: Next, process: CodeProcess, request: CodeRequest): Promise<void> {
  const hasBody = request.method !== "GET" && request.method !== "HEAD" && c.req.raw.body !== null;
  const head = deferred<Response>();
  const response = new ResponseBody(() => process.send({ t: "http.gone", id }));
  let body: ReadableStreamDefaultReader<Uint8Array> | undefined;
  let inner: ReadableStreamDefaultReader<Uint8Array> | undefined;
  const innerBody: Buffer[] = [];
  let innerComplete = deferred<void>();
  let settled = false;

  const sendChunk = async () => {
    try {
      body ??= c.req.raw.body!.getReader();
      const { done, value } = await body.read();
      process.send({ t: "http.chunk", id, more: !done }, value ? Buffer.from(value) : "");
    } catch {
      process.send({ t: "http.gone", id });
    }
  };

  const answerInner = async (frame: Extract<CodeFrame, { t: "inner.open" }>) => {
    await replaceRequest(c, frame, async () => {
      innerComplete = deferred();
      innerBody.length = 0;
      process.send({ t: "inner.want", id });
      await innerComplete.promise;
      return Buffer.concat(innerBody);
    });
    await next();
    const { res } = c;
    inner = res.body?.getReader();
    process.send({ t: "inner.head", id, status: res.status, headers: [...res.headers] });
  };

  const sendInnerChunk = async () => {
    try {
      const { done, value } = inner ? await inner.read() : { done: true, value: undefined };
      process.send({ t: "inner.chunk", id, more: !done }, value ? Buffer.from(value) : "");
    } catch {
      // the server aborts the stream, so the app's response must not end cleanly either
      response.abort();
      process.send({ t: "http.gone", id });
    }
  };

  const finish = () => {
    if (settled) return;
    settled = true;
    process.close(id);
  };

  const id = process.open({
    onFrame(frame, bytes) {
      switch (frame.t) {
        case "http.head": {
          const stream = NO_BODY.has(frame.status) || request.method === "HEAD" ? null : response.stream;
          const headers = new Headers();
          for (const [name, value] of frame.headers) headers.append(name, value);
          return head.resolve(new Response(stream, { status: frame.status, headers }));
        }
        case "http.part":
          response.push(bytes, frame.more, () => process.send({ t: "http.ack", id }));
          if (!frame.more) finish();
          return;
        case "http.pull":
          return void sendChunk();
        case "http.abort":
          response.abort();
          return finish();
        case "inner.open":
          return void answerInner(frame).catch((error: unknown) => head.reject(error as Error));
        case "inner.part":
          innerBody.push(bytes);
          if (frame.more) process.send({ t: "inner.want", id });
          else innerComplete.resolve();
          return;
        case "inner.pull":
          return void sendInnerChunk();
        case "ready":
        case "result":
        case "failed":
          return; // frames of calls, never of a request's exchange
      }
    },
    onLost(error) {
      head.reject(error);
      response.abort();
      finish();
    },
  });
  c.req.raw.signal.addEventListener("abort", () => process.send({ t: "http.gone", id }), { once: true });
  process.send({ t: "http.open", id, request, more: hasBody });
  const answer = await head.promise;
  // without this, Hono adds the headers of the earlier response
  c.res = undefined;
  c.res = answer;
}

/** Lets the server's routes see the request as the app's middleware has left it. */
async function replaceRequest(
  c: Context,
  { headers, untouched, query }: Extract<CodeFrame, { t: "inner.open" }>,
  readBody: () => Promise<Buffer>,
): Promise<void> {
  const { raw } = c.req;
  const isSame =
    JSON.stringify(headers) === JSON.stringify([...raw.headers]) && query === new URL(raw.url).search.slice(1);
  if (untouched && isSame) return;
  forgetCaller(c);
  const url = new URL(raw.url);
  url.search = query;
  const init = { method: raw.method, headers: headers as [string, string][], signal: raw.signal };
  if (raw.method === "GET" || raw.method === "HEAD") c.req.raw = new Request(url, init);
  else if (untouched) c.req.raw = new Request(url, { ...init, body: raw.body, duplex: "half" } as RequestInit);
  else c.req.raw = new Request(url, { ...init, body: (await readBody()) as unknown as BodyInit });
}

/** A response's body: pieces wait until the reader takes them. */
class ResponseBody {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #pieces: { bytes: Buffer; more: boolean; taken: () => void }[] = [];
  #wake: (() => void) | undefined;
  #aborted = false;

  constructor(onCancel: () => void) {
    this.stream = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          while (this.#pieces.length === 0 && !this.#aborted) await new Promise<void>((wake) => (this.#wake = wake));
          const piece = this.#pieces.shift();
          if (!piece) return controller.error(new AppError(500, "The project's app failed."));
          if (piece.bytes.length > 0) controller.enqueue(piece.bytes);
          piece.taken();
          if (!piece.more) controller.close();
          // an empty piece satisfies no read
          else if (piece.bytes.length === 0) controller.enqueue(new Uint8Array(0));
        },
        cancel: onCancel,
      },
      { highWaterMark: 0 },
    );
  }

  push(bytes: Buffer, more: boolean, taken: () => void): void {
    this.#pieces.push({ bytes, more, taken: more ? taken : () => {} });
    this.#wake?.();
  }

  abort(): void {
    this.#aborted = true;
    this.#wake?.();
  }
}
