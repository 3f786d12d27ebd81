import { Alert, Button, Group, Loader, Paper, Stack, Text } from "@mantine/core";
import { IconFileZip, IconFolder, IconUpload } from "@tabler/icons-react";
import { type DragEvent, useRef, useState } from "react";

import { bytes, count } from "../../ui/format.ts";
import { filesOfDrop, filesOfFolder, type PackedFile, packProject } from "./tar.ts";

export interface PackedProject {
  archive: Blob;
  /** Label of the upload in the form. */
  label: string;
}

interface ProjectDropProps {
  value?: PackedProject | null;
  onChange: (project: PackedProject | null) => void;
}

/** Field for a graph project: its folder, compressed here, or a .tar.gz of it, by choosing or dropping. */
export function ProjectDrop({ value, onChange }: ProjectDropProps) {
  const [isOver, setOver] = useState(false);
  const [isPacking, setPacking] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const archiveInput = useRef<HTMLInputElement>(null);
  const folderInput = useRef<HTMLInputElement>(null);

  const take = async (gather: () => Promise<PackedProject>) => {
    setError(null);
    setPacking(true);
    onChange(null);
    try {
      onChange(await gather());
    } catch (problem) {
      setError((problem as Error).message);
    }
    setPacking(false);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const entries = [...event.dataTransfer.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
    const [file] = event.dataTransfer.files;
    if (entries.length === 1 && file && isArchive(file.name)) void take(async () => readArchive(file));
    else if (entries.length > 0) void take(async () => packFiles(entries[0]!.name, await filesOfDrop(entries)));
  };
  return (
    <Paper
      withBorder
      p="md"
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
      style={{ borderStyle: "dashed", borderColor: isOver ? "var(--heddle-selection)" : undefined }}
    >
      <Stack gap="xs" align="center" ta="center">
        <IconUpload size={22} aria-hidden />
        <Text size="sm">Drop the project's folder or a .tar.gz archive here</Text>
        <Group gap="xs" justify="center">
          <Button
            size="xs"
            variant="default"
            leftSection={<IconFolder size={14} aria-hidden />}
            onClick={() => folderInput.current?.click()}
          >
            Select folder
          </Button>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconFileZip size={14} aria-hidden />}
            onClick={() => archiveInput.current?.click()}
          >
            Select archive
          </Button>
        </Group>
        <Text size="xs" c="dimmed">
          Packed in your browser without node_modules, .git and what its .gitignore and .dockerignore exclude. A .env
          file that they do not exclude is included.
        </Text>
        {isPacking && <Loader size="sm" role="img" aria-label="Packing" />}
        {value && (
          <Text size="sm" fw={600} role="status">
            {value.label}
          </Text>
        )}
        {error !== null && (
          <Alert color="danger" role="alert" w="100%">
            {error}
          </Alert>
        )}
      </Stack>
      <input
        ref={archiveInput}
        type="file"
        hidden
        accept=".gz,.tgz,application/gzip"
        aria-label="Project archive"
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? [];
          if (file) void take(async () => readArchive(file));
        }}
      />
      <input
        ref={folderInput}
        type="file"
        hidden
        multiple
        aria-label="Project folder"
        {...{ webkitdirectory: "" }}
        onChange={(event) => {
          const files = [...(event.currentTarget.files ?? [])];
          const name = files[0]?.webkitRelativePath.split("/")[0] ?? "The folder";
          if (files.length > 0) void take(async () => packFiles(name, await filesOfFolder(files)));
        }}
      />
    </Paper>
  );
}

const isArchive = (name: string): boolean => /\.(tar\.gz|tgz)$/i.test(name);

function readArchive(file: File): PackedProject {
  if (!isArchive(file.name)) throw new Error(`${file.name} is not a .tar.gz archive.`);
  return { archive: file, label: `${file.name}, ${bytes(file.size)}` };
}

async function packFiles(name: string, files: PackedFile[]): Promise<PackedProject> {
  if (!files.some(({ path }) => path.endsWith(".json"))) {
    throw new Error(`${name} has no langgraph.json. Select the folder of a LangGraph project.`);
  }
  const archive = await packProject(files);
  return { archive, label: `${name}: ${count(files.length)} files, ${bytes(archive.size)} compressed` };
}
