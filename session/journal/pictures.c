/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing pictures: a header, the parts, and a digest over both. */
#include "session/journal/pictures.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "session/base/json_text.h"
#include "session/base/limits.h"
#include "session/base/log.h"
#include "session/base/util.h"

#define SALT_BYTES 16
#define KEY_TIMES 4 /* a whole picture costs time, and who reads one starts at the one before it */

struct pictures {
	int fd;
	int64_t last;        /* number; 0: there is none yet */
	int64_t key;         /* the number of the last keyframe */
	size_t key_bytes;    /* of its part */
	size_t since_bytes;  /* of all parts after it */
	off_t size;          /* of the file */
	bool failed;         /* a record may be there in part */
	bool full;
	bool unsynced;
};

struct pictures *pictures_create(int fd)
{
	struct pictures *pictures = util_zalloc(sizeof(*pictures));
	struct stat file;

	*pictures = (struct pictures){.fd = fd, .size = fstat(fd, &file) == 0 ? file.st_size : 0};
	return pictures;
}

void pictures_sync(struct pictures *pictures)
{
	if (!pictures->unsynced)
		return;
	pictures->unsynced = false;
	if (fdatasync(pictures->fd) < 0)
		log_warn("the pictures of the journal could not be handed to the disk");
}

void pictures_destroy(struct pictures *pictures)
{
	if (!pictures)
		return;
	pictures_sync(pictures);
	util_close_fd(&pictures->fd);
	free(pictures);
}

bool pictures_want_key(const struct pictures *pictures)
{
	return pictures->last == 0 || pictures->last - pictures->key >= LIMIT_PICTURES_APART - 1 || pictures->since_bytes > KEY_TIMES * pictures->key_bytes;
}

static json_t *parts_of(const struct picture *picture)
{
	json_t *list = json_array();

	for (size_t i = 0; i < picture->n_parts; i++) {
		const struct picture_part *part = &picture->parts[i];

		json_array_append_new(list, json_pack("{s:i,s:i,s:i,s:i,s:I}", "x", part->rect.x, "y", part->rect.y, "width", part->rect.width,
		                                      "height", part->rect.height, "bytes", (json_int_t)part->len));
	}
	return list;
}

/* The line with its newline, malloced. */
static char *header_of(const struct pictures *pictures, const struct picture *picture, const unsigned char salt[SALT_BYTES], size_t *len)
{
	char hex[2 * SALT_BYTES + 1];
	json_t *base = picture->is_key ? json_null() : json_integer(pictures->last);
	auto_free char *text = NULL;

	util_hex(hex, salt, SALT_BYTES);
	json_auto_t *header = json_pack("{s:I,s:I,s:o,s:i,s:i,s:s,s:o}", "picture", (json_int_t)(pictures->last + 1), "frame",
	                                (json_int_t)picture->frame, "base", base, "width", picture->size.width_px, "height",
	                                picture->size.height_px, "salt", hex, "parts", parts_of(picture));

	text = json_text(header, len);
	++*len;
	return util_printf("%s\n", text);
}

static void digest_of(const unsigned char salt[SALT_BYTES], const struct iovec *pieces, size_t n_pieces, char digest[CHAIN_HEX_SIZE])
{
	unsigned char hash[CHAIN_HASH_BYTES];
	gnutls_hash_hd_t state;
	int rc = gnutls_hash_init(&state, GNUTLS_DIG_SHA256) < 0 ? -1 : gnutls_hash(state, salt, SALT_BYTES);

	/* The header is the first, and its newline does not count. */
	for (size_t i = 0; i < n_pieces && rc == 0; i++)
		rc = gnutls_hash(state, pieces[i].iov_base, pieces[i].iov_len - (i == 0));
	if (rc < 0)
		DIE("SHA-256 does not work");
	gnutls_hash_deinit(state, hash);
	util_hex(digest, hash, sizeof(hash));
}

/* As it is all or nothing for readers, it is written with as few calls as the disk allows. `pieces` is used up. */
static int write_all(int fd, struct iovec *pieces, size_t n_pieces)
{
	size_t at = 0;

	while (at < n_pieces) {
		ssize_t n = writev(fd, pieces + at, (int)(n_pieces - at));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		while (at < n_pieces && (size_t)n >= pieces[at].iov_len)
			n -= (ssize_t)pieces[at++].iov_len;
		if (n > 0)
			pieces[at] = (struct iovec){(char *)pieces[at].iov_base + n, pieces[at].iov_len - (size_t)n};
	}
	return 0;
}

static void note(struct pictures *pictures, const struct picture *picture, size_t header_len, size_t part_bytes)
{
	pictures->last++;
	pictures->size += (off_t)(header_len + part_bytes);
	pictures->unsynced = true;
	if (picture->is_key) {
		pictures->key = pictures->last;
		pictures->key_bytes = part_bytes;
		pictures->since_bytes = 0;
	} else {
		pictures->since_bytes += part_bytes;
	}
}

int pictures_add(struct pictures *pictures, const struct picture *picture, int64_t *number, char digest[CHAIN_HEX_SIZE], struct err *e)
{
	struct iovec pieces[1 + LIMIT_CHANGED];
	unsigned char salt[SALT_BYTES];
	size_t header_len, part_bytes = 0;

	util_random(salt, sizeof(salt));
	auto_free char *header = header_of(pictures, picture, salt, &header_len);

	pieces[0] = (struct iovec){header, header_len};
	for (size_t i = 0; i < picture->n_parts; i++) {
		pieces[1 + i] = (struct iovec){(void *)(uintptr_t)picture->parts[i].png, picture->parts[i].len};
		part_bytes += picture->parts[i].len;
	}
	pictures->full = pictures->full || pictures->size + (off_t)(header_len + part_bytes) > LIMIT_PICTURES_BYTES;
	if (pictures->full)
		return err_set(e, ERR_LIMIT, NULL, "the pictures of this journal have their %d MiB", LIMIT_PICTURES_BYTES / (1024 * 1024));
	digest_of(salt, pieces, 1 + picture->n_parts, digest);
	if (pictures->failed || write_all(pictures->fd, pieces, 1 + picture->n_parts) < 0) {
		pictures->failed = true;
		return err_sys(e, "a picture of the journal cannot be written");
	}
	note(pictures, picture, header_len, part_bytes);
	*number = pictures->last;
	return 0;
}
