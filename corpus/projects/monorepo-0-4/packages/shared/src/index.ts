export { lastText } from "./messages.js";

export const VERSION = "shared-1" as const;
