// SPDX-License-Identifier: GPL-2.0-or-later
// Gemini's computer use on a session. @google/genai has no class for what drives a computer; this is the step between two of its calls:
//
//   const {content} = (await ai.models.generateContent({model, contents, config})).candidates[0];
//   contents.push(content, await answer(session, content, {confirm}));

// A call that its vendor wants a person to confirm.
const mustConfirm = (part) => part.functionCall?.args?.safety_decision?.decision === "require_confirmation";

// Runs the function calls of a model's content and returns the user's content with their responses. `confirm(call)` says yes or no to a
// call that needs it; without a yes nothing of the turn is done, and this throws.
export async function answer(session, content, {confirm = () => false, signal} = {}) {
  const parts = [];
  for (const part of content.parts) {
    if (!mustConfirm(part)) {
      parts.push(part);
    } else if (await confirm(part.functionCall)) {
      parts.push({...part, functionCall: {...part.functionCall, safety_acknowledgement: true}});
    } else {
      throw new Error(`not confirmed: ${part.functionCall.args.safety_decision.explanation}`);
    }
  }
  return session.computer({...content, parts}, {signal});
}
