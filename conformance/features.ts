import { inject } from "vitest";

import { type Feature, lackedBy } from "./lacks.ts";

const { language, version } = inject("langgraph");
const lacked = new Set(lackedBy(language, version));

/** Whether the project's LangGraph has a feature; cases that need one it lacks are left out. */
export const has = (feature: Feature): boolean => !lacked.has(feature);
