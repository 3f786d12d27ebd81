/** `heddle.hosts.lifespan`: resources of graph hosts. */
import { describeHostLifespan } from "../../../test/host-lifespan.ts";

describeHostLifespan("JavaScript", "langgraph.json", {});
