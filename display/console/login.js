// SPDX-License-Identifier: GPL-2.0-or-later
// Coming in: a one-use code, a token, or the code that belongs to a link that somebody shared.
import {post, token} from "./api.js";
import {el, say} from "./dom.js";
import {trouble as words} from "./words.js";

async function trade(credential, share) {
  if (!share && token.is(credential)) {
    token.set(credential);
    return;
  }
  const body = {code: credential.toUpperCase(), ...(share ? {share} : {})};
  token.set((await post("/v1/console", body, {bare: true})).token);
}

const TEXTS = {
  code: {
    title: "Come in",
    text: ["The server prints a link with a one-use code when it starts. A token works as well; the operator's is in the file ", el("code", {}, "operator.token"), " of the server's state folder."],
    label: "Code or token",
  },
  share: {
    title: "You are invited to a session",
    text: ["The link alone opens nothing. Ask the person who sent it to you for the code that belongs to it: it is good once."],
    label: "Code",
  },
};

// options: {code, share, trouble, done}
export function enterView(main, signal, {code, share, trouble, done}) {
  const texts = share ? TEXTS.share : TEXTS.code;
  const input = el("input", {id: "credential", name: "credential", type: "password", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    required: true, "aria-describedby": "trouble"});
  const told = el("p", {id: "trouble", class: "trouble", role: "alert"}, words(trouble));
  const send = el("button", {type: "submit", class: "main"}, "Enter");

  async function enter(credential) {
    send.disabled = true;
    try {
      await trade(credential, share);
      if (!signal.aborted) {
        done();
      }
    } catch (error) {
      say(told, words(error));
      input.select();
    } finally {
      send.disabled = false;
    }
  }

  main.append(el("form", {class: "enter", on: {submit: (event) => { event.preventDefault(); enter(input.value.trim()); }}},
    el("h1", {}, texts.title), el("p", {class: "quiet"}, texts.text), el("label", {for: "credential"}, texts.label),
    el("div", {class: "row"}, input, send), told));
  if (code) {
    enter(decodeURIComponent(code));
  } else {
    input.focus();
  }
}
