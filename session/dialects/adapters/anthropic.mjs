// SPDX-License-Identifier: GPL-2.0-or-later
// Claude's computer toolset (computer_toolset_20260801) on a session, for the tool runner of @anthropic-ai/sdk:
//
//   client.beta.messages.toolRunner({model, max_tokens, messages, tools: [new GloveboxToolset(session, {confirm: () => true})]})
//
// Each call is posted as it came. What the model did wrong comes back as the text of an error and goes on to it; what the harness did
// wrong, and a session that is gone, ends the run.
import {BetaAbstractComputerToolset20260801, ToolError, ToolsetUsageError} from "@anthropic-ai/sdk/helpers/beta/toolsets";

export class GloveboxToolset extends BetaAbstractComputerToolset20260801 {
  #session;

  // `options` are the SDK's: `confirm` decides about each call, `configs` switches members off.
  constructor(session, options) {
    super(options);
    this.#session = session;
  }

  async execute(ctx, name, input) {
    const block = {type: "tool_use", id: ctx.toolUse?.id ?? "call", name, toolset_name: this.toolsetName, input};
    const {content, is_error} = await this.#post(block, ctx.signal ?? undefined);
    const [{text, source}] = typeof content === "string" ? [{text: content}] : content;
    if (is_error) {
      throw new ToolError(text);
    }
    if (source) {
      return {data: source.data, mediaType: source.media_type};
    }
    if (name === "cursor_position") {
      const [x, y] = text.match(/\d+/g).map(Number);
      return {x, y};
    }
  }

  // Errors of this class are none that the tool runner hands to the model.
  #post(block, signal) {
    return this.#session.computer(block, {signal}).catch((error) => {
      throw signal?.aborted ? error : new ToolsetUsageError(error.message, {cause: error});
    });
  }
}
