import type { Sql } from "../../base/db/connect.ts";
import { conflict, notFound } from "../../base/errors.ts";
import { digestInputs } from "../examples/canonical-inputs.ts";
import { addExamples } from "../examples/write-examples.ts";
import type { AcceptBody } from "./schema.ts";
import { decideProposal, lockProposal } from "./sql.ts";

interface Place {
  tenantId: string;
  datasetId: string;
  proposalId: string;
  userId: string | null;
}

/**
 * Makes a proposal an example of its dataset, with the changes that are given. Repeating it returns the same example.
 * @returns its id
 * @throws 404 for an unknown proposal, 409 for a rejected one, 422 when the dataset's schemas exclude it
 */
export async function acceptProposal(sql: Sql, place: Place, changes: AcceptBody): Promise<string> {
  const { tenantId, datasetId, proposalId: id, userId } = place;
  return (await sql.begin(async (tx) => {
    const proposal = await lockProposal(tx, tenantId, datasetId, id);
    if (!proposal) throw notFound(NOT_FOUND);
    if (proposal.status === "accepted") return proposal.example_id!;
    if (proposal.status === "rejected") throw conflict("The proposal was rejected.");
    const inputs = changes.inputs ?? proposal.inputs;
    const outputs = changes.outputs ?? proposal.outputs;
    const edited = digestInputs([inputs, outputs]) !== digestInputs([proposal.inputs, proposal.outputs]);
    const metadata = { ...changes.metadata, ...proposal.metadata, proposal_id: id, ...(edited && { edited: true }) };
    await addExamples(tx, tenantId, datasetId, [{ id, inputs, outputs, metadata, split: changes.split }]);
    await decideProposal(tx, tenantId, id, { status: "accepted", exampleId: id, userId });
    return id;
  })) as string;
}

/** Rejects a proposal. @throws 404 for an unknown one, 409 for one that was accepted */
export async function rejectProposal(sql: Sql, { tenantId, datasetId, proposalId: id, userId }: Place): Promise<void> {
  await sql.begin(async (tx) => {
    const proposal = await lockProposal(tx, tenantId, datasetId, id);
    if (!proposal) throw notFound(NOT_FOUND);
    if (proposal.status === "accepted") throw conflict("The proposal was accepted. Delete the example instead.");
    if (proposal.status === "pending")
      await decideProposal(tx, tenantId, id, { status: "rejected", exampleId: null, userId });
  });
}

const NOT_FOUND = "Proposal not found";
