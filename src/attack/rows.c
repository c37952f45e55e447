#include "attack/rows.h"

#define HEAD 0, 'a', 's', 'm', 1, 0, 0, 0
#define MEMORY (ENDS(MEMORY_LIMIT) | ENDS(TRAP))

/* (import "env" "exec" (func)) */
static const uint8_t import_other[] = {
	HEAD, 1, 4,   1,   0x60, 0,   0,   2,	0x0c, 1,
	3,    'e', 'n', 'v', 4,	  'e', 'x', 'e', 'c',  0, 0};

/* (import "wasi_snapshot_preview1" "sock_open" (func)) */
static const uint8_t import_socket[] = {
	HEAD, 1,   4,	1,   0x60, 0,	0,   2,	  36,  1,   22,	 'w', 'a',
	's',  'i', '_', 's', 'n',  'a', 'p', 's', 'h', 'o', 't', '_', 'p',
	'r',  'e', 'v', 'i', 'e',  'w', '1', 9,	  's', 'o', 'c', 'k', '_',
	'o',  'p', 'e', 'n', 0,	   0};

/* (memory 65536): all 4 GiB at once */
static const uint8_t memory_all[] = {HEAD, 5, 5, 1, 0, 0x80, 0x80, 4};

/* (table 0xffffffff funcref) */
static const uint8_t table_all[] = {HEAD, 4,	8,    1,    0x70, 0,
				    0xff, 0xff, 0xff, 0xff, 0x0f};

/* (memory 1 1 shared): with it comes the threads proposal */
static const uint8_t memory_shared[] = {HEAD, 5, 4, 1, 3, 1, 1};

/* A body that says it is 4 GiB long. */
static const uint8_t body_huge[] = {HEAD, 1,	4,    1,    0x60, 0,	0,   3,
				    2,	  1,	0,    10,   7,	  1,	0xff,
				    0xff, 0xff, 0xff, 0x0f, 0x0b};

/* (func unreachable local.get 4294967295 ... ) with 2^32-1 locals */
static const uint8_t locals_huge[] = {HEAD, 1,	  4,	1,    0x60, 0, 0,
				      3,    2,	  1,	0,    10,   11, 1,
				      9,    1,	  0xff, 0xff, 0xff, 0xff,
				      0x0f, 0x7e, 0,	0x0b};

#define JS(n, t, w, l, e) {ATTACK_JS, n, t, w, l, e, NULL, 0},
#define WASM(n, t, w, l, e) {ATTACK_WASM, n, t, w, l, e, NULL, 0},
#define BYTES(n, t) \
	{ATTACK_WASM, #n, t, "wasm", NULL, ENDS(INVALID), n, sizeof n},
#define NATIVE(n, t, w, l, e) {ATTACK_NATIVE, #n, t, w, l, e, NULL, 0},

const struct attack_row attack_rows[] = {
	JS("read_secret", "read a file of the host", "wasm", NULL, 0)
	JS("read_proc", "read what the kernel tells of processes", "wasm",
	   NULL, 0)
	JS("climb_dots", "leave a granted directory by ..", "core", NULL, 0)
	JS("follow_links", "follow links out of a granted directory", "core",
	   NULL, 0)
	JS("read_socket", "read a socket in a granted directory", "core", NULL,
	   0)
	JS("write_granted", "change what it may only read", "wasm", NULL, 0)
	JS("link_output", "give back a link to a file of the host", "wasm",
	   NULL, 0)
	JS("read_environ", "read variables of the host", "wasm", NULL, 0)
	JS("load_modules", "load modules that reach outside", "wasm", NULL, 0)
	JS("find_globals", "find the engine's own libraries", "wasm", NULL, 0)
	JS("climb_constructors", "reach another realm by constructors", "wasm",
	   NULL, 0)
	JS("bind_process", "call what process hides", "wasm", NULL, 0)
	JS("dial", "reach 127.0.0.1 by fetch and its like", "wasm", NULL, 0)
	JS("hold_memory", "hold 1 GiB where 64 MiB are allowed", "wasm", NULL,
	   ENDS(MEMORY_LIMIT))
	JS("spin", "compute for ever", "core", SHORT, TIME)
	JS("spin_promises", "resolve promises for ever", "core", SHORT, TIME)
	JS("spin_pattern", "match a pattern for ever", "core", SHORT, TIME)
	JS("wait_for_ever", "wait for ever", "core", SHORT, TIME)
	JS("recurse", "call itself for ever", "wasm", NULL,
	   ENDS(STACK_LIMIT))
	JS("flood", "print for ever", "core", NULL, ENDS(OUTPUT_LIMIT))
	JS("forge", "print a result of its own and fail", "core", NULL,
	   ENDS(ERROR))
	JS("pollute", "change how results are written and fail", "core", NULL,
	   ENDS(ERROR))

	WASM("read_secret", "read a file of the host", "wasm", NULL, 0)
	WASM("climb_dots", "leave a granted directory by ..", "core", NULL, 0)
	WASM("follow_links", "follow links out of a granted directory", "core",
	     NULL, 0)
	WASM("write_granted", "change what it may only read", "wasm", NULL, 0)
	WASM("create_beside", "make files in what it may only read", "wasm",
	     NULL, 0)
	WASM("make_link", "give back a link to a file of the host", "wasm",
	     NULL, 0)
	WASM("leaked_fds", "use 1,024 descriptors it was not given", "wasm",
	     NULL, 0)
	WASM("move_fds", "renumber descriptors over others", "wasm", NULL, 0)
	WASM("read_environ", "read variables of the host", "wasm", NULL, 0)
	WASM("use_sockets", "use sockets by WASI", "wasm", NULL, 0)
	WASM("grow_memory", "grow to 256 MiB where 64 are allowed", "wasm",
	     NULL, MEMORY)
	WASM("grow_at_once", "grow to 4 GiB at once", "wasm", NULL, MEMORY)
	WASM("spin", "compute for ever", "core", SHORT, TIME)
	WASM("sleep_long", "wait for an hour", "core", SHORT, TIME)
	WASM("recurse", "call itself for ever", "wasm", NULL,
	     ENDS(STACK_LIMIT) | ENDS(TRAP))
	WASM("read_outside", "read behind its memory", "wasm", NULL,
	     ENDS(TRAP))
	WASM("give_outside", "have the host read behind its memory", "wasm",
	     NULL, 0)
	WASM("call_other", "call a function by another type", "wasm", NULL,
	     ENDS(TRAP))
	WASM("call_none", "call a function that is not there", "wasm", NULL,
	     ENDS(TRAP))
	WASM("flood", "print for ever", "core", NULL, ENDS(OUTPUT_LIMIT))
	WASM("forge", "print a result of its own and fail", "core", NULL,
	     ENDS(ERROR))
	BYTES(import_other, "import a function of the host")
	BYTES(import_socket, "import a socket call that WASI lacks")
	BYTES(memory_all, "ask for 4 GiB of memory")
	BYTES(table_all, "ask for a table of 4 G entries")
	BYTES(memory_shared, "ask for memory shared by threads")
	BYTES(body_huge, "lie about the length of a function")
	BYTES(locals_huge, "ask for 4 G local variables")

	NATIVE_ROWS(NATIVE)
};

const size_t attack_rows_n = sizeof attack_rows / sizeof *attack_rows;

const char *attack_profile_name(enum attack_profile p)
{
	static const char *const names[ATTACK_PROFILES] = {
		[ATTACK_JS] = "js",
		[ATTACK_WASM] = "wasm",
		[ATTACK_NATIVE] = "native",
	};

	return (size_t)p < ATTACK_PROFILES ? names[p] : "unknown";
}
