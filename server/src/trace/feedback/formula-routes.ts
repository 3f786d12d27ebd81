import { AppError } from "../../base/errors.ts";
import { v1 } from "../../base/http/aliases.ts";
import { route, type Route } from "../../base/http/route.ts";

/**
 * Keys computed of others were taken out of the interface (contract §4.1): who still asks is told so, instead of
 * being taken to ask for a feedback whose id is "formulas".
 */
export function feedbackFormulaRoutes(): Route[] {
  const shared = { tag: "Feedback", ...v1("/feedback/formulas"), summary: "Gone", out: {}, errors: [410] } as const;
  const handler = (): never => {
    throw new AppError(410, "Feedback formulas are no longer part of the interface.");
  };
  return [
    route({ ...shared, method: "GET", permission: "feedback:read", handler }),
    route({ ...shared, method: "POST", permission: "feedback:create", audit: "data", handler }),
  ];
}
