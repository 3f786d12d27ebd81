/** `useStream` of @langchain/svelte, over protocol v2. */
import { mount } from "svelte";
import App from "./app.svelte";

mount(App, { target: document.getElementById("root")! });
