/** The user returned by `authenticate`, with all its fields. */
export interface AuthUser {
  identity: string;
  display_name: string;
  is_authenticated: boolean;
  permissions: string[];
  [more: string]: unknown;
}

export interface HandlerInput {
  event: string;
  resource: string;
  action: string;
  /** The request's fields; a handler's changes to them take effect. */
  value: Record<string, unknown>;
  permissions: string[];
  user: AuthUser;
}

export interface AuthHandlers {
  authenticate: ((request: Request) => unknown) | undefined;
  /** Handlers by `resource:action`, `resource`, `*:action` or `*`. */
  callbacks: Record<string, (input: HandlerInput) => unknown>;
}
