/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The input folder's state: made, held and let go of. Its rows are in rows.c. */
#include "input/inner.h"

#include "session/base/util.h"

int input_create(struct input **input, struct xconn *x, const struct input_ops *ops, struct err *e)
{
	struct input *made = util_zalloc(sizeof(*made));

	made->x = x;
	if (ops)
		made->ops = *ops;
	made->hands.x = x;
	made->focus = (struct focus){.pointer = &made->pointer, .ping = &made->keyboard.ping, .fresh = &made->fresh, .ops = &made->ops};
	made->pointer = (struct pointer){.x = x, .hands = &made->hands, .wm = &made->keyboard.ping.wm};
	remote_init(&made->remote, &made->keyboard, &made->pointer);
	copied_init(&made->copied, &made->keyboard.clipboard);
	fresh_init(&made->fresh, x);
	if (keyboard_init(&made->keyboard, x, &made->hands, e) < 0 ||
	    drag_init(&made->drags, &made->pointer, &made->keyboard.ping, &made->ops, e) < 0) {
		input_destroy(made);
		return -1;
	}
	*input = made;
	return 0;
}

void input_destroy(struct input *input)
{
	if (!input)
		return;
	fresh_finish(&input->fresh);
	remote_finish(&input->remote);
	copied_finish(&input->copied);
	carry_finish(&input->carry);
	drag_finish(&input->drags);
	keyboard_finish(&input->keyboard);
	free(input);
}

int input_carry(struct input *input, struct xconn *untrusted, struct err *e)
{
	return carry_init(&input->carry, &input->keyboard.clipboard, untrusted, e);
}

void input_pause_carry(struct input *input, bool paused)
{
	carry_pause(&input->carry, paused);
}

void input_release(struct input *input)
{
	hands_release(&input->hands);
	remote_release(&input->remote);
}

int input_remote_key(struct input *input, uint32_t keysym, bool down, struct err *e)
{
	return remote_key(&input->remote, keysym, down, e);
}

int input_remote_pointer(struct input *input, uint32_t buttons, int x_px, int y_px, bool on_screen, struct err *e)
{
	return remote_pointer(&input->remote, buttons, x_px, y_px, on_screen, e);
}

void input_remote_release(struct input *input)
{
	remote_release(&input->remote);
}

int input_remote_copy(struct input *input, const char *text, size_t len, struct err *e)
{
	return copied_put(&input->copied, text, len, e);
}

int input_remote_wait(struct input *input, struct err *e)
{
	return co_wait_event(&input->keyboard.clipboard.one[CLIPBOARD_MAIN].told, CO_FOREVER, e);
}

int input_remote_read(struct input *input, char **text, size_t *len, struct err *e)
{
	return copied_get(&input->copied, text, len, e);
}

int input_hold_begin(struct input *input, struct err *e)
{
	return copied_begin(&input->copied, e);
}

int input_hold_end(struct input *input, struct err *e)
{
	int rc;

	remote_release(&input->remote);
	rc = remote_restore(&input->remote, e);
	if (copied_end(&input->copied, rc == 0 ? e : NULL) < 0)
		rc = -1;
	/* What the person had copied went to apps through these. A display that is silent would have each of them wait in vain. */
	if (rc == 0)
		rc = xconn_wipe_sent(input->x, e);
	if (rc == 0 && input->copied.clipboard->untrusted)
		(void)xconn_wipe_sent(input->copied.clipboard->untrusted, NULL);
	return rc;
}

/* Who asks for what another has is told so. */
int input_is_grabbed(struct input *input, bool *is_grabbed, struct err *e)
{
	struct xconn *x = input->x;
	auto_free xcb_grab_keyboard_reply_t *keys = NULL;
	auto_free xcb_grab_pointer_reply_t *pointer = NULL;

	*is_grabbed = false;
	if (xconn_reply(x, xcb_grab_keyboard(x->xcb, 1, x->root, XCB_CURRENT_TIME, XCB_GRAB_MODE_ASYNC, XCB_GRAB_MODE_ASYNC).sequence, (void **)&keys, e) < 0)
		return -1;
	xcb_ungrab_keyboard(x->xcb, XCB_CURRENT_TIME);
	if (xconn_reply(x, xcb_grab_pointer(x->xcb, 1, x->root, 0, XCB_GRAB_MODE_ASYNC, XCB_GRAB_MODE_ASYNC, XCB_NONE, XCB_NONE, XCB_CURRENT_TIME).sequence,
	                (void **)&pointer, e) < 0)
		return -1;
	xcb_ungrab_pointer(x->xcb, XCB_CURRENT_TIME);
	xconn_flush(x);
	*is_grabbed = keys->status != XCB_GRAB_STATUS_SUCCESS || pointer->status != XCB_GRAB_STATUS_SUCCESS;
	return 0;
}

bool input_holds_button(const struct input *input)
{
	return input->hands.buttons;
}

json_t *input_held(const struct input *input)
{
	return hands_held(&input->hands);
}

int input_settle(struct input *input, struct err *e)
{
	return focus_settle(&input->focus, e);
}
