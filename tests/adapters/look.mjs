// SPDX-License-Identifier: GPL-2.0-or-later
// A look at the screen, and what is said when it fails.
import {session} from "./session.mjs";

await session.screenshot().catch(({name, code, message}) => console.log(name, code, message));
