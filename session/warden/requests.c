/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checking records: numbers by rows, strings by their alphabets. */
#include "session/warden/requests.h"

#include <string.h>

#include "session/base/limits.h"
#include "session/base/util.h"

#define HEX "0123456789abcdef"
#define ID_CHARS "abcdefghijklmnopqrstuvwxyz234567"
#define SECRET_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
#define NAME_CHARS "abcdefghijklmnopqrstuvwxyz0123456789-"
#define PRINTABLE " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"

/* True if a field is a NUL-terminated text of these characters and NUL from there to its end. */
static bool is_text(const char *field, size_t size, const char *chars)
{
	size_t len = strnlen(field, size);

	if (len == size || strspn(field, chars) != len)
		return false;
	for (size_t i = len; i < size; i++)
		if (field[i])
			return false;
	return true;
}

/* The name of a secret is the name of a file. */
static bool is_secret_name(const char name[SECRET_NAME_SIZE])
{
	return is_text(name, SECRET_NAME_SIZE, SECRET_CHARS) && ((name[0] >= 'a' && name[0] <= 'z') || (name[0] >= 'A' && name[0] <= 'Z'));
}

bool requests_id_valid(const char *id)
{
	return id[0] == 's' && strlen(id) == SESSION_ID_LEN && strspn(id, ID_CHARS) == SESSION_ID_LEN;
}

/* One number of a create, with the place in the spec that it is from. */
struct number {
	const char *path;
	uint32_t value, min, max;
	const char *unit; /* where the spec has another */
};

static int check_number(const struct number *number, struct err *e)
{
	if (number->value < number->min || number->value > number->max)
		return err_set(e, ERR_BAD_FIELD, number->path, "%s is %u%s; this server allows %u..%u", number->path, number->value,
		               number->unit, number->min, number->max);
	return 0;
}

/* Each once, and none behind an empty place. */
static int check_secrets(const struct warden_create *create, struct err *e)
{
	size_t n = 0;

	while (n < LIMIT_SECRETS && create->secrets[n][0])
		n++;
	for (size_t i = 0; i < LIMIT_SECRETS; i++) {
		if (i < n ? !is_secret_name(create->secrets[i]) : !is_text(create->secrets[i], SECRET_NAME_SIZE, ""))
			return err_set(e, ERR_BAD_FIELD, "/secrets", "this is not the name of a secret");
		for (size_t k = 0; k < i && i < n; k++)
			if (strcmp(create->secrets[i], create->secrets[k]) == 0)
				return err_set(e, ERR_BAD_FIELD, "/secrets", "the secret %s is named twice", create->secrets[i]);
	}
	if (create->injected >> n)
		return err_set(e, ERR_BAD_FIELD, "/secrets", "a secret that is not named is to be put into requests");
	return 0;
}

/* Who may not have it gets a refusal, not a session without. */
static int check_egress(const struct warden_create *create, const struct ceilings *ceilings, struct err *e)
{
	static const char *const names[] = {"none", "allowlist", "open"};

	if (create->egress > EGRESS_OPEN)
		return err_set(e, ERR_BAD_FIELD, "/egress/mode", "no way out has the number %u", create->egress);
	if (create->egress > ceilings->egress)
		return err_set(e, ERR_BAD_FIELD, "/egress/mode", "%s is wider than this server allows, which is %s", names[create->egress],
		               names[ceilings->egress]);
	return 0;
}

static int check_create(const struct warden_create *create, const struct ceilings *ceilings, struct err *e)
{
	const struct number numbers[] = {
		{"/display/width", create->width_px, LIMIT_SIDE_MIN_PX, LIMIT_SIDE_MAX_PX, ""},
		{"/display/height", create->height_px, LIMIT_SIDE_MIN_PX, LIMIT_SIDE_MAX_PX, ""},
		{"/limits/memory_mb", create->memory_mb, LIMIT_MEMORY_MIN_MB, ceilings->memory_mb, ""},
		{"/limits/pids", create->pids, LIMIT_PIDS_MIN, ceilings->pids, ""},
		{"/limits/disk_mb", create->disk_mb, LIMIT_DISK_MIN_MB, ceilings->disk_mb, ""},
		{"/limits/inodes", create->inodes, LIMIT_INODES_MIN, ceilings->inodes, ""},
		{"/limits/open_files", create->open_files, LIMIT_OPEN_FILES_MIN, ceilings->open_files, ""},
		{"/limits/x_mb", create->x_mb, LIMIT_X_MIN_MB, ceilings->x_mb, ""},
		{"/limits/cpu", create->cpu_milli, LIMIT_CPU_MIN_MILLI, ceilings->cpu_milli, " thousandths"},
		{"/ttl_s", create->ttl_s, 1, ceilings->ttl_s, ""},
	};

	if (!is_text(create->image, sizeof(create->image), NAME_CHARS) || create->image[0] < 'a' || create->image[0] > 'z')
		return err_set(e, ERR_BAD_FIELD, NULL, "image is not the name of an image");
	/* The root of displays is no place for apps. */
	if (strcmp(create->image, "display") == 0)
		return err_set(e, ERR_NO_IMAGE, NULL, "image display is the server's own");
	if (!is_text(create->image_hash, sizeof(create->image_hash), HEX) || strlen(create->image_hash) != IMAGE_HASH_SIZE - 1)
		return err_set(e, ERR_BAD_FIELD, NULL, "the image's hash is not 64 hex digits");
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (check_number(&numbers[i], e) < 0)
			return -1;
	if (check_secrets(create, e) < 0 || check_egress(create, ceilings, e) < 0)
		return -1;
	/* Files are memory: a disk as large as the memory would have everything killed and never become smaller. */
	if (create->disk_mb > create->memory_mb / 2)
		return err_set(e, ERR_BAD_FIELD, "/limits/disk_mb", "limits.disk_mb is %u; allowed at most half of limits.memory_mb (%u)",
		               create->disk_mb, create->memory_mb / 2);
	return 0;
}

static int check_ttl(const struct warden_create *create, const struct ceilings *ceilings, struct err *e)
{
	const struct number number = {"/ttl_s", create->ttl_s, 1, ceilings->ttl_s, ""};
	struct warden_create only_that;

	memset(&only_that, 0, sizeof(only_that));
	only_that.ttl_s = create->ttl_s;
	if (memcmp(&only_that, create, sizeof(only_that)) != 0)
		return err_set(e, ERR_BAD_REQUEST, NULL, "nothing but the life of a session can be set");
	return check_number(&number, e);
}

static int check_viewer(const struct warden_request *request, struct err *e)
{
	const struct warden_viewer *viewer = &request->viewer;
	size_t len = strnlen(viewer->password, sizeof(viewer->password));

	if (request->op != WARDEN_ADD_VIEWER) {
		const struct warden_viewer none = {.number = 0};

		return memcmp(viewer, &none, sizeof(none)) == 0 ? 0 : err_set(e, ERR_BAD_REQUEST, NULL, "this is of no viewer");
	}
	if (viewer->number == 0 || viewer->controls > 1)
		return err_set(e, ERR_BAD_REQUEST, NULL, "a viewer has a number, and controls or not");
	if (!is_text(viewer->password, sizeof(viewer->password), PRINTABLE) || (len > 0 && len != VIEWER_PASSWORD_SIZE - 1))
		return err_set(e, ERR_BAD_FIELD, "/password", "the password of a viewer has 8 printable characters of ASCII");
	return 0;
}

static bool is_request(uint32_t op)
{
	static const uint32_t ops[] = {WARDEN_CREATE, WARDEN_SEAL, WARDEN_END, WARDEN_SET_TTL, WARDEN_DROP_JOURNAL, WARDEN_ADD_VIEWER};

	for (size_t i = 0; i < ARRAY_LEN(ops); i++)
		if (ops[i] == op)
			return true;
	return false;
}

int requests_check_secret(const struct warden_secret *secret, size_t len, struct err *e)
{
	bool is_put = secret->op == WARDEN_PUT_SECRET;

	if (len != sizeof(*secret))
		return err_set(e, ERR_BAD_REQUEST, NULL, "a record with a secret has %zu bytes; %zu are right", len, sizeof(*secret));
	if (!is_put && secret->op != WARDEN_DROP_SECRET)
		return err_set(e, ERR_BAD_REQUEST, NULL, "no request of this length has the number %u", secret->op);
	if (!is_secret_name(secret->name))
		return err_set(e, ERR_BAD_FIELD, NULL, "this is not the name of a secret");
	if (is_put ? secret->len < 1 || secret->len > LIMIT_SECRET_BYTES : secret->len != 0)
		return err_set(e, ERR_BAD_FIELD, NULL, "a secret has 1 to %d bytes", LIMIT_SECRET_BYTES);
	for (size_t i = secret->len; i < sizeof(secret->value); i++)
		if (secret->value[i])
			return err_set(e, ERR_BAD_REQUEST, NULL, "there is something behind the end of the secret");
	return 0;
}

int requests_check(const struct warden_request *request, size_t len, const struct ceilings *ceilings, struct err *e)
{
	if (len != sizeof(*request))
		return err_set(e, ERR_BAD_REQUEST, NULL, "a record has %zu bytes; %zu are right", len, sizeof(*request));
	if (request->op == WARDEN_HELLO || request->op == WARDEN_USAGE)
		return is_text(request->session, sizeof(request->session), "") ? 0 : err_set(e, ERR_BAD_REQUEST, NULL, "this is of no session");
	if (!is_request(request->op))
		return err_set(e, ERR_BAD_REQUEST, NULL, "no request has the number %u", request->op);
	if (!is_text(request->session, sizeof(request->session), ID_CHARS) || !requests_id_valid(request->session))
		return err_set(e, ERR_BAD_REQUEST, NULL, "the session's id is malformed");
	if (check_viewer(request, e) < 0)
		return -1;
	if (request->op == WARDEN_CREATE)
		return check_create(&request->create, ceilings, e);
	return request->op == WARDEN_SET_TTL ? check_ttl(&request->create, ceilings, e) : 0;
}
