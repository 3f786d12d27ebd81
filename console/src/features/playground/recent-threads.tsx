import { Button, Popover } from "@mantine/core";
import { IconHistory } from "@tabler/icons-react";
import { lazy, Suspense, useState } from "react";

import { Loading } from "../../ui/loading.tsx";

const RecentThreadsList = lazy(async () => ({
  default: (await import("./recent-threads-list.tsx")).RecentThreadsList,
}));

interface RecentThreadsProps {
  server: string;
  current: string | undefined;
  onChoose: (threadId: string) => void;
}

/** Switches between conversations without leaving the page. */
export function RecentThreads({ server, current, onChoose }: RecentThreadsProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" width={360} trapFocus withRoles shadow="md">
      <Popover.Target>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconHistory size={14} aria-hidden />}
          onClick={() => setOpen(!isOpen)}
        >
          Recent
        </Button>
      </Popover.Target>
      <Popover.Dropdown p={4} aria-label="Recent threads">
        <Suspense fallback={<Loading rows={5} />}>
          <RecentThreadsList
            server={server}
            current={current}
            onChoose={(threadId) => {
              setOpen(false);
              onChoose(threadId);
            }}
          />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  );
}
