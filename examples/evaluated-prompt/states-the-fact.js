function performEval(run, example) {
  return { states_the_fact: run.outputs.answer.includes(example.outputs.fact) };
}
