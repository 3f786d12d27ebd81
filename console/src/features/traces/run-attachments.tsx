import { Anchor, Group, Stack, Text, Title } from "@mantine/core";
import { IconDownload, IconFile } from "@tabler/icons-react";

import { BASE_PATH } from "../../api/base-path.ts";
import type { AnyRun } from "../runs/run-record.ts";

export interface Attachment {
  name: string;
  url: string;
  type: string;
}

/** Returns attachments. Their signed links point to the trace platform, which a browser reaches through this origin. */
export function listAttachments({ s3_urls: urls }: { s3_urls?: AnyRun["s3_urls"] }): Attachment[] {
  return Object.entries((urls ?? {}) as Record<string, { presigned_url?: string; mime_type?: string }>).flatMap(
    ([key, { presigned_url: link, mime_type: type }]) => {
      const path = /\/attachments\/[^/]+$/.exec(link ?? "")?.[0];
      if (path === undefined) return [];
      const url = `${BASE_PATH}/api/trace/api/v1${path}`;
      return [{ name: key.replace(/^attachment\./, ""), url, type: type ?? "application/octet-stream" }];
    },
  );
}

export function RunAttachments({ attachments }: { attachments: Attachment[] }) {
  return (
    <section aria-label="Attachments">
      <Title order={2} size="h6" mb={4}>
        Attachments
      </Title>
      <Group gap="md" align="flex-start">
        {attachments.map(({ name, url, type }) => (
          <Stack key={name} gap={4} maw="100%">
            {type.startsWith("image/") ? (
              <img
                src={url}
                alt={name}
                style={{ maxWidth: "min(100%, 420px)", maxHeight: 320, minWidth: 24, imageRendering: "auto" }}
              />
            ) : type.startsWith("audio/") ? (
              <audio src={url} controls aria-label={name} />
            ) : type.startsWith("video/") ? (
              <video src={url} controls aria-label={name} style={{ maxWidth: 420 }} />
            ) : null}
            <Anchor href={url} download={name} size="sm">
              <Group gap={4} wrap="nowrap">
                {type.startsWith("image/") ? (
                  <IconDownload size={14} aria-hidden />
                ) : (
                  <IconFile size={14} aria-hidden />
                )}
                <span>{name}</span>
                <Text span size="xs" c="dimmed">
                  {type}
                </Text>
              </Group>
            </Anchor>
          </Stack>
        ))}
      </Group>
    </section>
  );
}
