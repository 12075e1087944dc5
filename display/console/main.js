// SPDX-License-Identifier: GPL-2.0-or-later
// The page as a whole: who comes in and how, and which view is shown. #code=CODE and #share=ID are taken out of the address at once; #session=ID is
// a place in the page and opens nothing by itself.
import {token} from "./api.js";
import {$, say, show} from "./dom.js";
import {enterView} from "./login.js";
import {sessionView} from "./session.js";
import {wallView} from "./wall.js";

let view = null; // what is shown: {stop, …}
let wanted = ""; // the session that the address names

function open(make, ...args) {
  view?.stop();
  const main = $("main");
  main.replaceChildren();
  const stop = new AbortController();
  view = {stop: () => stop.abort()};
  document.title = "Glovebox";
  say($("summary"), "");
  show($("leave"), token.get());
  make(main, stop.signal, ...args);
}

function enter(options = {}) {
  open(enterView, {...options, done: go});
}

// The view that the address names.
function go() {
  if (!token.get()) {
    enter();
  } else if (wanted) {
    open(sessionView, wanted);
  } else {
    open(wallView, (id) => { location.hash = `session=${id}`; });
  }
}

// What the fragment says; a credential does not stay in it.
function read() {
  const [, name, value] = /^#(code|share|session)=([A-Za-z0-9_-]+)$/.exec(location.hash) || [];
  if (name === "session") {
    wanted = value;
    return {};
  }
  wanted = "";
  if (location.hash || location.search) {
    history.replaceState(null, "", location.pathname);
  }
  return {[name]: value};
}

function arrive() {
  const {code, share} = read();
  if (code || share) {
    token.drop();
    enter({code, share});
  } else {
    go();
  }
}

addEventListener("hashchange", arrive);
addEventListener("glovebox-out", ({detail}) => enter({trouble: detail}));
$("leave").addEventListener("click", () => { token.drop(); enter(); });
arrive();
