/** An application, or a server that is called in the same way. */
export interface Callable {
  request(path: string, init: RequestInit): Response | Promise<Response>;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body, or undefined when it is not JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read what they expect to be there
  json: any;
}

export type Call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;

/** Calls an application. A body of text or bytes is sent unchanged. */
export const createCaller =
  (app: Callable): Call =>
  async (method, path, body, headers = {}) => {
    const response = await app.request(path, {
      method,
      headers: { ...(body !== undefined && { "Content-Type": "application/json" }), ...headers },
      ...(body !== undefined && {
        ...(body instanceof ReadableStream
          ? { body, duplex: "half" }
          : {
              body: typeof body === "string" || body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body),
            }),
      }),
    });
    const text = await response.text();
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      // an error's text, or an empty body
    }
    return { status: response.status, headers: response.headers, text, json };
  };
