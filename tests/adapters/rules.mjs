// SPDX-License-Identifier: GPL-2.0-or-later
// What each vendor's server says and expects, as far as computer use goes: the paths it takes, the envelope around a turn, its error, and
// what is wrong with a request that follows turn `n` (a text, or undefined). Shapes are those of the types of the vendors' packages.
import {isDeepStrictEqual as same} from "node:util";

// A picture in Base64 that is a PNG.
const isPng = (data) => typeof data === "string" && data.startsWith("iVBORw0KGgo");

// --- Anthropic: a turn is a list of content blocks ---

function checkToolResult(use, result) {
  if (result?.type !== "tool_result" || result.tool_use_id !== use.id) {
    return `messages: tool_use ${use.id} has no tool_result`;
  }
  if ((result.toolset_name ?? null) !== (use.toolset_name ?? null)) {
    return `messages: the tool_result of ${use.id} has toolset_name ${result.toolset_name}`;
  }
  const blocks = typeof result.content === "string" ? [{type: "text", text: result.content}] : result.content;
  const empty = blocks.length === 0 || blocks.some(({type, text}) => type === "text" && !text);
  if (result.is_error && (empty || blocks.some(({type}) => type !== "text"))) {
    return `messages: the error of ${use.id} is not text alone`;
  }
  const pictures = blocks.filter(({type}) => type === "image");
  return pictures.every(({source}) => source.media_type === "image/png" && isPng(source.data)) ? undefined : `messages: no PNG for ${use.id}`;
}

const anthropic = {
  paths: /^\/v1\/messages(\?beta=true)?$/,
  wrap: (content, n) => ({
    id: `msg_${n}`, type: "message", role: "assistant", model: "claude-opus-5-5", content, stop_sequence: null,
    stop_reason: content.some(({type}) => type === "tool_use") ? "tool_use" : "end_turn", usage: {input_tokens: 1, output_tokens: 1},
  }),
  fault: (message) => ({type: "error", error: {type: "invalid_request_error", message}}),
  check(turn, {messages, thread}, n) {
    const uses = turn.filter(({type}) => type === "tool_use");
    const told = messages.at(-1), said = messages.at(-2);
    // A server that holds the conversation is sent what is new alone.
    const continues = thread?.type === "continue" && thread.previous_message_id === `msg_${n}` && !said;
    if (!continues && (said?.role !== "assistant" || !same(said.content, turn))) {
      return "messages: the assistant's turn is not what the model said";
    }
    if (told.role !== "user" || told.content.length !== uses.length) {
      return `messages: ${uses.length} tool_use, ${told.content.length} blocks after them`;
    }
    return uses.map((use, i) => checkToolResult(use, told.content[i])).find(Boolean);
  },
};

// --- OpenAI: a turn is a list of output items ---

function checkOutput(call, item) {
  if (item?.type !== "computer_call_output" || item.call_id !== call.call_id) {
    return `input: computer_call ${call.call_id} has no output`;
  }
  if (!same(item.acknowledged_safety_checks ?? [], call.pending_safety_checks ?? [])) {
    return `input: the safety checks of ${call.call_id} are not acknowledged`;
  }
  const [head, data] = String(item.output?.image_url).split(",");
  const good = item.output?.type === "computer_screenshot" && head === "data:image/png;base64" && isPng(data);
  return good ? undefined : `input: the output of ${call.call_id} is no screenshot`;
}

const openai = {
  paths: /^\/v1\/responses$/,
  wrap: (output, n) => ({
    id: `resp_${n}`, object: "response", created_at: 1796000000 + n, status: "completed", model: "gpt-6.2-sol", output, error: null,
    incomplete_details: null, instructions: null, metadata: {}, parallel_tool_calls: false, tool_choice: "auto", tools: [{type: "computer"}],
    usage: {input_tokens: 1, input_tokens_details: {cached_tokens: 0}, output_tokens: 1, output_tokens_details: {reasoning_tokens: 0}, total_tokens: 2},
  }),
  fault: (message) => ({error: {message, type: "invalid_request_error", param: "input", code: null}}),
  check(turn, {input, previous_response_id}, n) {
    const calls = turn.filter(({type}) => type === "computer_call");
    const outputs = input.filter(({type, call_id}) => type === "computer_call_output" && calls.some((call) => call.call_id === call_id));
    if (outputs.length !== calls.length) {
      return `input: ${calls.length} computer_call, ${outputs.length} outputs`;
    }
    const known = (id) => input.some(({type, call_id}) => type === "computer_call" && call_id === id);
    const lost = previous_response_id === `resp_${n}` ? undefined : calls.find(({call_id}) => !known(call_id));
    return lost ? `input: computer_call ${lost.call_id} is not in it` : calls.map((call, i) => checkOutput(call, outputs[i])).find(Boolean);
  },
};

// --- Gemini: a turn is a list of parts ---

function checkResponse({name, id, args}, part) {
  const response = part?.functionResponse;
  if (response?.name !== name || response.id !== id || typeof response.response !== "object") {
    return `contents: ${name} ${id} has no response`;
  }
  if (args.safety_decision?.decision === "require_confirmation" && String(response.response.safety_acknowledgement) !== "true") {
    return `contents: ${name} ${id} needs a safety_acknowledgement`;
  }
  const picture = response.parts?.[0]?.inlineData;
  if (!picture && response.response.error) {
    return undefined;
  }
  return picture?.mimeType === "image/png" && isPng(picture.data) ? undefined : `contents: the response of ${name} ${id} has no picture`;
}

const google = {
  paths: /^\/v1(beta)?\/models\/[\w.-]+:generateContent$/,
  wrap: (parts) => ({
    candidates: [{content: {role: "model", parts}, finishReason: "STOP", index: 0}],
    usageMetadata: {promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2}, modelVersion: "gemini-3.5-flash",
  }),
  fault: (message) => ({error: {code: 400, message, status: "INVALID_ARGUMENT"}}),
  check(turn, {contents}) {
    const calls = turn.filter(({functionCall}) => functionCall).map(({functionCall}) => functionCall);
    const [said, told] = contents.slice(-2);
    if (said.role !== "model" || !same(said.parts, turn)) {
      return "contents: the model's turn is not what it said";
    }
    if (told.role !== "user" || told.parts.length !== calls.length) {
      return `contents: ${calls.length} functionCall, ${told.parts.length} parts after them`;
    }
    return calls.map((call, i) => checkResponse(call, told.parts[i])).find(Boolean);
  },
};

export const VENDORS = {anthropic, openai, google};
