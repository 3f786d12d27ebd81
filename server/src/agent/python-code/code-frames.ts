/** Frames between the server and the process of a project's Python code, see graph-host-python/heddle_host/project_code. */

/** A request, as ASGI describes it. */
export interface CodeRequest {
  method: string;
  path: string;
  raw_path: string;
  query: string;
  headers: [name: string, value: string][];
  scheme: string;
  root_path: string;
  client: [host: string, port: number] | null;
  server: [host: string, port: number] | null;
  /** Whether the server has a route for the request. A route of the app for other methods does not hide it. */
  own?: boolean;
  /** Whether the app's routes are for authenticated callers only. */
  guarded?: boolean;
  /** The caller, if authenticated. */
  user?: object;
}

export interface AuthDescription {
  authenticates: boolean;
  /** Names of the events that have a handler. */
  events: string[];
}

export interface AppDescription {
  /** Whether the app has middleware, which wraps the server's routes too. */
  wraps: boolean;
  /**
   * Paths of which a route of the app may take requests, without slashes at their ends: `exact` ones, and all that begin
   * with those in `below`. null: the app does not return requests that it has no route for.
   */
  paths: { exact: string[]; below: string[] } | null;
}

export type CodeFrame =
  | { t: "ready"; auth: AuthDescription | null; app: AppDescription | null }
  | { t: "failed"; message: string }
  /** Body: the result as JSON. `status` null: the project's code raised. */
  | { t: "result"; id: number; error?: { status: number | null; message: string; headers: Record<string, string> } }
  | { t: "http.head"; id: number; status: number; headers: [string, string][] }
  /** A piece of the response's body. */
  | { t: "http.part"; id: number; more: boolean }
  /** The app wants more of the request's body. */
  | { t: "http.pull"; id: number }
  /** The app failed after it had begun its response. */
  | { t: "http.abort"; id: number }
  /** No route of the app matches: the server answers. `untouched`: the app has not read the request's body. */
  | {
      t: "inner.open";
      id: number;
      method: string;
      path: string;
      query: string;
      headers: [string, string][];
      untouched: boolean;
    }
  /** A piece of the body that the server is to read instead. */
  | { t: "inner.part"; id: number; more: boolean }
  /** The app wants more of the server's response. */
  | { t: "inner.pull"; id: number };

export type ServerCodeFrame =
  | { t: "drain" }
  /** Answered with the project's files that the process has loaded. */
  | { t: "files"; id: number }
  | { t: "auth.authenticate"; id: number; request: CodeRequest }
  | { t: "auth.decide"; id: number }
  | { t: "embed"; id: number; query: boolean }
  /** Body: a data key of stored state, which the project's own encryption encrypts or decrypts. */
  | { t: "key.convert"; id: number; operation: "encrypt" | "decrypt" }
  | { t: "http.open"; id: number; request: CodeRequest; more: boolean }
  | { t: "http.chunk"; id: number; more: boolean }
  | { t: "http.ack"; id: number }
  | { t: "http.gone"; id: number }
  | { t: "inner.want"; id: number }
  | { t: "inner.head"; id: number; status: number; headers: [string, string][] }
  | { t: "inner.chunk"; id: number; more: boolean };
