import { Button, Menu } from "@mantine/core";

interface TestButtonProps {
  hasChannels: boolean;
  isPending: boolean;
  onTest: () => void;
}

/** Sends a test message to the channels of an alert or a budget. */
export const TestButton = ({ hasChannels, isPending, onTest }: TestButtonProps) =>
  hasChannels && (
    <Button size="xs" variant="default" loading={isPending} onClick={onTest}>
      Send test message
    </Button>
  );

interface MoreMenuProps {
  isEnabled: boolean;
  onEdit: () => void;
  onToggle: () => void;
  onDelete: () => void;
}

/** What else can be done with an alert or a budget. */
export const MoreMenu = ({ isEnabled, onEdit, onToggle, onDelete }: MoreMenuProps) => (
  <Menu position="bottom-end">
    <Menu.Target>
      <Button size="xs" variant="default">
        More
      </Button>
    </Menu.Target>
    <Menu.Dropdown>
      <Menu.Item onClick={onEdit}>Edit</Menu.Item>
      <Menu.Item onClick={onToggle}>{isEnabled ? "Disable" : "Enable"}</Menu.Item>
      <Menu.Item color="danger" onClick={onDelete}>
        Delete
      </Menu.Item>
    </Menu.Dropdown>
  </Menu>
);
