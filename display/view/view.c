/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loop of a view. */
#include "display/view/view.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "session/base/util.h"

#define GREETING "RFB 003.008\n"

void view_send(struct view *view, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len > 0 && !view->over) {
		struct pollfd ends[] = {{.fd = view->rfb, .events = POLLOUT | POLLRDHUP}, {.fd = view->stage}};
		ssize_t n = send(view->rfb, at, len, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n > 0) {
			at += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN) {
			if (poll(ends, ARRAY_LEN(ends), -1) < 0 && errno != EINTR)
				view->over = true;
			view->over |= (ends[0].revents & (POLLRDHUP | POLLHUP | POLLERR)) || ends[1].revents;
		} else if (errno != EINTR) {
			view->over = true;
		}
	}
}

/*
 * In place of the library's own function of this name, which all of it calls: that one waits for the viewer by a clock, and sees
 * nothing of its end meanwhile.
 */
int rfbWriteExact(rfbClientPtr cl, const char *buf, int len)
{
	struct view *view = cl->screen->screenData;
	size_t skip = (size_t)len < view->swallow ? (size_t)len : view->swallow;

	view->writes = true;
	view->swallow -= skip;
	view_send(view, buf + skip, (size_t)len - skip);
	return view->over ? -1 : 1;
}

/* The library's own are made of the time and the process's number. */
void rfbRandomBytes(unsigned char *bytes)
{
	util_random(bytes, CHALLENGESIZE);
}

/* What it tells may be what a viewer sent. */
static void say_nothing(const char *format, ...)
{
	(void)format;
}

static void on_gone(rfbClientPtr client)
{
	((struct view *)client->screen->screenData)->client = NULL;
}

/* Nobody shall find a way to these: type 4, 5, 6 and 251 do not reach the library. */
static void ignore_key(rfbBool down, rfbKeySym keysym, rfbClientPtr client)
{
	(void)down, (void)keysym, (void)client;
}

static void ignore_pointer(int mask, int x, int y, rfbClientPtr client)
{
	(void)mask, (void)x, (void)y, (void)client;
}

static void ignore_text(char *text, int len, rfbClientPtr client)
{
	(void)text, (void)len, (void)client;
}

static void set_password(struct view *view)
{
	rfbScreenInfoPtr screen = view->screen;

	if (!view->start.password[0])
		return;
	memcpy(view->passwords[0], view->start.password, sizeof(view->passwords[0]));
	view->passwords[0][sizeof(view->passwords[0]) - 1] = '\0';
	view->password_list[0] = view->passwords[0];
	screen->authPasswdData = view->password_list;
	screen->authPasswdFirstViewOnly = 1;
	screen->passwordCheck = rfbCheckPasswordByList;
}

/* It opens nothing: no port, no page, no transfer of files, no chat. */
static int make_screen(struct view *view, int width, int height, struct err *e)
{
	rfbScreenInfoPtr screen = rfbGetScreen(NULL, NULL, width, height, 8, 3, 4);

	if (!screen)
		return err_set(e, ERR_INTERNAL, NULL, "libvncserver makes no screen");
	view->screen = screen;
	screen->screenData = view;
	screen->desktopName = "Glovebox";
	screen->port = screen->ipv6port = screen->httpPort = screen->http6Port = -1;
	screen->autoPort = FALSE;
	screen->httpDir = NULL;
	screen->permitFileTransfer = FALSE;
	screen->alwaysShared = TRUE;
	screen->deferUpdateTime = screen->deferPtrUpdateTime = 0;
	screen->maxClientWait = 1000;
	screen->kbdAddEvent = ignore_key;
	screen->ptrAddEvent = ignore_pointer;
	screen->setXCutText = ignore_text;
	screen->setXCutTextUTF8 = ignore_text;
	screen->frameBuffer = (char *)view->pixels;
	screen->serverFormat.redShift = 16;
	screen->serverFormat.greenShift = 8;
	screen->serverFormat.blueShift = 0;
	rfbSetCursor(screen, NULL); /* it has one of its own */
	set_password(view);
	return 0;
}

/*
 * The library would wait for 100 ms whether a new viewer speaks HTTP: the viewer's own greeting is there when it looks, since we have sent the
 * server's. What is newer than 3.8 speaks 3.8.
 */
static int greet(struct view *view, struct err *e)
{
	static const char *const versions[] = {"RFB 003.003\n", "RFB 003.007\n", GREETING};
	const size_t len = strlen(GREETING);
	const char *version = GREETING;

	view_send(view, GREETING, len);
	while (view->n_in < len && !view->over) {
		ssize_t n = recv(view->rfb, view->in + view->n_in, len - view->n_in, 0);

		if (n > 0)
			view->n_in += (size_t)n;
		else if (n == 0 || errno != EINTR)
			view->over = true;
	}
	if (view->over || memcmp(view->in, "RFB 003.", 8) != 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "the viewer does not speak RFB 3");
	for (size_t i = 0; i < ARRAY_LEN(versions); i++)
		if (memcmp(view->in, versions[i], len) == 0)
			version = versions[i];
	view->n_in = 0;
	view->swallow = len;
	if (send(view->pair[1], version, len, MSG_NOSIGNAL) != (ssize_t)len)
		return err_sys(e, "the library's socket");
	view->client = rfbNewClient(view->screen, steal_fd(&view->pair[0]));
	if (!view->client || !view->writes)
		return err_set(e, ERR_INTERNAL, NULL, "libvncserver does not take the viewer as it should");
	view->client->clientGoneHook = on_gone;
	rfbProcessClientMessage(view->client);
	return 0;
}

/* What was taken over is told when the viewer asks for more, and only then more is taken. */
static bool wants_news(const struct view *view)
{
	return view->client->state == RFB_NORMAL && !sraRgnEmpty(view->client->requestedRegion);
}

static void update(struct view *view)
{
	/* A new size goes out alone, and what is in it after that. */
	while (!view->over && view->client->sock >= 0 && view->client->state == RFB_NORMAL && FB_UPDATE_PENDING(view->client) &&
	       !sraRgnEmpty(view->client->requestedRegion)) {
		bool resizes = view->client->newFBSizePending;

		(void)rfbUpdateClient(view->client);
		if (!resizes)
			break;
	}
	view->over |= view->client->sock < 0;
}

static void serve(struct view *view)
{
	while (!view->over) {
		struct pollfd ends[] = {{.fd = view->rfb, .events = POLLIN}, {.fd = view->stage, .events = wants_news(view) ? POLLIN : 0}};

		if (poll(ends, ARRAY_LEN(ends), -1) < 0) {
			view->over = errno != EINTR;
			continue;
		}
		if (ends[0].revents)
			talk_take(view);
		/* Also what came before this very request: a viewer that asks for all of the screen each time is answered at once. */
		if (!view->over && wants_news(view))
			picture_take(view);
		view->over |= ends[1].revents & (POLLHUP | POLLERR);
		if (!view->over)
			update(view);
	}
}

int view_run(struct view *view, struct err *e)
{
	struct view_news news;

	rfbLog = rfbErr = say_nothing;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, view->pair) < 0)
		return err_sys(e, "socketpair");
	if (picture_first(view, &news) < 0)
		return err_set(e, ERR_GONE, NULL, "the stage or the viewer is gone");
	if (make_screen(view, news.width_px, news.height_px, e) < 0)
		return -1;
	picture_apply(view, &news);
	if (greet(view, e) < 0)
		return -1;
	serve(view);
	return 0;
}
