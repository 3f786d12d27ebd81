import { createFileRoute } from "@tanstack/react-router";

import { type DeliveryStatus, STATUSES } from "../../features/webhooks/queries.ts";
import { WebhooksPage } from "../../features/webhooks/webhooks-page.tsx";
import { pickAllowed, optionalText } from "../../ui/search-params.ts";

interface WebhookSearch {
  status?: DeliveryStatus | undefined;
  run?: string | undefined;
  delivery?: string | undefined;
}

export const Route = createFileRoute("/_shell/a/$server/webhooks")({
  component: WebhooksPage,
  validateSearch: (search: Record<string, unknown>): WebhookSearch => ({
    status: pickAllowed(STATUSES, search["status"]),
    run: optionalText(search["run"]),
    delivery: optionalText(search["delivery"]),
  }),
});
