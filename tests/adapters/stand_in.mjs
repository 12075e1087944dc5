// SPDX-License-Identifier: GPL-2.0-or-later
// A stand-in of a vendor's model: `node stand_in.mjs VENDOR FOLDER` serves the turns of FOLDER/turns.json, one a request, over the
// vendor's own protocol, on a port of its own that it prints. As the vendor's server does, it refuses a request that does not answer the
// turn before it (rules.mjs). Each request's body is added to FOLDER/requests as a line of JSON. It ends when its standard input does.
import {appendFileSync, readFileSync} from "node:fs";
import {createServer} from "node:http";
import {VENDORS} from "./rules.mjs";

const [vendor, folder] = process.argv.slice(2);
const {paths, wrap, fault, check} = VENDORS[vendor];
const turns = JSON.parse(readFileSync(`${folder}/turns.json`, "utf8"));
let served = 0;

async function read(request) {
  const pieces = [];
  for await (const piece of request) {
    pieces.push(piece);
  }
  return JSON.parse(Buffer.concat(pieces).toString() || "null");
}

// What is wrong with a request, or undefined.
function refusal(request, body) {
  if (request.method !== "POST" || !paths.test(request.url)) {
    return `no such path: ${request.method} ${request.url}`;
  }
  if (served >= turns.length) {
    return "the model has nothing more to say";
  }
  return served > 0 ? check(turns[served - 1], body, served - 1) : undefined;
}

const server = createServer(async (request, response) => {
  const body = await read(request);
  appendFileSync(`${folder}/requests`, `${JSON.stringify(body)}\n`);
  const wrong = refusal(request, body);
  response.writeHead(wrong ? 400 : 200, {"Content-Type": "application/json"});
  response.end(JSON.stringify(wrong ? fault(wrong) : wrap(turns[served], served)));
  served += wrong ? 0 : 1;
});

server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
process.stdin.resume().on("end", () => process.exit());
