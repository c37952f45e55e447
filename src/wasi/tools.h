/* wasi/tools.h - the module "redoma": how a guest calls tools.  The same for a
 * language image and for any other module.
 *
 *	call(ptr: i32, len: i32) -> i32
 *		Starts one: len bytes, NAME 0 JSON, where the JSON is one
 *		object.  The number of the call, from 1 on; or less than 0, the
 *		negative of an errno of WASI:
 *		AGAIN (-6)   limits.in_flight are under way: wait first
 *		2BIG (-1)    over 1 MiB
 *		ACCES (-2)   no tool is granted to this run
 *		FAULT, INVAL: no name, or not in memory
 *	wait(timeout_us: i64, ret_len: i32) -> i32
 *		The number of a call that was answered, each once, in the order
 *		in which answers come; the length of what is to be taken at
 *		ret_len (u32).  0: none came in that time, or none is under way.
 *		A negative time is for ever, 0 looks only.
 *	answer(id: i32, dst: i32) -> i32
 *		Puts the answer that the last wait told of at dst.  0, or an
 *		errno: NOENT for another call, or if it was taken.  An answer
 *		that is not taken before the next wait is lost.
 *		One byte, and after 0 the JSON of the value, after 1 NAME 0
 *		MESSAGE of why it failed.
 *	ask(ptr: i32, len: i32, ret_ptr: i32, ret_len: i32) -> i32
 *		One of these three, for a module that has no other import: at
 *		ptr four u32 and an i64, the number of the function (0, 1, 2),
 *		its i32 arguments, where what it returns goes, and its i64; len
 *		is 24.  0 goes to ret_ptr and ret_len.
 *
 * What was printed before a call leaves before it.  While a guest waits its
 * wall clock goes on. */
#ifndef WASI_TOOLS_H
#define WASI_TOOLS_H

#include "wasi/calls.h"

#endif
