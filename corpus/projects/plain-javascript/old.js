const { Annotation, StateGraph } = require("@langchain/langgraph");

const State = Annotation.Root({ text: Annotation });

exports.graph = new StateGraph(State)
  .addNode("shout", ({ text }) => ({ text: text.toUpperCase() }))
  .addEdge("__start__", "shout")
  .compile();
