/**
 * Path below which the console is served, without a slash at its end: empty, or `/heddle`. The built scripts are in
 * the folder `assets` below it.
 */
export const BASE_PATH = import.meta.env.DEV ? "" : new URL(import.meta.url).pathname.replace(/\/assets\/[^/]*$/, "");
