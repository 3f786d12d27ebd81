/** Python graphs that wait for themselves. */
import { testSelfWait } from "../../../test/self-wait.ts";

const BY_URL = ["wait", "stream", "sync", "join", "join-stream", "join-queued", "remote"];
testSelfWait("langgraph.python.json", [...BY_URL, "own-wait", "own-join"], {
  HEDDLE_PYTHON: process.env["HEDDLE_PYTHON"]!,
});
