/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of the zip format (APPNOTE 6.3, parts 4.3 and 4.4), for its reader and its writer. */
#ifndef REPLAY_ZIP_FORMAT_H
#define REPLAY_ZIP_FORMAT_H

#define ZIP_LOCAL_SIGN 0x04034b50u /* before an entry */
#define ZIP_ROW_SIGN 0x02014b50u   /* a row of the directory */
#define ZIP_END_SIGN 0x06054b50u   /* behind the directory */
#define ZIP_LOCAL_BYTES 30
#define ZIP_ROW_BYTES 46
#define ZIP_END_BYTES 22
#define ZIP_STORED 0
#define ZIP_DEFLATED 8
#define ZIP_FLAG_ENCRYPTED 1u
#define ZIP_FLAG_UTF8 0x800u
#define ZIP_VERSION 20
#define ZIP_DATE 0x21 /* 1980-01-01 */
#define ZIP_NAME_MAX 256

#endif
