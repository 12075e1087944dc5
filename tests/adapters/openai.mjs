// SPDX-License-Identifier: GPL-2.0-or-later
// The driver, in the SDK's ComputerToolset, with a person who approves all safety checks.
import OpenAI from "openai";
import {ComputerToolset} from "openai/helpers/computer";
import {driver} from "./glovebox/openai.mjs";
import {session} from "./session.mjs";

const final = await new ComputerToolset(driver(session)).run(
  new OpenAI({maxRetries: 0}), {model: "gpt-6.2-sol", input: "Go on."}, {approveSafetyChecks: () => true},
);
console.log(final.output_text);
