// SPDX-License-Identifier: GPL-2.0-or-later
// The computer, in the agents package, which speaks to the model by @openai/agents-openai; a person acknowledges all safety checks.
import {Agent, Runner, computerTool} from "@openai/agents-core";
import {OpenAIProvider} from "@openai/agents-openai";
import {GloveboxComputer} from "./glovebox/openai-agents.mjs";
import {session} from "./session.mjs";

const tool = computerTool({
  computer: new GloveboxComputer(session, {onFailure: (error) => console.log(`failed: ${error.message}`)}),
  onSafetyCheck: () => true,
});
const agent = new Agent({name: "tester", model: "gpt-6.2-sol", tools: [tool]});
const result = await new Runner({modelProvider: new OpenAIProvider(), tracingDisabled: true}).run(agent, "Go on.");
console.log(result.finalOutput);
