// SPDX-License-Identifier: GPL-2.0-or-later
// The Computer of @openai/agents-core on a session:
//
//   new Agent({name, model, tools: [computerTool({computer: new GloveboxComputer(session)})]})
//
// An action that throws would make that package answer with no picture at all, which ends the run. So what fails is told to `onFailure`,
// the rest of that turn is left out, and the model sees the screen as it is.
import {perform} from "./openai.mjs";

export class GloveboxComputer {
  #session;
  #onFailure;
  #failed = false;

  constructor(session, {onFailure = (error) => console.warn(`computer: ${error.message}`)} = {}) {
    this.#session = session;
    this.#onFailure = onFailure;
    this.environment = "ubuntu";
    this.dimensions = [session.space.width, session.space.height];
  }

  async #do(action) {
    if (this.#failed) {
      return;
    }
    try {
      await perform(this.#session, action);
    } catch (error) {
      this.#failed = true;
      this.#onFailure(error);
    }
  }

  click = (x, y, button) => this.#do({type: "click", x, y, button});
  doubleClick = (x, y) => this.#do({type: "double_click", x, y});
  drag = (path) => this.#do({type: "drag", path: path.map(([x, y]) => ({x, y}))});
  keypress = (keys) => this.#do({type: "keypress", keys});
  move = (x, y) => this.#do({type: "move", x, y});
  scroll = (x, y, scroll_x, scroll_y) => this.#do({type: "scroll", x, y, scroll_x, scroll_y});
  type = (text) => this.#do({type: "type", text});
  wait = () => this.#do({type: "wait"});

  async screenshot() {
    this.#failed = false;
    return this.#session.screenshot();
  }
}
