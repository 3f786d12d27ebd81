/** Address of this script, which the build puts below `assets/`. */
const HERE = import.meta.url;

/** Path below which the console is served, such as "/heddle", or "". */
export const PREFIX = import.meta.env.DEV ? "" : new URL("..", HERE).pathname.replace(/\/$/, "");

/** Address of a path of the console that other people can open. */
export const addressOf = (path: string): string => location.origin + PREFIX + path;
