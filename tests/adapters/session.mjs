// SPDX-License-Identifier: GPL-2.0-or-later
// The session that a test made, as the adapters have it.
import {Session} from "./glovebox/glovebox.mjs";

const {server, token, ...known} = JSON.parse(process.env.TEST_SESSION);
export const session = new Session(server, token, known);
