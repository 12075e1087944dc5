// SPDX-License-Identifier: GPL-2.0-or-later
// A driver of openai's ComputerToolset on a session:
//
//   const final = await new ComputerToolset(driver(session)).run(client, {model, input})
//
// The SDK asks for one action after the other and a picture at the end; it stops at an action that throws. A harness that has a loop of
// its own posts the whole turn with session.computer(response) instead, which is one call.

const NOTCH_PX = 100; // of the display
const MOST_NOTCHES = 100; // of one action

const hold = (keys) => (keys?.length ? {hold: keys} : {});

// A distance on the picture as whole notches of the wheel: at least one, unless it is none.
const notches = (px, scale) => Math.sign(px) * Math.max(px ? 1 : 0, Math.round(Math.abs(px) * scale / NOTCH_PX));

function move({x, y, keys}) {
  const held = keys?.length ? (action) => [{action, keys}] : () => [];
  return [...held("key_down"), {action: "move", x, y}, ...held("key_up")];
}

// A way of nothing still ends with the pointer at the place.
function scroll({x, y, scroll_x, scroll_y, keys}, {space, display}) {
  let left = [notches(scroll_x, display.width / space.width), notches(scroll_y, display.height / space.height)];
  const actions = [];
  while (left.some(Boolean)) {
    const [dx, dy] = left.map((n) => Math.max(-MOST_NOTCHES, Math.min(n, MOST_NOTCHES)));
    actions.push({action: "scroll", x, y, dx, dy, ...hold(keys)});
    left = [left[0] - dx, left[1] - dy];
  }
  return actions.length > 0 ? actions : move({x, y});
}

// The wire's actions as Glovebox's.
const ACTIONS = {
  click: ({x, y, button, keys}) => [{action: "click", x, y, button: button === "wheel" ? "middle" : button, ...hold(keys)}],
  double_click: ({x, y, keys}) => [{action: "click", x, y, count: 2, ...hold(keys)}],
  drag: ({path, keys}) => [{action: "drag", path: path.map(({x, y}) => [x, y]), ...hold(keys)}],
  keypress: ({keys}) => [{action: "key", keys}],
  move,
  scroll,
  type: ({text}) => [{action: "type", text}],
  wait: () => [{action: "wait", duration_ms: 2000}],
};

// Does an action of the wire's; throws what became of it if it failed.
export async function perform(session, action, signal) {
  await session.act(ACTIONS[action.type](action, session), {signal});
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
