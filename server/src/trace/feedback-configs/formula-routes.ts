import { AppError } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";

/**
 * Routes of feedback formulas, which were removed from the interface. They return 410; otherwise
 * "formulas" would match as a feedback id.
 */
export function feedbackFormulaRoutes(): Route[] {
  const shared = { tag: "Feedback", ...v1("/feedback/formulas"), summary: "Gone", out: {}, errors: [410] } as const;
  const handler = (): never => {
    throw new AppError(410, "Feedback formulas are no longer part of the API.");
  };
  return [
    route({ ...shared, method: "GET", permission: "feedback:read", handler }),
    route({ ...shared, method: "POST", permission: "feedback:create", audit: "data", handler }),
  ];
}
