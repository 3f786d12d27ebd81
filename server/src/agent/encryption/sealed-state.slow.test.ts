/** Encryption of stored state with a real server, database and graph host. */
import { describeSealedState } from "../../../test/sealed-state.ts";

describeSealedState("JavaScript graphs", { plain: "langgraph.json", custom: "custom.json" }, {});
