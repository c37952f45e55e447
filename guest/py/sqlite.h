/* sqlite.h - what sqlite.c needs of SQLite's interface, as sqlite.org/c3ref
 * has it: vfs.html, io_methods.html.  The library comes without its header. */
#ifndef SQLITE_H
#define SQLITE_H

#define SQLITE_OK 0
#define SQLITE_BUSY 5
#define SQLITE_OPEN_READONLY 0x1
#define SQLITE_OPEN_MAIN_DB 0x100
#define SQLITE_IOCAP_IMMUTABLE 0x2000

struct sqlite3_file {
	const struct sqlite3_io_methods *pMethods;
};

struct sqlite3_io_methods {
	int iVersion;
	void *close, *read, *write, *truncate, *sync, *file_size;
	int (*xLock)(struct sqlite3_file *f, int level);
	int (*xUnlock)(struct sqlite3_file *f, int level);
	int (*xCheckReservedLock)(struct sqlite3_file *f, int *ret);
	void *file_control, *sector_size;
	int (*xDeviceCharacteristics)(struct sqlite3_file *f);
	void *version_2[4], *version_3[2];
};

struct sqlite3_vfs {
	int iVersion, szOsFile, mxPathname;
	struct sqlite3_vfs *pNext;
	const char *zName;
	void *pAppData;
	int (*xOpen)(struct sqlite3_vfs *vfs, const char *name,
		     struct sqlite3_file *f, int flags, int *ret_flags);
	void *delete;
	void *access, *full_pathname, *libraries[4], *rest[4];
	void *version_2, *version_3[3];
};

struct sqlite3_vfs *sqlite3_vfs_find(const char *name);
int sqlite3_vfs_register(struct sqlite3_vfs *vfs, int make_default);
int sqlite3_uri_boolean(const char *name, const char *param, int otherwise);

#endif
