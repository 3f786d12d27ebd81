import { describeHostLifespan } from "../../../test/host-lifespan.ts";

describeHostLifespan("Python", "python.json", { HEDDLE_PYTHON: process.env["HEDDLE_PYTHON"]! });
