/* files.h - what files and lines share. */
#ifndef FILES_H
#define FILES_H

#include "quickjs.h"

/* A string from bytes as UTF-8; what is malformed becomes U+FFFD as the
 * WHATWG decoder does it. */
JSValue files_text(JSContext *ctx, const uint8_t *p, size_t n);

#endif
