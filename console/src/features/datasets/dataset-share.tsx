import { Button, Popover } from "@mantine/core";
import { IconShare } from "@tabler/icons-react";

import { data, traceApi } from "../../api/clients.ts";
import { ShareLink } from "../sharing/share-link.tsx";
import { datasetShareQuery } from "./queries.ts";

/** Public link to the dataset, with a button that revokes it. */
export function DatasetShare({ datasetId }: { datasetId: string }) {
  return (
    <Popover position="bottom-end" width={340} trapFocus>
      <Popover.Target>
        <Button size="xs" variant="default" leftSection={<IconShare size={14} aria-hidden />}>
          Share
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Sharing datasetId={datasetId} />
      </Popover.Dropdown>
    </Popover>
  );
}

function Sharing({ datasetId }: { datasetId: string }) {
  const params = { path: { dataset_id: datasetId } };
  const path = "/api/v1/datasets/{dataset_id}/share";
  return (
    <ShareLink
      query={datasetShareQuery(datasetId)}
      noun="dataset"
      covers="all examples and experiments"
      kind="d"
      begin={() => data(traceApi.PUT(path, { params }))}
      end={() => traceApi.DELETE(path, { params })}
    />
  );
}
