// SPDX-License-Identifier: GPL-2.0-or-later
// Turns of Gemini until it calls nothing any more, with a person who confirms everything unless DENY is set.
import {Environment, GoogleGenAI} from "@google/genai";
import {answer} from "./glovebox/google.mjs";
import {session} from "./session.mjs";

const ai = new GoogleGenAI({});
const config = {tools: [{computerUse: {environment: Environment.ENVIRONMENT_DESKTOP}}]};
const contents = [{role: "user", parts: [{text: "Go on."}]}];
for (;;) {
  const response = await ai.models.generateContent({model: "gemini-3.5-flash", contents, config});
  if (!response.functionCalls) {
    console.log(response.text);
    break;
  }
  const {content} = response.candidates[0];
  contents.push(content, await answer(session, content, {confirm: () => !process.env.DENY}));
}
