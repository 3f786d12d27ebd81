import type { Context, MiddlewareHandler } from "hono";

/**
 * What middleware reads with `c.req.json()` and changes is what everybody behind it reads (contract §17). Hono of
 * today parses anew for each reader.
 */
export const keepParsedBody: MiddlewareHandler = async (c: Context, next) => {
  const { req } = c;
  const json = req.json.bind(req);
  const text = req.text.bind(req);
  let parsed: Promise<unknown> | undefined;
  req.json = (() => (parsed ??= json())) as typeof req.json;
  // what is no JSON is told as it came
  req.text = () =>
    parsed === undefined
      ? text()
      : parsed.then(
          (body) => JSON.stringify(body),
          () => text(),
        );
  await next();
};
