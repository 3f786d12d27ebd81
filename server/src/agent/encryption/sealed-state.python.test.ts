import { describeSealedState } from "../../../test/sealed-state.ts";

const python = { HEDDLE_PYTHON: process.env["HEDDLE_PYTHON"]! };
describeSealedState("Python graphs", { plain: "python.json", custom: "custom_python.json" }, python);
