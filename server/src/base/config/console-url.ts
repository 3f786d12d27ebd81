import { text } from "./options.ts";

/** Option of the spaces that emit links to the console. */
export const consoleUrlOptions = {
  consoleUrl: text({
    env: ["HEDDLE_CONSOLE_URL"],
    default: "http://localhost:3000",
    description: "Where people open the console; links to deployments, runs and shared traces begin with it.",
  }),
};
