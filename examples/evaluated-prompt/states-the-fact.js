export default function evaluate({ outputs, referenceOutputs }) {
  return { states_the_fact: outputs.answer.includes(referenceOutputs.fact) };
}
