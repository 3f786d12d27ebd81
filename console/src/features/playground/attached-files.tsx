import { CloseButton, Group, Text } from "@mantine/core";
import { IconFile } from "@tabler/icons-react";

import type { Attached } from "./attachments.ts";
import classes from "./playground.module.css";

interface AttachedFilesProps {
  files: readonly Attached[];
  onRemove: (index: number) => void;
}

/** Files that will be sent with the message. */
export function AttachedFiles({ files, onRemove }: AttachedFilesProps) {
  return (
    <Group gap="xs" mt="xs" role="list" aria-label="Attached files">
      {files.map(({ name, type, url }, index) => (
        <Group key={index} gap={6} wrap="nowrap" role="listitem" className={classes.attached}>
          {type.startsWith("image/") ? <img src={url} alt="" height={36} /> : <IconFile size={16} aria-hidden />}
          <Text size="xs" maw={180} truncate title={name}>
            {name}
          </Text>
          <CloseButton size="sm" aria-label={`Remove ${name}`} onClick={() => onRemove(index)} />
        </Group>
      ))}
    </Group>
  );
}
