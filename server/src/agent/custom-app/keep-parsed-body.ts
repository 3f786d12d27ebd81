import type { Context, MiddlewareHandler } from "hono";

/**
 * Shares the body that middleware reads with `c.req.json()` and changes with all later readers (contract §17). Current
 * Hono versions parse it anew for each reader.
 */
export const keepParsedBody: MiddlewareHandler = async (c: Context, next) => {
  const { req } = c;
  const json = req.json.bind(req);
  const text = req.text.bind(req);
  let parsed: Promise<unknown> | undefined;
  req.json = (() => (parsed ??= json())) as typeof req.json;
  // an invalid JSON body is passed on unchanged
  req.text = () =>
    parsed === undefined
      ? text()
      : parsed.then(
          (body) => JSON.stringify(body),
          () => text(),
        );
  await next();
};
