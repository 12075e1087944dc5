// SPDX-License-Identifier: GPL-2.0-or-later
// A driver of openai's ComputerToolset on a session:
//
//   const final = await new ComputerToolset(driver(session)).run(client, {model, input})
//
// The SDK asks for one action after the other and a picture at the end; it stops at an action that throws. A harness that has a loop of
// its own posts the whole turn with session.computer(response) instead, which is one call.

// A distance in pixels as notches of the wheel: at least one, unless it is none.
const notches = (px) => Math.sign(px) * Math.min(100, Math.max(1, Math.round(Math.abs(px) / 100))) || 0;
const hold = (keys) => (keys?.length ? {hold: keys} : {});

// The wire's actions as Glovebox's.
const ACTIONS = {
  click: ({x, y, button, keys}) => ({action: "click", x, y, button: button === "wheel" ? "middle" : button, ...hold(keys)}),
  double_click: ({x, y, keys}) => ({action: "click", x, y, count: 2, ...hold(keys)}),
  drag: ({path, keys}) => ({action: "drag", path: path.map(({x, y}) => [x, y]), ...hold(keys)}),
  keypress: ({keys}) => ({action: "key", keys}),
  move: ({x, y}) => ({action: "move", x, y}),
  scroll: ({x, y, scroll_x, scroll_y, keys}) => ({action: "scroll", x, y, dx: notches(scroll_x), dy: notches(scroll_y), ...hold(keys)}),
  type: ({text}) => ({action: "type", text}),
  wait: () => ({action: "wait", duration_ms: 2000}),
};

// Does an action of the wire's; throws what became of it if it failed.
export async function perform(session, action, signal) {
  await session.act([ACTIONS[action.type](action)], {signal});
}

// The methods that ComputerToolset calls.
export function driver(session) {
  const method = (type) => (action, {signal}) => perform(session, {...action, type}, signal);
  return {
    ...Object.fromEntries(Object.keys(ACTIONS).map((type) => [type, method(type)])),
    async screenshot({signal}) {
      return {type: "computer_screenshot", image_url: `data:image/png;base64,${await session.screenshot(signal)}`};
    },
  };
}
