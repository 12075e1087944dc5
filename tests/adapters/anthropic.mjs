// SPDX-License-Identifier: GPL-2.0-or-later
// The toolset, in the SDK's tool runner. DENY names a member that nobody confirms.
import Anthropic from "@anthropic-ai/sdk";
import {GloveboxToolset} from "./glovebox/anthropic.mjs";
import {session} from "./session.mjs";

const toolset = new GloveboxToolset(session, {confirm: ({member}) => member !== process.env.DENY});
const final = await new Anthropic().beta.messages.toolRunner({
  model: "claude-opus-5-5", max_tokens: 1024, tools: [toolset], messages: [{role: "user", content: "Go on."}],
});
console.log(final.content.at(-1).text);
