import { text } from "../../base/config/options.ts";

export const sharingOptions = {
  consoleUrl: text({
    env: ["HEDDLE_CONSOLE_URL"],
    default: "http://localhost:3000",
    description: "Where people open the console; links to runs and shared traces begin with it.",
  }),
};
