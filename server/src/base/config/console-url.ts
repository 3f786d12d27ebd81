import { text } from "./options.ts";

/** Option of the console, and of the spaces that emit links to it. */
export const consoleUrlOptions = {
  consoleUrl: text({
    env: ["HEDDLE_CONSOLE_URL"],
    default: "http://localhost:3000",
    description:
      "Public URL of the console; links to deployments, runs and shared traces start with it. Its path is the one below which the console is served.",
  }),
};
