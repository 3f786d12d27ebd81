import { Alert, Button, List, Text } from "@mantine/core";
import { IconShieldCheck } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";

import { ApiError } from "../../api/api-error.ts";
import { PREFIX } from "../../api/prefix.ts";
import { credentialHeaders } from "../../api/credentials.ts";
import { readEvents } from "../../api/read-events.ts";
import { bytes, count, counted } from "../../ui/format.ts";
import { Problem } from "../../ui/problem.tsx";
import { Progress } from "../../ui/progress.tsx";

interface Verification {
  rows: number;
  bytes: number;
  files: number;
  deleted_count: number;
  listed: boolean;
  ids_checked: boolean;
  problems: string[];
}

interface FilesRead {
  done: number;
  total: number;
}

/** Compares the files of a completed export in the bucket with its manifest, and shows what is found. */
export function VerifyExport({ id }: { id: string }) {
  const [progress, setProgress] = useState<FilesRead | null>(null);
  const verification = useMutation({
    mutationFn: () => verify(id, setProgress),
    onMutate: () => setProgress(null),
  });
  return (
    <section aria-label="Verification">
      <Button
        size="xs"
        variant="default"
        leftSection={<IconShieldCheck size={14} aria-hidden />}
        loading={verification.isPending}
        onClick={() => verification.mutate()}
      >
        Verify files in the bucket
      </Button>
      {verification.isPending && progress && (
        <Progress label="Files read" done={progress.done} total={progress.total}>
          {count(progress.done)} of {count(progress.total)} files
        </Progress>
      )}
      {verification.error && <Problem error={verification.error} title="Could not verify the export" />}
      {verification.data && <Found found={verification.data} />}
    </section>
  );
}

function Found({ found }: { found: Verification }) {
  const isSound = found.problems.length === 0;
  return (
    <Alert
      mt="xs"
      color={isSound ? "success" : "danger"}
      title={isSound ? "The export is complete and unaltered" : `${counted(found.problems.length, "problem")} found`}
      role={isSound ? "status" : "alert"}
    >
      <Text size="sm">
        {counted(found.rows, "row")} in {counted(found.files, "file")}, {bytes(found.bytes)}, read and compared with the
        checksums of the manifest.
        {found.deleted_count > 0 && ` ${counted(found.deleted_count, "row")} of the query had been deleted.`}
        {!found.ids_checked && " Duplicate ids were not looked for: use heddle export verify for exports of this size."}
        {!found.listed && " The bucket cannot be listed, so that files beside those of the manifest are not seen."}
      </Text>
      {!isSound && (
        <List size="sm" mt="xs">
          {found.problems.slice(0, 50).map((problem) => (
            <List.Item key={problem} style={{ overflowWrap: "anywhere" }}>
              {problem}
            </List.Item>
          ))}
        </List>
      )}
    </Alert>
  );
}

async function verify(id: string, onProgress: (progress: FilesRead) => void): Promise<Verification> {
  const response = await fetch(`${PREFIX}/api/trace/api/v1/bulk-exports/${id}/verification`, {
    method: "POST",
    headers: credentialHeaders(),
  });
  if (!response.ok) throw await ApiError.from(response);
  for await (const { event, data } of readEvents(response.body!)) {
    if (event === "progress") onProgress(JSON.parse(data) as FilesRead);
    if (event === "result") return JSON.parse(data) as Verification;
    if (event === "error") throw new Error((JSON.parse(data) as { detail: string }).detail);
  }
  throw new Error("The server ended the verification without a result.");
}
