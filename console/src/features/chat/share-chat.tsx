import { Button, Group, Popover, Stack, Text, TextInput } from "@mantine/core";
import { IconShare } from "@tabler/icons-react";
import { useState } from "react";

import { CopyButton } from "../../ui/copy-button.tsx";

interface ShareChatProps {
  /** Name or id that addresses the assistant. */
  assistant: string;
  name: string;
  threadId: string | null;
}

/** Links to the chat for others who can sign in: to their own conversation, or to this one. */
export function ShareChat({ assistant, name, threadId }: ShareChatProps) {
  const [isOpen, setOpen] = useState(false);
  const link = (search: Record<string, string>) =>
    `${location.origin}${location.pathname}?${new URLSearchParams(search).toString()}`;
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" width={380} trapFocus withRoles shadow="md">
      <Popover.Target>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconShare size={14} aria-hidden />}
          onClick={() => setOpen(!isOpen)}
        >
          Share
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Share this chat">
        <Stack gap="xs">
          <Text size="sm">
            Members who can sign in to this console can chat here and rate each reply. Their ratings are feedback on the
            traces.
          </Text>
          <Link label={`New conversation with ${name}`} url={link({ assistant })} />
          {threadId !== null && <Link label="This conversation" url={link({ assistant, thread: threadId })} />}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

function Link({ label, url }: { label: string; url: string }) {
  return (
    <Group gap={4} wrap="nowrap" align="flex-end">
      <TextInput size="xs" readOnly label={label} value={url} style={{ flex: 1 }} />
      <CopyButton value={url} label={`Copy link: ${label}`} />
    </Group>
  );
}
