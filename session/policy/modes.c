/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The modes as rules, and the places that look like a login or a payment. The configuration can replace the places. */
#include <string.h>

#include "session/base/util.h"
#include "session/policy/policy.h"

#define PASSWORD \
	"{\"name\":\"password-field\",\"verdict\":\"deny\",\"into\":[\"password\"],\"why\":\"a password field has the focus: what a model types is no secret any more\"}"
#define SECRET "{\"name\":\"stored-secret\",\"verdict\":\"ask\",\"actions\":[\"type_secret\"],\"why\":\"a stored secret is about to be typed\"}"
/* What browsers ask their makers for by themselves: nobody is to be asked about it. */
#define NOISE \
	"{\"name\":\"browser-noise\",\"verdict\":\"deny\",\"does\":[\"reaches\"],\"reach\":[\"open\"],\"host\":[\"*.services.mozilla.com\",\"aus5.mozilla.org\"," \
	"\"update.googleapis.com\",\"clients2.google.com\",\"redirector.gvt1.com\"],\"why\":\"a browser asks its maker for updates and settings\"}"
/* Whoever wrote a host into a list has said yes to it: only the mode boundary asks again. */
#define NEW_HOST(matchers) \
	"{\"name\":\"new-host\",\"verdict\":\"ask\",\"does\":[\"reaches\"]," matchers "\"why\":\"a program of the session connects to this host for the first time\"}"

static const struct {
	const char *name, *rules;
} modes[] = {
	{"never", "[]"},
	{"boundary", "[" SECRET "," NOISE "," NEW_HOST("") "]"},
	{"sensitive",
	 "[" PASSWORD "," SECRET "," NOISE "," NEW_HOST("\"reach\":[\"open\"],") ","
	 "{\"name\":\"login\",\"verdict\":\"ask\",\"place\":[\"login\"],\"does\":[\"writes\"],\"why\":\"this looks like a login\"},"
	 "{\"name\":\"payment\",\"verdict\":\"ask\",\"place\":[\"payment\"],\"does\":[\"writes\",\"presses\"],\"why\":\"this looks like a payment\"},"
	 "{\"name\":\"consent\",\"verdict\":\"ask\",\"place\":[\"consent\"],\"does\":[\"presses\"],\"why\":\"this looks like giving somebody access to an account\"}]"},
	{"always",
	 "[" PASSWORD ","
	 "{\"name\":\"look\",\"verdict\":\"allow\",\"does\":[\"looks\"]},"
	 "{\"name\":\"always\",\"verdict\":\"ask\",\"why\":\"this session asks before every action\"}]"},
};

#define BROWSERS "\"class\":[\"firefox*\",\"chromium*\"],"

/* Of one kind any, of one of them all that it says. */
static const char usual_places[] =
	"[{\"kind\":\"login\"," BROWSERS "\"title\":[\"sign in*\",\"log in*\",\"login*\",\"signin*\",\"log on*\",\"anmelden*\",\"einloggen*\",\"connexion*\","
	"\"iniciar sesión*\",\"accedi*\",\"* - sign in*\",\"* - log in*\",\"* - login*\",\"* | sign in*\",\"* | log in*\",\"* | login*\",\"* · sign in*\"]},"
	"{\"kind\":\"login\",\"url\":[\"*://accounts.*\",\"*://login.*\",\"*://signin.*\",\"*://auth.*\",\"*://sso.*\",\"*/login\",\"*/login/*\",\"*/login?*\","
	"\"*/login.*\",\"*/signin\",\"*/signin/*\",\"*/signin?*\",\"*/sign-in*\",\"*/sign_in*\",\"*/logon*\",\"*/session/new*\",\"*/wp-login*\"]},"
	"{\"kind\":\"login\",\"class\":[\"pinentry*\",\"gcr-prompter*\",\"*polkit*\",\"seahorse*\",\"lxqt-openssh-askpass*\",\"ssh-askpass*\"]},"
	"{\"kind\":\"login\",\"title\":[\"authentication required*\",\"unlock *keyring*\",\"password required*\",\"enter password*\"]},"
	"{\"kind\":\"payment\"," BROWSERS "\"title\":[\"checkout*\",\"* checkout*\",\"payment*\",\"* payment*\",\"place your order*\",\"kasse*\",\"zahlung*\"]},"
	"{\"kind\":\"payment\",\"url\":[\"*://checkout.*\",\"*://pay.*\",\"*://payments.*\",\"*/checkout*\",\"*/payment*\",\"*/pay?*\",\"*/pay/*\",\"*/pay\","
	"\"*://*paypal.com/*\",\"*://*.stripe.com/*\"]},"
	"{\"kind\":\"consent\",\"url\":[\"*/oauth/authorize*\",\"*/oauth2/*auth*\",\"*/authorize?*\",\"*/consent?*\",\"*/consent\"]}]";

const char *policy_mode_text(const char *mode)
{
	for (size_t i = 0; i < ARRAY_LEN(modes); i++)
		if (strcmp(modes[i].name, mode) == 0)
			return modes[i].rules;
	return NULL;
}

const char *policy_places_text(void)
{
	return usual_places;
}
