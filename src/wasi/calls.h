/* wasi/calls.h - the functions, one row each.
 *
 * A function gets the guest's memory and the raw values of its parameters, in
 * the order of the witx, and returns the guest's errno.  It checks every
 * pointer before it does anything.  If it ends the run (wasi_end_run), what it
 * returns is not looked at. */
#ifndef WASI_CALLS_H
#define WASI_CALLS_H

#include "wasi/state.h"

typedef uint32_t call_fn(struct wasi *w, const struct guest *g,
			 const wasmtime_val_raw_t *a);

struct call_row {
	const char *name;
	const char *params; /* one letter each: i is i32, I is i64 */
	bool has_result;
	call_fn *fn;
};

extern const struct call_row call_rows[WASI_CALLS];
/* tools.c: of the module "redoma". */
extern const struct call_row tool_rows[WASI_TOOL_CALLS];

static inline uint32_t arg_u32(const wasmtime_val_raw_t *a, unsigned i)
{
	return (uint32_t)a[i].i32;
}

static inline uint64_t arg_u64(const wasmtime_val_raw_t *a, unsigned i)
{
	return (uint64_t)a[i].i64;
}

/* proc.c */
call_fn call_args_get, call_args_sizes_get, call_environ_get,
	call_environ_sizes_get, call_proc_exit, call_sched_yield,
	call_sock_accept, call_sock_recv, call_sock_send, call_sock_shutdown;
/* clock.c */
call_fn call_clock_res_get, call_clock_time_get;
/* random.c */
call_fn call_random_get;
/* poll.c */
call_fn call_poll_oneoff;
/* fd_info.c */
call_fn call_fd_advise, call_fd_close, call_fd_datasync, call_fd_fdstat_get,
	call_fd_fdstat_set_flags, call_fd_fdstat_set_rights,
	call_fd_filestat_get, call_fd_prestat_get, call_fd_prestat_dir_name,
	call_fd_renumber, call_fd_sync;
/* fd_size.c */
call_fn call_fd_allocate, call_fd_filestat_set_size,
	call_fd_filestat_set_times;
/* fd_io.c */
call_fn call_fd_pread, call_fd_pwrite, call_fd_read, call_fd_seek,
	call_fd_tell, call_fd_write;
/* fd_readdir.c */
call_fn call_fd_readdir;
/* path_open.c */
call_fn call_path_open;
/* path_stat.c */
call_fn call_path_filestat_get, call_path_filestat_set_times,
	call_path_readlink;
/* path_change.c */
call_fn call_path_create_directory, call_path_link, call_path_remove_directory,
	call_path_rename, call_path_symlink, call_path_unlink_file;

#endif
