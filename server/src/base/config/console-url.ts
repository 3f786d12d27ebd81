import { text } from "./options.ts";

/** For the spaces that give out links into the console. */
export const consoleUrlOptions = {
  consoleUrl: text({
    env: ["HEDDLE_CONSOLE_URL"],
    default: "http://localhost:3000",
    description: "Where people open the console; links to deployments, runs and shared traces begin with it.",
  }),
};
