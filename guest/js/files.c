/* Files, for node:fs: thin calls of WASI.
 *
 * Each returns what was asked for, or minus the WASI error number, which the
 * prelude turns into Node's error.  Only running out of memory throws. */
#include <stdlib.h>
#include <string.h>
#include <wasi/api.h>
#include "guest.h"
#include "quick.h"
#include "text.h"
#include "files.h"

#define ARGS JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv
#define UNUSED ((void)this_val, (void)argc)
#define PREOPENS_MAX 64
#define PATH_MAX_BYTES 4096

static struct {
	bool known;
	uint32_t n;
	struct {
		__wasi_fd_t fd;
		uint32_t len;
		char name[256]; /* without a slash at the end; "" is the root */
	} rows[PREOPENS_MAX];
} preopens;

static bool names_directory(const char *p, size_t n)
{
	return n && (p[n - 1] == '/' ||
		     (n > 1 && p[n - 1] == '.' && p[n - 2] == '/'));
}

/* "/a//./b" to "/a/b" and "/a/b/." to "/a/b/", which only a directory may be
 * called; ".." stays for the host to judge.  Relative names start at "/".  -1
 * if it is too long or holds a NUL. */
static int absolute(char *ret, size_t cap, const char *p, size_t n)
{
	size_t k = 0, i = 0;

	if (memchr(p, 0, n))
		return -1;
	while (i < n) {
		size_t from;

		while (i < n && p[i] == '/')
			i++;
		from = i;
		while (i < n && p[i] != '/')
			i++;
		if (i == from || (i - from == 1 && p[from] == '.'))
			continue;
		if (i - from + 2 > cap - k)
			return -1;
		ret[k++] = '/';
		memcpy(ret + k, p + from, i - from);
		k += i - from;
	}
	if (k && names_directory(p, n)) {
		if (k + 2 > cap)
			return -1;
		ret[k++] = '/';
	}
	ret[k] = 0;
	return (int)k;
}

static void learn_preopens(void)
{
	preopens.known = true;
	for (__wasi_fd_t fd = 3; preopens.n < PREOPENS_MAX; fd++) {
		char name[256];
		__wasi_prestat_t st;
		int n;

		if (__wasi_fd_prestat_get(fd, &st))
			return;
		if (st.tag != __WASI_PREOPENTYPE_DIR ||
		    st.u.dir.pr_name_len >= sizeof(name) ||
		    __wasi_fd_prestat_dir_name(fd, (uint8_t *)name,
					       st.u.dir.pr_name_len))
			continue;
		n = absolute(preopens.rows[preopens.n].name, sizeof(name),
			     name, st.u.dir.pr_name_len);
		if (n < 0)
			continue;
		n -= n && preopens.rows[preopens.n].name[n - 1] == '/';
		preopens.rows[preopens.n].fd = fd;
		preopens.rows[preopens.n].len = (uint32_t)n;
		preopens.n++;
	}
}

struct place {
	__wasi_fd_t fd;
	const char *rest; /* "." for the preopen itself */
	char path[PATH_MAX_BYTES];
};

/* 0 or an error number; the longest preopen wins. */
static __wasi_errno_t find_place(JSContext *ctx, JSValueConst v,
				 struct place *ret)
{
	size_t n, best = SIZE_MAX;
	const char *s = JS_ToCStringLen(ctx, &n, v);
	int len;

	if (!s)
		return __WASI_ERRNO_NOMEM;
	text_mend((char *)s, n);
	len = absolute(ret->path, sizeof(ret->path), s, n);
	JS_FreeCString(ctx, s);
	if (!n)
		return __WASI_ERRNO_NOENT;
	if (len < 0)
		return __WASI_ERRNO_NAMETOOLONG;
	if (!preopens.known)
		learn_preopens();
	for (size_t i = 0; i < preopens.n; i++) {
		uint32_t k = preopens.rows[i].len;

		if (k > (uint32_t)len ||
		    memcmp(preopens.rows[i].name, ret->path, k) ||
		    (ret->path[k] && ret->path[k] != '/'))
			continue;
		if (best == SIZE_MAX || k > preopens.rows[best].len)
			best = i;
	}
	if (best == SIZE_MAX)
		return __WASI_ERRNO_NOTCAPABLE;
	ret->fd = preopens.rows[best].fd;
	ret->rest = ret->path + preopens.rows[best].len;
	ret->rest += *ret->rest == '/';
	if (!*ret->rest)
		ret->rest = ".";
	return 0;
}

static JSValue result(JSContext *ctx, __wasi_errno_t e, int64_t value)
{
	return JS_NewInt64(ctx, e ? -(int64_t)e : value);
}

enum open_bits { /* as share.O in fs.js */
	OPEN_READ = 1,
	OPEN_WRITE = 2,
	OPEN_CREATE = 4,
	OPEN_EXCLUSIVE = 8,
	OPEN_TRUNCATE = 16,
	OPEN_APPEND = 32,
	OPEN_DIRECTORY = 64,
};

static __wasi_errno_t open_place(const struct place *p, int bits,
				 __wasi_fd_t *ret)
{
	__wasi_oflags_t o = 0;
	__wasi_rights_t r = __WASI_RIGHTS_FD_SEEK | __WASI_RIGHTS_FD_TELL |
			    __WASI_RIGHTS_FD_FILESTAT_GET;

	o |= bits & OPEN_CREATE ? __WASI_OFLAGS_CREAT : 0;
	o |= bits & OPEN_EXCLUSIVE ? __WASI_OFLAGS_EXCL : 0;
	o |= bits & OPEN_TRUNCATE ? __WASI_OFLAGS_TRUNC : 0;
	o |= bits & OPEN_DIRECTORY ? __WASI_OFLAGS_DIRECTORY : 0;
	r |= bits & OPEN_READ ? __WASI_RIGHTS_FD_READ : 0;
	r |= bits & OPEN_WRITE ? __WASI_RIGHTS_FD_WRITE |
		__WASI_RIGHTS_FD_FILESTAT_SET_SIZE | __WASI_RIGHTS_FD_SYNC |
		__WASI_RIGHTS_FD_DATASYNC | __WASI_RIGHTS_FD_ALLOCATE : 0;
	if (bits & OPEN_DIRECTORY)
		r = __WASI_RIGHTS_FD_READDIR | __WASI_RIGHTS_FD_FILESTAT_GET;
	return __wasi_path_open(p->fd, __WASI_LOOKUPFLAGS_SYMLINK_FOLLOW,
				p->rest, o, r, 0,
				bits & OPEN_APPEND ? __WASI_FDFLAGS_APPEND : 0,
				ret);
}

static JSValue js_open(ARGS)
{
	struct place p;
	__wasi_errno_t e = find_place(ctx, argv[0], &p);
	__wasi_fd_t fd = 0;
	int32_t bits;

	UNUSED;
	if (JS_ToInt32(ctx, &bits, argv[1]))
		return JS_EXCEPTION;
	e = e ? e : open_place(&p, bits, &fd);
	return result(ctx, e, fd);
}

static bool to_fd(JSContext *ctx, JSValueConst v, __wasi_fd_t *ret)
{
	int32_t fd;

	if (JS_ToInt32(ctx, &fd, v))
		return false;
	*ret = (__wasi_fd_t)fd;
	return true;
}

static JSValue js_close(ARGS)
{
	__wasi_fd_t fd;

	UNUSED;
	if (!to_fd(ctx, argv[0], &fd))
		return JS_EXCEPTION;
	return result(ctx, __wasi_fd_close(fd), 0);
}

/* Bounds of (buffer, offset, length); false with an exception pending. */
static bool to_slice(JSContext *ctx, JSValueConst *argv, uint8_t **ret,
		     size_t *ret_len)
{
	int64_t off, len;
	size_t n;

	*ret = quick_bytes(ctx, argv[0], &n);
	if (JS_ToInt64(ctx, &off, argv[1]) || JS_ToInt64(ctx, &len, argv[2]))
		return false;
	if ((!*ret && n) || off < 0 || len < 0 || (uint64_t)off > n ||
	    (uint64_t)len > n - (uint64_t)off) {
		JS_ThrowRangeError(ctx, "the range lies outside the buffer");
		return false;
	}
	*ret += off;
	*ret_len = (size_t)len;
	return true;
}

/* read(fd, buffer, offset, length, position or -1) */
static JSValue js_read(ARGS)
{
	__wasi_size_t done = 0;
	__wasi_errno_t e;
	__wasi_iovec_t v;
	__wasi_fd_t fd;
	int64_t at;
	size_t n;

	UNUSED;
	if (!to_fd(ctx, argv[0], &fd) || !to_slice(ctx, argv + 1, &v.buf, &n) ||
	    JS_ToInt64(ctx, &at, argv[4]))
		return JS_EXCEPTION;
	v.buf_len = n;
	e = at < 0 ? __wasi_fd_read(fd, &v, 1, &done) :
		     __wasi_fd_pread(fd, &v, 1, (__wasi_filesize_t)at, &done);
	return result(ctx, e, done);
}

static __wasi_errno_t write_some(__wasi_fd_t fd, const uint8_t *p, size_t n,
				 int64_t at, size_t *ret)
{
	__wasi_size_t done = 0;
	__wasi_ciovec_t v = { p, n };
	__wasi_errno_t e;

	if (fd == 1 || fd == 2) {
		out_write((int)fd, (const char *)p, n);
		out_flush();
		*ret = n;
		return 0;
	}
	e = at < 0 ? __wasi_fd_write(fd, &v, 1, &done) :
		     __wasi_fd_pwrite(fd, &v, 1, (__wasi_filesize_t)at, &done);
	*ret = done;
	return e;
}

/* write(fd, buffer, offset, length, position or -1) */
static JSValue js_write(ARGS)
{
	size_t n, done = 0;
	__wasi_errno_t e;
	__wasi_fd_t fd;
	uint8_t *p;
	int64_t at;

	UNUSED;
	if (!to_fd(ctx, argv[0], &fd) || !to_slice(ctx, argv + 1, &p, &n) ||
	    JS_ToInt64(ctx, &at, argv[4]))
		return JS_EXCEPTION;
	e = write_some(fd, p, n, at, &done);
	return result(ctx, e, (int64_t)done);
}

/* writeText(fd, text): all of it, as UTF-8; its bytes. */
static JSValue js_write_text(ARGS)
{
	const char *s;
	__wasi_errno_t e = 0;
	__wasi_fd_t fd;
	size_t n, k = 0;

	UNUSED;
	if (!to_fd(ctx, argv[0], &fd))
		return JS_EXCEPTION;
	s = JS_ToCStringLen(ctx, &n, argv[1]);
	if (!s)
		return JS_EXCEPTION;
	text_mend((char *)s, n);
	while (e == 0 && k < n) {
		size_t done = 0;

		e = write_some(fd, (const uint8_t *)s + k, n - k, -1, &done);
		if (e == 0 && done == 0)
			e = __WASI_ERRNO_IO;
		k += done;
	}
	JS_FreeCString(ctx, s);
	return result(ctx, e, (int64_t)n);
}

static JSValue stat_value(JSContext *ctx, __wasi_errno_t e,
			  const __wasi_filestat_t *st)
{
	JSValue v[8];

	if (e)
		return result(ctx, e, 0);
	v[0] = JS_NewInt32(ctx, st->filetype);
	v[1] = JS_NewInt64(ctx, (int64_t)st->size);
	v[2] = JS_NewFloat64(ctx, (double)st->atim / 1e6);
	v[3] = JS_NewFloat64(ctx, (double)st->mtim / 1e6);
	v[4] = JS_NewFloat64(ctx, (double)st->ctim / 1e6);
	v[5] = JS_NewInt64(ctx, (int64_t)st->ino);
	v[6] = JS_NewInt64(ctx, (int64_t)st->nlink);
	v[7] = JS_NewInt64(ctx, (int64_t)st->dev);
	return JS_NewArrayFrom(ctx, 8, v);
}

/* stat(path, follow) */
static JSValue js_stat(ARGS)
{
	struct place p;
	__wasi_filestat_t st;
	__wasi_errno_t e = find_place(ctx, argv[0], &p);

	UNUSED;
	e = e ? e : __wasi_path_filestat_get(
			    p.fd, JS_ToBool(ctx, argv[1]) ?
				    __WASI_LOOKUPFLAGS_SYMLINK_FOLLOW : 0,
			    p.rest, &st);
	return stat_value(ctx, e, &st);
}

static JSValue js_fstat(ARGS)
{
	__wasi_filestat_t st;
	__wasi_fd_t fd;

	UNUSED;
	if (!to_fd(ctx, argv[0], &fd))
		return JS_EXCEPTION;
	return stat_value(ctx, __wasi_fd_filestat_get(fd, &st), &st);
}

/* Adds the entries in b to the array [name, type, name, type, ...]; returns
 * the cookie to go on with, and whether b held a whole entry. */
static __wasi_dircookie_t add_entries(JSContext *ctx, JSValueConst array,
				      uint32_t *count, const uint8_t *b,
				      size_t n, bool *ret_any)
{
	__wasi_dircookie_t at = 0;
	__wasi_dirent_t d;

	*ret_any = false;
	while (n >= sizeof(d)) {
		const char *name = (const char *)b + sizeof(d);

		memcpy(&d, b, sizeof(d));
		if (d.d_namlen > n - sizeof(d))
			break;
		b += sizeof(d) + d.d_namlen;
		n -= sizeof(d) + d.d_namlen;
		at = d.d_next;
		*ret_any = true;
		if ((d.d_namlen == 1 && name[0] == '.') ||
		    (d.d_namlen == 2 && name[0] == '.' && name[1] == '.'))
			continue;
		JS_SetPropertyUint32(ctx, array, (*count)++,
				     JS_NewStringLen(ctx, name, d.d_namlen));
		JS_SetPropertyUint32(ctx, array, (*count)++,
				     JS_NewInt32(ctx, d.d_type));
	}
	return at;
}

static JSValue list_fd(JSContext *ctx, __wasi_fd_t fd)
{
	enum { SIZE = 65536 };
	JSValue array = JS_NewArray(ctx);
	uint8_t *b = js_malloc(ctx, SIZE);
	__wasi_dircookie_t at = 0;
	__wasi_errno_t e = 0;
	__wasi_size_t n = SIZE;
	uint32_t count = 0;
	bool any = true;

	if (!b || JS_IsException(array))
		return JS_EXCEPTION;
	while (e == 0 && n == SIZE && any) {
		e = __wasi_fd_readdir(fd, b, SIZE, at, &n);
		if (e == 0)
			at = add_entries(ctx, array, &count, b, n, &any);
	}
	js_free(ctx, b);
	if (!e)
		return array;
	JS_FreeValue(ctx, array);
	return result(ctx, e, 0);
}

static JSValue js_list(ARGS)
{
	struct place p;
	__wasi_errno_t e = find_place(ctx, argv[0], &p);
	__wasi_fd_t fd = 0;
	JSValue r;

	UNUSED;
	e = e ? e : open_place(&p, OPEN_DIRECTORY, &fd);
	if (e)
		return result(ctx, e, 0);
	r = list_fd(ctx, fd);
	e = __wasi_fd_close(fd);
	return r;
}

enum path_verb { VERB_MKDIR, VERB_RMDIR, VERB_UNLINK };

static JSValue js_path_verb(JSContext *ctx, JSValueConst this_val, int argc,
			    JSValueConst *argv, int verb)
{
	struct place p;
	__wasi_errno_t e = find_place(ctx, argv[0], &p);

	UNUSED;
	if (e)
		return result(ctx, e, 0);
	switch (verb) {
	case VERB_MKDIR:
		return result(ctx, __wasi_path_create_directory(p.fd, p.rest),
			      0);
	case VERB_RMDIR:
		return result(ctx, __wasi_path_remove_directory(p.fd, p.rest),
			      0);
	default:
		return result(ctx, __wasi_path_unlink_file(p.fd, p.rest), 0);
	}
}

static JSValue js_rename(ARGS)
{
	struct place from, to;
	__wasi_errno_t e = find_place(ctx, argv[0], &from);

	UNUSED;
	e = e ? e : find_place(ctx, argv[1], &to);
	e = e ? e : __wasi_path_rename(from.fd, from.rest, to.fd, to.rest);
	return result(ctx, e, 0);
}

static JSValue js_readlink(ARGS)
{
	struct place p;
	__wasi_errno_t e = find_place(ctx, argv[0], &p);
	uint8_t b[PATH_MAX_BYTES];
	__wasi_size_t n = 0;

	UNUSED;
	e = e ? e : __wasi_path_readlink(p.fd, p.rest, b, sizeof(b), &n);
	return e ? result(ctx, e, 0) :
		   JS_NewStringLen(ctx, (const char *)b, n);
}

static JSValue js_truncate(ARGS)
{
	__wasi_fd_t fd;
	int64_t n;

	UNUSED;
	if (!to_fd(ctx, argv[0], &fd) || JS_ToInt64(ctx, &n, argv[1]))
		return JS_EXCEPTION;
	return result(ctx,
		      __wasi_fd_filestat_set_size(fd, (__wasi_filesize_t)n), 0);
}

/* All of a descriptor.  0, an error number, or -1 with an exception. */
static int slurp(JSContext *ctx, __wasi_fd_t fd, uint8_t **ret, size_t *ret_n)
{
	size_t cap = 8192, n = 0;
	__wasi_filestat_t st;
	uint8_t *b;

	if (!__wasi_fd_filestat_get(fd, &st) && st.size < UINT32_MAX - 8192)
		cap = (size_t)st.size + 1;
	b = js_malloc(ctx, cap);
	for (;;) {
		__wasi_iovec_t v = { b + n, cap - n };
		__wasi_size_t done = 0;
		__wasi_errno_t e;
		uint8_t *more;

		if (!b)
			return -1;
		e = __wasi_fd_read(fd, &v, 1, &done);
		if (e || quick_poll(ctx)) {
			js_free(ctx, b);
			return e ? e : -1;
		}
		n += done;
		if (!done)
			break;
		if (n < cap)
			continue;
		more = cap > UINT32_MAX / 4 ? NULL :
					      js_realloc(ctx, b, cap * 2);
		if (!more) {
			js_free(ctx, b);
			JS_ThrowOutOfMemory(ctx);
			return -1;
		}
		b = more;
		cap *= 2;
	}
	*ret = b;
	*ret_n = n;
	return 0;
}

static void *resize_bytes(JSRuntime *rt, void *opaque, void *p, size_t n)
{
	(void)opaque;
	return js_realloc_rt(rt, p, n);
}

/* slurp(fd, as_text): a string, or an ArrayBuffer. */
static JSValue js_slurp(ARGS)
{
	bool text = JS_ToBool(ctx, argv[1]);
	__wasi_fd_t fd;
	uint8_t *b;
	JSValue v;
	size_t n;
	int e;

	UNUSED;
	if (!to_fd(ctx, argv[0], &fd))
		return JS_EXCEPTION;
	e = slurp(ctx, fd, &b, &n);
	if (e)
		return e < 0 ? JS_EXCEPTION : result(ctx, e, 0);
	if (!text)
		return JS_NewArrayBuffer(ctx, b, n, 0, resize_bytes, NULL,
					 false);
	v = files_text(ctx, b, n);
	js_free(ctx, b);
	return v;
}

int files_add(JSContext *ctx, JSValueConst native)
{
	static const JSCFunctionListEntry list[] = {
		JS_CFUNC_DEF("open", 2, js_open),
		JS_CFUNC_DEF("close", 1, js_close),
		JS_CFUNC_DEF("read", 5, js_read),
		JS_CFUNC_DEF("pwrite", 5, js_write),
		JS_CFUNC_DEF("writeText", 2, js_write_text),
		JS_CFUNC_DEF("stat", 2, js_stat),
		JS_CFUNC_DEF("fstat", 1, js_fstat),
		JS_CFUNC_DEF("list", 1, js_list),
		JS_CFUNC_MAGIC_DEF("mkdir", 1, js_path_verb, VERB_MKDIR),
		JS_CFUNC_MAGIC_DEF("rmdir", 1, js_path_verb, VERB_RMDIR),
		JS_CFUNC_MAGIC_DEF("unlink", 1, js_path_verb, VERB_UNLINK),
		JS_CFUNC_DEF("rename", 2, js_rename),
		JS_CFUNC_DEF("readlink", 1, js_readlink),
		JS_CFUNC_DEF("truncate", 2, js_truncate),
		JS_CFUNC_DEF("slurp", 2, js_slurp),
	};

	return JS_SetPropertyFunctionList(ctx, native, list, 15);
}
