/** Python graphs that wait for themselves. */
import { testSelfWait } from "../../../test/self-wait.ts";

const BY_URL = ["wait", "stream", "sync", "join", "join-stream", "join-queued", "remote", "protocol", "a2a"];
const REFUSED = [...BY_URL, "own-wait", "own-join", "own-protocol"];
testSelfWait("langgraph.python.json", REFUSED, ["create", "elsewhere"], {
  HEDDLE_PYTHON: process.env["HEDDLE_PYTHON"]!,
});
