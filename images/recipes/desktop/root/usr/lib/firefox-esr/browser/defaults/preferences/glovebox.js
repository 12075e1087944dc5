// SPDX-License-Identifier: GPL-2.0-or-later
// What policies.json may not set.
pref("toolkit.startup.max_resumed_crashes", -1); // no question about a safe mode after a crash
pref("app.normandy.enabled", false);
pref("services.settings.server", "data:,#remote-settings-dummy/v1");
