import { Stack } from "@mantine/core";

import { BudgetSection } from "./budget-section.tsx";
import { ConnectionsSection } from "./connections-section.tsx";
import { ProvidersSection } from "./providers-section.tsx";
import { SavedModelsSection } from "./saved-models-section.tsx";

/** Settings of models: connections to providers, saved configurations, and the month's budget. */
export function Models() {
  return (
    <Stack gap="xl">
      <ConnectionsSection />
      <BudgetSection />
      <SavedModelsSection />
      <ProvidersSection />
    </Stack>
  );
}
