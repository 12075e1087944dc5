// SPDX-License-Identifier: GPL-2.0-or-later
// The person of tests/demo, at the console: waits until somebody is asked for, takes the controls, logs anna in, and gives them back.
//   node story.mjs story '{"url", "token", "session", "password", "code"}'
import {given, run, until} from "./browser.mjs";

// Where the fields of the site are, by their colours, in the live picture: the middle of all that is so.
async function find(one, colour) {
  const wanted = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  return until(() => one.page.evaluate(([r, g, b]) => {
    const canvas = document.querySelector(".screen canvas"), {width, height} = canvas;
    const copy = new OffscreenCanvas(width, height).getContext("2d", {willReadFrequently: true}), xs = [], ys = [];
    copy.drawImage(canvas, 0, 0);
    const {data} = copy.getImageData(0, 0, width, height);
    for (let i = 0; i < data.length; i += 4) {
      // Pictures come with loss.
      if (Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 12) {
        xs.push(i / 4 % width);
        ys.push(Math.floor(i / 4 / width));
      }
    }
    const middle = (all) => all.sort((one, other) => one - other)[Math.floor(all.length / 2)];
    return xs.length > 500 ? {x: middle(xs) / width, y: middle(ys) / height} : null;
  }, wanted));
}

async function press(one, colour) {
  const place = await find(one, colour), box = await one.page.locator(".screen canvas").boundingBox();
  await one.page.mouse.click(box.x + place.x * box.width, box.y + place.y * box.height);
}

async function fill(one, colour, text) {
  await press(one, colour);
  await one.page.keyboard.type(text, {delay: 20});
}

async function story(visit) {
  const one = await visit({refusals: [404, 409, 423]}), {page} = one;
  await one.enter(given.token, `#session=${given.session}`);
  // Who presses before the page has its own view holds without hands, and has to press again.
  await page.waitForFunction(() => document.querySelector(".screen canvas")?.width > 0);
  await page.getByRole("button", {name: "Take over"}).click();
  await one.says("You have the controls");
  await one.seesScreen();
  await fill(one, "#ffcc00", "anna");
  await fill(one, "#00ccff", given.password);
  await fill(one, "#f4e8ff", given.code);
  await press(one, "#0055ff");
  await find(one, "#00ff7f");
  await page.getByRole("button", {name: "Give back"}).click();
  await one.says("The agent has the controls");
  await one.end();
}

await run({story});
