import { text } from "./options.ts";

/** Option of the console, and of the spaces that emit links to it. */
export const consoleUrlOptions = {
  consoleUrl: text({
    env: ["HEDDLE_CONSOLE_URL"],
    default: "http://localhost:3000",
    description:
      "Public URL of the console; links to deployments, runs and shared traces start with it. With a path, the console " +
      "is served below it; the proxy in front may remove the path from requests or not.",
  }),
};
