// SPDX-License-Identifier: GPL-2.0-or-later
// What the SDK itself answers to each call of a list (standard input), with a driver that does everything and fails with a text that is given:
// [{call, does: result | undefined, fails: text | undefined}…] → [tool_result…]
import {BetaAbstractComputerToolset20260801} from "@anthropic-ai/sdk/helpers/beta/toolsets";
import {readFileSync} from "node:fs";

class Driver extends BetaAbstractComputerToolset20260801 {
  async execute() {
    if (this.fails) {
      throw new Error(this.fails);
    }
    return this.does;
  }
}

const answers = [];
for (const {call, does, fails} of JSON.parse(readFileSync(0))) {
  const driver = new Driver({confirm: () => true});
  Object.assign(driver, {does, fails});
  answers.push(await driver.toolResult(call));
}
console.log(JSON.stringify(answers));
